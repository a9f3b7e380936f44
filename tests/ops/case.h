// The operation test matrix. A case is one line, and every mode of matrix_test.cpp runs over it, on every device and in
// every dtype that it takes: values, gradients, gradients of gradients, strided inputs, planned against one by one.
//
// A new element-wise function: one line with its meaning in double; gradients and broadcasting are worked out from
// that.
//   unary("exp", exp, [](double x) { return std::exp(x); }, {-4, 4}),
// Anything else: one line in tests/reference/ops_cases.py and one of the same name here; then run that script.
//   recorded("matmul.batch", [](X x) { return matmul(x[0], x[1]); }),
//
// A case's name is the function's, or the function's, a dot and what is special. Every function of ops.h has a case.
#pragma once

#include <stoker/ops.h>

#include <functional>
#include <string>
#include <vector>

namespace stoker::test {

using Tensors = std::vector<Tensor>;
using X = const Tensors&;

// Numbers of a case. F64 stands for the floating dtype under test and I32 for the integer one; others for themselves.
struct Array {
  Shape shape;
  DType kind = kF64;
  std::vector<double> values;
  double terms = 0;  // the largest sum of absolute values that an element was added up from

  DType dtype(DType under_test) const { return kind == kF64 || kind == kI32 ? under_test : kind; }
};

struct Sample {
  std::vector<Array> inputs, outputs;
  std::vector<std::optional<Array>> seeds;      // for each output: the gradient that comes in
  std::vector<std::optional<Array>> gradients;  // for each input: the one that goes out
};

// Where a case differs from the rule.
struct Traits {
  bool gradient = true;       // false: none is defined at these inputs
  bool smooth = true;         // false: finite differences meet a tie, a jump or a kink
  bool twice = true;          // false: smooth once only
  bool of_largest = false;    // numbers that cancel: exact to the largest element, not to each
  double ulps = 4;            // how exact values are, in roundings; see Allowed
  double half_ulps = 0.505;   // halves are rounded once, unless several functions make up one
  double gradient_ulps = 16;  // of the largest element
  double gradient_half_ulps = 1.5;
};

// An element-wise function: its meaning, and where it is tried.
struct Domain {
  double low, high;
  bool whole = false;  // integers only, so that operands tie
};
enum class Takes { Floats, Integers, Numbers, Bits, Any };
enum class Gives { Same, Bool, Floats };  // Floats: integers are computed in f32
struct Elementwise {
  int arity = 0;
  std::function<double(double, double)> reference;
  Domain domains[2];
  Takes takes = Takes::Floats;
  Gives gives = Gives::Same;
};

struct Case {
  std::string name;
  std::function<Tensors(X)> run;
  Traits traits;
  Elementwise elementwise;  // arity 0: recorded

  std::string function() const { return name.substr(0, name.find('.')); }
  bool recorded() const { return elementwise.arity == 0; }
  // Those that its varying inputs may have; one that does not matter when there are none.
  std::vector<DType> dtypes() const;
  std::vector<DType> floating_dtypes() const;
  bool has_gradient() const;
  // Inputs and what should come out of them; element-wise cases in any shapes.
  Sample sample(DType dtype) const;
  Sample sample(DType dtype, const std::vector<Shape>& shapes) const;
  // NaN, infinities, zeros and extremes of a floating dtype, each with each.
  Sample specials(DType dtype) const;
};

// For functions that make tensors: the dtype under test.
DType dtype_under_test();
void set_dtype_under_test(DType dtype);

// Every case, by name.
const std::vector<Case>& all_cases();
// The names in tests/data/ops_cases.npz.
std::vector<std::string> recorded_names();

// Adds cases before main() begins: `const Cases kShape{recorded(...), recorded(...)};`
struct Cases {
  Cases(std::initializer_list<Case> cases);
};

// --- lines
// Functions are plain pointers, because a type of its own for every lambda is slow to compile.

// Halves as f32: for numbers that those do not hold.
inline Tensor wide(const Tensor& x) { return x.to(x.dtype() == kF64 ? kF64 : kF32); }

Case recorded(std::string name, Tensor (*f)(X), Traits traits = {});
Case recorded(std::string name, std::pair<Tensor, Tensor> (*f)(X), Traits traits = {});
Case recorded(std::string name, Tensors (*f)(X), Traits traits = {});
// A function of one tensor that computes integers in f32.
Case unary(std::string name, Tensor (*f)(Arg), double (*reference)(double), Domain domain, Traits traits = {});
// Any function of one tensor, perhaps with numbers beside it.
Case number(std::string name, Tensor (*f)(X), double (*reference)(double), Domain domain, Takes takes = Takes::Floats,
            Gives gives = Gives::Same, Traits traits = {});
Case binary(std::string name, Tensor (*f)(Arg, Arg), double (*reference)(double, double), Domain a, Domain b,
            Takes takes = Takes::Numbers, Gives gives = Gives::Same, Traits traits = {});

}  // namespace stoker::test
