// batch_norm, batch_norm_gradient over x[N, C, ...]. A channel belongs to one thread, which walks it in tiles that fit
// into the first-level cache: sums within a tile are of x's type (f32 for halves), those of tiles in f64, in a fixed
// order.
#include <cmath>
#include <utility>

#include "backends/cpu/kernel.h"
#include "backends/cpu/kernels/moving.h"
#include "backends/cpu/kernels/norm_loops.h"
#include "backends/cpu/tile_ops.h"
#include "graph/ops/attributes.h"

namespace stoker::backends::cpu {
namespace {

constexpr int64_t kTileSize = 512;
constexpr int64_t kShortRun = 128;  // shorter ones are gathered, several to a tile

// The elements of one channel: a run of `run` for each of `batch` samples, `stride` apart.
struct Channels {
  int64_t batch, count, run;
  explicit Channels(const Shape& x) : batch(x[0]), count(x[1]), run(1) {
    for (int k = 2; k < x.rank(); ++k) run *= x[k];
  }
  int64_t stride() const { return count * run; }
  int64_t elements() const { return batch * run; }
};

// Part of a channel: `runs` pieces of `length` elements, from sample `sample` and element `first` of its run on.
struct Tile {
  int64_t sample, runs, first, length;
  int64_t count() const { return runs * length; }
};

template <class F>
void for_each_tile(const Channels& s, const F& f) {
  if (s.run < kShortRun) {
    const int64_t runs = kTileSize / std::max<int64_t>(s.run, 1);
    for (int64_t n = 0; n < s.batch; n += runs) f(Tile{n, std::min(runs, s.batch - n), 0, s.run});
  } else {
    for (int64_t n = 0; n < s.batch; ++n)
      for (int64_t i = 0; i < s.run; i += kTileSize) f(Tile{n, 1, i, std::min(kTileSize, s.run - i)});
  }
}

// Tiles of one channel of T as A, the type that is computed in: straight from memory where they lie so, else by a
// buffer.
template <class T>
class ChannelReader {
 public:
  using A = compute_of<T>;
  ChannelReader(const T* data, const Channels& s, int64_t channel)
      : data_(data + channel * s.run), stride_(s.stride()) {}

  const A* read(const Tile& t, A* buffer) const {
    const T* from = data_ + t.sample * stride_ + t.first;
    if constexpr (std::is_same_v<T, A>)
      if (t.runs == 1) return from;
    for (int64_t r = 0; r < t.runs; ++r) convert(buffer + r * t.length, from + r * stride_, t.length);
    return buffer;
  }

 private:
  void convert(A* to, const T* from, int64_t n) const {
    if constexpr (std::is_same_v<T, A>)
      copy_words(to, from, n);
    else
      load_(to, 1, from, 1, n);
  }

  const T* data_;
  int64_t stride_;
  MoveFunction load_ = find_load(dtype_of<T>);
};

template <class T>
class ChannelWriter {
 public:
  using A = compute_of<T>;
  ChannelWriter(T* data, const Channels& s, int64_t channel) : data_(data + channel * s.run), stride_(s.stride()) {}

  // Calls compute(where to), and brings what it left there to memory.
  template <class F>
  void write(const Tile& t, const F& compute) const {
    T* to = data_ + t.sample * stride_ + t.first;
    if constexpr (std::is_same_v<T, A>)
      if (t.runs == 1) return compute(to);
    alignas(64) A buffer[kTileSize];
    compute(buffer);
    for (int64_t r = 0; r < t.runs; ++r) convert(to + r * stride_, buffer + r * t.length, t.length);
  }

 private:
  void convert(T* to, const A* from, int64_t n) const {
    if constexpr (std::is_same_v<T, A>)
      copy_words(to, from, n);
    else
      store_(to, 1, from, 1, n);
  }

  T* data_;
  int64_t stride_;
  MoveFunction store_ = find_store(dtype_of<T>);
};

// A vector of one number a channel, of any floating dtype.
class Vector {
 public:
  explicit Vector(DType dtype) : dtype_(dtype) {}
  double read(const std::byte* data, int64_t i) const {
    return visit(dtype_, [&](auto t) { return load_as<double>(reinterpret_cast<const decltype(t)*>(data)[i]); });
  }
  void write(std::byte* data, int64_t i, double value) const {
    visit(dtype_, [&](auto t) { reinterpret_cast<decltype(t)*>(data)[i] = store_as<decltype(t)>(value); });
  }

 private:
  DType dtype_;
};

template <class F>
void for_each_channel(const Channels& s, const F& f) {
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, 4 * s.elements()));
  parallel_for(s.count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) f(c);
  });
}

// --- forward ---------------------------------------------------------------------------------------------------------

// Count, mean and sum of squared distances to it, joined tile by tile (Chan, Golub and LeVeque, 1979).
struct Moments {
  double count = 0, mean = 0, squares = 0;
  void join(double n, double tile_mean, double tile_squares) {
    const double total = count + n, delta = tile_mean - mean;
    mean += delta * (n / total);
    squares += tile_squares + delta * delta * (count * (n / total));
    count = total;
  }
  // NaN of nothing.
  double average() const { return count > 0 ? mean : 0 / count; }
  double variance() const { return squares / count; }
};

template <class T>
Moments moments(const ChannelReader<T>& x, const Channels& s, const NormLoops<compute_of<T>>& loops) {
  using A = compute_of<T>;
  Moments m;
  alignas(64) A buffer[kTileSize];
  for_each_tile(s, [&](const Tile& t) {
    const A* values = x.read(t, buffer);
    const double n = double(t.count()), mean = double(loops.sum(values, t.count())) / n;
    const double rounding = mean - double(A(mean));
    m.join(n, mean, std::max(double(loops.squares(values, A(mean), t.count())) - n * rounding * rounding, 0.0));
  });
  return m;
}

template <class T>
class Forward {
 public:
  using A = compute_of<T>;
  explicit Forward(const StepRequest& r)
      : s_(input_shape(r)),
        eps_(r.attrs.get<graph::NormAttrs>().eps),
        weight_(input_dtype(r, 1)),
        bias_(input_dtype(r, 2)) {}

  void operator()(const Operands& o) const {
    for_each_channel(s_, [&](int64_t c) {
      const ChannelReader<T> x(o.in<T>(0), s_, c);
      const Moments m = moments(x, s_, loops_);
      const A mean = A(m.average());
      const double rstd = 1 / std::sqrt(m.variance() + eps_);
      o.out<A>(1)[c] = mean;
      o.out<A>(2)[c] = A(rstd);
      const double weight = weight_.read(o.in<std::byte>(1), c), bias = bias_.read(o.in<std::byte>(2), c);
      normalize(x, {o.out<T>(), s_, c}, mean, A(rstd * weight), A(bias));
    });
  }

 private:
  void normalize(const ChannelReader<T>& x, const ChannelWriter<T>& y, A mean, A scale, A shift) const {
    alignas(64) A buffer[kTileSize];
    for_each_tile(s_, [&](const Tile& t) {
      const A* values = x.read(t, buffer);
      y.write(t, [&](A* to) { loops_.normalize(to, values, mean, scale, shift, t.count()); });
    });
  }

  Channels s_;
  double eps_;
  Vector weight_, bias_;
  NormLoops<A> loops_ = find_norm_loops<A>();
};

// --- gradient --------------------------------------------------------------------------------------------------------

// dx = weight * rstd * (dy - average of dy - (x - mean) * rstd^2 * average of dy * (x - mean))
template <class T>
class Backward {
 public:
  using A = compute_of<T>;
  explicit Backward(const StepRequest& r) : s_(input_shape(r, 1)), weight_(input_dtype(r, 2)) {}

  void operator()(const Operands& o) const {
    for_each_channel(s_, [&](int64_t c) {
      const ChannelReader<T> dy(o.in<T>(0), s_, c), x(o.in<T>(1), s_, c);
      const A mean = o.in<A>(3)[c];
      const double rstd = double(o.in<A>(4)[c]), n = double(s_.elements());
      const auto [plain, weighted] = products(dy, x, mean);
      weight_.write(o.out<std::byte>(1), c, n > 0 ? weighted * rstd : 0);
      weight_.write(o.out<std::byte>(2), c, plain);
      const double scale = weight_.read(o.in<std::byte>(2), c) * rstd;
      differentiate(dy, x, {o.out<T>(), s_, c}, mean, A(scale), A(scale * rstd * rstd * weighted / n),
                    A(scale * plain / n));
    });
  }

 private:
  // The sums over a channel of dy, and of dy * (x - mean).
  std::pair<double, double> products(const ChannelReader<T>& dy, const ChannelReader<T>& x, A mean) const {
    std::pair<double, double> totals;
    alignas(64) A buffers[2][kTileSize];
    for_each_tile(s_, [&](const Tile& t) {
      A sums[2];
      loops_.products(sums, dy.read(t, buffers[0]), x.read(t, buffers[1]), mean, t.count());
      totals.first += double(sums[0]), totals.second += double(sums[1]);
    });
    return totals;
  }

  void differentiate(const ChannelReader<T>& dy, const ChannelReader<T>& x, const ChannelWriter<T>& dx, A mean, A scale,
                     A slope, A shift) const {
    alignas(64) A buffers[2][kTileSize];
    for_each_tile(s_, [&](const Tile& t) {
      const A *g = dy.read(t, buffers[0]), *values = x.read(t, buffers[1]);
      dx.write(t, [&](A* to) { loops_.gradient(to, g, values, mean, scale, slope, shift, t.count()); });
    });
  }

  Channels s_;
  Vector weight_;
  NormLoops<A> loops_ = find_norm_loops<A>();
};

// --- lowering --------------------------------------------------------------------------------------------------------

// The dtype of input `X` is that of x.
template <template <class> class Norm, int X>
std::unique_ptr<Kernel> lower_norm(const StepRequest& r) {
  switch (input_dtype(r, X)) {
    case DType::F16:
      return make_kernel(Norm<Half>(r));
    case DType::BF16:
      return make_kernel(Norm<BFloat16>(r));
    case DType::F64:
      return make_kernel(Norm<double>(r));
    default:
      return make_kernel(Norm<float>(r));
  }
}

}  // namespace

void register_batch_norm(KernelTable& table) {
  table["batch_norm"] = {takes_everything, lower_norm<Forward, 0>};
  table["batch_norm_gradient"] = {takes_everything, lower_norm<Backward, 1>};
}

}  // namespace stoker::backends::cpu
