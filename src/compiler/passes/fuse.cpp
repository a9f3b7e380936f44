#include <queue>

#include "compiler/fusion/group.h"

namespace stoker::compiler {
namespace {

// The module with each group in one place: groups and single nodes in an order in which inputs come first, as close to
// the order of the program as that allows.
class Contraction {
 public:
  Contraction(const Module& module, const std::vector<Group>& groups)
      : module_(module), groups_(groups), unit_of_(module.nodes.size()) {
    for (size_t g = 0; g < groups.size(); ++g) {
      units_.push_back({groups[g].members, int(g)});
      for (int m : groups[g].members) unit_of_[size_t(m)] = int(g) + 1;
    }
    for (size_t i = 0; i < module.nodes.size(); ++i) {
      if (unit_of_[i]) continue;
      units_.push_back({{int(i)}, -1});
      unit_of_[i] = int(units_.size());
    }
  }

  struct Unit {
    std::vector<int> nodes;
    int group;
  };

  std::vector<Unit> order() const {
    std::vector<std::vector<int>> users(units_.size());
    std::vector<int> missing(units_.size(), 0);
    for (size_t u = 0; u < units_.size(); ++u)
      for (int n : units_[u].nodes)
        for (ValueId v : module_.nodes[size_t(n)].inputs) {
          const int source = source_of(v, int(u));
          if (source == int(u)) continue;
          users[size_t(source)].push_back(int(u));
          ++missing[u];
        }
    auto later = [&](int a, int b) { return units_[size_t(a)].nodes.back() > units_[size_t(b)].nodes.back(); };
    std::priority_queue<int, std::vector<int>, decltype(later)> ready(later);
    for (size_t u = 0; u < units_.size(); ++u)
      if (missing[u] == 0) ready.push(int(u));
    std::vector<Unit> ordered;
    while (!ready.empty()) {
      const int u = ready.top();
      ready.pop();
      ordered.push_back(units_[size_t(u)]);
      for (int user : users[size_t(u)])
        if (--missing[size_t(user)] == 0) ready.push(user);
    }
    if (ordered.size() != units_.size()) throw std::logic_error("fuse: groups wait for each other");
    return ordered;
  }

 private:
  // The unit that a value comes from: a group does not wait for views of its own row values.
  int source_of(ValueId v, int u) const {
    if (units_[size_t(u)].group >= 0) {
      const ValueId source = operand_source(module_, groups_[size_t(units_[size_t(u)].group)].space, v);
      if (unit_of_[size_t(source.node)] - 1 == u) return u;
    }
    return unit_of_[size_t(v.node)] - 1;
  }

  const Module& module_;
  const std::vector<Group>& groups_;
  std::vector<int> unit_of_;  // 1 + unit
  std::vector<Unit> units_;
};

}  // namespace

Module fuse(const Module& module, size_t max_members) {
  const auto look = looks(module);
  const std::vector<Group> groups = find_groups(module, look, max_members);
  graph::Rewriter rewrite(module);
  for (const Contraction::Unit& unit : Contraction(module, groups).order()) {
    if (unit.group < 0) {
      const ModuleNode& node = module.nodes[size_t(unit.nodes[0])];
      // Views that only a group looked through have nothing left to look at.
      const bool gone = node.op->kind == graph::OpClass::View && !rewrite.mapped(node.inputs[0].node);
      if (!gone) rewrite.copy(unit.nodes[0]);
      continue;
    }
    const Group& group = groups[size_t(unit.group)];
    Lowered lowered = lower_group(module, look, group).value();
    const int id = rewrite.out().append({&graph::op("fused"), lowered.attrs, rewrite.map(lowered.inputs),
                                         lowered.attrs.types, module.nodes[size_t(group.members.back())].loc, -1});
    for (size_t k = 0; k < group.outputs.size(); ++k) rewrite.replace(group.outputs[k].node, {{id, int(k)}});
  }
  return rewrite.finish();
}

}  // namespace stoker::compiler
