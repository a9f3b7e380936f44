#include "backends/cpu/kernels/convolution.h"

#include <algorithm>

#include "backends/cpu/kernels/epilogue.h"
#include "backends/cpu/kernels/gemm.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/staging.h"

namespace stoker::backends::cpu {

ConvProblem::ConvProblem(const StepRequest& request, ConvDirection d)
    : direction(d), attrs(request.attrs.get<graph::ConvAttrs>()) {
  const Shape &first = input_shape(request, 0), &second = input_shape(request, 1), &out = output_shape(request);
  x = d == ConvDirection::InputGradient ? out : first;
  w = d == ConvDirection::WeightGradient ? out : second;
  y = d == ConvDirection::Forward ? out : d == ConvDirection::InputGradient ? first : second;
}

template <class T>
void sum_channels(const T* dy, T* db, int64_t images, int64_t channels, int64_t positions) {
  parallel_for(channels, std::max<int64_t>(1, kGrain / (images * positions + 1)), [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      T total = 0;
      for (int64_t i = 0; i < images; ++i) {
        T lanes[8] = {};
        const T* plane = dy + (i * channels + c) * positions;
        for (int64_t p = 0; p < positions; ++p) lanes[p % 8] += plane[p];
        total += ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
      }
      db[c] = total;
    }
  });
}
template void sum_channels<float>(const float*, float*, int64_t, int64_t, int64_t);
template void sum_channels<double>(const double*, double*, int64_t, int64_t, int64_t);

namespace {

// The kernel position (row, column) over one plane of x: which columns of y it reaches inside of x.
struct Reach {
  int64_t begin, end;
  Reach(int64_t positions, int64_t extent, int64_t start, int64_t stride) {
    begin = start >= 0 ? 0 : (-start + stride - 1) / stride;
    end = start >= extent ? 0 : std::min(positions, (extent - 1 - start) / stride + 1);
    begin = std::min(begin, end);
  }
};

// Calls f(row of the matrix of windows, offset in x of its first element, reach) for each row of y's plane: the elements
// of x that weight (c, i, j) meets there lie stride apart.
template <class F>
void for_each_window_row(const ConvProblem& p, int64_t c, int64_t i, int64_t j, const F& f) {
  const graph::ConvAttrs& a = p.attrs;
  const int64_t left = j * a.dilation[1] - a.padding_low[1];
  const Reach reach(p.y[3], p.x[3], left, a.stride[1]);
  for (int64_t row = 0; row < p.y[2]; ++row) {
    const int64_t top = row * a.stride[0] + i * a.dilation[0] - a.padding_low[0];
    const bool inside = top >= 0 && top < p.x[2];
    f(row, (c * p.x[2] + top) * p.x[3] + left, inside ? reach : Reach(0, 0, 0, 1));
  }
}

// Rows [begin, end) of the matrix of windows: one row a weight, one column a position.
template <class T>
void gather_windows(const ConvProblem& p, const T* x, T* windows, int64_t begin, int64_t end) {
  const int64_t area = p.w[2] * p.w[3], stride = p.attrs.stride[1];
  for (int64_t r = begin; r < end; ++r)
    for_each_window_row(p, r / area, r % area / p.w[3], r % p.w[3], [&](int64_t row, int64_t offset, Reach reach) {
      T* out = windows + r * p.positions() + row * p.y[3];
      for (int64_t k = 0; k < reach.begin; ++k) out[k] = 0;
      for (int64_t k = reach.begin; k < reach.end; ++k) out[k] = x[offset + k * stride];
      for (int64_t k = reach.end; k < p.y[3]; ++k) out[k] = 0;
    });
}

// The reverse: adds the windows' elements to where they came from.
template <class T>
void scatter_windows(const ConvProblem& p, const T* windows, T* x) {
  const int64_t area = p.w[2] * p.w[3], stride = p.attrs.stride[1];
  for (int64_t r = 0; r < p.window(); ++r)
    for_each_window_row(p, r / area, r % area / p.w[3], r % p.w[3], [&](int64_t row, int64_t offset, Reach reach) {
      const T* from = windows + r * p.positions() + row * p.y[3];
      for (int64_t k = reach.begin; k < reach.end; ++k) x[offset + k * stride] += from[k];
    });
}

// Products with the matrix of windows, image by image and group by group. Forward and for the input, images run at the
// same time where there are enough; for the weight they add up in order, and each product is divided.
template <class T>
class PortableConvolution final : public Kernel {
 public:
  explicit PortableConvolution(const ConvProblem& p)
      : p_(p), parallel_images_(p.direction != ConvDirection::WeightGradient && p.x[0] >= thread_count()) {
    const bool weight = p.direction == ConvDirection::WeightGradient;
    const bool input = p.direction == ConvDirection::InputGradient;
    windows_ = p.window() * p.positions();
    work_ = gemm_scratch<T>(weight ? p.window() : p.positions(), weight ? p.positions() : input ? p.filters() : p.window(),
                            parallel_images_ ? 1 : thread_count());
    pieces_ = parallel_images_ ? thread_count() : 1;
  }

  int64_t scratch_bytes() const override { return pieces_ * (windows_ + work_) * int64_t(sizeof(T)); }
  std::string describe() const override { return "portable"; }

  void launch(const Launch& launch) override {
    const Operands io(launch);
    switch (p_.direction) {
      case ConvDirection::Forward: return run_forward(io);
      case ConvDirection::InputGradient: return run_input_gradient(io);
      case ConvDirection::WeightGradient: return run_weight_gradient(io);
    }
  }

 private:
  // f(image, group, windows, work) for every image and group.
  template <class F>
  void for_each_image(const Operands& io, const F& f) const {
    const auto run = [&](int64_t begin, int64_t end, int piece) {
      T* windows = io.scratch<T>() + piece * (windows_ + work_);
      for (int64_t i = begin; i < end; ++i)
        for (int64_t g = 0; g < p_.groups(); ++g) f(i, g, windows, windows + windows_);
    };
    if (parallel_images_) parallel_for(p_.x[0], 1, run);
    else run(0, p_.x[0], 0);
  }
  int64_t x_at(int64_t image, int64_t group) const { return (image * p_.x[1] + group * p_.channels()) * p_.x[2] * p_.x[3]; }
  int64_t y_at(int64_t image, int64_t group) const { return (image * p_.y[1] + group * p_.filters()) * p_.positions(); }
  int64_t w_at(int64_t group) const { return group * p_.filters() * p_.window(); }

  void run_forward(const Operands& io) const {
    T* y = io.out<T>();
    for_each_image(io, [&](int64_t i, int64_t g, T* windows, T* work) {
      gather(io.in<T>(0) + x_at(i, g), windows);
      gemm<T>(p_.filters(), p_.positions(), p_.window(), {io.in<T>(1) + w_at(g), p_.window(), 1},
              {windows, p_.positions(), 1}, y + y_at(i, g), p_.positions(), false, work);
    });
    std::vector<const T*> extras;
    for (graph::Epilogue e : p_.attrs.epilogue.steps)
      if (e != graph::Epilogue::Relu) extras.push_back(io.in<T>(2 + int(extras.size())));
    apply_epilogue<T>(p_.attrs.epilogue.steps, extras, y, p_.y[0], p_.y[1], p_.positions());
  }

  void run_input_gradient(const Operands& io) const {
    T* dx = io.out<T>();
    for_each_image(io, [&](int64_t i, int64_t g, T* windows, T* work) {
      gemm<T>(p_.window(), p_.positions(), p_.filters(), {io.in<T>(1) + w_at(g), 1, p_.window()},
              {io.in<T>(0) + y_at(i, g), p_.positions(), 1}, windows, p_.positions(), false, work);
      std::fill_n(dx + x_at(i, g), p_.channels() * p_.x[2] * p_.x[3], T(0));
      scatter_windows(p_, windows, dx + x_at(i, g));
    });
  }

  void run_weight_gradient(const Operands& io) const {
    T* dw = io.out<T>();
    std::fill_n(dw, numel(p_.w), T(0));
    for_each_image(io, [&](int64_t i, int64_t g, T* windows, T* work) {
      gather(io.in<T>(0) + x_at(i, g), windows);
      gemm<T>(p_.filters(), p_.window(), p_.positions(), {io.in<T>(1) + y_at(i, g), p_.positions(), 1},
              {windows, 1, p_.positions()}, dw + w_at(g), p_.window(), true, work);
    });
    if (p_.attrs.bias) sum_channels(io.in<T>(1), io.out<T>(1), p_.y[0], p_.y[1], p_.positions());
  }

  void gather(const T* x, T* windows) const {
    parallel_for(p_.window(), std::max<int64_t>(1, kGrain / (p_.positions() + 1)),
                 [&](int64_t begin, int64_t end) { gather_windows(p_, x, windows, begin, end); });
  }

  ConvProblem p_;
  bool parallel_images_;
  int64_t windows_, work_;  // elements of scratch for each piece
  int pieces_;
};

LowerFunction lower_direction(ConvDirection direction) {
  return [direction](const StepRequest& request) -> std::unique_ptr<Kernel> {
    const ConvProblem problem(request, direction);
    if (request.outputs[0].dtype == DType::F64) return std::make_unique<PortableConvolution<double>>(problem);
    if (auto kernel = lower_onednn_convolution(problem)) return kernel;
    return std::make_unique<PortableConvolution<float>>(problem);
  };
}

}  // namespace

void register_convolution(KernelTable& table) {
  const auto add = [&](const char* op, ConvDirection direction) {
    table[op] = {[](const StepRequest& r) { return is_floating(input_dtype(r)); },
                 [direction](const StepRequest& r) { return lower_widened(r, lower_direction(direction)); }};
  };
  add("conv2d", ConvDirection::Forward);
  add("conv2d_input_gradient", ConvDirection::InputGradient);
  add("conv2d_weight_gradient", ConvDirection::WeightGradient);
}

}  // namespace stoker::backends::cpu
