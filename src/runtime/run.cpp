#include <algorithm>
#include <tuple>
#include <utility>

#include "graph/program.h"
#include "runtime/plan.h"

namespace stoker::runtime {

int64_t Plan::output_bytes() const {
  int64_t total = 0;
  for (const Output& o : outputs)
    if (o.same_as_input < 0 && o.same_as_output < 0) total += Allocator::rounded(o.type.bytes());
  return total;
}

int64_t Plan::predicted_bytes() const {
  int64_t total = output_bytes();
  for (size_t d = 0; d < devices.size(); ++d)
    if (arena_bytes[d] + scratch_bytes[d] > 0) total += Allocator::rounded(arena_bytes[d] + scratch_bytes[d]);
  return total;
}

int64_t Plan::bytes_moved() const {
  int64_t total = 0;
  for (const PlanStep& s : steps) total += s.bytes_moved;
  return total;
}

double Plan::flops() const {
  double total = 0;
  for (const PlanStep& s : steps) total += s.flops;
  return total;
}

int64_t Plan::size_in_memory() const {
  return int64_t(sizeof(Plan) + key.size() * 8 + steps.size() * 1024 + outputs.size() * sizeof(Output));
}

namespace {

// At most this many plans wait on a device, so that the host never runs ahead without bound.
constexpr size_t kPlansInFlight = 2;

void throttle(backends::Driver& driver, backends::Ticket submitted) {
  static auto* mutex = new std::mutex;
  static auto* in_flight = new std::unordered_map<backends::Driver*, std::deque<backends::Ticket>>;
  backends::Ticket oldest = 0;
  {
    std::lock_guard lock(*mutex);
    auto& tickets = (*in_flight)[&driver];
    tickets.push_back(submitted);
    if (tickets.size() <= kPlansInFlight) return;
    oldest = tickets.front();
    tickets.pop_front();
  }
  driver.wait(oldest);
}

class Run {
 public:
  Run(const std::shared_ptr<const Plan>& plan, const RunRequest& request) : plan_(plan), request_(request) {}

  RunResult go() {
    reserve();
    for (size_t s = 0; s < plan_->segments.size(); ++s) submit(s);
    mark_results();
    for (size_t s = 0; s < plan_->segments.size(); ++s) throttle(driver_of(s), tickets_[s]);
    return std::move(result_);
  }

 private:
  backends::Driver& driver_of(size_t segment) const {
    return driver(plan_->devices[size_t(plan_->segments[segment].device)]);
  }

  void reserve() {
    for (size_t d = 0; d < plan_->devices.size(); ++d) {
      const int64_t bytes = plan_->arena_bytes[d] + plan_->scratch_bytes[d];
      arenas_.push_back(bytes ? allocator(plan_->devices[d]).allocate(bytes, {"arena", {}}) : Ref<Buffer>());
    }
    for (const Plan::Output& o : plan_->outputs) {
      Ref<Buffer> buffer;
      if (o.same_as_input >= 0)
        buffer = request_.inputs[size_t(o.same_as_input)];
      else if (o.same_as_output >= 0)
        buffer = result_.outputs[size_t(o.same_as_output)];
      else
        buffer = allocator(o.type.device).allocate(o.type.bytes(), {o.producer, line(o.loc)});
      result_.outputs.push_back(std::move(buffer));
    }
    home_numbers_.assign(plan_->cells.size(), -1);
    for (size_t c = 0; c < plan_->cells.size(); ++c) {
      const graph::TensorType& type = plan_->cells[c].type;
      Ref<Buffer> home = request_.homes[c];
      result_.homes.push_back(home ? home : allocator(type.device).allocate(type.bytes(), {"parameter or buffer", {}}));
    }
  }

  Loc line(const graph::Line& planned) const {
    const auto i = size_t(planned.recorded);
    return planned.recorded >= 0 && i < request_.lines.size() ? request_.lines[i] : Loc(planned);
  }
  uint64_t scalar(int number) const { return request_.scalars[size_t(number)]; }

  backends::Address address(const Slot& slot) const {
    backends::Address base;
    switch (slot.where) {
      case Slot::Where::Arena:
        if (!arenas_[size_t(slot.number)]) return {};  // of values without elements
        base = arenas_[size_t(slot.number)]->address();
        break;
      case Slot::Where::Input:
        base = request_.inputs[size_t(slot.number)]->address();
        break;
      case Slot::Where::Output:
        base = result_.outputs[size_t(slot.number)]->address();
        break;
      case Slot::Where::Cell:
        base = result_.homes[size_t(slot.number)]->address();
        break;
      default:
        return {};
    }
    base.offset += slot.offset;
    for (const Slot::Term& t : slot.terms) base.offset += int64_t(scalar(t.scalar)) * t.stride;
    return base;
  }

  backends::Operand operand(const Slot& slot) const {
    if (slot.where == Slot::Where::Literal) return {{}, slot.bits};
    if (slot.where == Slot::Where::Scalar) return {{}, scalar(slot.number)};
    return {address(slot), 0};
  }

  void submit(size_t s) {
    const Segment& segment = plan_->segments[s];
    backends::Batch batch;
    batch.completion = completions_.emplace_back(std::make_shared<backends::Completion>());
    batch.first_step = segment.first;
    const Ref<Buffer>& arena = arenas_[size_t(segment.device)];
    backends::Address scratch;
    if (arena) scratch = {arena->address().base, arena->address().offset + plan_->arena_bytes[size_t(segment.device)]};
    batch.steps.reserve(size_t(segment.last - segment.first));
    for (int i = segment.first; i < segment.last; ++i) {
      const PlanStep& step = plan_->steps[size_t(i)];
      backends::Batch::Step out{step.kernel.get(), {}, {}, scratch, line(step.loc), step.label};
      for (const Slot& slot : step.inputs) out.inputs.push_back(operand(slot));
      for (const Slot& slot : step.outputs) out.outputs.push_back(address(slot));
      batch.steps.push_back(std::move(out));
    }
    for (int earlier : segment.after) batch.after.emplace_back(&driver_of(size_t(earlier)), tickets_[size_t(earlier)]);
    for (size_t earlier = 0; earlier < s; ++earlier)
      if (needs(segment, earlier))
        batch.inputs_from.push_back({completions_[earlier], plan_->segments[earlier].last, -1});
    for (const Ref<Buffer>& input : request_.inputs) wait_for_other_device(batch, *input, driver_of(s));
    for (size_t c = 0; c < plan_->cells.size(); ++c)
      if (plan_->cells[c].segment == int(s)) store_over(batch, c);
    batch.keep.push_back(plan_);
    // Memory of its own device is ordered by the queue; that of other devices must outlive the batch.
    const bool crosses = crosses_devices();
    if (crosses)
      batch.keep.push_back(
          std::make_shared<std::tuple<RunRequest, RunResult, std::vector<Ref<Buffer>>>>(request_, result_, arenas_));
    tickets_.push_back(driver_of(s).submit(std::move(batch)));
    if (crosses) note_reader(s);
  }

  bool crosses_devices() const {
    return plan_->devices.size() > 1 ||
           std::any_of(plan_->inputs.begin(), plan_->inputs.end(),
                       [&](const graph::TensorType& input) { return input.device != plan_->devices[0]; });
  }

  void note_reader(size_t s) {
    backends::Driver& reader = driver_of(s);
    for (const auto* buffers : {&request_.inputs, &std::as_const(result_).homes})
      for (const Ref<Buffer>& buffer : *buffers)
        if (&buffer->allocator().driver() != &reader) buffer->foreign_readers[&reader] = tickets_[s];
  }

  bool needs(const Segment& segment, size_t earlier) const {
    return plan_->segments[earlier].device == segment.device ||
           std::find(segment.after.begin(), segment.after.end(), int(earlier)) != segment.after.end();
  }

  // What the batch has to know of the value that lies in a cell's home before it.
  void store_over(backends::Batch& batch, size_t cell) {
    const Ref<Buffer>& home = result_.homes[cell];
    batch.after.insert(batch.after.end(), home->foreign_readers.begin(), home->foreign_readers.end());
    home->foreign_readers.clear();
    if (!request_.homes[cell]) return;
    home_numbers_[cell] = int(batch.homes.size());
    batch.homes.push_back(home->origin);
  }

  void wait_for_other_device(backends::Batch& batch, const Buffer& input, backends::Driver& own) const {
    backends::Driver& theirs = input.allocator().driver();
    if (&theirs != &own && input.ready > theirs.completed()) batch.after.emplace_back(&theirs, input.ready);
    if (input.origin.completion) batch.inputs_from.push_back(input.origin);
  }

  void mark_results() {
    for (size_t i = 0; i < result_.outputs.size(); ++i)
      if (plan_->outputs[i].segment >= 0) mark(*result_.outputs[i], plan_->outputs[i]);
    for (size_t i = 0; i < result_.homes.size(); ++i)
      if (plan_->cells[i].segment >= 0) {
        mark(*result_.homes[i], plan_->cells[i]);
        result_.homes[i]->origin.home = home_numbers_[i];
      }
  }

  template <class Place>
  void mark(Buffer& buffer, const Place& place) const {
    buffer.ready = tickets_[size_t(place.segment)];
    buffer.origin = {completions_[size_t(place.segment)], place.step, -1};
  }

  std::shared_ptr<const Plan> plan_;
  const RunRequest& request_;
  RunResult result_;
  std::vector<Ref<Buffer>> arenas_;
  std::vector<int> home_numbers_;  // of the cells' homes in their batches
  std::vector<backends::Ticket> tickets_;
  std::vector<std::shared_ptr<backends::Completion>> completions_;
};

// One load and one store of every byte, on the device's own queue.
std::shared_ptr<const Plan> copy_plan(Device device, int64_t bytes) {
  const graph::TensorType type{DType::U8, Shape{bytes}, device};
  backends::StepRequest request{&graph::op("fused"), graph::copy_program(type), {}, {}, {}};
  const graph::TensorDesc desc{type.dtype, type.shape, contiguous_strides(type.shape), 0};
  request.inputs.push_back({desc, false});
  request.outputs.push_back(desc);
  auto plan = std::make_shared<Plan>();
  plan->devices = {device};
  plan->arena_bytes = {0};
  plan->inputs = {type};
  plan->outputs = {{type, -1, -1, 0, 0, "copy of an old value", {}}};
  plan->segments = {{0, 0, 1, {}}};
  PlanStep step;
  step.kernel = driver(device).lower(request);
  plan->scratch_bytes = {step.kernel->scratch_bytes()};
  step.inputs = {{Slot::Where::Input, 0, 0, 0, {}}};
  step.outputs = {{Slot::Where::Output, 0, 0, 0, {}}};
  step.label = "copy";
  plan->steps.push_back(std::move(step));
  return plan;
}

}  // namespace

Ref<Buffer> copy(const Ref<Buffer>& source) {
  const Device device = source->allocator().driver().device();
  return run(copy_plan(device, source->bytes()), {{source}, {}, {}, {}}).outputs[0];
}

RunResult run(const std::shared_ptr<const Plan>& plan, const RunRequest& request) { return Run(plan, request).go(); }

}  // namespace stoker::runtime
