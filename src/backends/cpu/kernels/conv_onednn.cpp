// conv2d and its gradients through oneDNN. Values lie as NCHW outside; inside, oneDNN picks the formats that its
// fastest implementation wants, and what differs is re-ordered through scratch memory around the primitive.
#include "backends/cpu/kernels/conv.h"
#include "backends/cpu/onednn.h"

#include <vector>

namespace stoker::backends::cpu {

#ifdef STOKER_HAVE_ONEDNN

namespace {

using graph::Epilogue;
using Desc = dnnl::memory::desc;
using Dimensions = dnnl::memory::dims;
constexpr auto kAny = dnnl::memory::format_tag::any;
constexpr auto kAlgorithm = dnnl::algorithm::convolution_auto;

// Bytes handed out of the kernel's scratch, one piece after the other.
class ScratchLayout {
 public:
  int64_t take(const Desc& desc) {
    const int64_t at = total_;
    total_ += (int64_t(desc.get_size()) + kLine - 1) / kLine * kLine;
    return at;
  }
  int64_t total() const { return total_; }

 private:
  static constexpr int64_t kLine = 64;
  int64_t total_ = 0;
};

// A tensor of the primitive: as it lies outside, and as the primitive wants it.
class Staged {
 public:
  Staged(int argument, const Desc& outside, const Desc& inside, bool output, ScratchLayout& scratch)
      : argument_(argument), differs_(outside != inside) {
    if (!differs_) return;
    const Desc &from = output ? inside : outside, &to = output ? outside : inside;
    const dnnl::reorder::primitive_desc chosen(onednn_engine(), from, onednn_engine(), to, user_scratchpad());
    reorder_ = Primitive(dnnl::reorder(chosen));
    reorder_.bind(DNNL_ARG_FROM, from);
    reorder_.bind(DNNL_ARG_TO, to);
    reorder_.bind(DNNL_ARG_SCRATCHPAD, chosen.scratchpad_desc());
    place_ = scratch.take(inside);
    reorder_place_ = scratch.take(chosen.scratchpad_desc());
  }

  int argument() const { return argument_; }
  const void* inside(const void* outside, std::byte* scratch) const { return differs_ ? scratch + place_ : outside; }
  void bring_in(const void* outside, std::byte* scratch) { move(outside, scratch + place_, scratch); }
  void bring_out(void* outside, std::byte* scratch) { move(scratch + place_, outside, scratch); }

 private:
  void move(const void* from, const void* to, std::byte* scratch) {
    if (!differs_) return;
    reorder_.set(DNNL_ARG_FROM, from);
    reorder_.set(DNNL_ARG_TO, to);
    reorder_.set(DNNL_ARG_SCRATCHPAD, scratch + reorder_place_);
    reorder_.run("conv2d");
  }

  int argument_;
  bool differs_;
  Primitive reorder_;
  int64_t place_ = 0, reorder_place_ = 0;
};

// Whether the primitive works on NCHW as it is, by products with gathered columns. Measured on AVX2, with the re-orders
// around blocks of channels: a 1x1 kernel gathers nothing (1.3 to 1.5 times as fast, but for small planes), and one or
// two channels fill no block (1.2 to 3 times; forward, if no more values are gathered than outputs re-ordered).
// Otherwise blocks win, by up to 3 times.
bool stays_plain(const Convolution& c) {
  constexpr int64_t kLeastPlane = 64;
  if (c.groups() > 1) return false;
  if (c.taps() == 1) return c.output_plane() >= kLeastPlane;
  return c.channels() <= 2 && (c.kind != ConvKind::Forward || c.channels() * c.taps() <= c.outputs());
}

// The tensors of a convolution: dense outside, in a format of oneDNN's choice inside.
struct Descs {
  explicit Descs(const Convolution& c)
      : strides(to_dims(c.attrs.stride)), low(to_dims(c.attrs.padding_low)), high(to_dims(c.attrs.padding_high)) {
    for (int64_t d : c.attrs.dilation) dilation.push_back(d - 1);
    Shape weight = c.w;
    if (c.groups() > 1) {
      weight[0] = c.outputs();
      weight.insert(0, c.groups());
    }
    const bool plain = stays_plain(c);
    x = dense_desc(c.x), w = dense_desc(weight), y = dense_desc(c.y), bias = dense_desc({c.w[0]});
    inner_x = plain ? x : desc_of(c.x, kAny);
    inner_w = desc_of(weight, kAny);
    inner_y = plain ? y : desc_of(c.y, kAny);
  }
  // `auto` may choose Winograd, which the trials saw win by 1.5 to 2 times on AVX-512; on AVX2 oneDNN has none.
  dnnl::convolution_forward::primitive_desc forward(const Desc& with_bias) const {
    return choose<dnnl::convolution_forward>(dnnl::prop_kind::forward_training, kAlgorithm, inner_x, inner_w, with_bias,
                                             inner_y, strides, dilation, low, high);
  }
  dnnl::convolution_backward_data::primitive_desc input_gradient() const {
    return choose_gradient<dnnl::convolution_backward_data>(forward({}), kAlgorithm, inner_x, inner_w, inner_y, strides,
                                                            dilation, low, high);
  }
  dnnl::convolution_backward_weights::primitive_desc weight_gradient(const Desc& with_bias) const {
    return choose_gradient<dnnl::convolution_backward_weights>(forward({}), kAlgorithm, inner_x, inner_w, with_bias,
                                                               inner_y, strides, dilation, low, high);
  }

  Dimensions strides, dilation, low, high;
  Desc x, w, y, bias, inner_x, inner_w, inner_y;
};

class OneDnnConv final : public Kernel {
 public:
  explicit OneDnnConv(const Convolution& problem) : problem_(problem) {
    const Descs d(problem);
    switch (problem.kind) {
      case ConvKind::Forward:
        make_forward(d);
        break;
      case ConvKind::InputGradient:
        make_input_gradient(d);
        break;
      case ConvKind::WeightGradient:
        make_weight_gradient(d);
        break;
    }
  }

  int64_t scratch_bytes() const override { return layout_.total(); }
  std::string describe() const override { return "onednn:" + implementation_; }

  void launch(const Launch& launch) override {
    const Operands io(launch);
    auto* scratch = io.scratch<std::byte>();
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const void* outside = io.in<float>(int(i));
      inputs_[i].bring_in(outside, scratch);
      primitive_.set(inputs_[i].argument(), inputs_[i].inside(outside, scratch));
    }
    Staged& output = outputs_[0];
    primitive_.set(output.argument(), output.inside(io.out<float>(), scratch));
    primitive_.set(DNNL_ARG_SCRATCHPAD, scratch + scratchpad_);
    if (bias_argument_ == DNNL_ARG_BIAS) primitive_.set(DNNL_ARG_BIAS, io.in<float>(2));
    if (bias_argument_ == DNNL_ARG_DIFF_BIAS) primitive_.set(DNNL_ARG_DIFF_BIAS, io.out<float>(1));
    primitive_.run("conv2d");
    output.bring_out(io.out<float>(), scratch);
    if (problem_.kind == ConvKind::Forward) finish_convolution(problem_, launch, bias_argument_ ? 1 : 0);
  }

 private:
  void make_forward(const Descs& d) {
    const auto& steps = problem_.attrs.epilogue.steps;
    const bool bias = !steps.empty() && steps[0] == Epilogue::Bias;
    const auto chosen = d.forward(bias ? d.bias : Desc());
    primitive_ = Primitive(dnnl::convolution_forward(chosen));
    add_input(DNNL_ARG_SRC, d.x, chosen.src_desc());
    add_input(DNNL_ARG_WEIGHTS, d.w, chosen.weights_desc());
    add_output(DNNL_ARG_DST, d.y, chosen.dst_desc());
    finish(chosen, bias ? DNNL_ARG_BIAS : 0, d);
  }
  void make_input_gradient(const Descs& d) {
    const auto chosen = d.input_gradient();
    primitive_ = Primitive(dnnl::convolution_backward_data(chosen));
    add_input(DNNL_ARG_DIFF_DST, d.y, chosen.diff_dst_desc());
    add_input(DNNL_ARG_WEIGHTS, d.w, chosen.weights_desc());
    add_output(DNNL_ARG_DIFF_SRC, d.x, chosen.diff_src_desc());
    finish(chosen, 0, d);
  }
  void make_weight_gradient(const Descs& d) {
    const bool bias = problem_.attrs.bias;
    const auto chosen = d.weight_gradient(bias ? d.bias : Desc());
    primitive_ = Primitive(dnnl::convolution_backward_weights(chosen));
    add_input(DNNL_ARG_SRC, d.x, chosen.src_desc());
    add_input(DNNL_ARG_DIFF_DST, d.y, chosen.diff_dst_desc());
    add_output(DNNL_ARG_DIFF_WEIGHTS, d.w, chosen.diff_weights_desc());
    finish(chosen, bias ? DNNL_ARG_DIFF_BIAS : 0, d);
  }

  void add_input(int argument, const Desc& outside, const Desc& inside) {
    primitive_.bind(argument, inside);
    inputs_.emplace_back(argument, outside, inside, false, layout_);
  }
  void add_output(int argument, const Desc& outside, const Desc& inside) {
    primitive_.bind(argument, inside);
    outputs_.emplace_back(argument, outside, inside, true, layout_);
  }
  template <class Chosen>
  void finish(const Chosen& chosen, int bias_argument, const Descs& d) {
    bias_argument_ = bias_argument;
    if (bias_argument) primitive_.bind(bias_argument, d.bias);
    primitive_.bind(DNNL_ARG_SCRATCHPAD, chosen.scratchpad_desc());
    scratchpad_ = layout_.take(chosen.scratchpad_desc());
    implementation_ = chosen.impl_info_str();
  }

  Convolution problem_;
  ScratchLayout layout_;
  Primitive primitive_;
  std::vector<Staged> inputs_, outputs_;
  int64_t scratchpad_ = 0;
  int bias_argument_ = 0;
  std::string implementation_;
};

}  // namespace

std::unique_ptr<Kernel> lower_onednn_conv(ConvKind kind, const StepRequest& request) {
  if (input_dtype(request) != DType::F32) return nullptr;
  const Convolution problem(kind, request);
  if (numel(problem.x) * numel(problem.w) * numel(problem.y) == 0) return nullptr;
  std::unique_ptr<OneDnnConv> kernel;
  const bool fast = is_available([&] {
    kernel = std::make_unique<OneDnnConv>(problem);
    return !is_reference(kernel->describe());
  });
  if (!fast) return nullptr;
  return kernel;
}

#else

std::unique_ptr<Kernel> lower_onednn_conv(ConvKind, const StepRequest&) { return nullptr; }

#endif

}  // namespace stoker::backends::cpu
