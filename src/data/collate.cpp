#include <fmt/format.h>

#include <stoker/data.h>

#include "data/host_array.h"

namespace stoker::data {
namespace {

void check_alike(const Tensor& first, const Tensor& other, size_t field, size_t sample) {
  const auto message = [&](const std::string& a, const std::string& b) {
    return fmt::format(
        "expected tensors that are alike to stack, got {} in the batch's first sample and {} in sample {} (tensor "
        "{}); pass a collate_fn that makes them so",
        a, b, sample, field);
  };
  if (first.dtype() != other.dtype())
    throw DTypeError("default_collate",
                     message(std::string(name_of(first.dtype())), std::string(name_of(other.dtype()))));
  if (first.shape() != other.shape())
    throw ShapeError("default_collate", message(to_string(first.shape()), to_string(other.shape())));
}

}  // namespace

Sample default_collate(const std::vector<Sample>& samples, Device device) {
  if (samples.empty()) throw ValueError("default_collate", "expected at least one sample, got none");
  Sample batch;
  for (size_t field = 0; field < samples[0].size(); ++field) {
    const Tensor& first = samples[0][field];
    HostArray stacked{first.dtype(), first.shape(), {}, nullptr};
    stacked.shape.insert(0, int64_t(samples.size()));
    const auto bytes = size_t(first.bytes());
    std::byte* next = stacked.allocate(samples.size() * bytes).data();
    for (size_t i = 0; i < samples.size(); ++i, next += bytes) {
      if (samples[i].size() != samples[0].size())
        throw ValueError("default_collate",
                         fmt::format("expected {} tensors in each sample, as in the first, got {} in sample {}",
                                     samples[0].size(), samples[i].size(), i));
      check_alike(first, samples[i][field], field, i);
      samples[i][field].copy_to_host(next);
    }
    batch.push_back(stacked.to_tensor(device));
  }
  return batch;
}

}  // namespace stoker::data
