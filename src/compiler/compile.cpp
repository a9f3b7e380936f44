#include "compiler/compile.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "compiler/passes.h"
#include "compiler/planner.h"

namespace stoker::compiler {
namespace {

struct Pass {
  const char* name;
  Module (*run)(const Module&);
};
const Pass kPasses[] = {{"simplify", simplify},
                        {"compose", [](const Module& m) { return compose(m); }},
                        {"numbers", materialize_numbers},
                        {"common", simplify},
                        {"patterns", library_patterns},
                        {"contiguous", make_contiguous},
                        {"fuse", [](const Module& m) { return fuse(m); }},
                        {"cells", place_cells}};

std::string_view environment(const char* name) {
  const char* text = std::getenv(name);
  return text ? text : "";
}

bool verifying() {
#ifdef NDEBUG
  return environment("STOKER_VERIFY") == "1";
#else
  return true;
#endif
}

void dump(std::string_view pass, const std::string& text) {
  const std::string_view wanted = environment("STOKER_DUMP");
  if (wanted.empty() || (wanted != "all" && wanted != pass)) return;
  std::fprintf(stderr, "--- %.*s\n%s", int(pass.size()), pass.data(), text.c_str());
}

}  // namespace

std::vector<std::string> pass_names() {
  std::vector<std::string> names{"record"};
  for (const Pass& pass : kPasses) names.push_back(pass.name);
  names.push_back("plan");
  return names;
}

std::shared_ptr<runtime::Plan> compile(const Module& module) {
  const bool verify_all = verifying();
  const bool dumping = !environment("STOKER_DUMP").empty();
  if (dumping) dump("record", graph::print(module));
  if (verify_all) graph::verify(module, "record");
  Module current = module;
  for (const Pass& pass : kPasses) {
    current = pass.run(current);
    if (dumping) dump(pass.name, graph::print(current));
    if (verify_all) graph::verify(current, pass.name);
  }
  auto plan = make_plan(current);
  if (dumping) dump("plan", print(*plan));
  return plan;
}

namespace {

std::string print(const runtime::Slot& slot) {
  using Where = runtime::Slot::Where;
  const std::string moving = slot.terms.empty() ? "" : "+moving";
  switch (slot.where) {
    case Where::Arena:
      return fmt::format("arena+{}{}", slot.offset, moving);
    case Where::Input:
      return fmt::format("input{}{}{}", slot.number, slot.offset ? fmt::format("+{}", slot.offset) : "", moving);
    case Where::Output:
      return fmt::format("output{}", slot.number);
    case Where::Cell:
      return fmt::format("cell{}", slot.number);
    case Where::Scalar:
      return fmt::format("number{}", slot.number);
    case Where::Literal:
      break;
  }
  return "literal";
}

template <class Slots>
std::string join(const Slots& slots) {
  std::string s;
  for (const auto& slot : slots) s += (s.empty() ? "" : ", ") + print(slot);
  return s;
}

}  // namespace

std::string print(const runtime::Plan& plan) {
  std::string s;
  for (const runtime::Segment& segment : plan.segments)
    for (int i = segment.first; i < segment.last; ++i) {
      const runtime::PlanStep& step = plan.steps[size_t(i)];
      s += fmt::format("{:4} {} {} ({}) -> ({})  [{}] {:.3g} MB, {:.3g} MFLOP{}\n", i,
                       to_string(plan.devices[size_t(segment.device)]), step.label, join(step.inputs),
                       join(step.outputs), step.kernel->describe(), double(step.bytes_moved) * 1e-6, step.flops * 1e-6,
                       step.loc ? "  // " + to_string(step.loc) : "");
    }
  for (size_t d = 0; d < plan.devices.size(); ++d)
    s += fmt::format("{}: arena {} bytes, scratch {} bytes; outputs {} bytes\n", to_string(plan.devices[d]),
                     plan.arena_bytes[d], plan.scratch_bytes[d], plan.output_bytes());
  return s;
}

}  // namespace stoker::compiler
