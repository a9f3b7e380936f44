// The step boundary: plans that are kept, memory that is predicted, failures that change nothing.
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include <stoker/stoker.h>

#include "graph/ops/attributes.h"
#include "runtime/buffer.h"
#include "tensor/update.h"

namespace stoker {
namespace {

using Floats = std::vector<float>;

// A two-layer network without the nn room, trained by plain gradient descent in one node.
struct Net {
  Tensor w1 = make_cell(randn({8, 16}) * 0.3f, true), w2 = make_cell(randn({16, 1}) * 0.3f, true);
  std::vector<Tensor> parameters{w1, w2};

  Tensor loss(const Tensor& x, const Tensor& y) const { return mse_loss(matmul(tanh(matmul(x, w1)), w2), y); }
  void step(double lr = 0.1) const {
    std::vector<Tensor> gradients;
    for (const Tensor& p : parameters) gradients.push_back(detail::take_gradient(p, false));
    detail::update_cells("sgd_update", graph::SgdAttrs{.tensors = 2}, parameters, gradients, {lr, 0});
    gradients.clear();  // nobody holds them: they are never stored
    detail::step_boundary();
  }
  void zero_grad() const {
    for (const Tensor& p : parameters) detail::clear_gradient(p);
  }
};

class StepTest : public ::testing::Test {
 protected:
  StepTest() { manual_seed(11); }
  Tensor x = randn({32, 8}), y = randn({32, 1});
};

TEST_F(StepTest, RepeatedStepsPlanNothingWhateverChanges) {
  Net net;
  Tensor total = zeros({}), snapshot;
  auto step = [&](int i) {
    Tensor loss = net.loss(x, y);
    net.zero_grad();
    loss.backward();
    net.step(0.1 / (1 + i));  // the learning rate changes
    total += loss.detach();
    if (i % 3 == 0) snapshot = net.w1.detach();  // and somebody holds old values
  };
  for (int i = 0; i < 4; ++i) step(i);
  const int64_t built = plan_stats().plans_built;
  for (int i = 4; i < 24; ++i) step(i);
  EXPECT_EQ(plan_stats().plans_built, built);
  EXPECT_GT(plan_stats().copies_out, 0);
  EXPECT_TRUE(std::isfinite(total.item<float>()));
}

TEST_F(StepTest, ParametersAreUpdatedInPlace) {
  Net net;
  auto step = [&] {
    net.zero_grad();
    net.loss(x, y).backward();
    net.step();
  };
  for (int i = 0; i < 3; ++i) step();
  const auto* home = detail::Access::cell(net.w1)->home.get();
  step();
  EXPECT_EQ(detail::Access::cell(net.w1)->home.get(), home);
  EXPECT_EQ(last_plan().output_bytes, 0) << "nothing is held but the parameters, which have their own place";
}

TEST_F(StepTest, PredictedBytesAreWhatTheAllocatorHandsOut) {
  Net net;
  Tensor held;
  auto step = [&] {
    net.zero_grad();
    held = net.loss(x, y);
    held.backward();
    net.step();
  };
  for (int i = 0; i < 3; ++i) step();
  synchronize();
  held = {};
  const int64_t before = memory_stats(cpu()).in_use;
  reset_peak_memory(cpu());
  step();
  EXPECT_EQ(memory_stats(cpu()).peak - before, last_plan().predicted_bytes);
}

int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * 4096;
}

TEST_F(StepTest, MemoryIsFlatOverAThousandSteps) {
  Net net;
  Tensor total = zeros({});
  auto step = [&] {
    net.zero_grad();
    Tensor loss = net.loss(x, y);
    loss.backward();
    net.step(1e-3);
    total += loss.detach();
  };
  for (int i = 0; i < 100; ++i) step();
  synchronize();
  const int64_t in_use = memory_stats(cpu()).in_use, resident = resident_bytes();
  for (int i = 0; i < 1000; ++i) step();
  synchronize();
  EXPECT_EQ(memory_stats(cpu()).in_use, in_use);
  EXPECT_LT(resident_bytes() - resident, int64_t(4) << 20);
}

TEST_F(StepTest, MemoryLimitInsideAStepLeavesEverythingAsItWas) {
  Net net;
  net.zero_grad();
  net.loss(x, y).backward();
  net.step();
  const Floats before = net.w1.to_vector<float>();
  const Tensor big_x = randn({4096, 8}), big_y = randn({4096, 1});
  eval();
  trim(cpu());
  for (int i = 0; i < 1000; ++i) {
    set_memory_limit(cpu(), memory_stats(cpu()).reserved + 1024);
    net.zero_grad();
    try {
      net.loss(big_x, big_y).backward();
      net.step();
      FAIL() << "expected OutOfMemory";
    } catch (const OutOfMemory& e) {
      EXPECT_GT(e.requested(), 0);
      EXPECT_FALSE(e.holders().empty());
    }
    set_memory_limit(cpu(), 0);
    if (i == 0) {
      EXPECT_EQ(net.w1.to_vector<float>(), before);
    }
  }
  EXPECT_EQ(net.w1.to_vector<float>(), before);
  net.zero_grad();
  net.loss(x, y).backward();
  net.step();
  EXPECT_NE(net.w1.to_vector<float>(), before);
}

TEST_F(StepTest, DeviceErrorPoisonsResultsAndNamesItsLine) {
  Tensor table = randn({4, 2});
  eval();
  Tensor bad = index_select(table, 0, tensor<int64_t>({1, 9}));
  Tensor after = bad * 2;
  for (int i = 0; i < 2; ++i) {
    try {
      (void)after.to_vector<float>();
      FAIL();
    } catch (const ValueError& e) {
      EXPECT_NE(std::string(e.what()).find("9"), std::string::npos) << e.what();
    }
  }
  Tensor next = after + 1;  // computed from a failed value
  EXPECT_THROW((void)next.to_vector<float>(), ValueError);
  EXPECT_EQ((table * 0).sum().item<float>(), 0) << "the device goes on";
}

TEST_F(StepTest, DeviceErrorInTheForwardPassLeavesParametersAsTheyWere) {
  Net net;
  eval();
  const Floats before = net.w1.to_vector<float>();
  net.zero_grad();
  Tensor loss = net.loss(index_select(x, 0, full({32}, 99, kI64)), y);
  loss.backward();
  net.step();
  EXPECT_THROW((void)loss.item<float>(), ValueError);
  EXPECT_EQ(net.w1.to_vector<float>(), before);
  net.zero_grad();
  net.loss(x, y).backward();
  net.step();
  EXPECT_NE(net.w1.to_vector<float>(), before) << "training goes on";
}

TEST_F(StepTest, ACellWhoseUpdateFailedHasNoValueForTheStepsThatWait) {
  const Tensor p = make_cell(ones({2})), table = ones({4});
  for (int i = 0; i < 20; ++i) {
    const Tensor slow = matmul(ones({300, 300}), ones({300, 300}));
    p.assign(index_select(table, 0, tensor<int64_t>({0, 9})));
    eval();
    try {
      p.assign(p + 1);  // waits behind the failing step, or is refused when that has failed already
      eval();
    } catch (const ValueError&) {
    }
    EXPECT_THROW((void)p.to_vector<float>(), ValueError) << i;
    p.assign(ones({2}));
    EXPECT_EQ(p.to_vector<float>(), (Floats{1, 1})) << "a new value mends the cell";
  }
}

TEST_F(StepTest, LoopThatNeverReadsIsBounded) {
  Tensor t = zeros({4});
  for (int i = 0; i < 50000; ++i) t = t + 1;
  EXPECT_EQ(t.to_vector<float>(), (Floats{50000, 50000, 50000, 50000}));
}

TEST_F(StepTest, DeepChainsBuildRunAndDie) {
  Tensor p = make_cell(full({1}, 1), true);
  Tensor t = p * 1.0f;
  for (int i = 0; i < 100000; ++i) t = t + 0.0f;
  t.sum().backward();
  EXPECT_EQ(p.grad().item<float>(), 1);
}

TEST_F(StepTest, HeldIntermediateAddsAStoreAndNoStep) {
  auto run = [&](bool hold) {
    Tensor a = exp(x);
    Tensor b = tanh(a) * 2;
    if (!hold) a = Tensor();
    (void)b.to_vector<float>();
    EXPECT_EQ(hold ? a.numel() : 256, 256);
    return last_plan();
  };
  eval();
  const PlanReport without = run(false), with = run(true);
  EXPECT_EQ(without.steps, 1);
  EXPECT_EQ(with.steps, 1);
  EXPECT_EQ(with.bytes_moved - without.bytes_moved, 32 * 8 * 4);
}

TEST_F(StepTest, NumbersThatChangeMakeNoNewPlan) {
  Tensor t = ones({4});
  eval();
  auto run = [&](double v) { return (t * v + v).to_vector<float>()[0]; };
  EXPECT_EQ(run(3), 6);
  const int64_t built = plan_stats().plans_built;
  for (double v : {4.0, 5.5, -7.25, 1e6}) EXPECT_EQ(run(v), float(2 * v));
  EXPECT_EQ(plan_stats().plans_built, built);
}

TEST_F(StepTest, StartsOfSlicesThatChangeMakeNoNewPlan) {
  Tensor t = arange(10, Options(kF32));
  eval();
  auto run = [&](int64_t i) { return narrow(t, 0, i, 2).sum().item<float>(); };
  EXPECT_EQ(run(0), 1);
  EXPECT_EQ(run(1), 3);
  const int64_t built = plan_stats().plans_built;
  for (int64_t i = 2; i < 8; ++i) EXPECT_EQ(run(i), float(2 * i + 1));
  EXPECT_EQ(plan_stats().plans_built, built);
}

TEST_F(StepTest, PlansThatKeepChangingAreSaidOnce) {
  std::vector<std::string> said;
  set_warning_handler([&](const std::string& m) {
    said.push_back(m);
    EXPECT_GT(plan_stats().plans_built, 0) << "a handler may ask";
  });
  for (int n = 1; n <= 200; ++n) (void)ones({n}).sum().item<float>();
  set_warning_handler({});
  ASSERT_LE(said.size(), 1u);
  for (const std::string& text : said) EXPECT_NE(text.find("new plan"), std::string::npos) << text;
}

TEST_F(StepTest, ExceptionBetweenForwardAndStepChangesNothing) {
  Net net;
  net.zero_grad();
  net.loss(x, y).backward();
  net.step();
  const Floats before = net.w1.to_vector<float>();
  try {
    net.zero_grad();
    Tensor loss = net.loss(x, y);
    throw std::runtime_error("user code");
  } catch (const std::runtime_error&) {
  }
  eval();
  EXPECT_EQ(net.w1.to_vector<float>(), before);
}

TEST_F(StepTest, TwoThreadsRecordAtOnce) {
  std::vector<float> results(2);
  auto work = [&](int which) {
    Tensor t = full({16}, which + 1);
    for (int i = 0; i < 200; ++i) {
      t = t + 1;
      if (i % 50 == 0) eval();
    }
    results[size_t(which)] = t.sum().item<float>();
  };
  std::thread a(work, 0), b(work, 1);
  a.join();
  b.join();
  EXPECT_EQ(results, (Floats{16 * 201, 16 * 202}));
}

TEST_F(StepTest, PendingValueOfAnotherThreadIsEvaluatedWhereItIsUsed) {
  Tensor made;
  std::thread maker([&] { made = full({4}, 3) * 2; });
  maker.join();
  EXPECT_EQ((made + 1).to_vector<float>(), Floats(4, 7));
}

TEST_F(StepTest, WorkThatAThreadLeavesBehindIsStartedAtItsEnd) {
  Tensor left;
  std::thread maker([&] {
    EXPECT_EQ((full({2}, 3) * 2).to_vector<float>(), Floats(2, 6));
    left = full({4}, 3) * 2;
  });
  maker.join();
  EXPECT_EQ(left.to_vector<float>(), Floats(4, 6));
}

TEST_F(StepTest, NothingRunsBeforeAValueIsNeeded) {
  eval();
  const int64_t run = plan_stats().plans_run;
  Tensor t = x * 2 + 1;
  EXPECT_EQ(plan_stats().plans_run, run);
  EXPECT_NE(pending().find("add"), std::string::npos);
  (void)t.to_vector<float>();
  EXPECT_EQ(plan_stats().plans_run, run + 1);
  EXPECT_EQ(pending(), "");
}

}  // namespace
}  // namespace stoker
