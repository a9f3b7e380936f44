// Functions of tensors one by one, over rows of 1,024 numbers. bytes_per_second counts what a function must read and
// write at least, so that it can be held against the bandwidth of a copy, which comes first.
#include <benchmark/benchmark.h>

#include <stoker/stoker.h>

namespace {

using stoker::Tensor;

constexpr int64_t kColumns = 1024;

// Each run is a plan of its own: its overhead is part of the small sizes.
template <class F>
void measure(benchmark::State& state, F f) {
  const Tensor x = stoker::uniform({state.range(0) / kColumns, kColumns}, 0.1, 0.9);
  stoker::eval({x});
  int64_t bytes = 0;
  for (auto _ : state) {
    const Tensor y = f(x);
    stoker::eval({y});
    stoker::synchronize();
    bytes = 4 * (x.numel() + y.numel());
  }
  state.SetBytesProcessed(state.iterations() * bytes);
}

template <class F>
void add(const char* name, F f) {
  benchmark::RegisterBenchmark(name, [f](benchmark::State& state) { measure(state, f); })
      ->Arg(1 << 14)
      ->Arg(1 << 22)
      ->Unit(benchmark::kMicrosecond)
      ->UseRealTime();
}

const bool added = [] {
  add("copy", [](const Tensor& x) { return x.clone(); });
#define STOKER_FUNCTION(name, ...) add(#name, [](const Tensor& x) { return stoker::name(x); });
#include <stoker/functions.inc>
#undef STOKER_FUNCTION
  add("gelu", [](const Tensor& x) { return stoker::gelu(x); });
  add("add_flipped", [](const Tensor& x) { return x + stoker::flip(x, {1}); });
  add("sum_of_rows", [](const Tensor& x) { return stoker::sum(x, {1}); });
  add("sum_of_columns", [](const Tensor& x) { return stoker::sum(x, {0}); });
  add("argmax", [](const Tensor& x) { return stoker::argmax(x, 1); });
  add("cumsum", [](const Tensor& x) { return stoker::cumsum(x, 1); });
  add("sort", [](const Tensor& x) { return stoker::sort(x).first; });
  add("softmax", [](const Tensor& x) { return stoker::softmax(x, 1); });
  add("layer_norm", [](const Tensor& x) { return stoker::layer_norm(x, {kColumns}); });
  add("dropout", [](const Tensor& x) { return stoker::dropout(x); });
  return true;
}();

}  // namespace
