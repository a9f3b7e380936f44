#include "data/host_array.h"

#include <algorithm>

namespace stoker::data {

std::span<std::byte> HostArray::allocate(size_t count) {
  owned = std::make_unique_for_overwrite<std::byte[]>(count);
  bytes = {owned.get(), count};
  return {owned.get(), count};
}

std::span<std::byte> HostArray::own() {
  if (!owned) {
    const std::span<const std::byte> source = bytes;
    std::copy(source.begin(), source.end(), allocate(source.size()).begin());
  }
  return {owned.get(), bytes.size()};
}

Tensor HostArray::to_tensor(Device device) const { return from_host(bytes.data(), shape, {dtype, device}); }

HostArray to_host(const Tensor& tensor) {
  HostArray array{tensor.dtype(), tensor.shape(), {}, nullptr};
  tensor.copy_to_host(array.allocate(size_t(tensor.bytes())).data());
  return array;
}

void normalize_bools(HostArray& array) {
  const auto good = [](std::byte b) { return b <= std::byte{1}; };
  if (array.dtype != DType::Bool || std::all_of(array.bytes.begin(), array.bytes.end(), good)) return;
  for (std::byte& b : array.own()) b = std::byte(b != std::byte{0});
}

}  // namespace stoker::data
