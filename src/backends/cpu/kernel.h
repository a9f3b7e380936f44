// What the families of kernels share: kernels made of a function, typed access to operands, and tests of requests.
#pragma once

#include <bit>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "backends/cpu/kernels.h"

namespace stoker::backends::cpu {

// A launch with the types filled in. Element 0 of an operand lies at its address.
class Operands {
 public:
  explicit Operands(const Launch& launch) : launch_(launch) {}
  template <class T>
  const T* in(int i) const {
    return static_cast<const T*>(at(launch_.inputs[size_t(i)].address));
  }
  template <class T>
  T* out(int i = 0) const {
    return static_cast<T*>(at(launch_.outputs[size_t(i)]));
  }
  // A number of the parameter block.
  double number(int i) const { return std::bit_cast<double>(launch_.inputs[size_t(i)].bits); }
  int64_t integer(int i) const { return int64_t(launch_.inputs[size_t(i)].bits); }
  template <class T>
  T* scratch(int64_t bytes = 0) const {
    return reinterpret_cast<T*>(static_cast<std::byte*>(at(launch_.scratch)) + bytes);
  }

  Loc loc() const { return launch_.loc; }

 private:
  static void* at(Address a) { return static_cast<std::byte*>(a.base) + a.offset; }
  const Launch& launch_;
};

template <class F>
class FunctionKernel final : public Kernel {
 public:
  FunctionKernel(std::string description, int64_t scratch, F function)
      : description_(std::move(description)), scratch_(scratch), function_(std::move(function)) {}
  int64_t scratch_bytes() const override { return scratch_; }
  void launch(const Launch& launch) override { function_(Operands(launch)); }
  std::string describe() const override { return description_; }

 private:
  std::string description_;
  int64_t scratch_;
  F function_;
};

// A kernel that calls f(operands).
template <class F>
std::unique_ptr<Kernel> make_kernel(F f, int64_t scratch = 0, std::string description = "portable") {
  return std::make_unique<FunctionKernel<F>>(std::move(description), scratch, std::move(f));
}

inline DType input_dtype(const StepRequest& r, int i = 0) { return r.inputs[size_t(i)].desc.dtype; }
inline const Shape& input_shape(const StepRequest& r, int i = 0) { return r.inputs[size_t(i)].desc.shape; }
inline const Shape& output_shape(const StepRequest& r, int i = 0) { return r.outputs[size_t(i)].shape; }

inline bool takes_everything(const StepRequest&) { return true; }

// A shape seen from one axis: `outer` blocks of `extent` runs of `inner` elements.
struct AxisSplit {
  int64_t outer = 1, extent = 1, inner = 1;
  AxisSplit(const Shape& shape, int axis) {
    for (int k = 0; k < shape.rank(); ++k) (k < axis ? outer : k > axis ? inner : extent) *= shape[k];
  }
};

// Elements that are worth waking another thread for, where each costs about one operation.
inline constexpr int64_t kGrain = 1 << 14;

}  // namespace stoker::backends::cpu
