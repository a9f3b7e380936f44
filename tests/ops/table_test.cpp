// docs/operations.md is generated from the operation table, and this test says when it is out of date.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "graph/op.h"

namespace stoker {
namespace {

std::string class_name(graph::OpClass kind) {
  switch (kind) {
    case graph::OpClass::Leaf:
      return "leaf";
    case graph::OpClass::Elementwise:
      return "element-wise";
    case graph::OpClass::Reduction:
      return "reduction";
    case graph::OpClass::View:
      return "view";
    case graph::OpClass::Kernel:
      break;
  }
  return "kernel";
}

std::string escaped(const std::string& text) {
  std::string out;
  for (char c : text) out += c == '|' ? "\\|" : c == '*' ? "\\*" : std::string(1, c);
  return out;
}

std::string in_place(const graph::Op& op) {
  if (op.assigns_in_place) return "every output";
  return op.inplace_input < 0 ? "" : "input " + std::to_string(op.inplace_input);
}

std::string operations_page() {
  std::ostringstream page;
  page << "# Operations\n\n"
          "The rows of the operation table, `src/graph/ops/`. This page is made by a test, which fails when it is out "
          "of date:\n"
          "`STOKER_UPDATE_DOCS=1 build/release/tests/stoker_test_ops --gtest_filter='OperationTable.*'` writes it "
          "anew.\n\n"
          "- **class**: element-wise operations, views and reductions fuse with their neighbours; a kernel stands "
          "alone.\n"
          "- **gradient**: whether there is one.\n"
          "- **composed**: whether it can also run as simpler operations, on a backend that has no kernel for it.\n"
          "- **in place**: the input whose memory the result may take over.\n\n"
          "| operation | meaning | class | gradient | composed | in place |\n"
          "|---|---|---|---|---|---|\n";
  for (const graph::Op* op : graph::all_ops())
    page << "| `" << op->name << "` | " << escaped(op->doc) << " | " << class_name(op->kind) << " | "
         << (op->gradient ? "yes" : "") << " | " << (op->compose ? "yes" : "") << " | " << in_place(*op) << " |\n";
  return page.str();
}

TEST(OperationTable, IsWhatTheDocumentationSays) {
  const std::string path = std::string(STOKER_TESTS_DIR) + "/../docs/operations.md", page = operations_page();
  if (std::getenv("STOKER_UPDATE_DOCS")) std::ofstream(path) << page;
  std::stringstream documented;
  documented << std::ifstream(path).rdbuf();
  EXPECT_TRUE(documented.str() == page) << "run this test with STOKER_UPDATE_DOCS=1 to write docs/operations.md anew";
}

TEST(OperationTable, DocumentsEveryRowInOneLine) {
  for (const graph::Op* op : graph::all_ops()) {
    EXPECT_FALSE(op->doc.empty()) << op->name;
    EXPECT_EQ(op->doc.find('\n'), std::string::npos) << op->name;
  }
}

// What each class is for could not run without it.
TEST(OperationTable, GivesEachClassWhatItNeeds) {
  for (const graph::Op* op : graph::all_ops()) {
    EXPECT_TRUE(op->infer) << op->name;
    if (op->kind == graph::OpClass::Elementwise) {
      EXPECT_TRUE(op->expr) << op->name;
    }
    if (op->kind == graph::OpClass::Reduction) {
      EXPECT_NE(op->reduce, graph::ReduceKind::None) << op->name;
    }
    if (op->kind == graph::OpClass::View) {
      EXPECT_TRUE(op->view) << op->name;
    }
    EXPECT_LT(op->inplace_input, op->arity < 0 ? 1 : op->arity) << op->name;
  }
}

}  // namespace
}  // namespace stoker
