// conv2d and its gradients: what oneDNN does not take is a matrix product of our own, whose columns are gathered from
// the images as they are packed. Halves are computed in f32.
#include "backends/cpu/kernels/conv.h"

#include <array>

#include "backends/cpu/kernels/epilogue.h"
#include "backends/cpu/kernels/im2col.h"
#include "backends/cpu/staging.h"

namespace stoker::backends::cpu {

using graph::Epilogue;

Convolution::Convolution(ConvKind k, const StepRequest& r) : kind(k), attrs(r.attrs.get<graph::ConvAttrs>()) {
  x = kind == ConvKind::InputGradient ? output_shape(r) : input_shape(r, 0);
  w = kind == ConvKind::WeightGradient ? output_shape(r) : input_shape(r, 1);
  y = kind == ConvKind::Forward ? output_shape(r) : input_shape(r, kind == ConvKind::InputGradient ? 0 : 1);
}

namespace {

template <class T>
void finish(const Convolution& p, const Operands& o, size_t first) {
  const std::span<const Epilogue> steps = p.attrs.epilogue.steps;
  int input = 2;
  std::vector<const T*> extras;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i] == Epilogue::Relu) continue;
    if (i >= first) extras.push_back(o.in<T>(input));
    ++input;
  }
  apply_epilogue<T>(steps.subspan(first), extras, o.out<T>(), p.images(), p.y[1], p.output_plane());
}

// What the three kinds have in common. Matrices are those of one image and group, or, for the weights, of one group.
template <class T>
class PortableConv : public Kernel {
 public:
  PortableConv(const Convolution& p, const ProductShape& shape) : p_(p), tiling_(shape, sizeof(T)) {}
  int64_t scratch_bytes() const override { return tiling_.scratch_elements() * int64_t(sizeof(T)); }
  std::string describe() const override { return "portable"; }

 protected:
  // Columns [source channels * taps, lanes of a plane].
  void pack_columns(T* to, const Sampler& sampler, const T* planes, Range depth, Range lanes) const {
    const int64_t plane = sampler.source_plane(), taps = p_.taps();
    for_each_panel(to, lanes, kPanelColumns<T>, depth.count, [&](T* panel, int64_t first, int64_t count) {
      for (int64_t k = depth.begin; k < depth.end(); ++k, panel += kPanelColumns<T>) {
        sampler.gather(panel, 1, planes + k / taps * plane, tap(k), first, count);
        std::fill(panel + count, panel + kPanelColumns<T>, T(0));
      }
    });
  }
  Tap tap(int64_t column) const { return {column % p_.taps() / p_.w[3], column % p_.w[3]}; }

  // Runs the product; row r of batch b of the result is row b*rows + r of output 0.
  template <class PackA, class PackB>
  void multiply(const Operands& o, const PackA& pack_a, const PackB& pack_b) const {
    const ProductShape& s = tiling_.shape;
    const auto store = [&](const Tile& tile, const T* values, int64_t stride) {
      for (int64_t i = tile.rows.begin; i < tile.rows.end(); ++i, values += stride)
        std::copy_n(values, tile.columns.count,
                    o.out<T>() + (tile.batch * s.rows + i) * s.columns + tile.columns.begin);
    };
    TiledProduct(tiling_, o.scratch<T>(), pack_a, pack_b, store).run();
  }

  const Convolution p_;

 private:
  Tiling tiling_;
};

// `count` rows of a panel out of a matrix whose rows are `stride` apart.
template <class T>
void pack_rows(T* panel, const T* from, int64_t stride, int64_t count, int64_t depth) {
  for (int64_t i = 0; i < kPanelRows; ++i)
    for (int64_t k = 0; k < depth; ++k) panel[k * kPanelRows + i] = i < count ? from[i * stride + k] : T(0);
}

// y[outputs, plane] = w[outputs, channels*taps] columns(x)
template <class T>
class PortableForward final : public PortableConv<T> {
 public:
  explicit PortableForward(const Convolution& p)
      : PortableConv<T>(p, {p.images() * p.groups(), p.outputs(), p.output_plane(), p.channels() * p.taps()}) {}

  void launch(const Launch& launch) override {
    const Operands o(launch);
    const Convolution& p = this->p_;
    const int64_t depth = p.channels() * p.taps();
    const Sampler sampler = Sampler::forward(p);
    const auto pack_a = [&](T* to, int64_t batch, Range rows, Range k) {
      const T* w = o.in<T>(1) + batch % p.groups() * p.outputs() * depth + k.begin;
      for_each_panel(to, rows, kPanelRows, k.count, [&](T* panel, int64_t row, int64_t count) {
        pack_rows(panel, w + row * depth, depth, count, k.count);
      });
    };
    const auto pack_b = [&](T* to, int64_t batch, Range k, Range lanes) {
      this->pack_columns(to, sampler, o.in<T>(0) + batch * p.channels() * p.input_plane(), k, lanes);
    };
    this->multiply(o, pack_a, pack_b);
    finish<T>(p, o, 0);
  }
};

// dx[channels, plane] = w'[channels, outputs*taps] columns(dy), where an element of x looks at those of y that saw it.
template <class T>
class PortableInputGradient final : public PortableConv<T> {
 public:
  explicit PortableInputGradient(const Convolution& p)
      : PortableConv<T>(p, {p.images() * p.groups(), p.channels(), p.input_plane(), p.outputs() * p.taps()}) {}

  void launch(const Launch& launch) override {
    const Operands o(launch);
    const Convolution& p = this->p_;
    const Sampler sampler = Sampler::backward(p);
    const auto pack_a = [&](T* to, int64_t batch, Range rows, Range depth) {
      const T* w = o.in<T>(1) + batch % p.groups() * p.outputs() * p.channels() * p.taps();
      for_each_panel(to, rows, kPanelRows, depth.count, [&](T* panel, int64_t channel, int64_t count) {
        pack_weights(panel, w + channel * p.taps(), count, depth);
      });
    };
    const auto pack_b = [&](T* to, int64_t batch, Range depth, Range lanes) {
      this->pack_columns(to, sampler, o.in<T>(0) + batch * p.outputs() * p.output_plane(), depth, lanes);
    };
    this->multiply(o, pack_a, pack_b);
  }

 private:
  void pack_weights(T* panel, const T* w, int64_t count, Range depth) const {
    const int64_t taps = this->p_.taps(), output = this->p_.channels() * taps;
    for (int64_t k = depth.begin; k < depth.end(); ++k, panel += kPanelRows)
      for (int64_t i = 0; i < kPanelRows; ++i) panel[i] = i < count ? w[k / taps * output + i * taps + k % taps] : T(0);
  }
};

// dw[outputs, channels*taps] = dy[outputs, images*plane] columns(x)'; db[outputs] = sums of dy.
template <class T>
class PortableWeightGradient final : public PortableConv<T> {
 public:
  explicit PortableWeightGradient(const Convolution& p)
      : PortableConv<T>(p, {p.groups(), p.outputs(), p.channels() * p.taps(), p.images() * p.output_plane()}) {}

  void launch(const Launch& launch) override {
    const Operands o(launch);
    const Convolution& p = this->p_;
    const Sampler sampler = Sampler::forward(p);
    const auto pack_a = [&](T* to, int64_t group, Range rows, Range depth) {
      for_each_panel(to, rows, kPanelRows, depth.count, [&](T* panel, int64_t row, int64_t count) {
        pack_gradients(panel, o.in<T>(1), group * p.outputs() + row, count, depth);
      });
    };
    const auto pack_b = [&](T* to, int64_t group, Range depth, Range columns) {
      for_each_panel(to, columns, kPanelColumns<T>, depth.count, [&](T* panel, int64_t column, int64_t count) {
        if (count < kPanelColumns<T>) std::fill_n(panel, kPanelColumns<T> * depth.count, T(0));
        for (int64_t i = 0; i < count; ++i) pack_column(panel + i, sampler, o.in<T>(0), group, column + i, depth);
      });
    };
    this->multiply(o, pack_a, pack_b);
    if (p.attrs.bias) sum_gradients(o.in<T>(1), o.out<T>(1));
  }

 private:
  // Calls f(image, first element of its plane, count, how many came before) for the images that the depth runs through.
  template <class F>
  void for_each_image(Range depth, const F& f) const {
    const int64_t plane = this->p_.output_plane();
    for (int64_t done = 0; done < depth.count;) {
      const int64_t at = depth.begin + done, first = at % plane, count = std::min(plane - first, depth.count - done);
      f(at / plane, first, count, done);
      done += count;
    }
  }
  void pack_gradients(T* panel, const T* dy, int64_t row, int64_t rows, Range depth) const {
    const int64_t plane = this->p_.output_plane(), planes = this->p_.y[1];
    for_each_image(depth, [&](int64_t image, int64_t first, int64_t count, int64_t done) {
      pack_rows(panel + done * kPanelRows, dy + (image * planes + row) * plane + first, plane, rows, count);
    });
  }
  void pack_column(T* to, const Sampler& sampler, const T* x, int64_t group, int64_t column, Range depth) const {
    const Convolution& p = this->p_;
    const int64_t channel = group * p.channels() + column / p.taps();
    for_each_image(depth, [&](int64_t image, int64_t first, int64_t count, int64_t done) {
      const T* plane = x + (image * p.x[1] + channel) * p.input_plane();
      sampler.gather(to + done * kPanelColumns<T>, kPanelColumns<T>, plane, this->tap(column), first, count);
    });
  }

  void sum_gradients(const T* dy, T* db) const {
    const int64_t plane = this->p_.output_plane(), planes = this->p_.y[1], images = this->p_.images();
    parallel_for(planes, std::max<int64_t>(1, kGrain / (images * plane + 1)), [&](int64_t begin, int64_t end) {
      for (int64_t output = begin; output < end; ++output) {
        T total = 0;
        for (int64_t image = 0; image < images; ++image) total += sum(dy + (image * planes + output) * plane, plane);
        db[output] = total;
      }
    });
  }
  static T sum(const T* from, int64_t count) {
    constexpr int64_t kLanes = 16;
    std::array<T, kLanes> lanes{};
    for (int64_t i = 0; i < count / kLanes * kLanes; i += kLanes)
      for (int64_t k = 0; k < kLanes; ++k) lanes[size_t(k)] += from[i + k];
    T total = 0;
    for (int64_t i = count / kLanes * kLanes; i < count; ++i) total += from[i];
    for (T lane : lanes) total += lane;
    return total;
  }
};

template <class T>
std::unique_ptr<Kernel> make_portable(const Convolution& p) {
  if (p.kind == ConvKind::Forward) return std::make_unique<PortableForward<T>>(p);
  if (p.kind == ConvKind::InputGradient) return std::make_unique<PortableInputGradient<T>>(p);
  return std::make_unique<PortableWeightGradient<T>>(p);
}

bool supports_conv(ConvKind kind, const StepRequest& request) {
  const graph::EpilogueList& epilogue = request.attrs.get<graph::ConvAttrs>().epilogue;
  if (request.inputs.size() != 2 + extra_inputs(epilogue)) return false;
  if (kind != ConvKind::Forward && !epilogue.steps.empty()) return false;
  return std::all_of(request.inputs.begin(), request.inputs.end(), [&](const StepRequest::Input& in) {
    return !in.scalar && is_floating(in.desc.dtype) && in.desc.dtype == input_dtype(request);
  });
}

std::unique_ptr<Kernel> lower_conv(ConvKind kind, const StepRequest& request) {
  return lower_widened(request, [kind](const StepRequest& wide) {
    std::unique_ptr<Kernel> kernel = lower_onednn_conv(kind, wide);
    return kernel ? std::move(kernel) : lower_portable_conv(kind, wide);
  });
}

}  // namespace

void finish_convolution(const Convolution& problem, const Launch& launch, size_t first) {
  finish<float>(problem, Operands(launch), first);
}

std::unique_ptr<Kernel> lower_portable_conv(ConvKind kind, const StepRequest& request) {
  const Convolution problem(kind, request);
  if (input_dtype(request) == DType::F64) return make_portable<double>(problem);
  return make_portable<float>(problem);
}

void register_conv(KernelTable& table) {
  const auto entry = [](ConvKind kind) {
    return KernelEntry{[kind](const StepRequest& r) { return supports_conv(kind, r); },
                       [kind](const StepRequest& r) { return lower_conv(kind, r); }};
  };
  table["conv2d"] = entry(ConvKind::Forward);
  table["conv2d_input_gradient"] = entry(ConvKind::InputGradient);
  table["conv2d_weight_gradient"] = entry(ConvKind::WeightGradient);
}

}  // namespace stoker::backends::cpu
