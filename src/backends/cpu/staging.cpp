#include "backends/cpu/staging.h"

#include <algorithm>
#include <array>

#include "backends/cpu/interpreter.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/programs.h"

namespace stoker::backends::cpu {
namespace {

using graph::TensorDesc;

bool same_form(const TensorDesc& a, const TensorDesc& b) { return a.dtype == b.dtype && a.strides == b.strides; }

class StagedKernel final : public Kernel {
 public:
  StagedKernel(const StepRequest& request, const StepRequest& wanted, std::unique_ptr<Kernel> inner)
      : inner_(std::move(inner)) {
    for (size_t i = 0; i < request.inputs.size(); ++i)
      if (!request.inputs[i].scalar && !same_form(request.inputs[i].desc, wanted.inputs[i].desc))
        before_.push_back(stage(i, request.inputs[i].desc, wanted.inputs[i].desc, wanted.inputs[i].desc));
    for (size_t i = 0; i < request.outputs.size(); ++i)
      if (!same_form(request.outputs[i], wanted.outputs[i]))
        after_.push_back(stage(i, wanted.outputs[i], request.outputs[i], wanted.outputs[i]));
    work_ = scratch_;
    int64_t work = inner_->scratch_bytes();
    for (const auto* list : {&before_, &after_})
      for (const Stage& s : *list) work = std::max(work, s.copy.scratch_bytes());
    scratch_ += work;
  }

  int64_t scratch_bytes() const override { return scratch_; }
  std::string describe() const override { return inner_->describe() + " staged"; }

  void launch(const Launch& launch) override {
    const auto scratch = [&](int64_t at) { return Address{launch.scratch.base, launch.scratch.offset + at}; };
    std::vector<Operand> inputs(launch.inputs.begin(), launch.inputs.end());
    std::vector<Address> outputs(launch.outputs.begin(), launch.outputs.end());
    const Address work = scratch(work_);
    for (const Stage& s : before_) {
      s.copy.run(std::array{inputs[s.operand]}, std::array{scratch(s.memory)}, work);
      inputs[s.operand].address = scratch(s.memory);
    }
    for (const Stage& s : after_) outputs[s.operand] = scratch(s.memory);
    inner_->launch({.inputs = inputs, .outputs = outputs, .scratch = work, .loc = launch.loc});
    for (const Stage& s : after_)
      s.copy.run(std::array{Operand{scratch(s.memory), 0}}, std::array{launch.outputs[s.operand]}, work);
  }

 private:
  struct Stage {
    size_t operand;
    Interpreter copy;
    int64_t memory;  // of the inner kernel's operand, in scratch
  };
  Stage stage(size_t operand, const TensorDesc& from, const TensorDesc& to, const TensorDesc& held) {
    Stage s{operand, Interpreter(copy_program(from.dtype, to.dtype), copy_geometry(from), thread_count()), scratch_};
    scratch_ += (numel(held.shape) * int64_t(size_of(held.dtype)) + 63) / 64 * 64;
    return s;
  }

  std::unique_ptr<Kernel> inner_;
  std::vector<Stage> before_, after_;
  int64_t work_ = 0, scratch_ = 0;  // bytes
};

}  // namespace

std::unique_ptr<Kernel> lower_staged(const StepRequest& request, const StepRequest& wanted,
                                     const LowerFunction& lower) {
  bool differs = false;
  for (size_t i = 0; i < request.inputs.size(); ++i)
    differs |= !same_form(request.inputs[i].desc, wanted.inputs[i].desc);
  for (size_t i = 0; i < request.outputs.size(); ++i) differs |= !same_form(request.outputs[i], wanted.outputs[i]);
  std::unique_ptr<Kernel> inner = lower(wanted);
  if (!differs || !inner) return inner;
  return std::make_unique<StagedKernel>(request, wanted, std::move(inner));
}

StepRequest widened(const StepRequest& request) {
  StepRequest wide = request;
  const auto widen = [](TensorDesc& d) {
    if (is_half(d.dtype)) d = {DType::F32, d.shape, contiguous_strides(d.shape)};
  };
  for (StepRequest::Input& in : wide.inputs)
    if (!in.scalar) widen(in.desc);
  for (TensorDesc& out : wide.outputs) widen(out);
  return wide;
}

std::unique_ptr<Kernel> lower_widened(const StepRequest& request, const LowerFunction& lower) {
  return lower_staged(request, widened(request), lower);
}

}  // namespace stoker::backends::cpu
