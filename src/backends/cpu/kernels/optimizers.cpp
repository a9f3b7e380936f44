// sgd_update, adam_update: all tensors of a parameter group in one kernel, cut into pieces of equal size for the
// threads.
#include <cmath>
#include <vector>

#include "backends/cpu/kernel.h"
#include "backends/cpu/kernels/element.h"
#include "backends/cpu/parallel.h"
#include "graph/ops/attributes.h"

namespace stoker::backends::cpu {
namespace {

using graph::AdamAttrs;
using graph::SgdAttrs;

// The elements of several tensors, numbered through.
class FlatGroup {
 public:
  FlatGroup(const StepRequest& r, int64_t tensors) {
    for (int64_t i = 0; i < tensors; ++i) starts_.push_back(starts_.back() + numel(input_shape(r, int(i))));
  }
  // Calls f(tensor, begin, end) for the parts of tensors that make up the whole, on all threads.
  template <class F>
  void for_each(const F& f) const {
    parallel_for(starts_.back(), kGrain, [&](int64_t begin, int64_t end) {
      size_t t = size_t(std::upper_bound(starts_.begin(), starts_.end(), begin) - starts_.begin()) - 1;
      for (; begin < end; ++t) {
        const int64_t stop = std::min(end, starts_[t + 1]);
        if (begin < stop) f(int(t), begin - starts_[t], stop - starts_[t]);
        begin = std::max(begin, stop);
      }
    });
  }

 private:
  std::vector<int64_t> starts_{0};
};

template <class T>
std::unique_ptr<Kernel> make_sgd(const StepRequest& r, const SgdAttrs& a) {
  using A = compute_of<T>;
  const int n = int(a.tensors);
  const bool momentum = a.momentum != 0;
  const FlatGroup group(r, n);
  const int numbers = n * (momentum ? 3 : 2);
  return make_kernel([=](const Operands& o) {
    const A lr = A(o.number(numbers)), decay = A(a.weight_decay), mu = A(a.momentum), keep = A(1 - a.dampening);
    const A sign = a.maximize ? A(-1) : A(1);
    const bool first = o.number(numbers + 1) != 0;
    group.for_each([&](int t, int64_t begin, int64_t end) {
      const T *p = o.in<T>(t), *g = o.in<T>(n + t), *v = momentum ? o.in<T>(2 * n + t) : nullptr;
      T *p_out = o.out<T>(t), *v_out = momentum ? o.out<T>(n + t) : nullptr;
      for (int64_t i = begin; i < end; ++i) {
        const A x = load_as<A>(p[i]);
        const A d = sign * load_as<A>(g[i]) + decay * x;
        A step = d;
        if (momentum) {
          const A velocity = first ? d : mu * load_as<A>(v[i]) + keep * d;
          v_out[i] = store_as<T>(velocity);
          step = a.nesterov ? d + mu * velocity : velocity;
        }
        p_out[i] = store_as<T>(x - lr * step);
      }
    });
  });
}

template <class T>
std::unique_ptr<Kernel> make_adam(const StepRequest& r, const AdamAttrs& a) {
  using A = compute_of<T>;
  const int n = int(a.tensors);
  const int lists = a.amsgrad ? 5 : 4;
  const FlatGroup group(r, n);
  return make_kernel([=](const Operands& o) {
    const double rate = o.number(n * lists);
    const A step = A(rate / o.number(n * lists + 1)), root2 = A(std::sqrt(o.number(n * lists + 2)));
    const A shrink = a.decoupled ? A(1 - rate * a.weight_decay) : A(1), decay = a.decoupled ? A(0) : A(a.weight_decay);
    const A take1 = A(1 - a.beta1), beta2 = A(a.beta2), take2 = A(1 - a.beta2), eps = A(a.eps),
            sign = a.maximize ? A(-1) : A(1);
    group.for_each([&](int t, int64_t begin, int64_t end) {
      const T *p = o.in<T>(t), *g = o.in<T>(n + t), *m = o.in<T>(2 * n + t), *v = o.in<T>(3 * n + t);
      const T* top = a.amsgrad ? o.in<T>(4 * n + t) : nullptr;
      T *p_out = o.out<T>(t), *m_out = o.out<T>(n + t), *v_out = o.out<T>(2 * n + t),
        *top_out = a.amsgrad ? o.out<T>(3 * n + t) : nullptr;
      for (int64_t i = begin; i < end; ++i) {
        const A x = load_as<A>(p[i]), d = sign * load_as<A>(g[i]) + decay * x;
        const A m1 = load_as<A>(m[i]) + (d - load_as<A>(m[i])) * take1;
        const A v1 = load_as<A>(v[i]) * beta2 + d * d * take2;
        A largest = v1;
        if (top) {
          largest = std::max(v1, load_as<A>(top[i]));
          top_out[i] = store_as<T>(largest);
        }
        m_out[i] = store_as<T>(m1);
        v_out[i] = store_as<T>(v1);
        p_out[i] = store_as<T>(x * shrink - step * m1 / (std::sqrt(largest) / root2 + eps));
      }
    });
  });
}

template <class F>
std::unique_ptr<Kernel> for_floating(DType dtype, const F& f) {
  switch (dtype) {
    case DType::F16:
      return f(Half{});
    case DType::BF16:
      return f(BFloat16{});
    case DType::F64:
      return f(double{});
    default:
      return f(float{});
  }
}

// All lists in one floating dtype; a mixture is composed.
bool one_floating_dtype(const StepRequest& r) {
  for (const StepRequest::Input& in : r.inputs)
    if (!in.scalar && in.desc.dtype != input_dtype(r)) return false;
  return is_floating(input_dtype(r));
}

}  // namespace

void register_optimizers(KernelTable& table) {
  table["sgd_update"] = {
      one_floating_dtype, [](const StepRequest& r) {
        return for_floating(input_dtype(r), [&](auto t) { return make_sgd<decltype(t)>(r, r.attrs.get<SgdAttrs>()); });
      }};
  table["adam_update"] = {one_floating_dtype, [](const StepRequest& r) {
                            return for_floating(input_dtype(r), [&](auto t) {
                              return make_adam<decltype(t)>(r, r.attrs.get<AdamAttrs>());
                            });
                          }};
}

}  // namespace stoker::backends::cpu
