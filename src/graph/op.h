// The operation table. An operation is described once, in graph/ops/<family>.cpp; everything else (recording,
// gradients, the verifier, printing, fusion, every backend) reads the row. Nothing outside switches over operations by
// name.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/expr.h"
#include "graph/node.h"

namespace stoker::graph {

// --- what the table's rules see --------------------------------------------------------------------------------------

struct InferContext {
  const Op& op;
  std::span<const TensorType> inputs;
  const Attrs& attrs;
  Loc loc;
  std::string_view name;  // what errors call it: the public function, or the operation

  template <class T>
  const T& get() const {
    return attrs.get<T>();
  }
  const TensorType& in(int i) const { return inputs[size_t(i)]; }
  // One of the input's type with another shape or dtype.
  TensorType like(int i, Shape shape) const { return {in(i).dtype, shape, in(i).device}; }
  TensorType like(int i, Shape shape, DType dtype) const { return {dtype, shape, in(i).device}; }
  [[noreturn]] void shape_error(const std::string& message) const;
  [[noreturn]] void dtype_error(const std::string& message) const;
};

struct GradContext {
  const Node& node;
  std::span<const Value> output_gradients;  // an empty Value where no gradient arrived

  const Value& in(int i) const { return node.inputs()[size_t(i)]; }
  Value out(int i = 0) const { return Value(Ref<Node>(const_cast<Node*>(&node)), i); }
  const Value& dy(int i = 0) const { return output_gradients[size_t(i)]; }
  template <class T>
  const T& get() const {
    return node.attrs<T>();
  }
  bool needs(int i) const { return in(i).node->requires_grad; }
};

// A strided look at memory: what kernels are given.
struct TensorDesc {
  DType dtype = DType::F32;
  Shape shape;
  Dims strides;        // in elements
  int64_t offset = 0;  // in elements, from the start of the storage
  bool contiguous() const;
};

enum class ReduceKind : uint8_t { None, Sum, Prod, Max, Min };

enum class OpClass : uint8_t {
  Leaf,         // data, scalar, constant: values that come from outside
  Elementwise,  // a scalar expression of equally shaped (broadcast) inputs
  Reduction,    // combines elements over axes
  View,         // another look at the same memory
  Kernel,       // anything else: a backend has a kernel, or the composed form runs
};

// What a gradient reads of its node, so that a value read before backward() keeps exactly that.
struct Saves {
  uint32_t inputs = 0, outputs = 0;  // bit i: input or output i
  bool crosswise = false;            // of products: an input is read only for the gradients of the others
  static Saves in(std::initializer_list<int> which);
  static Saves out(std::initializer_list<int> which);
  static Saves all_inputs() { return {~0u, 0, false}; }
  static Saves each_others() { return {~0u, 0, true}; }
  Saves operator|(Saves o) const { return {inputs | o.inputs, outputs | o.outputs, crosswise || o.crosswise}; }
};

using InferFn = std::function<std::vector<TensorType>(const InferContext&)>;
using GradFn = std::function<std::vector<Value>(const GradContext&)>;
using ExprFn = std::function<Ex(std::span<const Ex>, const Attrs&)>;
using ViewFn = std::function<std::optional<TensorDesc>(const TensorDesc&, const Attrs&)>;
using ComposeFn = std::function<std::vector<Value>(std::span<const Value>, const Attrs&)>;
using FlopsFn = std::function<double(std::span<const TensorType>, std::span<const TensorType>, const Attrs&)>;

struct Op {
  std::string name{};
  std::string doc{};  // one line for the generated operation table
  int arity = 1;      // -1: any number of inputs
  OpClass kind = OpClass::Kernel;
  InferFn infer{};    // types of the outputs; throws for inputs that the operation cannot take
  GradFn gradient{};  // one Value per input, empty where there is none; null: not differentiable
  Saves saves{};
  ExprFn expr{};                         // Elementwise
  ReduceKind reduce = ReduceKind::None;  // Reduction
  ViewFn view{};                         // View: empty result when these strides cannot be viewed that way
  ComposeFn compose{};            // Kernel: the same in terms of simpler operations; the fallback and the test oracle
  FlopsFn flops{};                // algorithmic floating-point operations; null: one per output element
  bool strided_inputs = false;    // Kernel: reads any strides; otherwise inputs are made contiguous
  int inplace_input = -1;         // Kernel: output 0 may be stored over this input
  bool assigns_in_place = false;  // optimizer updates: output i is stored over input i
  bool barrier = false;           // never merged, removed or moved (checkpoint barriers, collectives)
};

// Whether the gradient of a recorded node will read its i-th input.
bool gradient_reads(const Node& node, int input);

// Adds a row. Called by the registration functions of graph/ops, once each.
const Op& define(Op op);
// The row of that name; a name that is not there is a programming error (throws std::logic_error).
const Op& op(std::string_view name);
// Every row, by name.
std::vector<const Op*> all_ops();

}  // namespace stoker::graph
