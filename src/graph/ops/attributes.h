// Attributes of the operations, and with each the contract of its kernel: inputs -> outputs.
// Notation: x[N,C,H,W] is an input of that shape; s: a number of the parameter block (see Operand::bits).
#pragma once

#include "graph/attrs.h"

namespace stoker::graph {

// - data (Leaf): an evaluated value
// - scalar (Leaf): a 0-d number of the host (Node::number), in the plan's parameter block
// - constant (Leaf): a 0-d literal, part of the plan's key
struct ConstantAttrs {
  double value = 0;
  DType dtype = DType::F32;
  auto fields() const { return std::tuple{field("value", value), field("dtype", dtype)}; }
};

// - sum, prod, max, min (Reduction): x -> y
// Axes are sorted, at least one, non-negative. sum and prod of integers and bool give i64; half types accumulate in
// f32. max and min give NaN if a NaN takes part.
struct ReduceAttrs {
  Dims axes;
  bool keepdim = false;
  auto fields() const { return std::tuple{field("axes", axes), field("keepdim", keepdim)}; }
};

// - argmax, argmin: x -> i64 index of the first extreme along `axis`; NaN is the extreme of both
struct ArgReduceAttrs {
  int axis = 0;
  bool keepdim = false;
  auto fields() const { return std::tuple{field("axis", axis), field("keepdim", keepdim)}; }
};

// - cumsum, cumprod: x -> y along `axis`; integers in i64, halves accumulate in f32
struct ScanAttrs {
  int axis = 0;
  bool exclusive = false;
  bool reverse = false;
  auto fields() const {
    return std::tuple{field("axis", axis), field("exclusive", exclusive), field("reverse", reverse)};
  }
};

// - sort: x -> values, i64 indices along `axis`; stable; NaN counts as the greatest
struct SortAttrs {
  int axis = 0;
  bool descending = false;
  auto fields() const { return std::tuple{field("axis", axis), field("descending", descending)}; }
};

// - topk: x -> values, i64 indices
// The k first of a stable sort along `axis` (ties: the lower index first; NaN counts as the greatest), in sorted order.
struct TopkAttrs {
  int64_t k = 1;
  int axis = 0;
  bool largest = true;
  auto fields() const { return std::tuple{field("k", k), field("axis", axis), field("largest", largest)}; }
};

// What follows a matrix product or convolution inside the same kernel, in order. Bias and Add take the next extra
// input: Bias one of extent N (matmul: last axis; convolution: channels), Add one of the output's shape.
enum class Epilogue : uint8_t { Bias, Add, Relu };
struct EpilogueList {
  std::vector<Epilogue> steps;
  void write_key(KeyWriter& key) const {
    key.add(uint64_t(steps.size()));
    for (Epilogue e : steps) key.add(uint64_t(e));
  }
  std::string print() const {
    std::string s;
    for (Epilogue e : steps)
      s += (s.empty() ? "" : "+") + std::string(e == Epilogue::Bias ? "bias" : e == Epilogue::Add ? "add" : "relu");
    return s.empty() ? "none" : s;
  }
};

// - matmul: a[batch...,M,K], b[batch...,K,N], extras... -> y[batch...,M,N]
// Batch axes broadcast (equal or 1, equal rank). Inputs may have any strides. Half types accumulate in f32, i8 and u8
// give i32, other integers their own type, wrapping.
struct MatmulAttrs {
  EpilogueList epilogue;
  auto fields() const { return std::tuple{field("epilogue", epilogue)}; }
};

// - conv2d: x[N,C,H,W], w[O,C/groups,kH,kW], extras... -> y[N,O,oH,oW]
// - conv2d_input_gradient: dy[N,O,oH,oW], w -> dx of shape `target`
// - conv2d_weight_gradient: x, dy -> dw of shape `target` (and, with `bias`, db[O] as output 1)
struct ConvAttrs {
  Dims stride{1, 1};
  Dims padding_low{0, 0};   // before the first row, column
  Dims padding_high{0, 0};  // after the last
  Dims dilation{1, 1};
  int64_t groups = 1;
  EpilogueList epilogue;  // conv2d alone
  Shape target;           // the gradients: the shape of dx or dw
  bool bias = false;      // conv2d_weight_gradient alone
  auto fields() const {
    return std::tuple{field("stride", stride),
                      field("padding_low", padding_low),
                      field("padding_high", padding_high),
                      field("dilation", dilation),
                      field("groups", groups),
                      field("epilogue", epilogue),
                      field("target", target),
                      field("bias", bias)};
  }
};

// - max_pool2d: x[N,C,H,W] -> y, i32 index of the element taken, counted in its H*W plane
//   The first of equals; NaN if the window holds one; the window never counts padding.
// - max_pool2d_gradient: dy, index -> dx of shape `input` (used for adaptive_max_pool2d too)
// - avg_pool2d: x -> y
//   The divisor counts, with count_include_pad, the window's elements inside the explicitly padded input, otherwise
//   those inside the input.
// - avg_pool2d_gradient: dy -> dx of shape `input`
struct PoolAttrs {
  Dims kernel{1, 1};
  Dims stride{1, 1};
  Dims padding_low{0, 0};
  Dims padding_high{0, 0};
  Dims dilation{1, 1};
  bool ceil_mode = false;
  bool count_include_pad = true;
  Shape input;  // the gradients
  auto fields() const {
    return std::tuple{field("kernel", kernel),
                      field("stride", stride),
                      field("padding_low", padding_low),
                      field("padding_high", padding_high),
                      field("dilation", dilation),
                      field("ceil_mode", ceil_mode),
                      field("count_include_pad", count_include_pad),
                      field("input", input)};
  }
};

// - adaptive_avg_pool2d: x[N,C,H,W] -> y[N,C,size...]; window i is floor(i*H/o) .. ceil((i+1)*H/o)
// - adaptive_avg_pool2d_gradient: dy -> dx of shape `input`
// - adaptive_max_pool2d: x -> y, i32 index as max_pool2d
struct AdaptivePoolAttrs {
  Dims size{1, 1};
  Shape input;
  auto fields() const { return std::tuple{field("size", size), field("input", input)}; }
};

// - batch_norm (training): x[N,C,...], weight[C], bias[C] -> y, mean[C], rstd[C] = 1/sqrt(biased variance + eps)
// - batch_norm_gradient: dy, x, weight[C], mean, rstd -> dx, dweight[C], dbias[C]
// - layer_norm over the last axis: x[...,D], weight[D], bias[D] -> y, mean[...,1], rstd[...,1]
// - layer_norm_gradient: dy, x, weight[D], mean, rstd -> dx, dweight[D], dbias[D]
// Statistics are f32; f64 for f64 inputs.
struct NormAttrs {
  double eps = 1e-5;
  auto fields() const { return std::tuple{field("eps", eps)}; }
};

// - softmax, log_softmax: x -> y along `axis`
struct AxisAttrs {
  int axis = 0;
  auto fields() const { return std::tuple{field("axis", axis)}; }
};

// - gather: x, index -> y[index.shape]; y[i][j] = x[index[i][j]][j] for axis 0
// - scatter: x, index, src -> x with src written at index; the last of equals wins
// - scatter_add: x, index, src -> x with src added at index, in order of src's elements
// - take: x, index of any shape -> x.shape[:axis] + index.shape + x.shape[axis+1:]
// - index_add: x, index of any shape, src as take's output -> x with src added, in order of the index
// - pick: x, index (extent 1 along `axis`, else x's) -> x at index; composed of gather
// An index is i32 or i64. One outside of -extent..extent-1 is a ValueError naming index, extent and place; negative
// ones count from the end unless `from_end` is false: then they are errors too.
struct IndexAttrs {
  int axis = 0;
  bool from_end = true;
  auto fields() const { return std::tuple{field("axis", axis), field("from_end", from_end)}; }
};

// - class_index: index -> the same; ValueError when the work runs where one is not in 0..classes-1
struct ClassIndexAttrs {
  int64_t classes = 0;
  auto fields() const { return std::tuple{field("classes", classes)}; }
};

// - slice (View): x, s start per axis -> a strided look; step may be negative
// - update_slice: x, v, s start per axis -> x with v written there (v has the slice's shape); may be in place
struct SliceAttrs {
  Dims extents;
  Dims steps;
  auto fields() const { return std::tuple{field("extents", extents), field("steps", steps)}; }
};

// - reshape (View): x -> the same elements in row-major order
// - broadcast_to (View)
struct ShapeAttrs {
  Shape shape;
  auto fields() const { return std::tuple{field("shape", shape)}; }
};

// - permute (View): x -> y, axis i of y is axis axes[i] of x
struct PermuteAttrs {
  Dims axes;
  auto fields() const { return std::tuple{field("axes", axes)}; }
};

// - concat: x... -> y along `axis` (IndexAttrs)
// - pad: x, s value -> y
struct PadAttrs {
  Dims low, high;
  auto fields() const { return std::tuple{field("low", low), field("high", high)}; }
};

// - cast (Elementwise): x -> y in `dtype`; halves and narrow integers are rounded or wrapped at once
struct CastAttrs {
  DType dtype = DType::F32;
  bool rounds = true;  // false: a half stays f32 inside of a fusion
  auto fields() const { return std::tuple{field("dtype", dtype), field("rounds", rounds)}; }
};

// - iota: s start, s step -> y[shape], y = start + step * (position along the last axis)
// - full (Elementwise): s value -> y, the number in every element
struct MakeAttrs {
  DType dtype = DType::F32;
  Shape shape;
  Device device;
  auto fields() const { return std::tuple{field("dtype", dtype), field("shape", shape), field("device", device)}; }
};

// - random: s key (i64), s counter (i64) -> y[shape] from Philox 4x32-10
// Elements come in blocks of 64: block b uses 16 calls with counter words {low32(c), high32(c), 0, 0}, c = counter +
// 16*b + k for k = 0..15, key words {low32(key), high32(key)}; word j (0..3) of call k is element 64*b + 16*j + k.
// Bits: i32 holding the 32 random bits. Uniform: the upper 24 bits (f16: 11, bf16: 8) as a fraction in [0,1); f64:
// (bits + 0.5) * 2^-32. Normal: Box-Muller on words j and j+2 of the same call (j = 0, 1), in f64, rounded once:
// u1 = ((w_j >> 8) + 1) * 2^-24, u2 = (w_{j+2} >> 8) * 2^-24, r = sqrt(-2 ln u1); the element of word j is
// r*cos(2 pi u2), of word j+2 r*sin(2 pi u2).
enum class Distribution : uint8_t { Bits, Uniform, Normal };
struct RandomAttrs {
  int distribution = 0;
  DType dtype = DType::F32;
  Shape shape;
  Device device;
  auto fields() const {
    return std::tuple{field("distribution", distribution), field("dtype", dtype), field("shape", shape),
                      field("device", device)};
  }
};

// - sgd_update over n tensors: p*n, g*n, v*n (only with momentum), s lr, s first (1: v starts as g') -> p*n, v*n
// g' = g + weight_decay*p; with momentum v = first ? g' : momentum*v + (1-dampening)*g'; d = nesterov ? g' + momentum*v
// : v; p -= lr*d
struct SgdAttrs {
  int64_t tensors = 0;
  double momentum = 0, dampening = 0, weight_decay = 0;
  bool nesterov = false, maximize = false;
  auto fields() const {
    return std::tuple{field("tensors", tensors),           field("momentum", momentum), field("dampening", dampening),
                      field("weight_decay", weight_decay), field("nesterov", nesterov), field("maximize", maximize)};
  }
};

// - adam_update over n tensors: p*n, g*n, m*n, v*n, vmax*n (only amsgrad), s lr, s bias1 = 1-beta1^t, s bias2 =
//   1-beta2^t -> p*n, m*n, v*n, vmax*n
// Decoupled (AdamW): p *= 1 - lr*weight_decay first; else g += weight_decay*p. m += (g-m)*(1-beta1); v = v*beta2 +
// g*g*(1-beta2); p -= (lr/bias1) * m / (sqrt(v)/sqrt(bias2) + eps), amsgrad with the running maximum of v.
struct AdamAttrs {
  int64_t tensors = 0;
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0;
  bool decoupled = false, amsgrad = false, maximize = false;
  auto fields() const {
    return std::tuple{field("tensors", tensors),
                      field("beta1", beta1),
                      field("beta2", beta2),
                      field("eps", eps),
                      field("weight_decay", weight_decay),
                      field("decoupled", decoupled),
                      field("amsgrad", amsgrad),
                      field("maximize", maximize)};
  }
};

// transfer:                                   x -> the same on another device
struct TransferAttrs {
  Device device;
  auto fields() const { return std::tuple{field("device", device)}; }
};

}  // namespace stoker::graph
