#include "backends/cpu/kernels/epilogue.h"
#include "backends/cpu/kernels/matmul.h"
#include "backends/cpu/onednn.h"

namespace stoker::backends::cpu {

#ifdef STOKER_HAVE_ONEDNN

namespace {

using graph::Epilogue;
using Desc = dnnl::memory::desc;

// The matrices of an operand; an axis along which it broadcasts has extent 1. A stride along an extent of 1 says
// nothing, but oneDNN reads the order of the axes from it.
Desc operand_desc(const MatmulProblem& p, const Dims& batch_strides, int64_t rows, int64_t columns, int64_t row,
                  int64_t column) {
  if (rows == 1) row = column == 1 ? columns : 1;
  if (columns == 1) column = row == 1 ? rows : 1;
  dnnl::memory::dims extents, strides;
  for (int i = 0; i < p.batch.rank(); ++i) {
    extents.push_back(batch_strides[i] == 0 ? 1 : p.batch[i]);
    strides.push_back(batch_strides[i] == 0 ? rows * columns : batch_strides[i]);
  }
  extents.insert(extents.end(), {rows, columns});
  strides.insert(strides.end(), {row, column});
  return {extents, dnnl::memory::data_type::f32, strides};
}

class OneDnnMatmul final : public Kernel {
 public:
  explicit OneDnnMatmul(const MatmulProblem& p) : epilogue_(p.epilogue), rows_(p.batches() * p.m), columns_(p.n) {
    const bool bias = !epilogue_.empty() && epilogue_[0] == Epilogue::Bias;
    const Desc a = operand_desc(p, p.a_batch, p.m, p.k, p.a_row, p.a_column);
    const Desc b = operand_desc(p, p.b_batch, p.k, p.n, p.b_row, p.b_column);
    const Desc y = dense_desc(with_matrix(p.batch, p.m, p.n));
    const Desc bias_desc = dense_desc(with_matrix(Dims::filled(p.batch.rank(), 1), 1, p.n));
    const auto chosen = choose<dnnl::matmul>(a, b, bias ? bias_desc : Desc(), y);
    implementation_ = chosen.impl_info_str();
    scratch_ = int64_t(chosen.scratchpad_desc().get_size());
    primitive_ = Primitive(dnnl::matmul(chosen));
    primitive_.bind(DNNL_ARG_SRC, a);
    primitive_.bind(DNNL_ARG_WEIGHTS, b);
    primitive_.bind(DNNL_ARG_DST, y);
    primitive_.bind(DNNL_ARG_SCRATCHPAD, chosen.scratchpad_desc());
    if (bias) {
      primitive_.bind(DNNL_ARG_BIAS, bias_desc);
      epilogue_.erase(epilogue_.begin());
    }
    first_extra_ = bias ? 3 : 2;
  }

  int64_t scratch_bytes() const override { return scratch_; }
  std::string describe() const override { return "onednn:" + implementation_; }

  void launch(const Launch& launch) override {
    const Operands io(launch);
    primitive_.set(DNNL_ARG_SRC, io.in<float>(0));
    primitive_.set(DNNL_ARG_WEIGHTS, io.in<float>(1));
    primitive_.set(DNNL_ARG_DST, io.out<float>());
    primitive_.set(DNNL_ARG_SCRATCHPAD, io.scratch<float>());
    if (first_extra_ == 3) primitive_.set(DNNL_ARG_BIAS, io.in<float>(2));
    primitive_.run("matmul");
    std::vector<const float*> extras;
    for (Epilogue e : epilogue_)
      if (e != Epilogue::Relu) extras.push_back(io.in<float>(first_extra_ + int(extras.size())));
    apply_epilogue<float>(epilogue_, extras, io.out<float>(), rows_, columns_, 1);
  }

 private:
  static Shape with_matrix(Dims batch, int64_t rows, int64_t columns) {
    batch.push_back(rows);
    batch.push_back(columns);
    return batch;
  }

  Primitive primitive_;
  std::vector<Epilogue> epilogue_;  // what is left to do after the primitive
  int64_t rows_, columns_, scratch_ = 0;
  int first_extra_ = 2;
  std::string implementation_;
};

}  // namespace

std::unique_ptr<Kernel> lower_onednn_matmul(const MatmulProblem& problem) {
  if (problem.batches() * problem.m * problem.n * problem.k == 0) return nullptr;
  std::unique_ptr<OneDnnMatmul> kernel;
  const bool fast = is_available([&] {
    kernel = std::make_unique<OneDnnMatmul>(problem);
    return !is_reference(kernel->describe());
  });
  if (!fast) return nullptr;
  return kernel;
}

#else

std::unique_ptr<Kernel> lower_onednn_matmul(const MatmulProblem&) { return nullptr; }

#endif

}  // namespace stoker::backends::cpu
