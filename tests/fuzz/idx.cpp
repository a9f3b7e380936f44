// The reader of IDX files, plain and compressed.
#include "data/idx.h"

#include "reader.h"

void read(std::span<const std::byte> bytes) { touch(stoker::data::parse_idx(bytes, "input")); }
