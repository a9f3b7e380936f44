// Whole training steps on the default device, beside the rate of one large matrix product: what the machine can give.
//   flops: useful floating-point operations in a second, as the plan counts them
#include <benchmark/benchmark.h>

#include <stoker/stoker.h>

using namespace stoker;

namespace {

void count(benchmark::State& state, double flops, int64_t items) {
  state.counters["flops"] = benchmark::Counter(flops, benchmark::Counter::kIsIterationInvariantRate);
  state.SetItemsProcessed(state.iterations() * items);
}

void matrix_product(benchmark::State& state) {
  const int64_t n = state.range(0);
  const Tensor a = rand({n, n}), b = rand({n, n});
  eval({a, b});
  for (auto _ : state) {
    eval({matmul(a, b)});
    synchronize();
  }
  count(state, 2.0 * double(n) * double(n) * double(n), 1);
}
BENCHMARK(matrix_product)->Arg(2048)->Unit(benchmark::kMillisecond)->UseRealTime();

// Classifies images of 28x28 with Adam.
template <class Net>
void classifier(benchmark::State& state, const typename Net::Options& options) {
  const int64_t batch = state.range(0);
  Net net(options);
  optim::Adam opt(net.parameters(), {.lr = 1e-3});
  const Tensor x = rand({batch, 1, 28, 28}), y = randint(0, 10, {batch});
  eval({x, y});
  double flops = 0;
  for (auto _ : state) {
    const Tensor loss = cross_entropy(net(x), y);
    opt.zero_grad();
    loss.backward();
    opt.step();
    flops = last_plan().flops;
    synchronize();
  }
  count(state, flops, batch);
}
void cnn(benchmark::State& state) { classifier<models::Cnn>(state, {}); }
BENCHMARK(cnn)->Arg(128)->Unit(benchmark::kMillisecond)->UseRealTime();
void mlp_1024(benchmark::State& state) { classifier<models::Mlp>(state, {.hidden_features = 1024}); }
BENCHMARK(mlp_1024)->Arg(128)->Unit(benchmark::kMillisecond)->UseRealTime();

// So small that it is overhead alone: recording, finding the plan, starting it.
void small_step(benchmark::State& state) {
  const Tensor x = rand({32, 64});
  Tensor w = rand({64, 64});
  w.requires_grad_();
  eval({x, w});
  for (auto _ : state) {
    w.set_grad({});
    sum(tanh(x.matmul(w))).backward();
    benchmark::DoNotOptimize(w.grad());
    eval({w.grad()});
    synchronize();
  }
}
BENCHMARK(small_step)->Unit(benchmark::kMicrosecond)->UseRealTime();

// Every step has another batch size than all before it: what a new plan costs.
void new_plan(benchmark::State& state) {
  models::Cnn net;
  optim::SGD opt(net.parameters(), {.lr = 1e-3});
  int64_t batch = 1;
  const PlanStats before = plan_stats();
  for (auto _ : state) {
    const Tensor x = zeros({++batch, 1, 28, 28}), y = zeros({batch}, kI64);
    opt.zero_grad();
    cross_entropy(net(x), y).backward();
    opt.step();
    synchronize();
  }
  const PlanStats after = plan_stats();
  state.counters["seconds_of_planning"] =
      (after.build_seconds - before.build_seconds) / double(after.plans_built - before.plans_built);
}
BENCHMARK(new_plan)->Iterations(20)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
