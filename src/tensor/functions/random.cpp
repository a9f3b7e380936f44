// Random tensors. A draw reserves counters of the process's generator; the numbers come from the operation `random`, so
// that they are the same on every device, and again when a plan is replayed or a part of it recomputed.
#include <array>
#include <mutex>
#include <numeric>

#include "tensor/functions/call.h"

namespace stoker {

using namespace detail;

namespace {

constexpr uint64_t kDefaultSeed = 67280421310721;  // PyTorch's

std::mutex generator_mutex;
RandomState generator{kDefaultSeed, 0};

// Where the next `elements` numbers begin: 16 counters for each block of 64 elements.
RandomState reserve(int64_t elements) {
  std::lock_guard lock(generator_mutex);
  const RandomState at = generator;
  generator.counter += 16 * ((uint64_t(elements) + 63) / 64);
  return at;
}

Value draw(graph::Distribution distribution, const graph::TensorType& type) {
  const RandomState at = reserve(type.elements());
  return graph::random(distribution, graph::integer(int64_t(at.seed), type.device),
                       graph::integer(int64_t(at.counter), type.device), type);
}

// 32 random bits as an i64 of 0 .. 2^32 - 1.
Value draw_bits(const Shape& shape, Device device) {
  const Value bits = graph::cast(draw(graph::Distribution::Bits, {DType::I32, shape, device}), DType::I64);
  return graph::bitwise_and(bits, graph::integer(0xffffffff, device));
}

graph::TensorType floating_type(const Call& call, const Shape& shape, Options options) {
  if (!is_floating(options.dtype))
    call.dtype_error(fmt::format("expected a floating dtype, got {}", name_of(options.dtype)));
  return {options.dtype, shape, options.device};
}

// Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011), for what is drawn on the host.
std::array<uint32_t, 4> philox(uint64_t key, uint64_t counter) {
  std::array<uint32_t, 4> x{uint32_t(counter), uint32_t(counter >> 32), 0, 0};
  uint32_t k0 = uint32_t(key), k1 = uint32_t(key >> 32);
  for (int round = 0; round < 10; ++round, k0 += 0x9e3779b9, k1 += 0xbb67ae85) {
    const uint64_t a = uint64_t(0xd2511f53) * x[0], b = uint64_t(0xcd9e8d57) * x[2];
    x = {uint32_t(b >> 32) ^ x[1] ^ k0, uint32_t(b), uint32_t(a >> 32) ^ x[3] ^ k1, uint32_t(a)};
  }
  return x;
}

}  // namespace

void manual_seed(uint64_t seed) { set_random_state({seed, 0}); }
RandomState random_state() {
  std::lock_guard lock(generator_mutex);
  return generator;
}
void set_random_state(RandomState state) {
  std::lock_guard lock(generator_mutex);
  generator = state;
}

Tensor rand(const Shape& shape, Options options, Loc loc) {
  const Call call("rand", loc);
  return wrap(draw(graph::Distribution::Uniform, floating_type(call, shape, options)));
}
Tensor randn(const Shape& shape, Options options, Loc loc) {
  const Call call("randn", loc);
  return wrap(draw(graph::Distribution::Normal, floating_type(call, shape, options)));
}

Tensor uniform(const Shape& shape, double low, double high, Options options, Loc loc) {
  const Call call("uniform", loc);
  if (!(low <= high)) call.value_error(fmt::format("expected low <= high, got {} and {}", low, high));
  return wrap(draw(graph::Distribution::Uniform, floating_type(call, shape, options)) * (high - low) + low);
}
Tensor normal(const Shape& shape, double mean, double deviation, Options options, Loc loc) {
  const Call call("normal", loc);
  if (!(deviation >= 0)) call.value_error(fmt::format("expected a deviation of at least 0, got {}", deviation));
  return wrap(draw(graph::Distribution::Normal, floating_type(call, shape, options)) * deviation + mean);
}

// Random bits modulo the range, as PyTorch: 32 of them where that is enough.
Tensor randint(int64_t low, int64_t high, const Shape& shape, Options options, Loc loc) {
  const Call call("randint", loc);
  int64_t range = 0;
  if (low >= high || __builtin_sub_overflow(high, low, &range))
    call.value_error(fmt::format("expected low < high, less than 2^63 apart, got {} and {}", low, high));
  Value bits = draw_bits(shape, options.device);
  if (range > 0xffffffff)
    bits = draw_bits(shape, options.device) * graph::integer(int64_t(1) << 32, options.device) + bits;
  const Value offset = graph::remainder(bits, graph::integer(range, options.device));
  return wrap(graph::cast(offset + graph::integer(low, options.device), options.dtype));
}

Tensor bernoulli(Arg p) {
  const Call call("bernoulli", p.loc);
  const Value probability = call(p);
  call.expect_floating(probability);
  const Value wide = graph::detach(graph::widen(probability));
  return wrap(graph::cast(graph::lt(draw(graph::Distribution::Uniform, wide.type()), wide), probability.dtype()));
}

Tensor randperm(int64_t n, Device device, Loc loc) {
  const Call call("randperm", loc);
  if (n < 0) call.value_error(fmt::format("expected a count of at least 0, got {}", n));
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  const RandomState at = reserve(2 * n);  // 64 bits for each element
  for (int64_t i = n - 1; i > 0; --i) {
    const std::array<uint32_t, 4> words = philox(at.seed, at.counter + uint64_t(i / 2));
    const uint64_t bits = i % 2 ? uint64_t(words[3]) << 32 | words[2] : uint64_t(words[1]) << 32 | words[0];
    std::swap(order[size_t(i)], order[size_t(bits % uint64_t(i + 1))]);
  }
  return from_host(order.data(), {n}, {DType::I64, device}, call.loc());
}

// Zeroed where a uniform number falls below p; the mask that the gradient needs is a bool.
Tensor dropout(Arg x, double p, bool training) {
  const Call call("dropout", x.loc);
  const Value v = call(x);
  if (!(p >= 0 && p <= 1)) call.value_error(fmt::format("expected a probability in 0..1, got {}", p));
  call.expect_floating(v);
  if (!training || p == 0) return wrap(v);
  if (p == 1) return wrap(v * 0);
  const Value kept = graph::ge(draw(graph::Distribution::Uniform, {DType::F32, v.shape(), v.device()}), p);
  return wrap(graph::where(kept, v * (1 / (1 - p)), 0));
}

}  // namespace stoker
