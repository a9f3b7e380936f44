// IDX: what the specification says is read, plain and compressed; false files are refused.
#include <gtest/gtest.h>

#include <stoker/io.h>

#include "data_room/arrays.h"

namespace stoker::test {
namespace {

std::string refusal(const std::string& content) {
  const TemporaryFolder folder;
  write_file(folder / "x.idx", content);
  try {
    load_idx(folder / "x.idx");
  } catch (const FormatError& e) {
    return e.what();
  }
  return "not refused";
}

#define EXPECT_CONTAINS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST(Idx, EveryTypeIsRead) {
  for (DType dtype : {kU8, kI8, kI16, kI32, kF32, kF64}) {
    const Tensor x = load_idx(recorded(std::string(name_of(dtype)) + ".idx"));
    EXPECT_EQ(x.dtype(), dtype);
    EXPECT_EQ(x.shape(), Shape({2, 3}));
    EXPECT_EQ(bytes_of(x), recorded_bytes(dtype)) << name_of(dtype);
  }
}

TEST(Idx, GzipIsRecognised) {
  EXPECT_EQ(bytes_of(load_idx(recorded("u8.idx.gz"))), recorded_bytes(kU8));
  EXPECT_EQ(bytes_of(load_idx(recorded("i32.idx.gz"))), recorded_bytes(kI32));
}

TEST(Idx, GzipInSeveralMembersIsOneFile) {
  EXPECT_EQ(bytes_of(load_idx(recorded("two_members.idx.gz"))), recorded_bytes(kF64));
}

TEST(Idx, FalseFilesAreRefused) {
  const std::string good = read_file(recorded("u8.idx"));
  EXPECT_CONTAINS(refusal(""), "magic number");
  EXPECT_CONTAINS(refusal("PNG"), "two zeros");
  EXPECT_CONTAINS(refusal(std::string("\0\0\x0a\2", 4)), "IDX type");
  EXPECT_CONTAINS(refusal(good.substr(0, 10)), "the extents");
  EXPECT_CONTAINS(refusal(good.substr(0, 17)), "expected 6 bytes of data");
  EXPECT_CONTAINS(refusal(good + "x"), "the file has 7");
  EXPECT_CONTAINS(refusal(std::string("\0\0\x0e\3", 4) + std::string(12, '\xff')), "63 bits");
  EXPECT_CONTAINS(refusal(std::string("\0\0\x08\1", 4) + std::string(4, '\xff')), "expected 4294967295 bytes");
}

TEST(Idx, DamagedCompressionIsRefused) {
  const std::string good = read_file(recorded("u8.idx.gz"));
  EXPECT_CONTAINS(refusal(good.substr(0, good.size() - 1)), "cut off");
  EXPECT_CONTAINS(refusal(good.substr(0, 12)), "cut off");
  EXPECT_CONTAINS(refusal(good + "more"), "damaged");
  std::string flipped = good;
  flipped[good.size() - 8] ^= 1;
  EXPECT_CONTAINS(refusal(flipped), "incorrect data check");
}

}  // namespace
}  // namespace stoker::test
