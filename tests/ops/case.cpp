#include "ops/case.h"

#include <stoker/io.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "support/compare.h"

namespace stoker::test {
namespace {

const std::vector<DType> kFloating{kF32, kF64, kF16, kBF16}, kIntegers{kI64, kI32, kI16, kI8, kU8};

const StateDict& recording() {
  static const StateDict all = load_npz(std::string(STOKER_TESTS_DIR) + "/data/ops_cases.npz", cpu());
  return all;
}

std::optional<Array> recorded_array(const std::string& key) {
  auto entry = recording().find(key);
  if (entry == recording().end()) return {};
  return Array{entry->second.shape(), entry->second.dtype(), entry->second.to_vector<double>()};
}

Sample recorded_sample(const std::string& name) {
  Sample s;
  for (int i = 0;; ++i) {
    auto x = recorded_array(name + "/x" + std::to_string(i));
    if (!x) break;
    s.inputs.push_back(*x);
    s.gradients.push_back(recorded_array(name + "/d" + std::to_string(i)));
  }
  for (int i = 0;; ++i) {
    auto y = recorded_array(name + "/y" + std::to_string(i));
    if (!y) break;
    s.outputs.push_back(*y);
    s.seeds.push_back(recorded_array(name + "/g" + std::to_string(i)));
  }
  return s;
}

// --- element-wise samples: made from the function's meaning in double

// `count` numbers of a domain in an order that differs from operand to operand. Floating ones are odd multiples of a
// power of two, of another power for each operand: exact in every dtype, and no operand is a multiple of the other.
std::vector<double> spread(Domain domain, DType dtype, int operand, int64_t count) {
  double step = 1, first = 0;
  if (is_floating(dtype) && !domain.whole) {
    while (std::max(std::abs(domain.low), std::abs(domain.high)) <= 128 * step) step /= 2;
    step *= operand + 1;
    first = step;
    step *= 2;
  } else if (dtype == kBool) {
    domain = {0, 1};
  } else if (dtype == kU8) {
    domain.low = std::max(domain.low, 0.0);
  }
  const double lowest = first + step * std::ceil((domain.low - first) / step);
  const int64_t available = int64_t(std::floor((domain.high - lowest) / step)) + 1;
  // Few numbers: every pair of operands. Many: spread evenly, by another irrational number for each operand.
  const bool few = available <= 16;
  const double turn = operand == 0 ? 0.6180339887498949 : 0.41421356237309515;
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) {
    const double fraction = double(i + 1) * turn - std::floor(double(i + 1) * turn);
    const int64_t k = few ? (operand == 0 ? i : i + i / 7) % available : int64_t(fraction * double(available));
    values.push_back(lowest + step * double(k));
  }
  return values;
}

// The element of an operand of shape `from` that meets element `i` of the broadcast shape `to`.
int64_t source_of(int64_t i, const Shape& from, const Shape& to) {
  int64_t index = 0, stride = 1;
  for (int axis = to.rank() - 1, at = from.rank() - 1; axis >= 0; --axis, --at) {
    const int64_t position = i % to[axis];
    i /= to[axis];
    if (at < 0) continue;
    if (from[at] != 1) index += position * stride;
    stride *= from[at];
  }
  return index;
}

double wrapped(double v, DType dtype) {
  switch (dtype) {
    case kU8:
      return double(uint8_t(int64_t(v)));
    case kI8:
      return double(int8_t(int64_t(v)));
    case kI16:
      return double(int16_t(int64_t(v)));
    case kI32:
      return double(int32_t(int64_t(v)));
    default:
      return v;
  }
}

Array output_of(const Elementwise& e, const std::vector<Array>& inputs, const Shape& shape, DType dtype) {
  const bool real = is_floating(dtype) || e.gives == Gives::Floats;
  Array y{shape, e.gives == Gives::Bool ? kBool : real && !is_floating(dtype) ? kF32 : inputs[0].kind, {}};
  for (int64_t i = 0; i < numel(shape); ++i) {
    double x[2] = {};
    for (size_t k = 0; k < inputs.size(); ++k) x[k] = inputs[k].values[size_t(source_of(i, inputs[k].shape, shape))];
    const double v = e.reference(x[0], x[1]);
    y.values.push_back(real || e.gives == Gives::Bool ? v : wrapped(v, dtype));
  }
  return y;
}

// The slope along one operand, by a rule whose error is of the fourth order.
double slope(const Elementwise& e, double a, double b, int operand) {
  const double h = 0x1p-12;
  auto at = [&](double d) { return operand == 0 ? e.reference(a + d, b) : e.reference(a, b + d); };
  return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
}

Array gradient_of(const Elementwise& e, const std::vector<Array>& inputs, const Array& seed, int operand) {
  Array d{inputs[size_t(operand)].shape, kF64, std::vector<double>(inputs[size_t(operand)].values.size())};
  std::vector<double> terms(d.values.size());
  for (size_t i = 0; i < seed.values.size(); ++i) {
    double x[2] = {};
    for (size_t k = 0; k < inputs.size(); ++k)
      x[k] = inputs[k].values[size_t(source_of(int64_t(i), inputs[k].shape, seed.shape))];
    const size_t at = size_t(source_of(int64_t(i), d.shape, seed.shape));
    const double term = seed.values[i] * slope(e, x[0], x[1], operand);
    d.values[at] += term;
    terms[at] += std::abs(term);
  }
  if (!terms.empty()) d.terms = *std::max_element(terms.begin(), terms.end());
  return d;
}

}  // namespace

std::vector<DType> Case::dtypes() const {
  if (recorded()) {
    const Sample s = recorded_sample(name);
    auto has = [&](DType kind) {
      auto is = [kind](const Array& a) { return a.kind == kind; };
      return std::any_of(s.inputs.begin(), s.inputs.end(), is) ||
             (s.inputs.empty() && std::any_of(s.outputs.begin(), s.outputs.end(), is));
    };
    return has(kF64) ? kFloating : has(kI32) ? kIntegers : std::vector{kF32};
  }
  std::vector<DType> out;
  const Takes takes = elementwise.takes;
  if (takes != Takes::Integers && takes != Takes::Bits) out = kFloating;
  if (takes != Takes::Floats) out.insert(out.end(), kIntegers.begin(), kIntegers.end());
  if (takes == Takes::Any || takes == Takes::Bits) out.push_back(kBool);
  const bool negative =
      std::any_of(std::begin(elementwise.domains), std::end(elementwise.domains), [](Domain d) { return d.high < 0; });
  if (negative) std::erase(out, kU8);
  return out;
}

std::vector<DType> Case::floating_dtypes() const {
  std::vector<DType> out;
  for (DType d : dtypes())
    if (is_floating(d)) out.push_back(d);
  return out;
}

bool Case::has_gradient() const {
  if (!traits.gradient) return false;
  if (!recorded()) return elementwise.gives != Gives::Bool && !floating_dtypes().empty();
  const Sample s = recorded_sample(name);
  return std::any_of(s.gradients.begin(), s.gradients.end(), [](const auto& g) { return g.has_value(); });
}

Sample Case::sample(DType dtype) const {
  return recorded() ? recorded_sample(name) : sample(dtype, std::vector<Shape>(size_t(elementwise.arity), {3, 4, 5}));
}

Sample Case::sample(DType dtype, const std::vector<Shape>& shapes) const {
  const Elementwise& e = elementwise;
  const DType kind = is_floating(dtype) ? kF64 : dtype == kBool ? kBool : kI32;
  Sample s;
  Shape shape;
  for (int i = 0; i < e.arity; ++i) {
    s.inputs.push_back({shapes[size_t(i)], kind, spread(e.domains[i], dtype, i, numel(shapes[size_t(i)]))});
    shape = broadcast_shapes(shape, shapes[size_t(i)]);
  }
  s.outputs.push_back(output_of(e, s.inputs, shape, dtype));
  s.seeds.resize(1);
  s.gradients.resize(s.inputs.size());
  if (!is_floating(dtype) || !has_gradient()) return s;
  s.seeds[0] = Array{shape, kF64, spread({-2, 2}, dtype, 1, numel(shape))};
  for (int i = 0; i < e.arity; ++i) s.gradients[size_t(i)] = gradient_of(e, s.inputs, *s.seeds[0], i);
  return s;
}

Sample Case::specials(DType dtype) const {
  const FloatLimits limits = limits_of(dtype);
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  std::vector<double> values{0.0, 0.5, 1, 2, 3, limits.smallest, limits.smallest / limits.epsilon, limits.largest,
                             inf, nan};
  for (size_t i = 0, n = values.size() - 1; i < n; ++i) values.push_back(-values[i]);
  const int64_t n = int64_t(values.size());
  Sample s;
  s.inputs.push_back({{n, 1}, kF64, values});
  if (elementwise.arity == 2) s.inputs.push_back({{n}, kF64, values});
  s.outputs.push_back(output_of(elementwise, s.inputs, elementwise.arity == 2 ? Shape{n, n} : Shape{n, 1}, dtype));
  return s;
}

namespace {
DType under_test = kF32;
}
DType dtype_under_test() { return under_test; }
void set_dtype_under_test(DType dtype) { under_test = dtype; }

// --- lines

Case recorded(std::string name, Tensor (*f)(X), Traits traits) {
  return {std::move(name), [f](X x) { return Tensors{f(x)}; }, traits, {}};
}
Case recorded(std::string name, std::pair<Tensor, Tensor> (*f)(X), Traits traits) {
  auto run = [f](X x) {
    const auto [first, second] = f(x);
    return Tensors{first, second};
  };
  return {std::move(name), run, traits, {}};
}
Case recorded(std::string name, Tensors (*f)(X), Traits traits) { return {std::move(name), f, traits, {}}; }

Case unary(std::string name, Tensor (*f)(Arg), double (*reference)(double), Domain domain, Traits traits) {
  return {std::move(name),
          [f](X x) { return Tensors{f(x[0])}; },
          traits,
          {1, [reference](double a, double) { return reference(a); }, {domain, {}}, Takes::Numbers, Gives::Floats}};
}
Case number(std::string name, Tensor (*f)(X), double (*reference)(double), Domain domain, Takes takes, Gives gives,
            Traits traits) {
  return {std::move(name),
          [f](X x) { return Tensors{f(x)}; },
          traits,
          {1, [reference](double a, double) { return reference(a); }, {domain, {}}, takes, gives}};
}
Case binary(std::string name, Tensor (*f)(Arg, Arg), double (*reference)(double, double), Domain a, Domain b,
            Takes takes, Gives gives, Traits traits) {
  return {std::move(name), [f](X x) { return Tensors{f(x[0], x[1])}; }, traits, {2, reference, {a, b}, takes, gives}};
}

// --- registry

namespace {
std::vector<Case>& registry() {
  static std::vector<Case> cases;
  return cases;
}
}  // namespace

Cases::Cases(std::initializer_list<Case> cases) { registry().insert(registry().end(), cases.begin(), cases.end()); }

const std::vector<Case>& all_cases() {
  static const std::vector<Case> sorted = [] {
    std::vector<Case> cases = registry();
    std::sort(cases.begin(), cases.end(), [](const Case& a, const Case& b) { return a.name < b.name; });
    return cases;
  }();
  return sorted;
}

std::vector<std::string> recorded_names() {
  std::vector<std::string> names;
  for (const auto& [key, value] : recording()) {
    const std::string name = key.substr(0, key.find('/'));
    if (names.empty() || names.back() != name) names.push_back(name);
  }
  return names;
}

}  // namespace stoker::test
