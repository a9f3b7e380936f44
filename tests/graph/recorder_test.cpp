// Keys: the same work has the same words, other work has others.
#include "graph/recorder.h"

#include <gtest/gtest.h>

#include "graph/build.h"
#include "graph/module.h"
#include "graph/ops/attributes.h"

namespace stoker::graph {
namespace {

Value input(const Shape& shape) { return data({DType::F32, shape, cpu()}, make_ref<Storage>()); }

template <class F>
std::vector<uint64_t> key_of(const F& f) {
  Recorder::Capture capture;
  f();
  return capture.cut().key.words();
}

TEST(Key, DependsOnWhichInputsAreTheSame) {
  const Value x = input({2}), y = input({2});
  EXPECT_EQ(key_of([&] { add(x, y); }), key_of([&] { add(y, x); })) << "relative: two different inputs";
  EXPECT_NE(key_of([&] { add(x, x); }), key_of([&] { add(x, y); }));
}

TEST(Key, DependsOnShapesAttributesAndOrder) {
  const Value x = input({2, 3}), y = input({3, 2});
  EXPECT_NE(key_of([&] { exp(x); }), key_of([&] { exp(y); }));
  EXPECT_NE(key_of([&] { sum(x, {0}); }), key_of([&] { sum(x, {1}); }));
  EXPECT_NE(key_of([&] { exp(x), log(x); }), key_of([&] { log(x), exp(x); }));
}

TEST(Key, LeavesOutNumbersThatChange) {
  const Value x = input({2});
  EXPECT_EQ(key_of([&] { mul(x, 0.5); }), key_of([&] { mul(x, 0.25); }));
  EXPECT_NE(key_of([&] { mul(x, 1.0); }), key_of([&] { mul(x, 2.0); })) << "0, 1, -1 and 2 may be specialised on";
}

TEST(Module, OfARecordVerifiesAndPrints) {
  Recorder::Capture capture;
  const Value x = input({2, 3});
  const Value y = sum(exp(x), {1});
  const Record record = capture.cut();
  const Module module = module_from_record(record, {y}, {});
  EXPECT_NO_THROW(verify(module, "record"));
  const std::string text = print(module);
  EXPECT_NE(text.find("exp("), std::string::npos) << text;
  EXPECT_NE(text.find("axes=[1]"), std::string::npos) << text;
}

TEST(Verifier, FindsWhatDoesNotFit) {
  Recorder::Capture capture;
  const Value x = input({2, 3});
  const Value y = exp(x);
  Module module = module_from_record(capture.cut(), {y}, {});
  module.nodes.back().types[0].shape = {6};
  EXPECT_THROW(verify(module, "a broken pass"), std::logic_error);
}

TEST(Table, EveryOperationIsDescribed) {
  for (const Op* row : all_ops()) {
    EXPECT_FALSE(row->doc.empty()) << row->name;
    EXPECT_TRUE(row->infer) << row->name;
    EXPECT_EQ(bool(row->expr), row->kind == OpClass::Elementwise) << row->name;
    EXPECT_EQ(row->kind == OpClass::Reduction, row->reduce != ReduceKind::None) << row->name;
  }
}

}  // namespace
}  // namespace stoker::graph
