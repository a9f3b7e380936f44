#include "backends/cpu/kernels/matmul.h"

#include <algorithm>

#include "backends/cpu/kernels/epilogue.h"
#include "backends/cpu/kernels/gemm.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/staging.h"
#include "backends/cpu/tile_geometry.h"

namespace stoker::backends::cpu {

using graph::TensorDesc;

MatmulProblem::MatmulProblem(const StepRequest& request)
    : epilogue(request.attrs.get<graph::MatmulAttrs>().epilogue.steps) {
  const TensorDesc &a = request.inputs[0].desc, &b = request.inputs[1].desc;
  const Shape& y = request.outputs[0].shape;
  const int rank = y.rank();
  m = y[rank - 2], n = y[rank - 1], k = a.shape[rank - 1];
  a_row = a.strides[rank - 2], a_column = a.strides[rank - 1];
  b_row = b.strides[rank - 2], b_column = b.strides[rank - 1];
  for (int i = 0; i < rank - 2; ++i) {
    if (y[i] == 1) continue;
    const int64_t sa = a.shape[i] == 1 ? 0 : a.strides[i], sb = b.shape[i] == 1 ? 0 : b.strides[i];
    if (!batch.empty() && a_batch.back() == sa * y[i] && b_batch.back() == sb * y[i]) {
      const int last = batch.rank() - 1;
      batch[last] *= y[i], a_batch[last] = sa, b_batch[last] = sb;
    } else {
      batch.push_back(y[i]), a_batch.push_back(sa), b_batch.push_back(sb);
    }
  }
}

namespace {

// Products by gemm(); many small ones at the same time, a large one by all threads.
template <class T>
std::unique_ptr<Kernel> lower_portable(const MatmulProblem& p) {
  const bool many = p.batches() >= thread_count();
  const int64_t scratch = gemm_scratch<T>(p.n, p.k, many ? 1 : thread_count());
  const auto run = [p, many, scratch](const Operands& io) {
    T* y = io.out<T>();
    const auto multiply = [&](int64_t batch, T* work) {
      const Matrix<const T> a{io.in<T>(0) + offset_of_row(p.batch, p.a_batch, batch), p.a_row, p.a_column};
      const Matrix<const T> b{io.in<T>(1) + offset_of_row(p.batch, p.b_batch, batch), p.b_row, p.b_column};
      gemm<T>(p.m, p.n, p.k, a, b, y + batch * p.m * p.n, p.n, false, work);
    };
    if (many) {
      const int64_t grain = std::max<int64_t>(1, kGrain / (p.m * p.n * std::max<int64_t>(p.k, 1) + 1));
      parallel_for(p.batches(), grain, [&](int64_t begin, int64_t end, int piece) {
        for (int64_t i = begin; i < end; ++i) multiply(i, io.scratch<T>() + piece * scratch);
      });
    } else {
      for (int64_t i = 0; i < p.batches(); ++i) multiply(i, io.scratch<T>());
    }
    std::vector<const T*> extras;
    for (graph::Epilogue e : p.epilogue)
      if (e != graph::Epilogue::Relu) extras.push_back(io.in<T>(2 + int(extras.size())));
    apply_epilogue<T>(p.epilogue, extras, y, p.batches() * p.m, p.n, 1);
  };
  return make_kernel(run, (many ? thread_count() : 1) * scratch * int64_t(sizeof(T)));
}

std::unique_ptr<Kernel> lower_dense_type(const StepRequest& request) {
  const MatmulProblem problem(request);
  switch (request.outputs[0].dtype) {
    case DType::F64:
      return lower_portable<double>(problem);
    case DType::I32:
      return lower_portable<int32_t>(problem);
    case DType::I64:
      return lower_portable<int64_t>(problem);
    default:
      break;
  }
  if (auto kernel = lower_onednn_matmul(problem)) return kernel;
  return lower_portable<float>(problem);
}

DType computed_in(DType dtype) {
  switch (dtype) {
    case DType::F64:
    case DType::I64:
      return dtype;
    case DType::U8:
    case DType::I8:
    case DType::I16:
    case DType::I32:
      return DType::I32;
    default:
      return DType::F32;
  }
}

// Whether one of the matrix's axes is dense, the other steps over it, and batches do not run backwards.
bool is_plain(const TensorDesc& d) {
  const int rank = d.shape.rank();
  const int64_t rows = d.shape[rank - 2], columns = d.shape[rank - 1], row = d.strides[rank - 2],
                column = d.strides[rank - 1];
  for (int i = 0; i < rank - 2; ++i)
    if (d.shape[i] > 1 && d.strides[i] < 0) return false;
  return ((column == 1 || columns == 1) && row >= columns) || ((row == 1 || rows == 1) && column >= rows);
}

std::unique_ptr<Kernel> lower_matmul(const StepRequest& request) {
  const DType dtype = computed_in(input_dtype(request));
  StepRequest wanted = request;
  for (size_t i = 0; i < wanted.inputs.size(); ++i) {
    TensorDesc& d = wanted.inputs[i].desc;
    const bool strides_fit = i < 2 ? dtype != DType::F32 || is_plain(d) : d.strides == contiguous_strides(d.shape);
    if (d.dtype != dtype || !strides_fit) d = {dtype, d.shape, contiguous_strides(d.shape)};
  }
  wanted.outputs[0].dtype = dtype;
  return lower_staged(request, wanted, lower_dense_type);
}

bool is_small(DType d) { return d == DType::U8 || d == DType::I8; }

bool supports_matmul(const StepRequest& r) {
  if (r.inputs.size() != 2 + extra_inputs(r.attrs.get<graph::MatmulAttrs>().epilogue)) return false;
  for (const StepRequest::Input& in : r.inputs)
    if (in.scalar) return false;
  const DType a = input_dtype(r, 0), b = input_dtype(r, 1);
  return a != DType::Bool && (a == b || (is_small(a) && is_small(b)));
}

}  // namespace

void register_matmul(KernelTable& table) { table["matmul"] = {supports_matmul, lower_matmul}; }

}  // namespace stoker::backends::cpu
