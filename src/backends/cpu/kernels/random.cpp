// random: Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011). Any element can be
// computed on its own, so results do not depend on threads or vector width.
#include <array>
#include <cmath>
#include <numbers>

#include "backends/cpu/kernel.h"
#include "backends/cpu/kernels/element.h"
#include "backends/cpu/parallel.h"
#include "graph/ops/attributes.h"

namespace stoker::backends::cpu {
namespace {

using graph::Distribution;
using graph::RandomAttrs;

constexpr int64_t kBlock = 64;  // elements of 16 calls
constexpr int kCalls = 16;
using Words = std::array<std::array<uint32_t, kCalls>, 4>;  // [word][call]

// Ten rounds for sixteen counters side by side.
Words philox(uint64_t key, uint64_t counter) {
  Words x;
  for (int k = 0; k < kCalls; ++k) {
    const uint64_t c = counter + uint64_t(k);
    x[0][size_t(k)] = uint32_t(c), x[1][size_t(k)] = uint32_t(c >> 32), x[2][size_t(k)] = 0, x[3][size_t(k)] = 0;
  }
  uint32_t k0 = uint32_t(key), k1 = uint32_t(key >> 32);
  for (int round = 0; round < 10; ++round) {
    for (size_t k = 0; k < kCalls; ++k) {
      const uint64_t a = uint64_t(0xD2511F53u) * x[0][k], b = uint64_t(0xCD9E8D57u) * x[2][k];
      const uint32_t y0 = uint32_t(b >> 32) ^ x[1][k] ^ k0, y2 = uint32_t(a >> 32) ^ x[3][k] ^ k1;
      x[0][k] = y0, x[1][k] = uint32_t(b), x[2][k] = y2, x[3][k] = uint32_t(a);
    }
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return x;
}

// Binary digits of T: that many upper bits of a word, because rounding more of them would give 1.
template <class T>
constexpr int kDigits = std::is_same_v<T, Half>       ? 11
                        : std::is_same_v<T, BFloat16> ? 8
                                                      : 24;

template <class T>
void uniform_block(const Words& words, T* out) {
  for (size_t j = 0; j < 4; ++j)
    for (size_t k = 0; k < kCalls; ++k) {
      const uint32_t bits = words[j][k];
      if constexpr (std::is_same_v<T, double>)
        out[j * kCalls + k] = (double(bits) + 0.5) * 0x1p-32;
      else
        out[j * kCalls + k] = store_as<T>(float(bits >> (32 - kDigits<T>)) * (1 / float(1 << kDigits<T>)));
    }
}

template <class T>
void normal_block(const Words& words, T* out) {
  for (size_t j = 0; j < 2; ++j)
    for (size_t k = 0; k < kCalls; ++k) {
      const double u1 = (double(words[j][k] >> 8) + 1) * 0x1p-24, u2 = double(words[j + 2][k] >> 8) * 0x1p-24;
      const double r = std::sqrt(-2 * std::log(u1)), angle = 2 * std::numbers::pi * u2;
      out[j * kCalls + k] = store_as<T>(r * std::cos(angle));
      out[(j + 2) * kCalls + k] = store_as<T>(r * std::sin(angle));
    }
}

template <class T>
void bits_block(const Words& words, T* out) {
  for (size_t j = 0; j < 4; ++j)
    for (size_t k = 0; k < kCalls; ++k) out[j * kCalls + k] = T(int32_t(words[j][k]));
}

template <class T, class F>
std::unique_ptr<Kernel> make_random(int64_t count, F fill) {
  return make_kernel([=](const Operands& o) {
    const uint64_t key = uint64_t(o.integer(0)), counter = uint64_t(o.integer(1));
    T* y = o.out<T>();
    parallel_for((count + kBlock - 1) / kBlock, 64, [&](int64_t begin, int64_t end) {
      T block[kBlock];
      for (int64_t b = begin; b < end; ++b) {
        const bool whole = (b + 1) * kBlock <= count;
        T* to = whole ? y + b * kBlock : block;
        fill(philox(key, counter + uint64_t(kCalls * b)), to);
        if (!whole) std::copy(block, block + (count - b * kBlock), y + b * kBlock);
      }
    });
  });
}

template <class T>
std::unique_ptr<Kernel> make_floating(bool normal, int64_t count) {
  return make_random<T>(count, normal ? normal_block<T> : uniform_block<T>);
}

std::unique_ptr<Kernel> lower_random(const StepRequest& r) {
  const auto& a = r.attrs.get<RandomAttrs>();
  const int64_t count = numel(a.shape);
  const auto distribution = Distribution(a.distribution);
  if (distribution == Distribution::Bits) return make_random<int32_t>(count, bits_block<int32_t>);
  const bool normal = distribution == Distribution::Normal;
  switch (a.dtype) {
    case DType::F16:
      return make_floating<Half>(normal, count);
    case DType::BF16:
      return make_floating<BFloat16>(normal, count);
    case DType::F64:
      return make_floating<double>(normal, count);
    default:
      return make_floating<float>(normal, count);
  }
}

}  // namespace

void register_random(KernelTable& table) { table["random"] = {takes_everything, lower_random}; }

}  // namespace stoker::backends::cpu
