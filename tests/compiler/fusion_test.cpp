// What fuses with what: counted in steps and bytes, so that a lost fusion fails.
#include <gtest/gtest.h>

#include <stoker/stoker.h>

namespace stoker {
namespace {

class FusionTest : public ::testing::Test {
 protected:
  FusionTest() { eval(); }
  // The plan that computes what `f` returns.
  template <class F>
  PlanReport plan(const F& f) {
    eval();
    const auto held = f();
    eval();
    return last_plan();
  }
  static Tensor make(const Shape& shape) {
    Tensor t = randn(shape);
    eval();
    return t;
  }
};

TEST_F(FusionTest, ElementwiseChainIsOneStep) {
  const Tensor x = make({64, 100}), b = make({100});
  const PlanReport p = plan([&] { return tanh(relu(x * 2 + b) - sigmoid(x)); });
  EXPECT_EQ(p.steps, 1);
  EXPECT_EQ(p.bytes_moved, 4 * (6400 + 100 + 6400)) << "each input once, the result once";
  EXPECT_EQ(p.arena_bytes, 0);
}

TEST_F(FusionTest, SoftmaxIsOneStep) {
  const Tensor x = make({32, 50});
  EXPECT_EQ(plan([&] { return softmax(x, 1); }).steps, 1);
  EXPECT_EQ(plan([&] { return log_softmax(x * 2 + 1, -1); }).steps, 1);
}

TEST_F(FusionTest, LayerNormIsOneStep) {
  const Tensor x = make({32, 50}), w = make({50}), b = make({50});
  EXPECT_EQ(plan([&] { return layer_norm(x, {50}, w, b); }).steps, 1);
}

TEST_F(FusionTest, MeanOfSquaresIsOneStep) {
  const Tensor x = make({1000}), y = make({1000});
  EXPECT_EQ(plan([&] { return mse_loss(x, y); }).steps, 1);
}

TEST_F(FusionTest, RowSumFeedsItsRow) {
  const Tensor x = make({40, 30});
  EXPECT_EQ(plan([&] { return x / x.sum({1}, true); }).steps, 1);
  EXPECT_EQ(plan([&] { return x - unsqueeze(x.mean({1}), 1); }).steps, 1) << "through the form without the axis";
}

TEST_F(FusionTest, ResultsOfDifferentShapesDoNotFuse) {
  const Tensor x = make({40, 30});
  // A sum over rows is one value a column: another space than the rows'.
  EXPECT_EQ(plan([&] { return x - x.sum({0}, true); }).steps, 2);
}

TEST_F(FusionTest, TransposedReadOfAFusedValueIsASecondStep) {
  const Tensor x = make({30, 30});
  const auto f = [&] {
    Tensor y = exp(x);
    return y + y.transpose(0, 1);
  };
  EXPECT_EQ(plan(f).steps, 2);
  const std::vector<float> e = exp(x).to_vector<float>(), r = f().to_vector<float>();
  EXPECT_FLOAT_EQ(r[1], e[1] + e[30]);
}

TEST_F(FusionTest, ValueReadByAProductAndByTheGroupIsStoredOnce) {
  const Tensor x = make({16, 16});
  // h feeds the product, whose result comes back: h and the final sum must not become one step.
  const auto f = [&] {
    Tensor h = tanh(x);
    return h + matmul(h, h);
  };
  const PlanReport p = plan(f);
  EXPECT_EQ(p.steps, 2) << "tanh; the product with the sum as its epilogue";
}

TEST_F(FusionTest, BiasAndActivationJoinTheProduct) {
  const Tensor x = make({16, 8}), w = make({12, 8}), b = make({12});
  const PlanReport p = plan([&] { return relu(linear(x, w, b)); });
  EXPECT_EQ(p.steps, 1);
  EXPECT_EQ(p.step_names, std::vector<std::string>{"matmul"});
}

TEST_F(FusionTest, HeldProductKeepsItsOwnStep) {
  const Tensor x = make({16, 8}), w = make({12, 8}), b = make({12});
  eval();
  const Tensor product = matmul(x, w.t());
  const Tensor y = relu(product + b);
  eval();
  EXPECT_EQ(last_plan().steps, 2);
  const std::vector<float> p = product.to_vector<float>(), r = y.to_vector<float>(), bias = b.to_vector<float>();
  for (size_t i = 0; i < r.size(); ++i) EXPECT_FLOAT_EQ(r[i], std::max(0.f, p[i] + bias[i % 12]));
}

TEST_F(FusionTest, BiasJoinsTheConvolutionAndItsGradientTheWeightGradient) {
  Tensor w = make_cell(randn({4, 3, 3, 3}), true), b = make_cell(randn({4}), true);
  const Tensor x = make({2, 3, 8, 8});
  eval();
  conv2d(x, w, b, {.padding = 1}).sum().backward();
  const Tensor dw = w.grad(), db = b.grad();
  eval();
  int64_t sums = 0;
  for (const std::string& name : last_plan().step_names) sums += name == "sum";
  EXPECT_EQ(sums, 0) << "the bias gradient comes with the weight gradient";
  EXPECT_EQ(db.to_vector<float>(), std::vector<float>(4, 2 * 8 * 8));
}

TEST_F(FusionTest, GradientOfALinearLayerIsOneProductAndNoCopy) {
  Tensor w = make_cell(randn({12, 8}), true);
  const Tensor x = make({16, 8});
  eval();
  linear(x, w).sum().backward();
  const Tensor dw = w.grad();
  eval();
  for (const std::string& name : last_plan().step_names) EXPECT_EQ(name.find("contiguous"), name.npos) << name;
  const std::vector<float> column_sums = x.sum({0}).to_vector<float>(), g = dw.to_vector<float>();
  for (size_t i = 0; i < g.size(); ++i) EXPECT_NEAR(g[i], column_sums[i % 8], 1e-4);
}

TEST_F(FusionTest, CommonWorkIsDoneOnce) {
  const Tensor x = make({8, 8});
  const PlanReport p = plan([&] { return matmul(x, x) + matmul(x, x); });
  EXPECT_EQ(std::count(p.step_names.begin(), p.step_names.end(), "matmul"), 1);
}

TEST_F(FusionTest, DeadWorkIsLeftOut) {
  const Tensor x = make({8, 8});
  const PlanReport p = plan([&] {
    (void)matmul(x, x);
    return x + 1;
  });
  EXPECT_EQ(p.steps, 1);
}

TEST_F(FusionTest, WideGraphsOfManyInputsAreCutNotRefused) {
  std::vector<Tensor> parts;
  for (int i = 0; i < 80; ++i) parts.push_back(full({10}, i));
  eval();
  Tensor total = parts[0];
  for (int i = 1; i < 80; ++i) total = total + parts[size_t(i)];
  EXPECT_EQ(total.to_vector<float>(), std::vector<float>(10, 79 * 80 / 2));
}

TEST_F(FusionTest, ZeroSizeValuesRun) {
  const Tensor x = zeros({0, 5});
  EXPECT_EQ((exp(x) + 1).numel(), 0);
  EXPECT_TRUE((exp(x) + 1).to_vector<float>().empty());
  EXPECT_EQ(x.sum().item<float>(), 0);
  EXPECT_EQ(x.sum({0}).to_vector<float>(), std::vector<float>(5, 0));
}

}  // namespace
}  // namespace stoker
