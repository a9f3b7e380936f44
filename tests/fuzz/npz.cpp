// The reader of .npz archives.
#include "data/npz.h"

#include "reader.h"

void read(std::span<const std::byte> bytes) {
  stoker::data::parse_npz(bytes, "input", [](const std::string&, stoker::data::HostArray array) { touch(array); });
}
