// Which dtype comes out, against PyTorch; and what conversions give, against NumPy. Recorded by
// tests/reference/ops_dtypes.py.
#include <stoker/io.h>
#include <stoker/ops.h>

#include "support/compare.h"

namespace stoker::test {
namespace {

const StateDict& recording() {
  static const StateDict all = load_npz(std::string(STOKER_TESTS_DIR) + "/data/ops_dtypes.npz");
  return all;
}

Tensor example(int dtype, int scalar) { return zeros(scalar ? Shape{} : Shape{2}, DType(dtype)); }

DType floating(DType d) { return is_floating(d) ? d : kF32; }

TEST(Promotion, OfTwoTensorsIsPyTorchs) {
  const std::vector<uint8_t> table = recording().at("tensors").to_vector<uint8_t>();
  ASSERT_EQ(table.size(), 400u);
  auto expected = table.begin();
  for (int a = 0; a < kDTypeCount; ++a)
    for (int a_scalar = 0; a_scalar < 2; ++a_scalar)
      for (int b = 0; b < kDTypeCount; ++b)
        for (int b_scalar = 0; b_scalar < 2; ++b_scalar) {
          const DType want = DType(*expected++);
          const Tensor x = example(a, a_scalar), y = example(b, b_scalar);
          SCOPED_TRACE(std::string(name_of(x.dtype())) + to_string(x.shape()) + " and " +
                       std::string(name_of(y.dtype())) + to_string(y.shape()));
          EXPECT_EQ(add(x, y).dtype(), want);
          EXPECT_EQ(mul(x, y).dtype(), want);
          EXPECT_EQ(maximum(x, y).dtype(), want);
          EXPECT_EQ(where(full({2}, true, kBool), x, y).dtype(), want);
          EXPECT_EQ(div(x, y).dtype(), floating(want));
          EXPECT_EQ(atan2(x, y).dtype(), floating(want));
          EXPECT_EQ(eq(x, y).dtype(), kBool);
        }
}

TEST(Promotion, OfATensorAndANumberIsPyTorchs) {
  const std::vector<uint8_t> table = recording().at("numbers").to_vector<uint8_t>();
  ASSERT_EQ(table.size(), 60u);
  auto expected = table.begin();
  for (int a = 0; a < kDTypeCount; ++a)
    for (int scalar = 0; scalar < 2; ++scalar)
      for (Scalar number : {Scalar(true), Scalar(1), Scalar(1.5)}) {
        const DType want = DType(*expected++);
        const Tensor x = example(a, scalar);
        SCOPED_TRACE(std::string(name_of(x.dtype())) + to_string(x.shape()) + " and " +
                     std::to_string(number.to_double()));
        EXPECT_EQ(add(x, number).dtype(), want);
        EXPECT_EQ(mul(x, number).dtype(), want);
        EXPECT_EQ(maximum(x, number).dtype(), want);
        EXPECT_EQ(div(x, number).dtype(), floating(want));
        EXPECT_EQ(where(full({2}, true, kBool), x, number).dtype(), want);
        EXPECT_EQ(eq(x, number).dtype(), kBool);
      }
}

TEST(Promotion, ComputesInTheResultsDtype) {
  EXPECT_TRUE(equals<int16_t>(tensor<uint8_t>({200}) + tensor<int8_t>({-5}), {1}, {195}));
  EXPECT_TRUE(equals<int32_t>(tensor<int16_t>({30000}) * tensor<int32_t>({30000}), {1}, {900000000}));
  EXPECT_TRUE(equals<float>(tensor<int32_t>({3}) + 0.5, {1}, {3.5f}));
  EXPECT_TRUE(equals<float>(tensor<int64_t>({1}) / tensor<int64_t>({4}), {1}, {0.25f}));
  EXPECT_TRUE(equals<uint8_t>(tensor<uint8_t>({200}) + tensor<uint8_t>({100}), {1}, {44}));
  EXPECT_TRUE(equals<uint8_t>(tensor<uint8_t>({200}) + 100, {1}, {44}));
  EXPECT_TRUE(equals<int64_t>(tensor<bool>({true, true}) + 1, {2}, {2, 2}));
  EXPECT_TRUE(equals<bool>(tensor<bool>({true, false}) + tensor<bool>({true, false}), {2}, {true, false}));
  EXPECT_TRUE(equals<bool>(tensor<bool>({true, true}) * tensor<bool>({true, false}), {2}, {true, false}));
  // The 0-d f64 tensor does not widen, but takes part exactly.
  const Tensor tenth = scalar_tensor(0.1, kF64);
  EXPECT_TRUE(equals<float>(tensor<float>({1}) + tenth, {1}, {1 + 0.1f}));
  EXPECT_TRUE(matches(tensor_of({65504}, {1}, kF16) + tensor_of({65504}, {1}, kBF16), {1}, kF32, {65504 + 65536}));
}

TEST(Promotion, OfCatIsThatOfItsTensors) {
  EXPECT_TRUE(equals<float>(cat({tensor<int64_t>({1}), tensor<float>({0.5f})}), {2}, {1, 0.5f}));
  EXPECT_TRUE(equals<int16_t>(cat({tensor<uint8_t>({255}), tensor<int8_t>({-1})}), {2}, {255, -1}));
  EXPECT_TRUE(equals<int64_t>(stack({tensor<bool>({true}), tensor<int64_t>({7})}), {2, 1}, {1, 7}));
}

// --- conversions

void expect_conversions(const std::string& group) {
  int tried = 0;
  for (const auto& [key, want] : recording()) {
    const size_t first = key.find('/'), second = key.find('/', first + 1);
    if (key.substr(0, first) != group || second == std::string::npos) continue;
    const std::string from = key.substr(first + 1, second - first - 1), to = key.substr(second + 1);
    SCOPED_TRACE(from + " to " + to);
    const Tensor x = recording().at(group + "/" + from);
    ASSERT_EQ(x.dtype(), dtype_from_name(from));
    EXPECT_TRUE(matches(x.to(dtype_from_name(to)), x.shape(), dtype_from_name(to), want.to_vector<double>()));
    EXPECT_TRUE(matches((x.reshape({-1, 1}) * ones({1, 1}, x.dtype())).to(dtype_from_name(to)).reshape({-1}), x.shape(),
                        dtype_from_name(to), want.to_vector<double>()))
        << "in a fusion";
    ++tried;
  }
  EXPECT_GT(tried, 0);
}

TEST(Conversion, IsNumPys) { expect_conversions("cast"); }
TEST(Conversion, OfFloatsToIntegersTruncates) { expect_conversions("whole"); }

TEST(Conversion, OfHalvesIsExact) {
  for (DType half : {kF16, kBF16})
    for (DType wide : {kF32, kF64}) {
      const std::vector<double> values{0, 1.5, -2.75, limits_of(half).largest, limits_of(half).smallest, INFINITY, NAN};
      EXPECT_TRUE(matches(tensor_of(values, {7}, half).to(wide), {7}, wide, values));
    }
  EXPECT_TRUE(
      matches(tensor_of({65504, 2049, 0x1p-24}, {3}, kF32).to(kF16).to(kBF16), {3}, kBF16, {65536, 2048, 0x1p-24}));
}

TEST(Conversion, LetsGradientsThrough) {
  Tensor x = tensor<float>({1, 2});
  x.requires_grad_();
  (x.to(kF16) * 3).to(kF64).backward(tensor<double>({1, 2}));
  EXPECT_TRUE(equals<float>(x.grad(), {2}, {3, 6}));
}

}  // namespace
}  // namespace stoker::test
