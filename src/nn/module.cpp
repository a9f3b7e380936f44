#include <stoker/nn/module.h>

#include <cxxabi.h>
#include <algorithm>
#include <cstdlib>
#include <ostream>
#include <set>
#include <typeinfo>

#include <fmt/format.h>

#include "graph/recorder.h"
#include "nn/expect.h"
#include "tensor/update.h"

namespace stoker::nn {

using detail::Access;

// --- cells by name ---------------------------------------------------------------------------------------------------

NamedCell::NamedCell(Module& owner, std::string name, const Tensor& initial, Kind kind) : owner_(&owner) {
  if (initial.defined()) Tensor::operator=(make_cell(initial, kind == Kind::Parameter));
  owner.register_cell(std::move(name), *this, kind);
}

NamedCell::~NamedCell() {
  if (owner_) owner_->forget(*this);
}

NamedCell& NamedCell::operator=(const Tensor& other) {
  const bool is_cell = other.defined() && other.is_cell();
  expect(is_cell, "tie", "another parameter or buffer to share",
         other.defined() ? "a plain value" : "an undefined tensor", "to change the value use assign()");
  if (defined() && !(shape() == other.shape()))
    throw ShapeError("tie", fmt::format("expected a cell of shape {}, got {}; tied names have one shape",
                                        stoker::to_string(shape()), stoker::to_string(other.shape())));
  Tensor::operator=(other);
  return *this;
}

void Module::register_cell(std::string name, NamedCell& cell, NamedCell::Kind kind) {
  check_name(name, "cell");
  if (cell.defined()) Access::cell(cell)->name = path() + name;
  slots_.push_back({std::move(name), &cell, kind});
}

void Module::check_name(std::string_view name, std::string_view what) const {
  expect(!name.empty() && name.find('.') == name.npos, type_name(), fmt::format("a name for a {} without dots", what),
         fmt::format("'{}'", name), "dots separate the levels of a network");
  const auto same = [&](const auto& entry) { return entry.name == name; };
  const bool taken = std::any_of(slots_.begin(), slots_.end(), same) ||
                     std::any_of(children_.begin(), children_.end(), [&](const auto& c) { return c.first == name; });
  expect(!taken, type_name(), fmt::format("a new name for a {}", what), fmt::format("'{}' again", name),
         "names are unique within a module");
}

// --- the tree --------------------------------------------------------------------------------------------------------

Module::~Module() {
  if (parent_) parent_->forget(*this);
  for (auto& [name, child] : children_) child->parent_ = nullptr;
  for (Slot& slot : slots_) slot.cell->owner_ = nullptr;
}

void Module::forget(const NamedCell& cell) {
  std::erase_if(slots_, [&](const Slot& slot) { return slot.cell == &cell; });
}

void Module::forget(const Module& child) {
  std::erase_if(children_, [&](const auto& entry) { return entry.second == &child; });
}

void Module::register_module(std::string name, Module& child) {
  check_name(name, "child");
  expect(child.parent_ == nullptr, type_name(), "a module without a parent",
         fmt::format("'{}', which is part of another", child.name_), "share its parameters instead");
  for (const Module* m = this; m; m = m->parent_)
    expect(m != &child, type_name(), "a child that does not hold this module", fmt::format("'{}'", name),
           "a network is a tree");
  children_.emplace_back(name, &child);
  child.parent_ = this;
  child.name_ = std::move(name);
  child.visit(child.path(), [](const std::string& full, const Slot& slot) { Access::cell(*slot.cell)->name = full; });
}

// "layers.0." for what is below it; empty for the root.
std::string Module::path() const { return parent_ ? parent_->path() + name_ + "." : std::string(); }

void Module::visit(const std::string& prefix, const SlotVisitor& visitor) const {
  for (const Slot& slot : slots_) {
    if (!slot.cell->defined()) continue;
    expect(slot.cell->is_cell(), type_name(), fmt::format("'{}' to be a cell", prefix + slot.name), "a plain value",
           "change it with assign()");
    visitor(prefix + slot.name, slot);
  }
  for (const auto& [name, child] : children_) child->visit(prefix + name + ".", visitor);
}

std::vector<std::pair<std::string, Tensor>> Module::cells(bool parameters, bool buffers) const {
  std::vector<std::pair<std::string, Tensor>> found;
  std::set<const graph::Cell*> seen;
  visit("", [&](const std::string& name, const Slot& slot) {
    const bool wanted = slot.kind == NamedCell::Kind::Parameter ? parameters : buffers;
    if (wanted && seen.insert(Access::cell(*slot.cell).get()).second) found.emplace_back(name, *slot.cell);
  });
  return found;
}

namespace {
std::vector<Tensor> without_names(const std::vector<std::pair<std::string, Tensor>>& named) {
  std::vector<Tensor> tensors;
  for (const auto& [name, tensor] : named) tensors.push_back(tensor);
  return tensors;
}
}  // namespace

std::vector<std::pair<std::string, Tensor>> Module::named_parameters() const { return cells(true, false); }
std::vector<std::pair<std::string, Tensor>> Module::named_buffers() const { return cells(false, true); }
std::vector<Tensor> Module::parameters() const { return without_names(named_parameters()); }
std::vector<Tensor> Module::buffers() const { return without_names(named_buffers()); }

std::vector<std::pair<std::string, Module*>> Module::named_modules() {
  std::vector<std::pair<std::string, Module*>> found{{"", this}};
  for (const auto& [name, child] : children_)
    for (const auto& [below, module] : child->named_modules())
      found.emplace_back(below.empty() ? name : name + "." + below, module);
  return found;
}

void Module::apply(const std::function<void(Module&)>& visit) {
  for (const auto& [name, child] : children_) child->apply(visit);
  visit(*this);
}

// --- running and modes -----------------------------------------------------------------------------------------------

Tensor Module::forward(const Tensor&) {
  throw Unsupported(type_name(), "expected a module with a forward of one tensor, got one without; override forward()",
                    graph::LocScope::current());
}

Tensor Module::operator()(Arg x) {
  const graph::LocScope line(x.loc);
  return forward(x.tensor);
}

Module& Module::train(bool on) {
  apply([on](Module& m) { m.training_ = on; });
  return *this;
}

Module& Module::requires_grad_(bool on) {
  for (Tensor& p : parameters()) p.requires_grad_(on);
  return *this;
}

void Module::zero_grad() {
  for (const Tensor& p : parameters()) detail::clear_gradient(p);
}

// --- where it lives --------------------------------------------------------------------------------------------------

Module& Module::to(Device device, Loc loc) {
  const graph::LocScope line(loc);
  return convert([&](const Tensor& t) { return t.to(device); });
}

Module& Module::to(DType dtype, Loc loc) {
  if (!is_floating(dtype))
    throw DTypeError(
        "to", fmt::format("expected a floating dtype for a network, got {}; use f32, f16, bf16 or f64", name_of(dtype)),
        loc);
  const graph::LocScope line(loc);
  return convert([&](const Tensor& t) { return is_floating(t.dtype()) ? t.to(dtype) : t; });
}

Module& Module::convert(const std::function<Tensor(const Tensor&)>& converted) {
  for (const auto& [name, cell] : cells(true, true)) {
    const Tensor before = cell.detach();
    const Tensor after = converted(before);
    if (after.dtype() == before.dtype() && after.device() == before.device()) continue;
    const Tensor gradient = detail::has_gradient(cell) ? converted(cell.grad().detach()) : Tensor();
    detail::reset_cell(cell, after);
    if (gradient.defined()) cell.set_grad(gradient);
  }
  return *this;
}

// --- state -----------------------------------------------------------------------------------------------------------

StateDict Module::state_dict() const {
  StateDict dict;
  visit("", [&](const std::string& name, const Slot& slot) {
    if (slot.kind != NamedCell::Kind::HiddenBuffer) dict[name] = slot.cell->detach();
  });
  return dict;
}

LoadReport Module::load_state_dict(const StateDict& dict, bool strict, Loc loc) {
  LoadReport report;
  std::vector<std::string> mismatched;
  std::vector<std::pair<Tensor, const Tensor*>> pairs;
  std::set<std::string> known;
  visit("", [&](const std::string& name, const Slot& slot) {
    if (slot.kind == NamedCell::Kind::HiddenBuffer) return;
    known.insert(name);
    const auto found = dict.find(name);
    if (found == dict.end())
      report.missing.push_back(name);
    else if (!found->second.defined())
      mismatched.push_back(name + " (undefined)");
    else if (!(found->second.shape() == slot.cell->shape()))
      mismatched.push_back(fmt::format("{} (expected {}, got {})", name, to_string(slot.cell->shape()),
                                       to_string(found->second.shape())));
    else
      pairs.emplace_back(*slot.cell, &found->second);
  });
  for (const auto& [name, value] : dict)
    if (!known.count(name)) report.unexpected.push_back(name);

  std::string faults;
  const auto list = [&](std::string_view what, const std::vector<std::string>& names) {
    if (!names.empty()) faults += fmt::format("{}{}: {}", faults.empty() ? "" : "; ", what, fmt::join(names, ", "));
  };
  if (strict) list("missing", report.missing), list("unexpected", report.unexpected);
  list("of another shape", mismatched);
  if (!faults.empty())
    throw ValueError("load_state_dict",
                     fmt::format("expected the names and shapes of {}, got {}; nothing was loaded{}", type_name(),
                                 faults, mismatched.empty() ? ", pass strict = false to load the rest" : ""),
                     loc);

  const graph::LocScope line(loc);
  for (const auto& [cell, value] : pairs) cell.assign(value->detach().to(cell.dtype()).to(cell.device()));
  return report;
}

// --- names and printing ----------------------------------------------------------------------------------------------

std::string Module::type_name() const {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(typeid(*this).name(), nullptr, nullptr, &status), &std::free);
  const std::string full = status == 0 ? demangled.get() : typeid(*this).name();
  // Namespaces end before the first template argument or, for a class inside of a function, after its parentheses.
  size_t start = 0;
  int depth = 0;
  for (size_t i = 0; i + 1 < full.size(); ++i) {
    if (full[i] == '<' || full[i] == '(' || full[i] == '{') ++depth;
    if (full[i] == '>' || full[i] == ')' || full[i] == '}') --depth;
    if (depth == 0 && full[i] == ':' && full[i + 1] == ':') start = i + 2;
  }
  return full.substr(start);
}

namespace {
void print(std::string& text, const Module& module, size_t indent) {
  text += module.type_name() + "(" + module.extra_repr();
  const auto children = module.named_children();
  if (!children.empty()) {
    text += "\n";
    for (const auto& [name, child] : children) {
      text += std::string(indent + 2, ' ') + "(" + name + "): ";
      print(text, *child, indent + 2);
      text += "\n";
    }
    text += std::string(indent, ' ');
  }
  text += ")";
}
}  // namespace

std::string to_string(const Module& module) {
  std::string text;
  print(text, module, 0);
  return text;
}

std::ostream& operator<<(std::ostream& out, const Module& module) { return out << to_string(module); }

}  // namespace stoker::nn
