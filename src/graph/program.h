// A fused group as backends see it: a small program over rows and columns, free of extents.
//
// Phases run one after the other for each row. A phase first computes its row values (once per row), then runs its
// column instructions for every column, then finishes its reductions, whose results are row values of later phases.
// An element-wise group is one phase without reductions; softmax is three phases; layer norm two or three.
//
// Rows and columns come from a ProgramGeometry: rows are a small nest of extents, columns one extent, and each argument
// has a stride for each of them (0 where it is broadcast).
#pragma once

#include <memory>

#include "graph/expr.h"
#include "graph/op.h"

namespace stoker::graph {

struct ProgramArg {
  enum class Access : uint8_t {
    Element,  // one element per row and column
    Row,      // one element per row
    Scalar,   // a number of the parameter block
  };
  DType dtype = DType::F32;
  Access access = Access::Element;
  bool output = false;
};

struct ProgramInst {
  enum class Kind : uint8_t {
    Compute,  // expr
    Load,     // argument `arg`, converted to `expr.lane`
    Store,    // expr.a to argument `arg`, converted to its dtype
    Keep,     // expr.a to row buffer `arg`: a column value that a later phase needs
    Recall,   // the row buffer `arg`, in `expr.lane`
    Result,   // of a reduction; a row value
  };
  Kind kind = Kind::Compute;
  ExprInst expr;  // operands a, b, c are indices into Program::code
  int arg = -1;
};

struct ProgramReduction {
  int value = -1;   // a column value of this phase
  int result = -1;  // the Result instruction
  ReduceKind kind = ReduceKind::Sum;
};

struct ProgramPhase {
  std::vector<int> row;
  std::vector<int> column;
  std::vector<ProgramReduction> reductions;
};

class Program {
 public:
  std::vector<ProgramArg> args;
  std::vector<ProgramInst> code;
  std::vector<ProgramPhase> phases;
  std::vector<Lane> row_buffers;  // lanes of the Keep / Recall buffers

  // Whether an output may lie over an input of the same strides: nothing is stored before the last load.
  bool stores_last() const;
  void write_key(KeyWriter& key) const;
  std::string print() const;  // a listing, one instruction a line
};

struct ProgramGeometry {
  Dims rows;  // extents of the row nest, outermost first; may be empty (one row)
  int64_t columns = 1;
  struct Strides {
    Dims row;            // elements, one per row extent
    int64_t column = 0;  // elements
    void write_key(KeyWriter& key) const {
      key.add(row);
      key.add(column);
    }
    std::string print() const { return to_string(row) + "+" + std::to_string(column); }
  };
  std::vector<Strides> args;

  int64_t row_count() const { return numel(rows); }
  void write_key(KeyWriter& key) const;
  std::string print() const;
};

// Attributes of the operation `fused`: inputs are the program's non-output arguments in order, outputs the others.
struct FusedAttrs {
  std::shared_ptr<const Program> program;
  ProgramGeometry geometry;
  std::vector<TensorType> types;  // of the outputs
  std::string label;              // the operations inside: "mul+add+relu"
  double flops = 0;               // of the operations inside
  auto fields() const {
    return std::tuple{field("label", label), field("geometry", geometry), field("program", *program)};
  }
};

// A dense copy: one load and one store.
FusedAttrs copy_program(const TensorType& type);

// Whether output `output` may be stored over the memory of input `input`: every element is read before it is written.
bool may_overlap(const FusedAttrs& fused, int input, int output);

// The order in which every backend adds up a row, so that sums are the same bits on any device, vector width and number
// of threads: the columns are cut into blocks of kReduceBlock; within a block, lane j of kReduceLanes takes elements j,
// j + kReduceLanes, ... in order; lanes combine by halving (j with j + 32, then 16, ..., 1); block results combine in
// order.
inline constexpr int64_t kReduceLanes = 64;
inline constexpr int64_t kReduceBlock = 16384;

}  // namespace stoker::graph
