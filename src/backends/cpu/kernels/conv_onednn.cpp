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
constexpr auto kFloat = dnnl::memory::data_type::f32;

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

// Descriptors of one convolution: dense outside, any inside.
struct Descs {
  explicit Descs(const Convolution& c)
      : strides(to_dims(c.attrs.stride)), low(to_dims(c.attrs.padding_low)), high(to_dims(c.attrs.padding_high)) {
    for (int64_t d : c.attrs.dilation) dilation.push_back(d - 1);
    Shape weight = c.w;
    if (c.groups() > 1) {
      weight[0] = c.outputs();
      weight.insert(0, c.groups());
    }
    x = dense_desc(c.x), w = dense_desc(weight), y = dense_desc(c.y);
    any_x = Desc(to_dims(c.x), kFloat, kAny), any_w = Desc(to_dims(weight), kFloat, kAny),
    any_y = Desc(to_dims(c.y), kFloat, kAny);
    bias = dense_desc(Shape{c.w[0]});
  }
  dnnl::convolution_forward::primitive_desc forward(bool with_bias) const {
    const auto kind = dnnl::prop_kind::forward_training;
    const auto algorithm = dnnl::algorithm::convolution_auto;
    const auto desc =
        with_bias
            ? dnnl::convolution_forward::desc(kind, algorithm, any_x, any_w, bias, any_y, strides, dilation, low, high)
            : dnnl::convolution_forward::desc(kind, algorithm, any_x, any_w, any_y, strides, dilation, low, high);
    return {desc, user_scratchpad(), onednn_engine()};
  }

  Dimensions strides, dilation, low, high;
  Desc x, w, y, any_x, any_w, any_y, bias;
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
    const auto chosen = d.forward(bias);
    primitive_ = Primitive(dnnl::convolution_forward(chosen));
    add_input(DNNL_ARG_SRC, d.x, chosen.src_desc());
    add_input(DNNL_ARG_WEIGHTS, d.w, chosen.weights_desc());
    add_output(DNNL_ARG_DST, d.y, chosen.dst_desc());
    finish(chosen, bias ? DNNL_ARG_BIAS : 0, d);
  }
  void make_input_gradient(const Descs& d) {
    const dnnl::convolution_backward_data::primitive_desc chosen(
        {dnnl::algorithm::convolution_auto, d.any_x, d.any_w, d.any_y, d.strides, d.dilation, d.low, d.high},
        user_scratchpad(), onednn_engine(), d.forward(false));
    primitive_ = Primitive(dnnl::convolution_backward_data(chosen));
    add_input(DNNL_ARG_DIFF_DST, d.y, chosen.diff_dst_desc());
    add_input(DNNL_ARG_WEIGHTS, d.w, chosen.weights_desc());
    add_output(DNNL_ARG_DIFF_SRC, d.x, chosen.diff_src_desc());
    finish(chosen, 0, d);
  }
  void make_weight_gradient(const Descs& d) {
    using Backward = dnnl::convolution_backward_weights;
    const auto algorithm = dnnl::algorithm::convolution_auto;
    const bool bias = problem_.attrs.bias;
    const auto desc =
        bias ? Backward::desc(algorithm, d.any_x, d.any_w, d.bias, d.any_y, d.strides, d.dilation, d.low, d.high)
             : Backward::desc(algorithm, d.any_x, d.any_w, d.any_y, d.strides, d.dilation, d.low, d.high);
    const Backward::primitive_desc chosen(desc, user_scratchpad(), onednn_engine(), d.forward(false));
    primitive_ = Primitive(Backward(chosen));
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
