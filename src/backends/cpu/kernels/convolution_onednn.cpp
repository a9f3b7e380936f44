// Convolutions by oneDNN. Its fast code for AVX works on channels in blocks of 8 or 16, so that x, the weight and y are
// re-ordered inside of the kernel; its plain code multiplies gathered windows. Which is faster was measured: see is_blocked.
#include <optional>

#include "backends/cpu/kernels/convolution.h"
#include "backends/cpu/kernels/epilogue.h"
#include "backends/cpu/onednn.h"

namespace stoker::backends::cpu {

#ifdef STOKER_HAVE_ONEDNN

namespace {

using dnnl::convolution_backward_data;
using dnnl::convolution_backward_weights;
using dnnl::convolution_forward;
using graph::Epilogue;
using Desc = dnnl::memory::desc;
using Tag = dnnl::memory::format_tag;

// Re-ordering costs two passes over x and y. It pays where each output takes many products, or where there are too few
// filters for a matrix product (AVX2, 128 images: 32->64 3x3 on 14x14 17 ms against 22, 6->16 5x5 1.2 against 3.1; but
// 1->32 3x3 on 28x28 4.6 against 3.2, and 1x1 about equal).
bool is_blocked(const ConvProblem& p) {
  const bool pointwise = p.w[2] * p.w[3] == 1;
  return (!pointwise && p.window() >= 32) || p.filters() < 16;
}

// What a primitive works on, in the layouts that it chose.
struct Chosen {
  Desc x, w, y, scratchpad;
  dnnl::primitive primitive;
  std::string implementation;
};

class Chooser {
 public:
  Chooser(const ConvProblem& p, bool blocked, bool bias) : p_(p) {
    const graph::ConvAttrs& a = p.attrs;
    const Tag tag = blocked ? Tag::any : Tag::nchw;
    x_ = desc_of(p.x, tag);
    y_ = desc_of(p.y, tag);
    w_ = desc_of(weight_shape(p), Tag::any);
    if (bias) bias_ = desc_of({p.y[1]}, Tag::a);
    stride_ = to_dims(a.stride);
    dilation_ = {a.dilation[0] - 1, a.dilation[1] - 1};
    low_ = to_dims(a.padding_low);
    high_ = to_dims(a.padding_high);
  }

  static Shape weight_shape(const ConvProblem& p) {
    if (p.groups() == 1) return p.w;
    return {p.groups(), p.filters(), p.w[1], p.w[2], p.w[3]};
  }

  Chosen choose() const {
    const auto forward = forward_desc();
    switch (p_.direction) {
      case ConvDirection::Forward: {
        return {forward.src_desc(), forward.weights_desc(), forward.dst_desc(), forward.scratchpad_desc(),
                convolution_forward(forward), forward.impl_info_str()};
      }
      case ConvDirection::InputGradient: {
        const convolution_backward_data::primitive_desc d({kAlgorithm, x_, w_, y_, stride_, dilation_, low_, high_},
                                                          user_scratchpad(), onednn_engine(), forward);
        return {d.diff_src_desc(), d.weights_desc(), d.diff_dst_desc(), d.scratchpad_desc(), convolution_backward_data(d),
                d.impl_info_str()};
      }
      case ConvDirection::WeightGradient: break;
    }
    const convolution_backward_weights::primitive_desc d(
        {kAlgorithm, x_, w_, bias_, y_, stride_, dilation_, low_, high_}, user_scratchpad(), onednn_engine(), forward);
    return {d.src_desc(), d.diff_weights_desc(), d.diff_dst_desc(), d.scratchpad_desc(), convolution_backward_weights(d),
            d.impl_info_str()};
  }

 private:
  static constexpr auto kAlgorithm = dnnl::algorithm::convolution_auto;

  convolution_forward::primitive_desc forward_desc() const {
    return {{dnnl::prop_kind::forward_training, kAlgorithm, x_, w_, bias_, y_, stride_, dilation_, low_, high_},
            user_scratchpad(), onednn_engine()};
  }

  const ConvProblem& p_;
  Desc x_, w_, y_, bias_;
  dnnl::memory::dims stride_, dilation_, low_, high_;
};

// An operand that the primitive wants in its own layout: a place in scratch, and the way there or back.
struct Reordered {
  Primitive reorder;
  int64_t memory = 0;  // bytes into scratch
};

class OneDnnConvolution final : public Kernel {
 public:
  OneDnnConvolution(const ConvProblem& p, bool blocked) : p_(p), epilogue_(p.attrs.epilogue.steps) {
    const bool forward = p.direction == ConvDirection::Forward;
    bias_ = forward ? !epilogue_.empty() && epilogue_[0] == Epilogue::Bias : p.attrs.bias;
    if (forward && bias_) epilogue_.erase(epilogue_.begin());
    const Chosen chosen = Chooser(p, blocked, bias_).choose();
    implementation_ = chosen.implementation;
    primitive_ = Primitive(chosen.primitive);
    prepare(x_, chosen.x, desc_of(p.x, Tag::nchw), x_argument(), p.direction == ConvDirection::InputGradient);
    prepare(w_, chosen.w, desc_of(Chooser::weight_shape(p), p.groups() == 1 ? Tag::oihw : Tag::goihw), w_argument(),
            p.direction == ConvDirection::WeightGradient);
    prepare(y_, chosen.y, desc_of(p.y, Tag::nchw), y_argument(), forward);
    if (bias_) primitive_.bind(bias_argument(), desc_of({p.y[1]}, Tag::a));
    primitive_.bind(DNNL_ARG_SCRATCHPAD, chosen.scratchpad);
    work_ = take(std::max(int64_t(chosen.scratchpad.get_size()), reorder_work_));
  }

  // Whether any part of it is oneDNN's reference code.
  bool is_slow() const { return is_reference(implementation_); }
  int64_t scratch_bytes() const override { return scratch_; }
  std::string describe() const override { return "onednn:" + implementation_ + (x_ || y_ ? " reordered" : ""); }

  void launch(const Launch& launch) override {
    const Operands io(launch);
    primitive_.set(DNNL_ARG_SCRATCHPAD, io.scratch<float>(work_));
    switch (p_.direction) {
      case ConvDirection::Forward: return run_forward(io);
      case ConvDirection::InputGradient: return run_input_gradient(io);
      case ConvDirection::WeightGradient: return run_weight_gradient(io);
    }
  }

 private:
  int x_argument() const { return p_.direction == ConvDirection::InputGradient ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC; }
  int w_argument() const { return p_.direction == ConvDirection::WeightGradient ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS; }
  int y_argument() const { return p_.direction == ConvDirection::Forward ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST; }
  int bias_argument() const { return p_.direction == ConvDirection::Forward ? DNNL_ARG_BIAS : DNNL_ARG_DIFF_BIAS; }

  int64_t take(int64_t bytes) {
    const int64_t at = scratch_;
    scratch_ += (bytes + 63) / 64 * 64;
    return at;
  }

  void prepare(std::optional<Reordered>& operand, const Desc& wanted, const Desc& plain, int argument, bool is_output) {
    primitive_.bind(argument, wanted);
    if (wanted == plain) return;
    const Desc &from = is_output ? wanted : plain, &to = is_output ? plain : wanted;
    const dnnl::reorder::primitive_desc chosen(onednn_engine(), from, onednn_engine(), to, user_scratchpad());
    operand.emplace();
    operand->reorder = Primitive(dnnl::reorder(chosen));
    operand->reorder.bind(DNNL_ARG_FROM, from);
    operand->reorder.bind(DNNL_ARG_TO, to);
    operand->reorder.bind(DNNL_ARG_SCRATCHPAD, chosen.scratchpad_desc());
    operand->memory = take(int64_t(wanted.get_size()));
    reorder_work_ = std::max(reorder_work_, int64_t(chosen.scratchpad_desc().get_size()));
  }

  // Gives the primitive an operand, in its layout.
  void read(const Operands& io, std::optional<Reordered>& operand, int argument, const float* data) {
    if (operand) data = reorder(io, *operand, data, io.scratch<float>(operand->memory));
    primitive_.set(argument, data);
  }
  void expect(const Operands& io, std::optional<Reordered>& operand, int argument, float* data) {
    primitive_.set(argument, operand ? io.scratch<float>(operand->memory) : data);
  }
  void write(const Operands& io, std::optional<Reordered>& operand, float* data) {
    if (operand) reorder(io, *operand, io.scratch<float>(operand->memory), data);
  }
  const float* reorder(const Operands& io, Reordered& operand, const float* from, float* to) {
    operand.reorder.set(DNNL_ARG_FROM, from);
    operand.reorder.set(DNNL_ARG_TO, to);
    operand.reorder.set(DNNL_ARG_SCRATCHPAD, io.scratch<float>(work_));
    operand.reorder.run("reorder");
    return to;
  }

  void run_forward(const Operands& io) {
    read(io, x_, DNNL_ARG_SRC, io.in<float>(0));
    read(io, w_, DNNL_ARG_WEIGHTS, io.in<float>(1));
    if (bias_) primitive_.set(DNNL_ARG_BIAS, io.in<float>(2));
    expect(io, y_, DNNL_ARG_DST, io.out<float>());
    primitive_.run("conv2d");
    write(io, y_, io.out<float>());
    std::vector<const float*> extras;
    for (Epilogue e : epilogue_)
      if (e != Epilogue::Relu) extras.push_back(io.in<float>(2 + bias_ + int(extras.size())));
    apply_epilogue<float>(epilogue_, extras, io.out<float>(), p_.y[0], p_.y[1], p_.positions());
  }

  void run_input_gradient(const Operands& io) {
    read(io, y_, DNNL_ARG_DIFF_DST, io.in<float>(0));
    read(io, w_, DNNL_ARG_WEIGHTS, io.in<float>(1));
    expect(io, x_, DNNL_ARG_DIFF_SRC, io.out<float>());
    primitive_.run("conv2d_input_gradient");
    write(io, x_, io.out<float>());
  }

  void run_weight_gradient(const Operands& io) {
    read(io, x_, DNNL_ARG_SRC, io.in<float>(0));
    read(io, y_, DNNL_ARG_DIFF_DST, io.in<float>(1));
    if (bias_) primitive_.set(DNNL_ARG_DIFF_BIAS, io.out<float>(1));
    expect(io, w_, DNNL_ARG_DIFF_WEIGHTS, io.out<float>());
    primitive_.run("conv2d_weight_gradient");
    write(io, w_, io.out<float>());
  }

  ConvProblem p_;
  std::vector<Epilogue> epilogue_;  // what is left to do after the primitive
  bool bias_ = false;
  Primitive primitive_;
  std::optional<Reordered> x_, w_, y_;
  std::string implementation_;
  int64_t work_ = 0, scratch_ = 0, reorder_work_ = 0;  // bytes
};

std::unique_ptr<Kernel> lower_layout(const ConvProblem& problem, bool blocked) {
  std::unique_ptr<OneDnnConvolution> kernel;
  const bool fast = is_available([&] {
    kernel = std::make_unique<OneDnnConvolution>(problem, blocked);
    return !kernel->is_slow();
  });
  if (!fast) return nullptr;
  return kernel;
}

}  // namespace

std::unique_ptr<Kernel> lower_onednn_convolution(const ConvProblem& problem) {
  if (problem.empty()) return nullptr;
  const bool blocked = is_blocked(problem);
  if (auto kernel = lower_layout(problem, blocked)) return kernel;
  return lower_layout(problem, !blocked);
}

#else

std::unique_ptr<Kernel> lower_onednn_convolution(const ConvProblem&) { return nullptr; }

#endif

}  // namespace stoker::backends::cpu
