// The reader of safetensors files.
#include "data/safetensors.h"

#include "reader.h"

void read(std::span<const std::byte> bytes) {
  for (const auto& [name, array] : stoker::data::parse_safetensors(bytes, "input").tensors) touch(array);
}
