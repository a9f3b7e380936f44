// fused: element-wise groups and row reductions, run by the interpreter.
#include <stdexcept>

#include "backends/cpu/interpreter.h"
#include "backends/cpu/kernel.h"
#include "backends/cpu/parallel.h"

namespace stoker::backends::cpu {
namespace {

using graph::FusedAttrs;
using graph::ProgramArg;
using graph::ProgramGeometry;
using graph::TensorDesc;

// Elements from the first to the last that a walk over these extents touches.
int64_t span_of(const Dims& extents, const Dims& strides) {
  int64_t span = 0;
  for (int k = 0; k < extents.rank(); ++k) span += (extents[k] - 1) * std::abs(strides[k]);
  return span;
}

// What a program walks must lie within what it was given: checked here, so that no tile has to.
void check_argument(const ProgramGeometry& geometry, size_t arg, const TensorDesc& desc) {
  const ProgramGeometry::Strides& s = geometry.args[arg];
  Dims extents = geometry.rows, strides = s.row;
  if (geometry.row_count() == 0 || geometry.columns == 0) return;
  const int64_t walked = span_of(extents, strides) + (geometry.columns - 1) * std::abs(s.column);
  if (numel(desc.shape) == 0 || walked > span_of(desc.shape, desc.strides))
    throw std::logic_error("fused program: argument " + std::to_string(arg) + " is walked beyond its memory");
}

void check_arguments(const FusedAttrs& attrs, const StepRequest& request) {
  size_t inputs = 0, outputs = 0;
  for (size_t i = 0; i < attrs.program->args.size(); ++i) {
    const ProgramArg& arg = attrs.program->args[i];
    const TensorDesc& desc = arg.output ? request.outputs.at(outputs++) : request.inputs.at(inputs++).desc;
    if (desc.dtype != arg.dtype && arg.access != ProgramArg::Access::Scalar)
      throw std::logic_error("fused program: argument " + std::to_string(i) + " is of another dtype");
    if (arg.access != ProgramArg::Access::Scalar) check_argument(attrs.geometry, i, desc);
  }
}

class FusedKernel final : public Kernel {
 public:
  explicit FusedKernel(const FusedAttrs& attrs) : interpreter_(*attrs.program, attrs.geometry, thread_count()) {}
  int64_t scratch_bytes() const override { return interpreter_.scratch_bytes(); }
  void launch(const Launch& launch) override { interpreter_.run(launch.inputs, launch.outputs, launch.scratch); }
  std::string describe() const override { return "interpreter"; }

 private:
  Interpreter interpreter_;
};

std::unique_ptr<Kernel> lower_fused(const StepRequest& request) {
  const auto& attrs = request.attrs.get<FusedAttrs>();
  check_arguments(attrs, request);
  return std::make_unique<FusedKernel>(attrs);
}

}  // namespace

void register_fused(KernelTable& table) { table["fused"] = {takes_everything, lower_fused}; }

}  // namespace stoker::backends::cpu
