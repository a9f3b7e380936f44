// Data room: files, datasets and the loader, written on the tensor API alone. Below it stands the tensor room; models
// and the command stand above.
//
// An array in the host's memory, dense and row-major: what the readers of files give and the writers take.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include <stoker/tensor.h>

namespace stoker::data {

struct HostArray {
  DType dtype = DType::F32;
  Shape shape;
  std::span<const std::byte> bytes;  // in `owned`, or in the file that was read
  std::unique_ptr<std::byte[]> owned;

  // Memory of its own for `count` bytes, not initialised.
  std::span<std::byte> allocate(size_t count);
  // The bytes in memory of its own, copied there if they are a view.
  std::span<std::byte> own();
  Tensor to_tensor(Device device) const;
};

// Waits for the tensor's value.
HostArray to_host(const Tensor& tensor);
// A bool of a file may be any byte; in memory it is 0 or 1.
void normalize_bools(HostArray& array);

}  // namespace stoker::data
