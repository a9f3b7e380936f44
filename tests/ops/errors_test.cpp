// What functions refuse: the type of the error, its text with the operation, both shapes or dtypes and what to do, and
// the line of the program: of this file.
#include <stoker/ops.h>

#include "support/compare.h"

namespace stoker::test {
namespace {

// The expression throws an Error whose message has all the given parts and the place of this very line.
#define EXPECT_REFUSED(Error, expression, ...)                 \
  expect_parts(message_of<Error>([&] { (void)(expression); }), \
               {__VA_ARGS__, "errors_test.cpp:" + std::to_string(__LINE__)}, #Error " from " #expression, __LINE__)

void expect_parts(const std::string& message, const std::vector<std::string>& parts, const char* what, int line) {
  SCOPED_TRACE("line " + std::to_string(line) + ": " + what + ": " + (message.empty() ? "nothing thrown" : message));
  for (const std::string& part : parts) EXPECT_NE(message.find(part), std::string::npos) << "without " << part;
}

struct Errors : ::testing::Test {
  const Tensor f23 = zeros({2, 3}), f34 = zeros({3, 4}), f24 = zeros({2, 4}), f5 = zeros({5}), f0 = zeros({});
  const Tensor i2 = zeros({2}, kI64), i23 = zeros({2, 3}, kI64), b23 = zeros({2, 3}, kBool),
               image = zeros({1, 3, 8, 8});
  const Tensor undefined;
};

TEST_F(Errors, OfShapesThatDoNotBroadcastNameBoth) {
  EXPECT_REFUSED(ShapeError, add(f23, f24), "[add]", "[2, 3]", "[2, 4]");
  EXPECT_REFUSED(ShapeError, f23 + f24, "[add]", "[2, 3]", "[2, 4]");
  EXPECT_REFUSED(ShapeError, f23 * f5, "[mul]", "[2, 3]", "[5]");
  EXPECT_REFUSED(ShapeError, f23 < f5, "[lt]", "[2, 3]", "[5]");
  EXPECT_REFUSED(ShapeError, pow(f23, f5), "[pow]", "[2, 3]", "[5]");
  EXPECT_REFUSED(ShapeError, where(b23, f23, f24), "[where]", "[2, 3]", "[2, 4]");
  EXPECT_REFUSED(ShapeError, masked_fill(f24, b23, 0), "[masked_fill]", "[2, 4]", "[2, 3]");
  EXPECT_REFUSED(ShapeError, mse_loss(f23, f24), "[mse_loss]", "[2, 3]", "[2, 4]");
  EXPECT_REFUSED(ShapeError, masked_select(f24, b23), "[masked_select]", "[2, 4]", "[2, 3]");
}

TEST_F(Errors, OfGreaterSignsNameThem) {
  EXPECT_REFUSED(ShapeError, f23 > f5, "[gt]", "[2, 3]", "[5]");
  EXPECT_REFUSED(ShapeError, ge(f23, f5), "[ge]", "[2, 3]", "[5]");
}

TEST_F(Errors, OfProductsNameBothShapes) {
  EXPECT_REFUSED(ShapeError, matmul(f23, f24), "[matmul]", "[2, 3]", "[2, 4]");
  EXPECT_REFUSED(ShapeError, f23.matmul(f24), "[matmul]", "[2, 3]", "[2, 4]");
  EXPECT_REFUSED(ShapeError, matmul(f23, f5), "[matmul]", "[2, 3]", "[5]");
  EXPECT_REFUSED(ShapeError, matmul(f0, f5), "[matmul]", "0-d");
  EXPECT_REFUSED(ShapeError, matmul(zeros({2, 3, 4}), zeros({3, 4, 5})), "[matmul]", "[2, 3, 4]", "[3, 4, 5]");
  EXPECT_REFUSED(ShapeError, linear(f23, f24), "[linear]", "[2, 3]", "[2, 4]");
  EXPECT_REFUSED(ShapeError, linear(f23, zeros({4, 3}), f5), "[linear]", "[4]", "[5]");
  EXPECT_REFUSED(ShapeError, conv2d(image, zeros({4, 2, 3, 3})), "[conv2d]", "[1, 3, 8, 8]", "[4, 2, 3, 3]");
  EXPECT_REFUSED(ShapeError, conv2d(image, zeros({4, 3, 9, 3})), "[conv2d]", "9", "8");
  EXPECT_REFUSED(ShapeError, conv2d(image, zeros({4, 3, 3})), "[conv2d]", "[4, 3, 3]");
  EXPECT_REFUSED(ShapeError, conv2d(image, zeros({4, 3, 3, 3}), f5), "[conv2d]", "[4]", "[5]");
  EXPECT_REFUSED(ShapeError, conv2d(image, zeros({4, 3, 3, 3}), {}, {.stride = 0}), "[conv2d]", "[0, 0]");
}

TEST_F(Errors, OfPoolsSayWhatFits) {
  EXPECT_REFUSED(ShapeError, max_pool2d(f23, 2), "[max_pool2d]", "[2, 3]");
  EXPECT_REFUSED(ShapeError, max_pool2d(image, 9), "[max_pool2d]", "9", "8");
  EXPECT_REFUSED(ShapeError, avg_pool2d(image, 2, {.padding = 2}), "[avg_pool2d]", "half", "2");
  EXPECT_REFUSED(ShapeError, adaptive_avg_pool2d(zeros({1, 3, 0, 2}), 1), "[adaptive_avg_pool2d]", "[1, 3, 0, 2]");
}

TEST_F(Errors, OfAxesSayWhichThereAre) {
  EXPECT_REFUSED(ShapeError, sum(f23, {2}), "[sum]", "-2..1", "2");
  EXPECT_REFUSED(ShapeError, f23.sum({-3}), "[sum]", "-2..1", "-3");
  EXPECT_REFUSED(ShapeError, sum(f23, {0, -2}), "[sum]", "once", "[0, -2]");
  EXPECT_REFUSED(ShapeError, softmax(f23, 2), "[softmax]", "-2..1", "2");
  EXPECT_REFUSED(ShapeError, argmax(f23, 5), "[argmax]", "-2..1", "5");
  EXPECT_REFUSED(ShapeError, cumsum(f0, 1), "[cumsum]", "-1..0", "1");
  EXPECT_REFUSED(ShapeError, transpose(f23, 0, 2), "[transpose]", "-2..1", "2");
  EXPECT_REFUSED(ShapeError, unsqueeze(f23, 3), "[unsqueeze]", "-3..2", "3");
  EXPECT_REFUSED(ShapeError, cat({f23, f23}, 2), "[cat]", "-2..1", "2");
  EXPECT_REFUSED(ShapeError, permute(f23, {0, 0}), "[permute]", "[0, 0]");
  EXPECT_REFUSED(ShapeError, permute(f23, {0}), "[permute]", "2", "[0]");
}

TEST_F(Errors, OfEmptyExtremesNameTheAxis) {
  EXPECT_REFUSED(ShapeError, amax(zeros({2, 0})), "[amax]", "[2, 0]");
  EXPECT_REFUSED(ShapeError, amin(zeros({2, 0}), {1}), "[amin]", "axis 1", "[2, 0]");
  EXPECT_REFUSED(ShapeError, argmax(zeros({2, 0}), 1), "[argmax]", "axis 1", "[2, 0]");
  EXPECT_REFUSED(ShapeError, argmin(zeros({0})), "[argmin]", "[0]");
  EXPECT_REFUSED(ShapeError, max(zeros({0, 2}), 0), "[max]", "axis 0", "[0, 2]");
}

TEST_F(Errors, OfReshapesNameBothShapes) {
  EXPECT_REFUSED(ShapeError, reshape(f23, {4}), "[reshape]", "[2, 3]", "[4]");
  EXPECT_REFUSED(ShapeError, reshape(f23, {4, -1}), "[reshape]", "[2, 3]", "[4, -1]");
  EXPECT_REFUSED(ShapeError, f23.reshape({-1, -1}), "[reshape]", "[-1, -1]");
  EXPECT_REFUSED(ShapeError, f23.view({7}), "[reshape]", "[2, 3]", "[7]");
  EXPECT_REFUSED(ShapeError, reshape(f23, {-2, 3}), "[reshape]", "[-2, 3]");
  EXPECT_REFUSED(ShapeError, expand(f23, {2, 4}), "[expand]", "[2, 3]", "[2, 4]");
  EXPECT_REFUSED(ShapeError, expand(f23, {3}), "[expand]", "[2, 3]", "[3]");
  EXPECT_REFUSED(ShapeError, broadcast_to(f23, {3, 2, 4}), "[broadcast_to]", "[2, 3]", "[3, 2, 4]");
  EXPECT_REFUSED(ShapeError, flatten(f23, 1, 0), "[flatten]", "1", "0");
  EXPECT_REFUSED(ShapeError, repeat(f23, {2}), "[repeat]", "[2]");
}

TEST_F(Errors, OfPartsSayWhatIsThere) {
  EXPECT_REFUSED(ShapeError, narrow(f23, 1, 2, 2), "[narrow]", "3", "2");
  EXPECT_REFUSED(ShapeError, select(f23, 0, 2), "[select]", "-2..1", "2");
  EXPECT_REFUSED(ShapeError, select(f0, 0, 0), "[select]", "0-d");
  EXPECT_REFUSED(ShapeError, f23.index({0, 3}), "[index]", "-3..2", "3");
  EXPECT_REFUSED(ShapeError, f23.index({0, 0, 0}), "[index]", "[2, 3]", "3");
  EXPECT_REFUSED(ValueError, slice(f23, 0, 0, 2, 0), "[slice]", "step");
  EXPECT_REFUSED(ShapeError, slice_scatter(f23, zeros({3, 3}), 0), "[slice_scatter]", "[2, 3]", "[3, 3]");
  EXPECT_REFUSED(ShapeError, pad(f23, {1}), "[pad]", "2", "1");
  EXPECT_REFUSED(ShapeError, pad(f23, {-2, -2}), "[pad]", "-2", "[2, 3]");
  EXPECT_REFUSED(ShapeError, topk(f23, 4), "[topk]", "0..3", "4");
  EXPECT_REFUSED(ValueError, split(f23, 0), "[split]", "0");
  EXPECT_REFUSED(ValueError, chunk(f23, 0), "[chunk]", "0");
  EXPECT_REFUSED(ShapeError, tril(f5), "[tril]", "[5]");
}

TEST_F(Errors, OfJoinsNameBothShapes) {
  EXPECT_REFUSED(ShapeError, cat({f23, f34}), "[cat]", "[2, 3]", "[3, 4]");
  EXPECT_REFUSED(ShapeError, stack({f23, f24}), "[stack]", "[2, 3]", "[2, 4]");
  EXPECT_REFUSED(ValueError, cat({}), "[cat]", "none");
}

TEST_F(Errors, OfDtypesNameThem) {
  EXPECT_REFUSED(DTypeError, mean(i23), "[mean]", "floating", "i64", ".to(");
  EXPECT_REFUSED(DTypeError, var(i23), "[var]", "floating", "i64");
  EXPECT_REFUSED(DTypeError, norm(i23), "[norm]", "floating", "i64");
  EXPECT_REFUSED(DTypeError, where(f23, f23, f23), "[where]", "bool", "f32");
  EXPECT_REFUSED(DTypeError, bitwise_and(f23, f23), "[bitwise_and]", "integer", "f32");
  EXPECT_REFUSED(DTypeError, sub(b23, b23), "[sub]", "bool");
  EXPECT_REFUSED(DTypeError, neg(b23), "[neg]", "bool");
  EXPECT_REFUSED(DTypeError, leaky_relu(i23), "[leaky_relu]", "floating", "i64");
  EXPECT_REFUSED(DTypeError, masked_select(f23, f23), "[masked_select]", "bool", "f32");
  EXPECT_REFUSED(DTypeError, conv2d(image, zeros({4, 3, 3, 3}, kF64)), "[conv2d]", "f32", "f64");
  EXPECT_REFUSED(DTypeError, conv2d(zeros({1, 3, 8, 8}, kI64), zeros({4, 3, 3, 3}, kI64)), "[conv2d]", "floating",
                 "i64");
  EXPECT_REFUSED(DTypeError, matmul(b23, zeros({3, 2}, kBool)), "[matmul]", "bool");
  EXPECT_REFUSED(DTypeError, max_pool2d(zeros({1, 1, 2, 2}, kI64), 2), "[max_pool2d]", "floating", "i64");
  EXPECT_REFUSED(DTypeError, avg_pool2d(zeros({1, 1, 2, 2}, kI64), 2), "[avg_pool2d]", "floating", "i64");
  EXPECT_REFUSED(DTypeError, gather(f23, 0, f23), "[gather]", "i64", "f32");
  EXPECT_REFUSED(DTypeError, index_select(f23, 0, f5), "[index_select]", "i64", "f32");
  EXPECT_REFUSED(DTypeError, embedding(f5, f23), "[embedding]", "i64", "f32");
  EXPECT_REFUSED(DTypeError, scatter(f23, 0, i23, zeros({2, 3}, kF64)), "[scatter]", "f32", "f64");
  EXPECT_REFUSED(DTypeError, cross_entropy(i23, i2), "[cross_entropy]", "floating", "i64");
  EXPECT_REFUSED(DTypeError, nll_loss(f23, b23), "[nll_loss]", "i64", "bool");
  EXPECT_REFUSED(DTypeError, rand({2}, kI64), "[rand]", "floating", "i64");
  EXPECT_REFUSED(DTypeError, make_cell(i23, true), "[make_cell]", "floating", "i64");
}

TEST_F(Errors, OfIndexShapesNameBoth) {
  EXPECT_REFUSED(ShapeError, gather(f23, 0, i2), "[gather]", "[2, 3]", "[2]");
  EXPECT_REFUSED(ShapeError, gather(f23, 0, zeros({2, 4}, kI64)), "[gather]", "[2, 3]", "[2, 4]");
  EXPECT_REFUSED(ShapeError, scatter(f23, 0, i23, f24), "[scatter]", "[2, 3]", "[2, 4]");
  EXPECT_REFUSED(ShapeError, index_add(f23, 0, i2, f24), "[index_add]", "[2, 3]", "[2, 4]");
  EXPECT_REFUSED(ShapeError, index_select(f23, 0, i23), "[index_select]", "[2, 3]");
  EXPECT_REFUSED(ShapeError, embedding(i2, f5), "[embedding]", "[5]");
}

TEST_F(Errors, OfLayersNameBothShapes) {
  EXPECT_REFUSED(ShapeError, layer_norm(f23, {4}), "[layer_norm]", "[4]", "[2, 3]");
  EXPECT_REFUSED(ShapeError, layer_norm(f23, {3}, f5), "[layer_norm]", "3", "[5]");
  EXPECT_REFUSED(ShapeError, batch_norm(f5, f5, f5), "[batch_norm]", "[5]");
  EXPECT_REFUSED(ShapeError, batch_norm(f23, f5, f5), "[batch_norm]", "3", "[5]");
  EXPECT_REFUSED(ValueError, batch_norm(f23, {}, {}), "[batch_norm]", "running");
  EXPECT_REFUSED(ShapeError, cross_entropy(f23, i23), "[cross_entropy]", "[2, 3]");
  EXPECT_REFUSED(ShapeError, cross_entropy(f23, zeros({3}, kI64)), "[cross_entropy]", "[2, 3]", "[3]");
  EXPECT_REFUSED(ShapeError, cross_entropy(f23, i2, {.weight = f5}), "[cross_entropy]", "3", "[5]");
  EXPECT_REFUSED(ShapeError, cross_entropy(f23, f24), "[cross_entropy]", "[2, 3]", "[2, 4]");
  EXPECT_REFUSED(ShapeError, binary_cross_entropy_with_logits(f23, f24), "[binary_cross_entropy_with_logits]", "[2, 3]",
                 "[2, 4]");
}

TEST_F(Errors, OfOptionsSayTheirRange) {
  EXPECT_REFUSED(ValueError, dropout(f23, 1.5), "[dropout]", "0..1", "1.5");
  EXPECT_REFUSED(ValueError, cross_entropy(f23, i2, {.label_smoothing = 2}), "[cross_entropy]", "0..1", "2");
  EXPECT_REFUSED(ValueError, smooth_l1_loss(f23, f23, Reduction::Mean, -1), "[smooth_l1_loss]", "-1");
  EXPECT_REFUSED(ValueError, hardtanh(f23, 2, 1), "[hardtanh]", "2", "1");
  EXPECT_REFUSED(ValueError, clamp(f23, {}, {}), "[clamp]", "bound");
  EXPECT_REFUSED(ValueError, pow(i23, -1), "[pow]", "-1");
  EXPECT_REFUSED(ValueError, one_hot(i2, 0), "[one_hot]", "0");
  EXPECT_REFUSED(ValueError, embedding(i2, f23, 2), "[embedding]", "-2..1", "2");
  EXPECT_REFUSED(ValueError, randint(3, 3, {2}), "[randint]", "3");
  EXPECT_REFUSED(ValueError, uniform({2}, 1, 0), "[uniform]", "1", "0");
  EXPECT_REFUSED(ValueError, arange(0, 5, 0), "[arange]", "step", "0");
  EXPECT_REFUSED(ValueError, arange(0, 5, -1), "[arange]", "step", "-1");
  EXPECT_REFUSED(ValueError, linspace(0, 1, -1), "[linspace]", "-1");
  EXPECT_REFUSED(ValueError, full({2}, 300, kU8), "[full]", "u8", "300");
  EXPECT_REFUSED(ValueError, add(zeros({2}, kI8), 1000), "[add]", "i8", "1000");
}

TEST_F(Errors, OfUndefinedTensorsNameTheFunction) {
  EXPECT_REFUSED(ValueError, relu(undefined), "[relu]", "undefined");
  EXPECT_REFUSED(ValueError, f23 + undefined, "[add]", "undefined");
  EXPECT_REFUSED(ValueError, cat({f23, undefined}), "[cat]", "undefined");
}

TEST_F(Errors, OfSizesComeBeforeMemory) {
  EXPECT_REFUSED(ShapeError, zeros({2, -1}), "[2, -1]");
  EXPECT_REFUSED(ShapeError, zeros({int64_t(1) << 32, int64_t(1) << 32}), "63 bits");
  EXPECT_REFUSED(ShapeError, tensor<float>({1, 2, 3}, Shape{2, 2}), "[tensor]", "4", "[2, 2]", "3");
  EXPECT_REFUSED(ShapeError, f23.item<float>(), "[2, 3]");
}

TEST_F(Errors, OfDevicesNameThem) {
  EXPECT_THROW(Device("cpu:x"), DeviceError);
  EXPECT_REFUSED(DeviceError, zeros({2}, Device("abacus:0")), "abacus:0", "cpu:0");
  EXPECT_REFUSED(DeviceError, zeros({2}, cpu(99)), "cpu:99");
  EXPECT_REFUSED(DeviceError, f23.to(cpu(99)), "cpu:99");
}

// --- what only running finds

TEST_F(Errors, OfIndicesNameThemWhenTheWorkRuns) {
  const Tensor x = zeros({4, 3});
  auto index = [](int64_t i) { return tensor<int64_t>({0, i, 1}); };
  EXPECT_REFUSED(ValueError, index_select(x, 0, index(4)).to_vector<float>(), "4");
  EXPECT_REFUSED(ValueError, index_select(x, 0, index(-5)).to_vector<float>(), "-5", "4");
  EXPECT_REFUSED(ValueError, embedding(index(7), x).to_vector<float>(), "7", "4");
  EXPECT_REFUSED(ValueError, gather(x, 0, index(9).reshape({1, 3})).to_vector<float>(), "[gather]", "9", "4");
  EXPECT_REFUSED(ValueError, scatter(x, 0, index(9).reshape({1, 3}), zeros({1, 3})).to_vector<float>(), "[scatter]",
                 "9", "4");
  EXPECT_REFUSED(ValueError, scatter_add(x, 0, index(9).reshape({1, 3}), zeros({1, 3})).to_vector<float>(),
                 "[scatter_add]", "9", "4");
  EXPECT_REFUSED(ValueError, index_add(x, 0, index(9), zeros({3, 3})).to_vector<float>(), "[index_add]", "9", "4");
  EXPECT_REFUSED(ValueError, one_hot(index(4), 4).to_vector<int64_t>(), "4");
  EXPECT_REFUSED(ValueError, cross_entropy(zeros({3, 4}), index(4)).item<float>(), "4");
}

TEST_F(Errors, OfUpdatesNameTheirLine) {
  Tensor x = f23, small = zeros({2}, kI8);
  EXPECT_REFUSED(ShapeError, x += f24, "[add]", "[2, 3]", "[2, 4]");
  EXPECT_REFUSED(ShapeError, x *= zeros({4, 2, 3}), "[mul]", "[2, 3]");
  EXPECT_REFUSED(ValueError, small += 1000, "[add]", "i8", "1000");
  EXPECT_REFUSED(DTypeError, small /= 2, "[div]", "i8", "f32");
}

TEST_F(Errors, LeaveTheThreadFitForWork) {
  const Tensor before = tensor<float>({1, 2}) + 1;
  EXPECT_THROW(add(f23, f24), ShapeError);
  EXPECT_THROW(index_select(f23, 0, tensor<int64_t>({9})).to_vector<float>(), ValueError);
  EXPECT_TRUE(equals<float>(before, {2}, {2, 3}));
  EXPECT_TRUE(equals<float>(tensor<float>({1, 2}) * 3, {2}, {3, 6}));
}

// --- autograd

TEST_F(Errors, OfBackwardSayWhatIsMissing) {
  Tensor x = tensor<float>({1, 2});
  x.requires_grad_();
  EXPECT_REFUSED(ShapeError, (x * 2).backward(), "[backward]", "[2]");
  EXPECT_REFUSED(ShapeError, (x * 2).backward(f23), "[backward]", "[2]", "[2, 3]");
  EXPECT_REFUSED(GraphError, sum(f23).backward(), "[backward]", "requires_grad_()");
  const Tensor y = sum(square(x));
  y.backward();
  EXPECT_REFUSED(GraphError, y.backward(), "[backward]", "retain_graph");
  EXPECT_REFUSED(GraphError, grad({sum(x)}, {f23}), "[grad]", "allow_unused");
}

}  // namespace
}  // namespace stoker::test
