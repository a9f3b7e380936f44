// The columns of a convolution as a matrix product sees them, gathered from the images when they are packed, so that no
// matrix of them lies in memory.
#pragma once

#include "backends/cpu/kernels/conv.h"
#include "backends/cpu/kernels/panels.h"

namespace stoker::backends::cpu {

struct Tap {
  int64_t y, x;
};

// Along one axis, lane l and tap t meet source element (l*step + base + t*dilation) / divisor, if that is one.
struct SampleAxis {
  int64_t lanes, extent, step, divisor, base, dilation;
};

// The lanes of a plane as they see a source plane through one tap.
struct Sampler {
  SampleAxis y, x;

  // Elements of y look at x.
  static Sampler forward(const Convolution& p) {
    const auto axis = [&](int i) {
      return SampleAxis{p.y[i + 2], p.x[i + 2], p.attrs.stride[i], 1, -p.attrs.padding_low[i], p.attrs.dilation[i]};
    };
    return {axis(0), axis(1)};
  }
  // Elements of x look at y.
  static Sampler backward(const Convolution& p) {
    const auto axis = [&](int i) {
      return SampleAxis{p.x[i + 2], p.y[i + 2], 1, p.attrs.stride[i], p.attrs.padding_low[i], -p.attrs.dilation[i]};
    };
    return {axis(0), axis(1)};
  }

  int64_t source_plane() const { return y.extent * x.extent; }

  // Lanes first.. of the plane to to[0], to[stride]...
  template <class T>
  void gather(T* to, int64_t stride, const T* plane, Tap tap, int64_t first, int64_t count) const {
    int64_t row = first / x.lanes, lane = first % x.lanes;
    while (count > 0) {
      const int64_t run = std::min(count, x.lanes - lane);
      const int64_t at = row * y.step + y.base + tap.y * y.dilation;
      if (at >= 0 && at % y.divisor == 0 && at / y.divisor < y.extent)
        gather_row(to, stride, plane + at / y.divisor * x.extent, lane * x.step + x.base + tap.x * x.dilation, run);
      else
        clear(to, stride, run);
      to += run * stride, count -= run, lane = 0, ++row;
    }
  }

 private:
  // `at`: where the first lane looks, before division.
  template <class T>
  void gather_row(T* to, int64_t stride, const T* row, int64_t at, int64_t run) const {
    const int64_t skipped = (x.divisor - at % x.divisor) % x.divisor;  // lanes before the first that divides
    const int64_t source = (at + skipped) / x.divisor;
    const int64_t count = skipped < run ? divide_up(run - skipped, x.divisor) : 0;
    const int64_t begin = std::min(count, source < 0 ? divide_up(-source, x.step) : 0);
    const int64_t end = std::clamp(source < x.extent ? divide_up(x.extent - source, x.step) : 0, begin, count);
    if (x.divisor > 1 || begin > 0 || end < run) clear(to, stride, run);
    to += skipped * stride;
    if (stride == 1 && x.step == 1 && x.divisor == 1)
      std::copy(row + source + begin, row + source + end, to + begin);
    else
      for (int64_t i = begin; i < end; ++i) to[i * x.divisor * stride] = row[source + i * x.step];
  }

  template <class T>
  static void clear(T* to, int64_t stride, int64_t count) {
    for (int64_t i = 0; i < count; ++i) to[i * stride] = T(0);
  }
};

}  // namespace stoker::backends::cpu
