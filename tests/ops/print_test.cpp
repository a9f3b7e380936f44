// Printing, against NumPy's array2string with commas. Recorded by tests/reference/ops_print.py.
#include <gtest/gtest.h>
#include <stoker/io.h>
#include <stoker/ops.h>

#include <sstream>

#include "support/compare.h"

namespace stoker::test {
namespace {

const StateDict& recording() {
  static const StateDict all = load_npz(std::string(STOKER_TESTS_DIR) + "/data/ops_print.npz");
  return all;
}

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const auto& [key, x] : recording())
    if (key.ends_with("/x")) out.push_back(key.substr(0, key.size() - 2));
  return out;
}

struct Print : ::testing::TestWithParam<std::string> {};

TEST_P(Print, IsNumPys) {
  const std::vector<uint8_t> text = recording().at(GetParam() + "/text").to_vector<uint8_t>();
  EXPECT_EQ(recording().at(GetParam() + "/x").to_string(), std::string(text.begin(), text.end()));
}

INSTANTIATE_TEST_SUITE_P(Ops, Print, ::testing::ValuesIn(names()), [](const auto& info) { return info.param; });

TEST(Print, OfAViewIsThatOfItsElements) {
  EXPECT_EQ(transpose(tensor<int64_t>({1, 2, 3, 4}, Shape{2, 2}), 0, 1).to_string(), "[[1, 3],\n [2, 4]]");
  EXPECT_EQ(slice(arange(4), 0, {}, {}, -1).to_string(), "[3, 2, 1, 0]");
}

TEST(Print, OfAnUndefinedTensorSaysSo) { EXPECT_EQ(Tensor().to_string(), "undefined"); }

TEST(Print, GoesToAStream) {
  std::ostringstream out;
  out << tensor<float>({1, 2});
  EXPECT_EQ(out.str(), "[1., 2.]");
}

// NumPy has no bf16; its halves print the fewest digits that tell a number from its neighbours.
TEST(Print, OfBrainFloatsHasAsManyDigitsAsTheyHold) {
  EXPECT_EQ(tensor_of({0.1, 0.2}, {2}, kBF16).to_string(), "[0.1, 0.2]");
}

}  // namespace
}  // namespace stoker::test
