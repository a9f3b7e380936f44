#include "tensor/evaluate.h"

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <unordered_map>
#include <unordered_set>

#include <stoker/tensor.h>

#include "base/warn.h"
#include "compiler/compile.h"
#include "compiler/reference.h"
#include "graph/op.h"
#include "runtime/plan.h"
#include "tensor/access.h"

namespace stoker {
namespace detail {
namespace {

using graph::Node;
using graph::NodeState;
using graph::Record;
using graph::Value;

thread_local bool anomalies = false;

struct Report final : RefCounted {
  explicit Report(PlanReport report) : plan(std::move(report)) {}
  const PlanReport plan;
};

struct Counters {
  std::mutex mutex;
  PlanStats stats;
};
Counters& counters() {
  static auto* c = new Counters;
  return *c;
}

std::vector<double> to_doubles(const runtime::Buffer& buffer, const graph::TensorType& type) {
  std::vector<char> raw(static_cast<size_t>(type.bytes()));
  runtime::to_host(buffer, raw.data(), type.bytes());
  return visit(type.dtype, [&](auto t) {
    using T = decltype(t);
    const T* x = reinterpret_cast<const T*>(raw.data());
    std::vector<double> values;
    for (int64_t i = 0; i < type.elements(); ++i) {
      if constexpr (std::is_arithmetic_v<T>)
        values.push_back(double(x[i]));
      else
        values.push_back(double(float(x[i])));
    }
    return values;
  });
}

runtime::Buffer* storage_of(const Value& v) {
  return static_cast<runtime::Buffer*>(v.node->output(v.index).storage.get());
}

// --- what must be kept -----------------------------------------------------------------------------------------------

// The outputs of a record: values that tensors or cells hold, values that gradients of held results will read, and
// values that the rest of the record reads when only a part is cut.
class Kept {
 public:
  Kept(const Record& record, const std::vector<Ref<Node>>& rest) {
    for (const Ref<Node>& node : record.nodes) index_.insert(node.get());
    // A cell's own handle needs no copy apart from the cell.
    std::unordered_map<const Node::Output*, int> held_by_cells;
    for (const graph::Assignment& a : record.assignments)
      if (a.cell->current() == a.value) ++held_by_cells[&a.value.node->output(a.value.index)];
    for (const Ref<Node>& node : record.nodes)
      for (int k = 0; k < node->output_count(); ++k) {
        const auto cells = held_by_cells.find(&node->output(k));
        if (node->output(k).handles > (cells == held_by_cells.end() ? 0 : cells->second) || graph::eager())
          keep({node, k});
      }
    for (const Ref<Node>& node : rest)
      for (const Value& v : node->inputs()) keep(graph::behind_reads(v));
    keep_saved(rest);
  }
  std::vector<Value> take() { return std::move(outputs_); }

 private:
  void keep(const Value& v) {
    if (index_.count(v.node.get()) && seen_.insert({v.node.get(), v.index}).second) outputs_.push_back(v);
  }

  // Walks recipes from whatever can still be differentiated.
  void keep_saved(const std::vector<Ref<Node>>& rest) {
    std::vector<Node*> stack;
    std::unordered_set<Node*> visited;
    for (const Value& v : std::vector<Value>(outputs_)) stack.push_back(v.node.get());
    for (const Ref<Node>& node : rest) stack.push_back(node.get());
    while (!stack.empty()) {
      Node* node = stack.back();
      stack.pop_back();
      if (!node->requires_grad || node->consumed || node->cell || !visited.insert(node).second) continue;
      const graph::Saves saves = node->op().saves;
      for (size_t i = 0; i < node->inputs().size(); ++i) {
        if (graph::gradient_reads(*node, int(i))) keep(source_of(node->inputs()[i]));
        stack.push_back(node->inputs()[i].node.get());
      }
      for (int k = 0; k < node->output_count(); ++k)
        if (saves.outputs >> k & 1) keep({Ref<Node>(node), k});
    }
  }

  // A view is made again when the gradient needs it; what it looks at is kept.
  static Value source_of(const Value& value) {
    Value v = value;
    while (v.node->cell || (v.node->op().kind == graph::OpClass::View && !v.node->inputs().empty()))
      v = v.node->inputs()[0];
    return v;
  }

  struct PairHash {
    size_t operator()(const std::pair<const Node*, int>& p) const {
      return std::hash<const Node*>()(p.first) * 31 + size_t(p.second);
    }
  };
  std::unordered_set<const Node*> index_;
  std::unordered_set<std::pair<const Node*, int>, PairHash> seen_;
  std::vector<Value> outputs_;
};

// --- one record ------------------------------------------------------------------------------------------------------

class Evaluation {
 public:
  Evaluation(Record& record, const std::vector<Ref<Node>>& rest)
      : record_(record), outputs_(Kept(record, rest).take()) {}

  void run() {
    adopt_values();
    bind_assignments();
    write_key();
    const std::shared_ptr<const runtime::Plan> plan = find_plan();
    runtime::RunRequest request = make_request();
    // The second opinion reads the inputs before the step overwrites any of them.
    const runtime::RunResult reference = checking() ? run_reference(request) : runtime::RunResult();
    const runtime::RunResult result = run_with_copies(plan, request);
    store(result);
    if (checking()) compare(result, reference);
    report(*plan, request);
  }

 private:
  // A cell's first value may already lie in memory that nobody else sees: then that becomes the cell's own.
  void adopt_values() {
    std::erase_if(record_.assignments, [](graph::Assignment& a) {
      runtime::Buffer* buffer = a.value.node->state == NodeState::Computed ? storage_of(a.value) : nullptr;
      if (!buffer || a.cell->home || buffer->home) return false;
      if (buffer->ref_count() != 1 || a.value.node->output(a.value.index).handles > 1) return false;
      buffer->home = true;
      a.cell->home = a.value.node->output(a.value.index).storage;
      return true;
    });
  }

  int input_number(const Value& v) {
    for (size_t i = 0; i < record_.inputs.size(); ++i)
      if (record_.inputs[i] == v) return int(i);
    record_.inputs.push_back(v);
    record_.key.add(v.type().dtype);
    record_.key.add(v.type().shape);
    record_.key.add(v.type().device);
    return int(record_.inputs.size()) - 1;
  }

  // For each assignment the input that lies in the cell's storage, if the record reads the old value.
  void bind_assignments() {
    for (const graph::Assignment& a : record_.assignments)
      if (a.value.node->state != NodeState::Pending) input_number(a.value);
    for (const graph::Assignment& a : record_.assignments) {
      int old = -1;
      for (size_t i = 0; i < record_.inputs.size() && old < 0; ++i)
        if (a.cell->home && record_.inputs[i].node->output(record_.inputs[i].index).storage == a.cell->home)
          old = int(i);
      old_inputs_.push_back(old);
    }
  }

  void write_key() {
    graph::KeyWriter& key = record_.key;
    auto add = [&](const Value& v) {
      const bool pending = v.node->state == NodeState::Pending;
      key.add(pending ? uint64_t(v.node->record_index) << 8 | uint64_t(v.index) << 1 | 1
                      : uint64_t(input_number(v)) << 1);
    };
    key.add(uint64_t(outputs_.size()));
    for (const Value& v : outputs_) add(v);
    key.add(uint64_t(record_.assignments.size()));
    for (size_t i = 0; i < record_.assignments.size(); ++i) {
      add(record_.assignments[i].value);
      key.add(old_inputs_[i]);
    }
    for (const Value& v : record_.inputs) key.add(is_home(v));
  }
  static bool is_home(const Value& v) {
    const runtime::Buffer* buffer = storage_of(v);
    return buffer && buffer->home;
  }

  std::shared_ptr<const runtime::Plan> find_plan() {
    runtime::PlanCache& cache = runtime::PlanCache::instance();
    if (auto plan = cache.find(record_.key.words())) {
      note_plan(*plan, false, 0);
      return plan;
    }
    const auto start = std::chrono::steady_clock::now();
    graph::Module module = graph::module_from_record(record_, outputs_, old_inputs_);
    for (const Value& v : record_.inputs) module.home_inputs.push_back(is_home(v));
    auto plan = compiler::compile(module);
    plan->key = record_.key.words();
    for (const Ref<Node>& node : record_.nodes) plan->notes.push_back({&node->op(), node->output(0).type, node->loc()});
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    note_plan(*plan, true, seconds);
    cache.insert(plan);
    return plan;
  }

  void note_plan(const runtime::Plan& plan, bool built, double seconds) {
    {
      Counters& c = counters();
      std::lock_guard lock(c.mutex);
      c.stats.plans_built += built;
      c.stats.build_seconds += seconds;
      ++c.stats.plans_run;
      c.stats.steps_run += int64_t(plan.steps.size());
    }
    watch_changes(plan, built);
  }
  // Under evaluation_mutex(), as all of evaluation.
  static void watch_changes(const runtime::Plan& plan, bool built);

  runtime::RunRequest make_request() const {
    runtime::RunRequest request;
    for (const Value& v : record_.inputs) {
      if (v.node->state == NodeState::Failed) std::rethrow_exception(v.node->failure);
      request.inputs.emplace_back(storage_of(v));
      // What is known to have failed is said now; what fails later fails the plan.
      const runtime::Buffer& input = *request.inputs.back();
      if (input.allocator().driver().completed() >= input.ready)
        if (auto failure = input.origin.failure()) std::rethrow_exception(failure);
    }
    for (const Ref<Node>& s : record_.scalars) request.scalars.push_back(s->number);
    for (const Ref<Node>& node : record_.nodes) request.lines.push_back(node->loc());
    for (const graph::Assignment& a : record_.assignments)
      request.homes.emplace_back(static_cast<runtime::Buffer*>(a.cell->home.get()));
    return request;
  }

  // Old values that somebody holds move away before the plan overwrites them; its key and addresses do not change.
  runtime::RunResult run_with_copies(const std::shared_ptr<const runtime::Plan>& plan,
                                     const runtime::RunRequest& request) {
    for (const graph::Assignment& a : record_.assignments) {
      if (!a.previous || !a.cell->home) continue;
      Node::Output& old = a.previous.node->output(a.previous.index);
      if (old.storage != a.cell->home || old.handles == 0) continue;
      old.storage = runtime::copy(Ref<runtime::Buffer>(storage_of(a.previous)));
      std::lock_guard lock(counters().mutex);
      ++counters().stats.copies_out;
    }
    return runtime::run(plan, request);
  }

  void store(const runtime::RunResult& result) {
    for (size_t i = 0; i < outputs_.size(); ++i)
      outputs_[i].node->output(outputs_[i].index).storage = result.outputs[i];
    for (size_t i = 0; i < record_.assignments.size(); ++i) {
      graph::Assignment& a = record_.assignments[i];
      if (a.previous) {
        Node::Output& old = a.previous.node->output(a.previous.index);
        if (a.cell->home && old.storage == a.cell->home) old.storage = {};
      }
      result.homes[i]->home = true;
      a.cell->home = result.homes[i];
      take_home(a, result.homes[i]);
    }
    for (const Ref<Node>& node : record_.nodes) {
      node->state = NodeState::Computed;
      // A view that was not stored can be looked at again.
      const bool look = node->op().kind == graph::OpClass::View && !node->output(0).storage;
      if ((!node->requires_grad || node->consumed) && !look) node->drop_inputs();
    }
  }

  // The cell's value now lies at its home. A value that is also held apart from the cell has storage of its own: then
  // the cell gets a handle that reads its home.
  static void take_home(graph::Assignment& a, const Ref<runtime::Buffer>& home) {
    if (!(a.cell->current() == a.value)) return;  // assigned again since
    if (a.value.node->output(a.value.index).storage || a.value.node->state == NodeState::Computed) {
      a.cell->rebind(graph::data(a.cell->type(), home));
    } else {
      a.value.node->output(a.value.index).storage = home;
    }
  }

  // --- STOKER_CHECK=1 ------------------------------------------------------------------------------------------------

  static bool checking() {
    static const bool on = [] {
      const char* text = std::getenv("STOKER_CHECK");
      return text && std::string_view(text) == "1";
    }();
    return on;
  }

  runtime::RunResult run_reference(const runtime::RunRequest& request) const {
    const auto plan = compiler::compile_reference(graph::module_from_record(record_, outputs_, old_inputs_));
    return runtime::run(plan, {request.inputs, request.scalars, {}, request.lines});
  }

  void compare(const runtime::RunResult& result, const runtime::RunResult& reference) const {
    for (size_t i = 0; i < outputs_.size(); ++i) compare_value(outputs_[i], *result.outputs[i], *reference.outputs[i]);
    for (size_t i = 0; i < record_.assignments.size(); ++i)
      compare_value(record_.assignments[i].value, *result.homes[i], *reference.outputs[outputs_.size() + i]);
  }

  static void compare_value(const Value& v, const runtime::Buffer& got, const runtime::Buffer& expected) {
    if (!is_floating(v.dtype())) return;
    const double tolerance = is_half(v.dtype()) ? 2e-2 : v.dtype() == DType::F64 ? 1e-7 : 1e-3;
    const std::vector<double> x = to_doubles(got, v.type()),
                              y = to_doubles(expected, {DType::F64, v.shape(), v.device()});
    double scale = 1;
    for (double e : y) scale = std::isfinite(e) ? std::max(scale, std::fabs(e)) : scale;
    for (size_t i = 0; i < x.size(); ++i) {
      const bool both_nan = std::isnan(x[i]) && std::isnan(y[i]);
      if (both_nan || x[i] == y[i] || std::fabs(x[i] - y[i]) <= tolerance * scale) continue;
      throw ValueError(
          v.node->op().name,
          fmt::format("expected {} at element {} of {}, as the composed operation gives in double precision, "
                      "but the plan gave {} (found by STOKER_CHECK)",
                      y[i], i, graph::to_string(v.type()), x[i]),
          v.node->loc());
    }
  }

  void report(const runtime::Plan& plan, const runtime::RunRequest& request) const {
    PlanReport r;
    r.steps = int64_t(plan.steps.size());
    for (size_t d = 0; d < plan.devices.size(); ++d) {
      r.arena_bytes += plan.arena_bytes[d];
      r.scratch_bytes += plan.scratch_bytes[d];
    }
    r.output_bytes = plan.output_bytes();
    for (const auto& input : request.inputs) r.input_bytes += input->bytes();
    r.predicted_bytes = plan.predicted_bytes();
    r.bytes_moved = plan.bytes_moved();
    r.flops = plan.flops();
    for (const runtime::PlanStep& s : plan.steps) r.step_names.push_back(s.label);
    graph::Recorder::current().report = make_ref<Report>(std::move(r));
  }

  Record& record_;
  std::vector<Value> outputs_;
  std::vector<int> old_inputs_;
};

// --- plans that keep changing ----------------------------------------------------------------------------------------

std::string describe_change(const std::vector<runtime::Plan::Note>& before,
                            const std::vector<runtime::Plan::Note>& now) {
  for (size_t i = 0; i < std::min(before.size(), now.size()); ++i) {
    const auto &a = before[i], &b = now[i];
    if (a.op == b.op && a.type == b.type) continue;
    const std::string line = b.loc ? " at " + to_string(b.loc) : "";
    return fmt::format("{} of {} became {} of {}{}", a.op->name, graph::to_string(a.type), b.op->name,
                       graph::to_string(b.type), line);
  }
  if (before.size() != now.size()) return fmt::format("{} operations became {}", before.size(), now.size());
  return "the same operations with other attributes, or other results held";
}

void Evaluation::watch_changes(const runtime::Plan& plan, bool built) {
  // A program that has settled builds nothing; this many new plans in a row, after some, are worth a word. Once per
  // process.
  constexpr int kPatience = 48;
  static int in_a_row = 0;
  static bool said = false;
  static std::vector<runtime::Plan::Note> previous;
  in_a_row = built ? in_a_row + 1 : 0;
  if (in_a_row >= kPatience && !said && !previous.empty()) {
    said = true;
    warn(fmt::format(
        "{} steps in a row needed a new plan; the last two differ in: {}. Keep shapes the same from step to step, for "
        "example with drop_last",
        in_a_row, describe_change(previous, plan.notes)));
  }
  previous = plan.notes;
}

// --- the evaluator ---------------------------------------------------------------------------------------------------

void fail(Record& record, const std::exception_ptr& cause) {
  for (const Ref<Node>& node : record.nodes) {
    node->failure = cause;
    node->state = NodeState::Failed;  // another thread that sees this reads the cause
    node->drop_inputs();
  }
  for (const graph::Assignment& a : record.assignments) a.cell->restore(a.previous);
}

void check_for_nan(const Record& record) {
  for (const Ref<Node>& node : record.nodes)
    for (int k = 0; k < node->output_count(); ++k) {
      const graph::TensorType& type = node->output(k).type;
      if (!is_floating(type.dtype) || !node->output(k).storage) continue;
      for (double x : Access::wrap(Value(node, k)).to_vector<double>())
        if (std::isnan(x))
          throw ValueError(node->op().name,
                           "expected numbers, but this operation gave NaN first (found by DetectAnomaly)", node->loc());
    }
}

void evaluate(graph::Recorder& recorder, size_t mark) {
  std::lock_guard lock(graph::evaluation_mutex());
  const bool whole = mark == graph::kWholeRecord;
  Record record = whole ? recorder.cut() : recorder.cut_at(mark);
  const std::vector<Ref<Node>> rest = whole ? std::vector<Ref<Node>>() : recorder.nodes();
  if (!record.nodes.empty() || !record.assignments.empty()) {
    try {
      Evaluation(record, rest).run();
    } catch (...) {
      fail(record, std::current_exception());
      recorder.renumber();
      throw;
    }
  }
  if (!whole) recorder.renumber();
  if (anomalies) check_for_nan(record);
}

const bool registered = (graph::set_evaluator(evaluate), true);

}  // namespace

Ref<runtime::Buffer> buffer_of(const graph::Value& value) {
  const Value v = graph::behind_reads(value);
  Node& node = *v.node;
  if (node.state == NodeState::Pending) graph::evaluate(*node.recorder);
  std::lock_guard lock(graph::evaluation_mutex());
  if (node.state == NodeState::Failed) std::rethrow_exception(node.failure);
  if (!node.output(v.index).storage)
    throw GraphError(node.op().name, "expected a value that was kept, got one that nobody held when it was computed",
                     node.loc());
  return Ref<runtime::Buffer>(storage_of(v));
}

bool anomaly_detection() { return anomalies; }
void set_anomaly_detection(bool on) { anomalies = on; }

}  // namespace detail

// --- public ----------------------------------------------------------------------------------------------------------

void eval() { graph::evaluate(graph::Recorder::current()); }

void eval(const std::vector<Tensor>& tensors) {
  eval();
  for (const Tensor& t : tensors) runtime::wait(*detail::buffer_of(detail::Access::value(t, "eval")));
}

void synchronize(Device device) {
  eval();
  backends::Driver& d = runtime::driver(device);
  d.wait(d.submitted());
}

void synchronize() {
  for (Device d : devices()) synchronize(d);
}

std::string pending() {
  std::string s;
  for (const Ref<graph::Node>& node : graph::Recorder::current().nodes()) {
    s += node->op().name;
    for (int k = 0; k < node->output_count(); ++k) s += " " + graph::to_string(node->output(k).type);
    if (node->loc()) s += "  // " + to_string(node->loc());
    s += "\n";
  }
  return s;
}

PlanStats plan_stats() {
  std::lock_guard lock(detail::counters().mutex);
  PlanStats stats = detail::counters().stats;
  stats.cached = runtime::PlanCache::instance().size();
  return stats;
}

PlanReport last_plan() {
  const auto* report = static_cast<const detail::Report*>(graph::Recorder::current().report.get());
  return report ? report->plan : PlanReport();
}
void clear_plans() { runtime::PlanCache::instance().clear(); }

}  // namespace stoker
