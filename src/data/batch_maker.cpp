#include "data/batch_maker.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "data/random.h"

namespace stoker::data {
namespace {

// Handles the current exception.
[[noreturn]] void rethrow(int64_t index, int worker, bool whole_batch) {
  std::string reason = "an exception that is no std::exception";
  try {
    throw;
  } catch (const std::exception& e) {
    reason = e.what();
  } catch (...) {
  }
  const std::string who = worker < 0 ? std::string() : fmt::format(" (worker {})", worker);
  throw LoaderError(
      fmt::format("{} {}{}: {}", whole_batch ? "the batch that starts with sample" : "sample", index, who, reason),
      index, worker);
}

}  // namespace

LoaderError::LoaderError(std::string_view message, int64_t index, int worker)
    : Error("data loader", message), index_(index), worker_(worker) {}

BatchMaker::BatchMaker(std::shared_ptr<const Dataset> dataset, DataLoaderOptions options, int64_t epoch, Device device)
    : dataset_(std::move(dataset)), options_(std::move(options)), epoch_(epoch), device_(device) {
  if (options_.shuffle) order_ = shuffled(dataset_->size(), options_.seed, epoch);
}

int64_t BatchMaker::count(const Dataset& dataset, const DataLoaderOptions& options) {
  const int64_t size = dataset.size(), whole = size / options.batch_size;
  return whole + (!options.drop_last && size % options.batch_size != 0);
}

std::vector<int64_t> BatchMaker::indices_of(int64_t batch) const {
  const int64_t first = batch * options_.batch_size;
  std::vector<int64_t> indices(size_t(std::min(options_.batch_size, dataset_->size() - first)));
  if (order_.empty())
    std::iota(indices.begin(), indices.end(), first);
  else
    std::copy_n(order_.begin() + first, indices.size(), indices.begin());
  return indices;
}

// What a worker has recorded is evaluated before it leaves the worker, which goes on recording.
Sample BatchMaker::make(int64_t batch, int worker, const std::function<bool()>& cancelled) const {
  const NoGrad no_grad;
  const std::vector<int64_t> indices = indices_of(batch);
  try {
    if (!options_.collate_fn)
      if (auto whole = dataset_->get_batch(indices, device_)) {
        eval(*whole);
        return std::move(*whole);
      }
  } catch (...) {
    rethrow(indices[0], worker, true);
  }

  std::vector<Sample> samples;
  for (int64_t index : indices) {
    if (cancelled()) return {};
    const SampleRandomScope random(options_.seed, epoch_, index);
    try {
      samples.push_back(dataset_->get(index));
    } catch (...) {
      rethrow(index, worker, false);
    }
  }
  try {
    if (!options_.collate_fn) return default_collate(samples, device_);
    Sample collated = options_.collate_fn(samples);
    for (Tensor& tensor : collated) tensor = tensor.to(device_);
    eval(collated);
    return collated;
  } catch (...) {
    rethrow(indices[0], worker, true);
  }
}

}  // namespace stoker::data
