/// \file
/// Tensor: a handle to a value on a device. Nothing is computed until a value is needed; see docs/guide.md.
///
/// A tensor is either a *value* (immutable; `x += y` gives the handle a new value and leaves every other handle alone)
/// or a *cell* (a parameter, buffer or anything on which requires_grad_() was called): shared by all copies of the
/// handle, changed by optimizers, assign() and loading alone.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include <stoker/device.h>
#include <stoker/dtype.h>
#include <stoker/error.h>
#include <stoker/shape.h>

namespace stoker {

namespace detail {
struct TensorImpl;  // defined by the tensor room
struct Access;
}  // namespace detail

/// A number of the host: takes part in operations without deciding their dtype's width.
/// Numbers that change from step to step do not make a new plan.
class Scalar {
 public:
  template <class T>
  requires std::is_arithmetic_v<T> Scalar(T value) {
    if constexpr (std::is_floating_point_v<T>)
      real_ = double(value), kind_ = DType::F64;
    else
      integer_ = int64_t(value), kind_ = std::is_same_v<T, bool> ? DType::Bool : DType::I64;
  }
  bool is_floating() const { return kind_ == DType::F64; }
  bool is_bool() const { return kind_ == DType::Bool; }
  double to_double() const { return is_floating() ? real_ : double(integer_); }
  int64_t to_int() const { return is_floating() ? int64_t(real_) : integer_; }

 private:
  double real_ = 0;
  int64_t integer_ = 0;
  DType kind_ = DType::I64;
};

struct Arg;

/// A number with the line of the call, for operators, which cannot have further arguments.
struct ScalarArg {
  Scalar number;
  Loc loc;
  template <class T>
  requires std::is_arithmetic_v<T> ScalarArg(T value, Loc loc = Loc::here()) : number(value), loc(loc) {}
};

/// dtype and device of a new tensor: `zeros({2, 3}, kF16)`, `zeros({2, 3}, cuda())`, `zeros({2, 3}, {kF16, cuda()})`.
struct Options {
  DType dtype = DType::F32;
  Device device = default_device();
  Options() = default;
  Options(DType dtype) : dtype(dtype) {}
  Options(Device device) : device(device) {}
  Options(DType dtype, Device device) : dtype(dtype), device(device) {}
};

class Tensor;

/// What Tensor::backward takes.
struct BackwardOptions {
  bool retain_graph = false;  ///< allows another backward through the same operations
  bool create_graph = false;  ///< records the gradients so that they can be differentiated (implies retain_graph)
};

/// One index of Tensor::index: an axis kept whole, one position, or a range as in Python's `start:stop:step`.
struct Slice {
  std::optional<int64_t> start, stop;
  int64_t step = 1;
};
struct All {};
using Index = std::variant<All, Slice, int64_t>;

class Tensor {
 public:
  /// An undefined tensor: no value, no shape. Using it in an operation throws ValueError.
  Tensor() = default;
  bool defined() const { return impl_ != nullptr; }

  DType dtype() const;
  const Shape& shape() const;
  Device device() const;
  int dim() const;
  int64_t size(int64_t axis) const;
  int64_t numel() const;
  int64_t bytes() const;

  // --- reading: these wait for the value -----------------------------------------------------------------------------
  /// The only element, converted to T; ShapeError when there is not exactly one.
  template <class T>
  T item(Loc loc = Loc::here()) const {
    T value{};
    copy_out(&value, dtype_of<T>, 1, loc);
    return value;
  }
  /// All elements in row-major order, converted to T.
  template <class T>
  std::vector<T> to_vector(Loc loc = Loc::here()) const {
    if constexpr (std::is_same_v<T, bool>) {
      std::vector<uint8_t> bytes = to_vector<uint8_t>(loc);
      return {bytes.begin(), bytes.end()};
    } else {
      wait(loc);  // what does not fit on the device is not asked of the host either
      std::vector<T> values(static_cast<size_t>(numel()));
      copy_out(values.data(), dtype_of<T>, numel(), loc);
      return values;
    }
  }
  /// Writes all elements, in this tensor's dtype, to `destination` of bytes() bytes.
  void copy_to_host(void* destination, Loc loc = Loc::here()) const;
  /// As NumPy prints arrays, at most 1,000 elements in full, then summarised.
  std::string to_string(Loc loc = Loc::here()) const;

  // --- where it lives ------------------------------------------------------------------------------------------------
  /// The same tensor if it is on `device` already, otherwise a copy there.
  Tensor to(Device device, Loc loc = Loc::here()) const;
  /// The same tensor if it has this dtype already, otherwise a converted one. Casts to half types round to nearest
  /// even.
  Tensor to(DType dtype, Loc loc = Loc::here()) const;
  /// Always a new tensor.
  Tensor copy_to(Device device, Loc loc = Loc::here()) const;
  Tensor clone(Loc loc = Loc::here()) const;

  // --- autograd ------------------------------------------------------------------------------------------------------
  bool requires_grad() const;
  /// Makes this handle a cell that collects a gradient (or stops collecting). Floating dtypes only.
  Tensor& requires_grad_(bool on = true);
  /// Whether the tensor is a cell, and thereby a leaf of autograd.
  bool is_cell() const;
  /// Computes the gradient of this tensor with respect to every cell that it was computed from, and adds it to their
  /// grad(). Without `gradient` the tensor must have one element. The recipe is used up unless retain_graph. Errors:
  /// GraphError when there is no recipe, when it was used up, or when a cell that it needs was updated since.
  void backward(BackwardOptions options = {}, Loc loc = Loc::here()) const;
  void backward(const Tensor& gradient, BackwardOptions options = {}, Loc loc = Loc::here()) const;
  /// The gradient collected so far; undefined when there is none. GraphError after step() has used it up.
  Tensor grad(Loc loc = Loc::here()) const;
  /// Replaces the collected gradient (an undefined tensor removes it).
  void set_grad(const Tensor& gradient) const;
  /// The same value without a recipe. Of a cell: a snapshot of the current value.
  Tensor detach() const;
  /// Gives a cell a new value of the same shape, dtype and device; every handle of the cell sees it.
  void assign(const Tensor& value, Loc loc = Loc::here()) const;

  // --- shorthand for the functions of ops.h --------------------------------------------------------------------------
  Tensor& operator+=(Arg other);
  Tensor& operator-=(Arg other);
  Tensor& operator*=(Arg other);
  Tensor& operator/=(Arg other);
  Tensor& operator+=(ScalarArg other);
  Tensor& operator-=(ScalarArg other);
  Tensor& operator*=(ScalarArg other);
  Tensor& operator/=(ScalarArg other);
  Tensor matmul(const Tensor& other, Loc loc = Loc::here()) const;
  Tensor sum(const Dims& axes = {}, bool keepdim = false, Loc loc = Loc::here()) const;
  Tensor mean(const Dims& axes = {}, bool keepdim = false, Loc loc = Loc::here()) const;
  Tensor reshape(const Dims& shape, Loc loc = Loc::here()) const;
  Tensor view(const Dims& shape, Loc loc = Loc::here()) const { return reshape(shape, loc); }
  Tensor flatten(int64_t first = 0, int64_t last = -1, Loc loc = Loc::here()) const;
  Tensor transpose(int64_t a, int64_t b, Loc loc = Loc::here()) const;
  Tensor permute(const Dims& axes, Loc loc = Loc::here()) const;
  Tensor t(Loc loc = Loc::here()) const { return transpose(-2, -1, loc); }
  Tensor squeeze(int64_t axis, Loc loc = Loc::here()) const;
  Tensor unsqueeze(int64_t axis, Loc loc = Loc::here()) const;
  Tensor expand(const Dims& shape, Loc loc = Loc::here()) const;
  Tensor pow(Scalar exponent, Loc loc = Loc::here()) const;
  Tensor exp(Loc loc = Loc::here()) const;
  Tensor log(Loc loc = Loc::here()) const;
  Tensor sqrt(Loc loc = Loc::here()) const;
  Tensor abs(Loc loc = Loc::here()) const;
  Tensor argmax(int64_t axis, bool keepdim = false, Loc loc = Loc::here()) const;
  /// Positions, ranges and whole axes, from the first axis on: x.index({0, Slice{1, 5, 2}, All{}}) is Python's x[0,
  /// 1:5:2, :].
  Tensor index(const std::vector<Index>& indices, Loc loc = Loc::here()) const;
  /// A copy with the indexed part replaced (broadcast from `value`); rebinds this handle, never another.
  Tensor& index_put_(const std::vector<Index>& indices, const Tensor& value, Loc loc = Loc::here());

 private:
  friend struct detail::Access;
  void wait(Loc loc) const;
  void copy_out(void* destination, DType as, int64_t count, Loc loc) const;

  std::shared_ptr<detail::TensorImpl> impl_;
};

/// How functions take tensors: with the line of the program that passed them. Made from a Tensor without a word.
struct Arg {
  const Tensor& tensor;
  Loc loc;
  Arg(const Tensor& tensor, Loc loc = Loc::here()) : tensor(tensor), loc(loc) {}
};

std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

// --- creation --------------------------------------------------------------------------------------------------------

Tensor zeros(const Shape& shape, Options options = {}, Loc loc = Loc::here());
Tensor ones(const Shape& shape, Options options = {}, Loc loc = Loc::here());
Tensor full(const Shape& shape, Scalar value, Options options = {}, Loc loc = Loc::here());
Tensor zeros_like(Arg x);
Tensor ones_like(Arg x);
Tensor full_like(Arg x, Scalar value);
/// start, start + step, ... below `end`; i64 when all three are integers and no dtype is given, else f32.
Tensor arange(Scalar start, Scalar end, Scalar step = 1, std::optional<Options> options = {}, Loc loc = Loc::here());
Tensor arange(Scalar end, std::optional<Options> options = {}, Loc loc = Loc::here());
/// `count` values from start to end, both included.
Tensor linspace(Scalar start, Scalar end, int64_t count, Options options = {}, Loc loc = Loc::here());
Tensor eye(int64_t n, Options options = {}, Loc loc = Loc::here());
/// Copies `bytes(shape, dtype)` bytes from the host.
Tensor from_host(const void* data, const Shape& shape, Options options, Loc loc = Loc::here());
/// A tensor of the vector's element type; `shape` defaults to [values.size()].
template <class T>
Tensor tensor(const std::vector<T>& values, std::optional<Shape> shape = {}, Device device = default_device(),
              Loc loc = Loc::here()) {
  const Shape s = shape.value_or(Shape{int64_t(values.size())});
  if (numel(s) != int64_t(values.size()))
    throw ShapeError("tensor",
                     "expected " + std::to_string(numel(s)) + " values for shape " + to_string(s) + ", got " +
                         std::to_string(values.size()),
                     loc);
  if constexpr (std::is_same_v<T, bool>) {
    std::vector<uint8_t> bytes(values.begin(), values.end());
    return from_host(bytes.data(), s, {DType::Bool, device}, loc);
  } else {
    return from_host(values.data(), s, {dtype_of<T>, device}, loc);
  }
}
/// A cell that starts with the value of `initial`: shared by every copy of the handle, changed by assign(), updates and
/// loading alone. Parameters and buffers are cells.
Tensor make_cell(Arg initial, bool requires_grad = false);
/// A 0-d tensor: f32 from a floating number, i64 from an integer, bool from a bool.
Tensor scalar_tensor(Scalar value, std::optional<Options> options = {}, Loc loc = Loc::here());

// --- random numbers: Philox 4x32-10, the same on every device --------------------------------------------------------

/// Seeds the calling process's default generator.
void manual_seed(uint64_t seed);
/// Seed and position of the default generator: enough to continue the sequence.
struct RandomState {
  uint64_t seed = 0;
  uint64_t counter = 0;
};
RandomState random_state();
void set_random_state(RandomState state);
/// Uniform in [0, 1).
Tensor rand(const Shape& shape, Options options = {}, Loc loc = Loc::here());
/// Normal with mean 0 and deviation 1.
Tensor randn(const Shape& shape, Options options = {}, Loc loc = Loc::here());
/// Integers low .. high-1.
Tensor randint(int64_t low, int64_t high, const Shape& shape, Options options = DType::I64, Loc loc = Loc::here());
Tensor uniform(const Shape& shape, double low, double high, Options options = {}, Loc loc = Loc::here());
Tensor normal(const Shape& shape, double mean, double deviation, Options options = {}, Loc loc = Loc::here());
/// 1 with probability p (elementwise), else 0, in p's dtype.
Tensor bernoulli(Arg p);
/// A random order of 0 .. n-1, i64.
Tensor randperm(int64_t n, Device device = default_device(), Loc loc = Loc::here());

// --- autograd --------------------------------------------------------------------------------------------------------

/// While it lives, operations of this thread record no recipe for gradients.
class NoGrad {
 public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  bool previous_;
};
/// Records recipes inside of a NoGrad.
class EnableGrad {
 public:
  EnableGrad();
  ~EnableGrad();
  EnableGrad(const EnableGrad&) = delete;
  EnableGrad& operator=(const EnableGrad&) = delete;

 private:
  bool previous_;
};
bool grad_enabled();

/// Gradients of the sum over `outputs` (each weighted by its entry of `output_gradients`, ones when empty) with respect
/// to `inputs`; nothing is added to anybody's grad(). An input that outputs do not depend on gives an undefined tensor
/// when allow_unused, else a GraphError.
struct GradOptions {
  bool retain_graph = false;
  bool create_graph = false;
  bool allow_unused = false;
};
std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& output_gradients = {}, GradOptions options = {},
                         Loc loc = Loc::here());

/// A function with a gradient of its own. `forward` maps the inputs to one output, unseen by autograd; `backward` gets
/// the output's gradient, the inputs and the output, and returns one gradient for each input (undefined: none).
using CustomForward = std::function<Tensor(const std::vector<Tensor>& inputs)>;
using CustomBackward =
    std::function<std::vector<Tensor>(const Tensor& gradient, const std::vector<Tensor>& inputs, const Tensor& output)>;
Tensor custom_function(const std::vector<Tensor>& inputs, CustomForward forward, CustomBackward backward,
                       Loc loc = Loc::here());

/// While it lives, every operation runs at once and is checked: the first one that gives NaN, forward or backward,
/// throws a ValueError with its name and the line of the program that recorded it.
class DetectAnomaly {
 public:
  DetectAnomaly();
  ~DetectAnomaly();
  DetectAnomaly(const DetectAnomaly&) = delete;
  DetectAnomaly& operator=(const DetectAnomaly&) = delete;

 private:
  bool previous_;
};

// --- evaluation ------------------------------------------------------------------------------------------------------

/// Starts everything that this thread has recorded and still holds; does not wait.
void eval();
/// Starts, then waits for the given tensors.
void eval(const std::vector<Tensor>& tensors);
/// The operations that wait in this thread, one a line.
std::string pending();

/// Counters of this process, for tests and curiosity. They only grow.
struct PlanStats {
  int64_t plans_built = 0;   ///< records that were planned anew
  int64_t plans_run = 0;     ///< records that ran, new or from the cache
  int64_t steps_run = 0;     ///< kernels launched by plans
  int64_t cached = 0;        ///< plans kept now
  double build_seconds = 0;  ///< spent planning
  int64_t copies_out = 0;    ///< old values of cells copied away because somebody held them
};
PlanStats plan_stats();

/// What the most recent plan of this thread asks for and does.
struct PlanReport {
  int64_t steps = 0;
  int64_t arena_bytes = 0;      ///< intermediate values
  int64_t scratch_bytes = 0;    ///< libraries' scratch memory
  int64_t output_bytes = 0;     ///< values that somebody holds, without cells
  int64_t input_bytes = 0;      ///< values that it reads
  int64_t predicted_bytes = 0;  ///< arena + scratch + output: exactly what it takes from the allocator when it runs
  int64_t bytes_moved = 0;      ///< memory read and written by its kernels
  double flops = 0;             ///< algorithmic floating-point operations
  std::vector<std::string> step_names;
};
PlanReport last_plan();
/// Forgets every kept plan.
void clear_plans();

}  // namespace stoker
