#include "compiler/fusion/group.h"

#include <algorithm>
#include <queue>
#include <unordered_set>

#include "graph/ops/attributes.h"

namespace stoker::compiler {

using graph::OpClass;

namespace {

// Beyond this many arguments registers spill.
constexpr size_t kMaxInputs = 28;
// How far the search for a cycle goes before it assumes one.
constexpr size_t kSearchLimit = 4096;
// A row is one thread's work: few long rows with several passes are better cut into kernels that use every thread.
constexpr int64_t kFewRows = 16, kLongRow = 8192;

int trailing_axes(const ModuleNode& reduction, int rank) {
  const Dims& axes = reduction.attrs.get<graph::ReduceAttrs>().axes;
  for (int i = 0; i < axes.rank(); ++i)
    if (axes[i] != rank - axes.rank() + i) return 0;
  return axes.rank();
}

class GroupFinder {
 public:
  GroupFinder(const Module& module, const std::vector<std::vector<Look>>& looks, size_t max_members)
      : module_(module),
        looks_(looks),
        max_members_(max_members),
        users_(module.users()),
        group_of_(module.nodes.size(), -1),
        stored_(module.nodes.size(), false) {
    for (ValueId v : module.outputs) stored_[size_t(v.node)] = true;
    for (const auto& cell : module.cells) stored_[size_t(cell.value.node)] = true;
  }

  std::vector<Group> run() {
    for (int i = int(module_.nodes.size()) - 1; i >= 0; --i) {
      if (group_of_[size_t(i)] >= 0 || !fusible(i)) continue;
      Group group = grow(i, true);
      if (!lower_group(module_, looks_, with_outputs(group))) {
        release(group);
        group = grow(i, false);
      }
      const bool lone_reduction = group.members.size() == 1 && module_.nodes[size_t(i)].op->kind == OpClass::Reduction;
      if (group.members.empty() || lone_reduction) {
        release(group);
        continue;
      }
      groups_.push_back(with_outputs(group));
    }
    return std::move(groups_);
  }

 private:
  const ModuleNode& node(int i) const { return module_.nodes[size_t(i)]; }

  bool fusible(int i) const {
    const ModuleNode& n = node(i);
    if (n.op->kind == OpClass::Elementwise) return bool(n.op->expr);
    return n.op->kind == OpClass::Reduction && trailing_axes(n, input_shape(n).rank()) > 0 && numel(input_shape(n)) > 0;
  }
  const Shape& input_shape(const ModuleNode& n) const { return module_.type(n.inputs[0]).shape; }

  // --- growing one group from its last member backwards --------------------------------------------------------------

  Group grow(int root, bool reductions) {
    Group group;
    inputs_.clear();
    reductions_ = reductions;
    const int id = int(groups_.size());
    const ModuleNode& r = node(root);
    if (r.op->kind == OpClass::Reduction) {
      if (!reductions_) return group;
      group.space = {input_shape(r), trailing_axes(r, input_shape(r).rank())};
    } else {
      group.space = {r.types[0].shape, 0};
    }
    std::priority_queue<int> candidates;
    join(group, root, id, candidates);
    while (!candidates.empty() && group.members.size() < max_members_) {
      const int c = candidates.top();
      while (!candidates.empty() && candidates.top() == c) candidates.pop();
      if (group_of_[size_t(c)] >= 0 || !fusible(c)) continue;
      if (node(c).op->kind == OpClass::Reduction && !reductions_) continue;
      Space space = group.space;
      if (node(c).types[0].device == r.types[0].device && fits(group, c, space) && safe(c, id, space) && has_room(c)) {
        group.space = space;
        join(group, c, id, candidates);
      }
    }
    std::sort(group.members.begin(), group.members.end());
    return group;
  }

  void join(Group& group, int i, int id, std::priority_queue<int>& candidates) {
    group.members.push_back(i);
    group_of_[size_t(i)] = id;
    inputs_.erase(i);
    for (ValueId v : node(i).inputs) {
      if (is_number(module_.node(v))) continue;
      const ValueId source = behind_views(v);
      inputs_.insert(source.node);
      candidates.push(source.node);
    }
  }

  void release(Group& group) {
    for (int i : group.members) group_of_[size_t(i)] = -1;
    group.members.clear();
  }

  bool has_room(int c) const { return inputs_.size() + node(c).inputs.size() <= kMaxInputs; }

  // The first value behind reshapes and broadcasts.
  ValueId behind_views(ValueId v) const {
    while ((module_.node(v).is("reshape") || module_.node(v).is("broadcast_to")) && !module_.node(v).inputs.empty())
      v = module_.node(v).inputs[0];
    return v;
  }

  // Whether node c has a place in the group; `space` is widened where c brings the group its first reduction.
  bool fits(const Group& group, int c, Space& space) const {
    const ModuleNode& n = node(c);
    const Shape& shape = n.types[0].shape;
    if (n.op->kind == OpClass::Elementwise) {
      if (space.columns == 0 && !space.full(shape) && reductions_) space.columns = columns_behind(c, space.shape);
      return space.full(shape) || (space.row(shape) && !serial(space) && row_or_full(group, space));
    }
    const Shape& in = input_shape(n);
    const int axes = trailing_axes(n, in.rank());
    if (space.columns > 0) return in == space.shape && axes == space.columns && !serial(space);
    if (in == space.shape) {
      space.columns = axes;
      return !serial(space) && row_or_full(group, space);
    }
    // Everything so far becomes a row value of the reduction's space.
    const Space wider{in, axes};
    if (!wider.row(space.shape) || numel(space.shape) != numel(wider.dropped())) return false;
    space = wider;
    return true;
  }
  // How many trailing axes of `shape` a reduction runs over that element-wise node c gets its values from, so that c is
  // a row value of a group of that shape; 0 when there is none near by.
  int columns_behind(int c, const Shape& shape) const {
    constexpr int kNear = 16;
    std::vector<int> stack{c};
    for (int looked = 0; !stack.empty() && looked < kNear; ++looked) {
      const ModuleNode& n = node(stack.back());
      stack.pop_back();
      if (n.op->kind == OpClass::Reduction && input_shape(n) == shape) {
        const int axes = trailing_axes(n, shape.rank());
        if (axes > 0 && Space{shape, axes}.row(node(c).types[0].shape)) return axes;
      } else if (n.op->kind == OpClass::Elementwise || n.op->kind == OpClass::View) {
        for (ValueId v : n.inputs) stack.push_back(v.node);
      }
    }
    return 0;
  }
  bool row_or_full(const Group& group, const Space& space) const {
    return std::all_of(group.members.begin(), group.members.end(), [&](int m) {
      const Shape& s = node(m).types[0].shape;
      return space.full(s) || space.row(s);
    });
  }
  static bool serial(const Space& space) {
    return numel(space.dropped()) < kFewRows &&
           numel(space.shape) > kLongRow * std::max<int64_t>(1, numel(space.dropped()));
  }

  // --- cycles --------------------------------------------------------------------------------------------------------

  // Taking c in must not make the group wait for itself: every member reads c in a way that the program can express,
  // and no other reader of c leads back into the group.
  bool safe(int c, int id, const Space& space) {
    std::vector<int> outside;
    if (!sort_readers({c, 0}, c, id, space, outside)) return false;
    std::unordered_set<int> seen;
    std::vector<int> stack = outside;
    while (!stack.empty()) {
      const int i = stack.back();
      stack.pop_back();
      if (!seen.insert(i).second) continue;
      if (seen.size() > kSearchLimit) return false;
      const int g = group_of_[size_t(i)];
      if (g == id) return false;
      // Another group waits for all of its inputs and gives all of its outputs at once.
      if (g >= 0)
        for (int m : groups_[size_t(g)].members)
          for (int u : users_[size_t(m)]) stack.push_back(u);
      else
        for (int u : users_[size_t(i)]) stack.push_back(u);
    }
    return true;
  }

  bool sort_readers(ValueId v, int c, int id, const Space& space, std::vector<int>& outside) const {
    for (int u : users_[size_t(v.node)]) {
      const ModuleNode& user = node(u);
      if (group_of_[size_t(u)] == id) {
        if (operand_source(module_, space, v).node != c || misaligned(space, module_.type(v).shape, user)) return false;
      } else if (user.op->kind == OpClass::View) {
        if (!sort_readers({u, 0}, c, id, space, outside)) return false;
      } else {
        outside.push_back(u);
      }
    }
    return true;
  }

  // A row value without its column axes means rows only to another of that form: to a full one it is a row of columns.
  static bool misaligned(const Space& space, const Shape& read, const ModuleNode& reader) {
    return space.columns > 0 && read == space.dropped() && !(read == space.kept()) && !read.empty() &&
           !space.full(read) && !(reader.types[0].shape == read);
  }

  // --- results -------------------------------------------------------------------------------------------------------

  Group with_outputs(Group group) const {
    group.outputs.clear();
    for (int m : group.members)
      if (stored_[size_t(m)] || read_outside({m, 0}, group_of_[size_t(m)])) group.outputs.push_back({m, 0});
    return group;
  }
  bool read_outside(ValueId v, int id) const {
    if (v.node >= 0 && stored_[size_t(v.node)]) return true;
    for (int u : users_[size_t(v.node)]) {
      if (group_of_[size_t(u)] == id) continue;
      if (node(u).op->kind != OpClass::View) return true;
      if (read_outside({u, 0}, id)) return true;
    }
    return false;
  }

  const Module& module_;
  const std::vector<std::vector<Look>>& looks_;
  size_t max_members_;
  std::vector<std::vector<int>> users_;
  std::vector<int> group_of_;
  std::vector<bool> stored_;
  std::vector<Group> groups_;
  // Of the group being grown: what it reads, and whether it may hold reductions and row values.
  std::unordered_set<int> inputs_;
  bool reductions_ = true;
};

}  // namespace

Shape Space::kept() const {
  Shape s = shape;
  for (int i = rows_rank(); i < rank(); ++i) s[i] = 1;
  return s;
}

Shape Space::dropped() const { return Shape(std::span<const int64_t>(shape.begin(), size_t(rows_rank()))); }

ValueId operand_source(const Module& module, const Space& space, ValueId v) {
  ValueId source = v;
  while (module.node(source).is("reshape") || module.node(source).is("broadcast_to")) {
    const ModuleNode& view = module.node(source);
    const Shape &to = view.types[0].shape, &from = module.type(view.inputs[0]).shape;
    // A row value may change between its forms, and from the kept form spread over the columns.
    const bool between = space.row(to) && space.row(from) && numel(to) == numel(from);
    const bool spread = view.is("broadcast_to") && space.full(to) && space.columns > 0 && from == space.kept();
    if (!between && !spread) break;
    source = view.inputs[0];
  }
  return source;
}

std::vector<Group> find_groups(const Module& module, const std::vector<std::vector<Look>>& looks, size_t max_members) {
  return GroupFinder(module, looks, max_members).run();
}

}  // namespace stoker::compiler
