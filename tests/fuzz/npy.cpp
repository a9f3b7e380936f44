// The reader of .npy files.
#include "data/npy.h"

#include "reader.h"

void read(std::span<const std::byte> bytes) { touch(stoker::data::parse_npy(bytes, "input")); }
