// Values and cells: who sees a change, and who does not.
#include <gtest/gtest.h>

#include <stoker/stoker.h>

namespace stoker {
namespace {

using Floats = std::vector<float>;

// p -= rate * p.grad(), as the smallest optimizer.
void descend(const Tensor& p, float rate) {
  NoGrad off;
  p.assign(p - p.grad() * rate);
}

TEST(Value, CompoundAssignmentRebindsOneHandle) {
  Tensor x = ones({2});
  Tensor y = x;
  x += x;
  EXPECT_EQ(x.to_vector<float>(), (Floats{2, 2}));
  EXPECT_EQ(y.to_vector<float>(), (Floats{1, 1}));
}

TEST(Cell, CopiesOfTheHandleShareIt) {
  Tensor p = make_cell(ones({2}), true);
  Tensor alias = p;
  p.assign(full({2}, 5));
  EXPECT_EQ(alias.to_vector<float>(), (Floats{5, 5}));
}

TEST(Cell, RequiresGradMakesEveryCopyACell) {
  Tensor x = ones({2});
  Tensor y = x;
  x.requires_grad_();
  EXPECT_TRUE(y.is_cell());
  EXPECT_TRUE(y.requires_grad());
}

TEST(Cell, SnapshotKeepsItsValueWhileTheCellMoves) {
  Tensor p = make_cell(full({3}, 2), true);
  eval();
  const Tensor before = p.detach();
  for (int i = 0; i < 3; ++i) {
    p.set_grad({});
    p.sum().backward();
    descend(p, 0.5f);
    eval();
  }
  EXPECT_EQ(before.to_vector<float>(), (Floats{2, 2, 2}));
  EXPECT_EQ(p.to_vector<float>(), (Floats{0.5, 0.5, 0.5}));
}

TEST(Cell, SnapshotTakenBeforeTheFirstEvaluation) {
  Tensor p = make_cell(full({1}, 2));
  const Tensor before = p.detach();
  p.assign(p + 1);
  EXPECT_EQ(before.item<float>(), 2);
  EXPECT_EQ(p.item<float>(), 3);
}

TEST(Cell, OldAndNewValueInOneExpression) {
  Tensor p = make_cell(full({1}, 2));
  eval();
  const Tensor old = p.detach();
  p.assign(p * 10);
  const Tensor both = old + p;
  EXPECT_EQ(both.item<float>(), 22);
  EXPECT_EQ(old.item<float>(), 2);
  EXPECT_EQ(p.item<float>(), 20);
}

TEST(Cell, TwoCellsExchangeTheirValues) {
  Tensor a = make_cell(full({4}, 1)), b = make_cell(full({4}, 2));
  eval();
  const Tensor old_a = a.detach(), old_b = b.detach();
  a.assign(old_b);
  b.assign(old_a);
  EXPECT_EQ(a.to_vector<float>(), Floats(4, 2));
  EXPECT_EQ(b.to_vector<float>(), Floats(4, 1));
}

TEST(Cell, AssigningOneValueToTwoCellsDoesNotTieThem) {
  const Tensor v = full({2}, 3);
  Tensor a = make_cell(v), b = make_cell(v);
  a.assign(a + 1);
  EXPECT_EQ(b.to_vector<float>(), (Floats{3, 3}));
  EXPECT_EQ(v.to_vector<float>(), (Floats{3, 3}));
  EXPECT_EQ(a.to_vector<float>(), (Floats{4, 4}));
}

TEST(Cell, SeveralAssignmentsInOneStepKeepTheLast) {
  Tensor p = make_cell(zeros({1}));
  for (int i = 0; i < 5; ++i) p.assign(p * 2 + 1);
  EXPECT_EQ(p.item<float>(), 31);
}

TEST(Cell, ShiftedReadOfItselfIsNotOverwrittenTooEarly) {
  Tensor p = make_cell(tensor<float>({1, 2, 3, 4}));
  eval();
  p.assign(flip(p, {0}) + 0.0f);
  EXPECT_EQ(p.to_vector<float>(), (Floats{4, 3, 2, 1}));
}

TEST(Cell, AssignRefusesAnotherShape) {
  Tensor p = make_cell(zeros({2}));
  EXPECT_THROW(p.assign(zeros({3})), ValueError);
  EXPECT_THROW(zeros({2}).assign(zeros({2})), GraphError);
  EXPECT_EQ(p.to_vector<float>(), (Floats{0, 0}));
}

TEST(Cell, ReadThroughNoGradAndGradAreTheSameValue) {
  Tensor p = make_cell(full({1}, 4), true);
  Tensor without;
  {
    NoGrad off;
    without = p * 2;
  }
  EXPECT_FALSE(without.requires_grad());
  EXPECT_TRUE((p * 2).requires_grad());
  EXPECT_EQ(without.item<float>(), (p * 2).item<float>());
}

TEST(Cell, IntegersCollectNoGradient) {
  EXPECT_THROW(make_cell(zeros({2}, kI64), true), DTypeError);
  Tensor x = zeros({2}, kI32);
  EXPECT_THROW(x.requires_grad_(), DTypeError);
}

TEST(UndefinedTensor, IsRefusedByName) {
  try {
    (void)(Tensor() + ones({1}));
    FAIL();
  } catch (const ValueError& e) {
    EXPECT_NE(std::string(e.what()).find("[add]"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace stoker
