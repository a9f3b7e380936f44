// What a matrix product is made of, for its portable kernel and for oneDNN's.
#pragma once

#include "backends/cpu/kernel.h"
#include "graph/ops/attributes.h"

namespace stoker::backends::cpu {

struct MatmulProblem {
  explicit MatmulProblem(const StepRequest& request);

  int64_t m = 0, n = 0, k = 0;
  // Batch axes of the output, neighbours merged where both operands allow; strides in elements, 0 where one broadcasts.
  Dims batch, a_batch, b_batch;
  int64_t a_row = 0, a_column = 0, b_row = 0, b_column = 0;
  std::vector<graph::Epilogue> epilogue;

  int64_t batches() const { return numel(batch); }
};

// f32 alone; nullptr where oneDNN has no fast implementation, or is not there.
std::unique_ptr<Kernel> lower_onednn_matmul(const MatmulProblem& problem);

}  // namespace stoker::backends::cpu
