// Groups: which operations become one kernel. A group has a space of rows and columns; its members are full (one
// element per row and column) or row values (one per row).
#pragma once

#include "compiler/passes.h"
#include "graph/program.h"

namespace stoker::compiler {

struct Space {
  Shape shape;
  int columns = 0;  // trailing axes that reductions of this group run over; 0: no reductions

  int rank() const { return shape.rank(); }
  int rows_rank() const { return rank() - columns; }
  // Forms of a row value: trailing axes kept with extent 1, or dropped.
  Shape kept() const;
  Shape dropped() const;
  bool full(const Shape& s) const { return s == shape; }
  bool row(const Shape& s) const { return columns > 0 && (s == kept() || s == dropped()); }
};

struct Group {
  Space space;
  std::vector<int> members;      // nodes of the module, ascending
  std::vector<ValueId> outputs;  // members that others read or somebody holds
};

// Partitions what can be fused. Nodes that end up in no group (or alone where fusing gains nothing) keep their own
// kernels.
std::vector<Group> find_groups(const Module& module, const std::vector<std::vector<Look>>& looks, size_t max_members);

// The value that a member reads behind reshapes and broadcasts between the forms of a row value: a member itself, or v.
ValueId operand_source(const Module& module, const Space& space, ValueId v);

// One group as the attributes of a `fused` node, with the values that it reads. Empty when an input's columns do not
// lie on one stride.
struct Lowered {
  graph::FusedAttrs attrs;
  std::vector<ValueId> inputs;
};
std::optional<Lowered> lower_group(const Module& module, const std::vector<std::vector<Look>>& looks,
                                   const Group& group);

}  // namespace stoker::compiler
