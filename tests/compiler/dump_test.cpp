// STOKER_DUMP, STOKER_VERIFY and STOKER_CHECK as a person uses them.
#include <gtest/gtest.h>

#include <cstdlib>

#include <stoker/stoker.h>

#include "compiler/compile.h"

namespace stoker {
namespace {

std::string dump_of_a_training_step(const char* pass) {
  clear_plans();
  manual_seed(1);
  Tensor w = make_cell(randn({6, 4}), true), x = randn({8, 6});
  optim::SGD opt({w}, {.lr = 0.1});
  eval();
  testing::internal::CaptureStderr();
  setenv("STOKER_DUMP", pass, 1);
  Tensor loss = square(tanh(matmul(x, w))).mean();
  loss.backward();
  opt.step();
  unsetenv("STOKER_DUMP");
  return testing::internal::GetCapturedStderr();
}

TEST(Dump, PlanShowsFusedStepsAndTheUpdateInPlace) {
  const std::string text = dump_of_a_training_step("plan");
  EXPECT_NE(text.find("fused(tanh"), std::string::npos) << text;
  EXPECT_NE(text.find("sgd_update"), std::string::npos) << text;
  EXPECT_NE(text.find("-> (cell0)"), std::string::npos) << "stored in the parameter's own place\n" << text;
  EXPECT_NE(text.find("dump_test.cpp:"), std::string::npos) << "with the program's lines\n" << text;
}

TEST(Dump, EveryPassHasAName) {
  for (const std::string& pass : compiler::pass_names())
    EXPECT_NE(dump_of_a_training_step(pass.c_str()).find("--- " + pass), std::string::npos) << pass;
}

}  // namespace
}  // namespace stoker
