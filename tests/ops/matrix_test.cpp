// The modes of the operation test matrix. See case.h.
#include "ops/case.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>
#include <regex>
#include <set>

#include "graph/recorder.h"
#include "support/compare.h"

namespace stoker::test {

// The cases of one public function that a mode is for.
struct Function {
  std::string name;
  std::vector<Case> cases;
};
void PrintTo(const Function& f, std::ostream* out) { *out << f.name; }

namespace {

Tensor input(const Array& a, DType dtype) { return tensor_of(a.values, a.shape, a.dtype(dtype)); }

Tensors inputs(const Sample& s, DType dtype) {
  Tensors x;
  for (const Array& a : s.inputs) x.push_back(input(a, dtype));
  return x;
}

// Cells for the inputs that have a gradient.
Tensors differentiable_inputs(const Sample& s, DType dtype) {
  Tensors x = inputs(s, dtype);
  for (size_t i = 0; i < x.size(); ++i)
    if (s.gradients[i]) x[i].requires_grad_();
  return x;
}

void backward(const Tensors& y, const Sample& s, DType dtype) {
  size_t left = 0;
  for (const auto& seed : s.seeds) left += seed.has_value();
  for (size_t i = 0; i < y.size(); ++i)
    if (s.seeds[i]) y[i].backward(input(*s.seeds[i], dtype), {.retain_graph = --left > 0});
}

Tensors gradients(const Case& c, const Sample& s, DType dtype, bool read_first = false) {
  const Tensors x = differentiable_inputs(s, dtype), y = c.run(x);
  if (read_first)
    for (const Tensor& t : y) t.to_vector<double>();
  backward(y, s, dtype);
  Tensors out;
  for (const Tensor& t : x) out.push_back(t.grad());
  return out;
}

void expect_values(const Case& c, const Sample& s, DType dtype) {
  const Tensors y = c.run(inputs(s, dtype));
  ASSERT_EQ(y.size(), s.outputs.size());
  const Allowed allowed{c.traits.ulps, c.recorded() || c.traits.of_largest, c.traits.half_ulps};
  for (size_t i = 0; i < y.size(); ++i) {
    const Array& want = s.outputs[i];
    EXPECT_TRUE(matches(y[i], want.shape, want.dtype(dtype), want.values, allowed)) << "output " << i;
    EXPECT_EQ(y[i].device(), default_device());
  }
}

void expect_gradients(const Case& c, const Sample& s, DType dtype) {
  const Tensors got = gradients(c, s, dtype);
  // In f64, what is known of an element-wise gradient comes from differences.
  const double differences = c.recorded() || dtype != kF64 ? 0 : 1e-10 / limits_of(kF64).epsilon;
  for (size_t i = 0; i < got.size(); ++i)
    if (const auto& want = s.gradients[i]) {
      const Allowed allowed{c.traits.gradient_ulps + differences, true, c.traits.gradient_half_ulps, want->terms};
      EXPECT_TRUE(matches(got[i], want->shape, dtype, want->values, allowed)) << "gradient of input " << i;
    }
}

// --- on every device, in every dtype

template <class F>
void everywhere(const Case& c, const std::vector<DType>& dtypes, F check) {
  for (Device device : devices())
    for (DType dtype : dtypes) {
      SCOPED_TRACE(c.name + " on " + to_string(device) + " in " + std::string(name_of(dtype)));
      const DeviceScope scope(device);
      set_dtype_under_test(dtype);
      try {
        check(dtype);
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
      }
    }
}

class EagerScope {
 public:
  explicit EagerScope(bool on) : previous_(graph::eager()) { graph::set_eager(on); }
  ~EagerScope() { graph::set_eager(previous_); }

 private:
  bool previous_;
};

struct Operation : ::testing::TestWithParam<Function> {
  const std::vector<Case>& cases = GetParam().cases;
};
struct Differentiable : Operation {};
struct Smooth : Operation {};
struct TwiceDifferentiable : Operation {};
struct ElementwiseOperation : Operation {};

TEST_P(Operation, GivesTheReferencesValues) {
  for (const Case& c : cases) everywhere(c, c.dtypes(), [&](DType dtype) { expect_values(c, c.sample(dtype), dtype); });
}

TEST_P(Differentiable, GivesTheReferencesGradients) {
  for (const Case& c : cases)
    everywhere(c, c.floating_dtypes(), [&](DType dtype) { expect_gradients(c, c.sample(dtype), dtype); });
}

void expect_the_same_when_read_first(const Case& c, DType dtype) {
  const Sample s = c.sample(dtype);
  const Tensors want = gradients(c, s, dtype), got = gradients(c, s, dtype, true);
  for (size_t i = 0; i < got.size(); ++i)
    if (s.gradients[i]) {
      EXPECT_TRUE(matches(got[i], want[i].shape(), dtype, want[i].to_vector<double>(), {4, true}))
          << "gradient of input " << i;
    }
}

TEST_P(Differentiable, KeepsWhatItsGradientNeedsWhenReadFirst) {
  for (const Case& c : cases)
    everywhere(c, {kF32, kF64}, [&](DType dtype) { expect_the_same_when_read_first(c, dtype); });
}

// --- element-wise: any shapes, special numbers

const std::pair<Shape, Shape> kShapes[] = {{{}, {}},
                                           {{2, 3}, {}},
                                           {{}, {2, 3}},
                                           {{1}, {5}},
                                           {{0, 3}, {1, 3}},
                                           {{1, 3}, {0, 3}},
                                           {{2, 1, 3}, {4, 1}},
                                           {{4, 1}, {2, 1, 3}},
                                           {{1037}, {3, 1}},
                                           {{3, 1037}, {3, 1}},
                                           {{2, 1, 2, 1, 3}, {1, 2, 1, 2, 1}}};

TEST_P(ElementwiseOperation, BroadcastsEveryShape) {
  for (const Case& c : cases) {
    const std::vector<DType> dtypes = c.has_gradient() ? std::vector{kF32, kF64} : std::vector{c.dtypes().front()};
    for (const auto& [a, b] : kShapes) {
      SCOPED_TRACE(to_string(a) + " and " + to_string(b));
      everywhere(c, dtypes, [&, shapes = std::vector{a, b}](DType dtype) {
        const Sample s = c.sample(dtype, shapes);
        expect_values(c, s, dtype);
        if (c.has_gradient()) expect_gradients(c, s, dtype);
      });
    }
  }
}

TEST_P(ElementwiseOperation, TreatsSpecialNumbersAsItsMeaningDoes) {
  for (const Case& c : cases)
    everywhere(c, c.floating_dtypes(), [&](DType dtype) { expect_values(c, c.specials(dtype), dtype); });
}

// --- finite differences

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// A direction, different for each input; `turn` gives others.
std::vector<double> direction(size_t input, size_t count, size_t turn) {
  std::vector<double> u(count);
  for (size_t i = 0; i < count; ++i) u[i] = std::cos(double(1 + i * 7 + input * 3 + turn * 11));
  return u;
}

// The slope of f at s along a direction of one input.
template <class F>
double slope(Sample s, size_t input, const std::vector<double>& u, const F& f) {
  const double h = 0x1p-11;
  const std::vector<double> x = s.inputs[input].values;
  auto at = [&](double step) {
    for (size_t i = 0; i < x.size(); ++i) s.inputs[input].values[i] = x[i] + step * u[i];
    return f(s);
  };
  return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
}

// Rounding of sums of this size, magnified by the step, and the rule's own error.
double slack(double magnitude) { return 1e-9 * (1 + magnitude); }

void expect_gradient_is_slope(const Case& c) {
  const Sample s = c.sample(kF64);
  auto loss = [&](const Sample& at) {
    double total = 0;
    const Tensors y = c.run(inputs(at, kF64));
    for (size_t i = 0; i < y.size(); ++i)
      if (s.seeds[i]) total += dot(y[i].to_vector<double>(), s.seeds[i]->values);
    return total;
  };
  const Tensors g = gradients(c, s, kF64);
  for (size_t i = 0; i < g.size(); ++i) {
    if (!s.gradients[i]) continue;
    const std::vector<double> u = direction(i, g[i].to_vector<double>().size(), 0);
    EXPECT_NEAR(dot(g[i].to_vector<double>(), u), slope(s, i, u, loss), slack(std::abs(loss(s)))) << "input " << i;
  }
}

TEST_P(Smooth, GradientIsTheSlope) {
  for (const Case& c : cases) everywhere(c, {kF64}, [&](DType) { expect_gradient_is_slope(c); });
}

// The sum of the gradients, each along a direction: one number, to be differentiated again.
Tensor gradient_along(const Case& c, const Sample& s, const Tensors& x, bool create_graph) {
  Tensors y, seeds, wanted;
  const Tensors all = c.run(x);
  for (size_t i = 0; i < all.size(); ++i)
    if (s.seeds[i]) y.push_back(all[i]), seeds.push_back(input(*s.seeds[i], kF64));
  for (size_t i = 0; i < x.size(); ++i)
    if (s.gradients[i]) wanted.push_back(x[i]);
  const Tensors g = grad(y, wanted, seeds, {.create_graph = create_graph});
  Tensor total = zeros({}, kF64);
  for (size_t i = 0; i < g.size(); ++i)
    total = total + sum(g[i] * tensor_of(direction(i, size_t(g[i].numel()), 1), g[i].shape(), kF64));
  return total;
}

void expect_second_gradient_is_slope(const Case& c) {
  const Sample s = c.sample(kF64);
  auto value = [&](const Sample& at) {
    return gradient_along(c, s, differentiable_inputs(at, kF64), false).item<double>();
  };
  const Tensors x = differentiable_inputs(s, kF64);
  const Tensor total = gradient_along(c, s, x, true);
  const bool constant = !total.requires_grad();  // of what is linear
  if (!constant) total.backward();
  for (size_t i = 0; i < x.size(); ++i) {
    if (!s.gradients[i]) continue;
    const std::vector<double> u = direction(i, s.inputs[i].values.size(), 0);
    const Tensor second = constant ? Tensor() : x[i].grad();
    const double got = second.defined() ? dot(second.to_vector<double>(), u) : 0;
    EXPECT_NEAR(got, slope(s, i, u, value), 10 * slack(std::abs(value(s)))) << "input " << i;
  }
}

TEST_P(TwiceDifferentiable, GradientOfTheGradientIsItsSlope) {
  for (const Case& c : cases) everywhere(c, {kF64}, [&](DType) { expect_second_gradient_is_slope(c); });
}

// --- strided inputs

// Memory that holds an array in another order, and the look at it that shows the array.
struct Layout {
  const char* name;
  Array (*base)(const Array& a);
  Tensor (*view)(const Tensor& base);
};

// The elements of `shape` in an order that `at` gives, `rest` elsewhere.
template <class F>
Array placed(const Array& a, const Shape& shape, double rest, const F& at) {
  Array base{shape, a.kind, std::vector<double>(size_t(numel(shape)), rest)};
  const Dims strides = contiguous_strides(shape);
  for (size_t i = 0; i < a.values.size(); ++i) {
    Dims position = Dims::filled(a.shape.rank(), 0);
    int64_t left = int64_t(i), offset = 0;
    for (int axis = a.shape.rank() - 1; axis >= 0; --axis) position[axis] = left % a.shape[axis], left /= a.shape[axis];
    for (int axis = 0; axis < shape.rank(); ++axis) offset += at(position, axis) * strides[axis];
    base.values[size_t(offset)] = a.values[i];
  }
  return base;
}

Dims backwards(int rank) {
  Dims axes;
  for (int i = 0; i < rank; ++i) axes.push_back(rank - 1 - i);
  return axes;
}

Array transposed(const Array& a) {
  Shape shape;
  for (int64_t axis : backwards(a.shape.rank())) shape.push_back(a.shape[int(axis)]);
  return placed(a, shape, 0, [&](const Dims& p, int axis) { return p[a.shape.rank() - 1 - axis]; });
}
Array reversed(const Array& a) {
  return placed(a, a.shape, 0, [&](const Dims& p, int axis) { return a.shape[axis] - 1 - p[axis]; });
}
// Every second element of a larger one, whose others must not be read.
Array scattered(const Array& a) {
  Shape shape = a.shape;
  for (int64_t& extent : shape) extent = 2 * extent + 1;
  const double rest = a.kind == kF64 ? std::numeric_limits<double>::quiet_NaN() : 99;
  return placed(a, shape, rest, [](const Dims& p, int axis) { return 2 * p[axis] + 1; });
}

const Layout kLayouts[] = {
    {"transposed", transposed, [](const Tensor& base) { return permute(base, backwards(base.dim())); }},
    {"reversed", reversed,
     [](const Tensor& base) {
       Tensor x = base;
       for (int axis = 0; axis < base.dim(); ++axis) x = slice(x, axis, {}, {}, -1);
       return x;
     }},
    {"scattered", scattered,
     [](const Tensor& base) {
       Tensor x = base;
       for (int axis = 0; axis < base.dim(); ++axis) x = slice(x, axis, 1, {}, 2);
       return x;
     }},
};

void expect_the_same_from_views(const Case& c, DType dtype) {
  const Sample s = c.sample(dtype);
  const bool with_gradient = is_floating(dtype) && c.has_gradient();
  const Tensors dense = c.run(inputs(s, dtype));
  const Tensors dense_gradients = with_gradient ? gradients(c, s, dtype) : Tensors();
  // A reduction may add in another order.
  const Allowed allowed{c.recorded() ? 4.0 : 0.0, true};
  for (const Layout& layout : kLayouts) {
    SCOPED_TRACE(layout.name);
    Tensors bases, x;
    for (size_t i = 0; i < s.inputs.size(); ++i) {
      bases.push_back(input(layout.base(s.inputs[i]), dtype));
      if (with_gradient && s.gradients[i]) bases.back().requires_grad_();
      x.push_back(layout.view(bases.back()));
    }
    const Tensors y = c.run(x);
    ASSERT_EQ(y.size(), dense.size());
    for (size_t i = 0; i < y.size(); ++i)
      EXPECT_TRUE(matches(y[i], dense[i].shape(), dense[i].dtype(), dense[i].to_vector<double>(), allowed))
          << "output " << i;
    if (!with_gradient) continue;
    backward(y, s, dtype);
    for (size_t i = 0; i < x.size(); ++i)
      if (s.gradients[i]) {
        EXPECT_TRUE(matches(layout.view(bases[i].grad()), s.inputs[i].shape, dtype,
                            dense_gradients[i].to_vector<double>(), allowed))
            << "gradient of input " << i;
      }
  }
}

TEST_P(Operation, TakesAnyStrides) {
  for (const Case& c : cases)
    everywhere(c, {c.dtypes().front()}, [&](DType dtype) { expect_the_same_from_views(c, dtype); });
}

// --- planned against one by one

void expect_the_same_one_by_one(const Case& c, DType dtype) {
  const Sample s = c.sample(dtype);
  auto results = [&](bool eager) {
    const EagerScope scope(eager);
    Tensors out = c.run(inputs(s, dtype));
    if (is_floating(dtype) && c.has_gradient())
      for (const Tensor& g : gradients(c, s, dtype)) out.push_back(g);
    for (const Tensor& t : out)
      if (t.defined()) t.to_vector<double>();
    return out;
  };
  const Tensors planned = results(false), one_by_one = results(true);
  ASSERT_EQ(planned.size(), one_by_one.size());
  for (size_t i = 0; i < planned.size(); ++i) {
    const Tensor &got = one_by_one[i], &want = planned[i];
    ASSERT_EQ(got.defined(), want.defined());
    if (!got.defined()) continue;
    const Allowed allowed{c.recorded() ? 4.0 : 0.0, true};
    EXPECT_TRUE(matches(got, want.shape(), want.dtype(), want.to_vector<double>(), allowed)) << "result " << i;
  }
}

TEST_P(Operation, GivesTheSamePlannedAndOneByOne) {
  for (const Case& c : cases)
    everywhere(c, {c.dtypes().front()}, [&](DType dtype) { expect_the_same_one_by_one(c, dtype); });
}

// --- which case runs in which mode

bool is_finite(const Sample& s) {
  for (const auto* arrays : {&s.inputs, &s.outputs})
    for (const Array& a : *arrays)
      if (!std::all_of(a.values.begin(), a.values.end(), [](double v) { return std::isfinite(v); })) return false;
  return true;
}

bool always(const Case&) { return true; }
bool differentiable(const Case& c) { return c.has_gradient(); }
bool smooth(const Case& c) { return c.has_gradient() && c.traits.smooth && is_finite(c.sample(kF64)); }
bool twice_differentiable(const Case& c) { return smooth(c) && c.traits.twice; }
bool elementwise(const Case& c) { return !c.recorded(); }

// The cases that hold, by function: a test of each function's cases, because a process for each case takes longer.
auto functions(bool (*holds)(const Case&)) {
  std::vector<Function> out;
  for (const Case& c : all_cases()) {
    if (!holds(c)) continue;
    if (out.empty() || out.back().name != c.function()) out.push_back({c.function(), {}});
    out.back().cases.push_back(c);
  }
  return ::testing::ValuesIn(out);
}
std::string label(const ::testing::TestParamInfo<Function>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Ops, Operation, functions(always), label);
INSTANTIATE_TEST_SUITE_P(Ops, ElementwiseOperation, functions(elementwise), label);
INSTANTIATE_TEST_SUITE_P(Ops, Differentiable, functions(differentiable), label);
INSTANTIATE_TEST_SUITE_P(Ops, Smooth, functions(smooth), label);
INSTANTIATE_TEST_SUITE_P(Ops, TwiceDifferentiable, functions(twice_differentiable), label);

// --- the matrix is complete

TEST(Cases, RecordedAndTestedAreTheSame) {
  std::vector<std::string> tested, recorded = recorded_names();
  for (const Case& c : all_cases())
    if (c.recorded()) tested.push_back(c.name);
  std::sort(recorded.begin(), recorded.end());
  EXPECT_EQ(tested, recorded);
}

TEST(Cases, CoverEveryFunctionOfTheHeader) {
  std::set<std::string> covered{"operator"};
  for (const Case& c : all_cases()) covered.insert(c.function());
  std::ifstream header(std::string(STOKER_TESTS_DIR) + "/../include/stoker/ops.h");
  const std::regex declaration(R"(^(?:Tensor|std::pair<Tensor, Tensor>|std::vector<Tensor>) (\w+)\()");
  std::smatch found;
  int functions = 0;
  for (std::string line; std::getline(header, line);)
    if (std::regex_search(line, found, declaration)) {
      ++functions;
      EXPECT_TRUE(covered.count(found[1])) << found[1] << " has no case";
    }
  EXPECT_GT(functions, 100);
}

}  // namespace
}  // namespace stoker::test
