#include "compiler/planner.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "compiler/memory.h"
#include "graph/ops/attributes.h"
#include "graph/program.h"

namespace stoker::compiler {
namespace {

using graph::OpClass;
using runtime::Plan;
using runtime::PlanStep;
using runtime::Slot;

bool is_step(const ModuleNode& node) { return node.op->kind != OpClass::Leaf && node.op->kind != OpClass::View; }

int64_t bytes_touched(const graph::TensorDesc& desc) {
  int64_t elements = 1;
  for (int i = 0; i < desc.shape.rank(); ++i)
    if (desc.strides[i] != 0 || desc.shape[i] == 0) elements *= desc.shape[i];
  return elements * int64_t(size_of(desc.dtype));
}

class Planner {
 public:
  explicit Planner(const Module& module) : module_(module), looks_(looks(module)), plan_(std::make_shared<Plan>()) {}

  std::shared_ptr<Plan> run() {
    plan_->inputs.resize(size_t(module_.input_count));
    for (const ModuleNode& node : module_.nodes)
      if (node.is("data")) plan_->inputs[size_t(node.number)] = node.types[0];
    order_steps();
    bind_outputs();
    bind_cells();
    place_in_arenas();
    for (int i : steps_) lower(i);
    return plan_;
  }

 private:
  const Look& look(ValueId v) const { return looks_[size_t(v.node)][size_t(v.output)]; }
  Device device_of(int node) const { return module_.nodes[size_t(node)].types[0].device; }

  int device_index(Device device) {
    auto it = std::find(plan_->devices.begin(), plan_->devices.end(), device);
    if (it != plan_->devices.end()) return int(it - plan_->devices.begin());
    plan_->devices.push_back(device);
    plan_->arena_bytes.push_back(0);
    plan_->scratch_bytes.push_back(0);
    return int(plan_->devices.size()) - 1;
  }

  // Steps in the module's order, cut into segments wherever the device changes.
  void order_steps() {
    step_of_.assign(module_.nodes.size(), -1);
    segment_of_.assign(module_.nodes.size(), -1);
    for (size_t i = 0; i < module_.nodes.size(); ++i) {
      if (!is_step(module_.nodes[i])) continue;
      const int device = device_index(device_of(int(i)));
      const int step = int(steps_.size());
      if (plan_->segments.empty() || plan_->segments.back().device != device)
        plan_->segments.push_back({device, step, step, {}});
      runtime::Segment& segment = plan_->segments.back();
      ++segment.last;
      step_of_[i] = step;
      segment_of_[i] = int(plan_->segments.size()) - 1;
      steps_.push_back(int(i));
      for (ValueId v : module_.nodes[i].inputs) wait_for(segment, segment_of_[size_t(look(v).base.node)]);
    }
  }
  void wait_for(runtime::Segment& segment, int other) const {
    if (other < 0 || plan_->segments[size_t(other)].device == segment.device) return;
    if (std::find(segment.after.begin(), segment.after.end(), other) == segment.after.end())
      segment.after.push_back(other);
  }

  // --- where values lie ----------------------------------------------------------------------------------------------

  void bind_cells() {
    for (size_t c = 0; c < module_.cells.size(); ++c) {
      const ValueId v = module_.cells[c].value;
      slots_[v] = {Slot::Where::Cell, int(c), 0, 0, {}};
      plan_->cells.push_back({module_.type(v), segment_of_[size_t(v.node)], step_of_[size_t(v.node)]});
    }
  }

  void bind_outputs() {
    for (size_t k = 0; k < module_.outputs.size(); ++k) {
      const ValueId v = module_.outputs[k];
      const ModuleNode& node = module_.node(v);
      Plan::Output output{module_.type(v), -1,      -1, segment_of_[size_t(v.node)], step_of_[size_t(v.node)],
                          node.op->name,   node.loc};
      if (node.is("data"))
        output.same_as_input = node.number;
      else if (auto it = slots_.find(v); it != slots_.end())
        output.same_as_output = it->second.number;
      else
        slots_[v] = {Slot::Where::Output, int(k), 0, 0, {}};
      plan_->outputs.push_back(output);
    }
  }

  void place_in_arenas() {
    last_use_.clear();
    for (size_t i = 0; i < module_.nodes.size(); ++i) {
      if (step_of_[i] < 0) continue;
      for (ValueId v : module_.nodes[i].inputs) {
        int& last = last_use_.try_emplace(look(v).base, 0).first->second;
        // Another device reads at its own time: until the plan ends.
        const bool foreign = device_of(look(v).base.node) != device_of(int(i));
        last = std::max(last, foreign ? int(steps_.size()) : step_of_[i]);
      }
    }
    std::vector<std::vector<Lifetime>> lifetimes(plan_->devices.size());
    std::map<ValueId, std::pair<int, int>> place;  // value -> device, lifetime
    for (int i : steps_) {
      const ModuleNode& node = module_.nodes[size_t(i)];
      const int device = device_index(device_of(i));
      auto& mine = lifetimes[size_t(device)];
      for (size_t k = 0; k < node.types.size(); ++k) {
        const ValueId v{i, int(k)};
        if (slots_.count(v)) continue;
        const auto used = last_use_.find(v);
        const int last = used == last_use_.end() ? step_of_[size_t(i)] : used->second;
        if (auto donor = dying_input(v); donor && place.count(*donor)) {
          place[v] = place[*donor];
          mine[size_t(place[v].second)].last = last;
        } else {
          place[v] = {device, int(mine.size())};
          mine.push_back({step_of_[size_t(i)], last, node.types[k].bytes(), -1});
        }
      }
    }
    for (size_t d = 0; d < lifetimes.size(); ++d) plan_->arena_bytes[d] = assign_offsets(lifetimes[d]);
    for (const auto& [v, where] : place)
      slots_[v] = {Slot::Where::Arena, where.first, lifetimes[size_t(where.first)][size_t(where.second)].offset, 0, {}};
  }

  // An input of v's own step whose memory nobody reads afterwards and that v may be stored over; each is given away
  // once.
  std::optional<ValueId> dying_input(ValueId v) {
    const ModuleNode& node = module_.node(v);
    const auto* fused = node.attrs.get_if<graph::FusedAttrs>();
    if (!fused && node.op->inplace_input < 0) return {};
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      if (is_number(module_.node(node.inputs[k]))) continue;
      const Look& l = look(node.inputs[k]);
      const bool allowed =
          fused ? graph::may_overlap(*fused, int(k), v.output) : int(k) == node.op->inplace_input && v.output == 0;
      if (!allowed || !l.whole(module_) || module_.type(l.base).bytes() != module_.type(v).bytes()) continue;
      if (slots_.count(l.base) || last_use_[l.base] != step_of_[size_t(v.node)] || read_twice(node, l.base)) continue;
      if (given_.insert(l.base).second) return l.base;
    }
    return {};
  }
  bool read_twice(const ModuleNode& node, ValueId base) const {
    return std::count_if(node.inputs.begin(), node.inputs.end(), [&](ValueId v) { return look(v).base == base; }) > 1;
  }

  // --- kernels -------------------------------------------------------------------------------------------------------

  Slot slot_of(ValueId v) {
    const ModuleNode& node = module_.node(v);
    if (node.is("scalar")) return {Slot::Where::Scalar, node.number, 0, 0, {}};
    if (node.is("constant")) {
      const double value = node.attrs.get<graph::ConstantAttrs>().value;
      const bool floating = is_floating(node.types[0].dtype);
      return {Slot::Where::Literal, 0, 0, floating ? std::bit_cast<uint64_t>(value) : uint64_t(int64_t(value)), {}};
    }
    const Look& l = look(v);
    Slot slot = module_.node(l.base).is("data") ? Slot{Slot::Where::Input, module_.node(l.base).number, 0, 0, {}}
                                                : slots_.at(l.base);
    const int64_t size = int64_t(size_of(l.desc.dtype));
    slot.offset += l.desc.offset * size;
    for (const Look::Term& t : l.terms) slot.terms.push_back({module_.node(t.start).number, t.stride * size});
    return slot;
  }

  void lower(int i) {
    const ModuleNode& node = module_.nodes[size_t(i)];
    PlanStep step;
    step.loc = node.loc;
    step.flops = flops_of(module_, node);
    backends::StepRequest request{node.op, node.attrs, {}, {}, node.loc};
    for (ValueId v : node.inputs) {
      graph::TensorDesc desc = look(v).desc;
      desc.offset = 0;
      const bool number = is_number(module_.node(v));
      request.inputs.push_back({desc, number});
      step.inputs.push_back(slot_of(v));
      if (!number) step.bytes_moved += bytes_touched(desc);
    }
    for (size_t k = 0; k < node.types.size(); ++k) {
      const graph::TensorType& t = node.types[k];
      request.outputs.push_back({t.dtype, t.shape, contiguous_strides(t.shape), 0});
      step.outputs.push_back(slots_.at({i, int(k)}));
      step.bytes_moved += t.bytes();
    }
    step.kernel = is_transfer(node) ? runtime::make_transfer(device_of(look(node.inputs[0]).base.node), node.types[0])
                                    : runtime::driver(node.types[0].device).lower(request);
    const auto* fused = node.attrs.get_if<graph::FusedAttrs>();
    step.label = fused ? "fused(" + fused->label + ")" : node.op->name;
    int64_t& scratch = plan_->scratch_bytes[size_t(device_index(node.types[0].device))];
    scratch = std::max(scratch, step.kernel->scratch_bytes());
    plan_->steps.push_back(std::move(step));
  }

  const Module& module_;
  std::vector<std::vector<Look>> looks_;
  std::shared_ptr<Plan> plan_;
  std::vector<int> steps_;       // nodes
  std::vector<int> step_of_;     // per node
  std::vector<int> segment_of_;  // per node
  std::map<ValueId, int> last_use_;
  std::map<ValueId, Slot> slots_;
  std::set<ValueId> given_;
};

}  // namespace

std::shared_ptr<Plan> make_plan(const Module& module) { return Planner(module).run(); }

}  // namespace stoker::compiler
