/// \file
/// Module: the base of layers and networks, and the cells that they own by name.
///
/// A network is a struct whose members register themselves, in the order in which they are declared:
///
///     struct Net : nn::Module {
///       nn::Linear body{*this, "body", {.in_features = 8, .out_features = 8}};
///       nn::Parameter scale{*this, "scale", ones({8})};
///       Tensor forward(const Tensor& x) override { return relu(body(x)) * scale; }
///     };
///
/// Children and cells are registered by address, so modules, parameters and buffers are neither copied nor moved.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <stoker/io.h>
#include <stoker/tensor.h>

namespace stoker::nn {

class Module;

/// A cell that a module owns under a name: a Parameter or a Buffer. It is a Tensor and goes wherever one goes.
class NamedCell : public Tensor {
 public:
  NamedCell(const NamedCell&) = delete;
  /// Ties: from now on this name stands for the cell of `other`, as in `head.weight = embed.weight`. To give the cell
  /// another value, use assign(). Errors: ValueError when `other` is not a cell, ShapeError when the shapes differ.
  NamedCell& operator=(const Tensor& other);
  NamedCell& operator=(const NamedCell& other) { return *this = static_cast<const Tensor&>(other); }

  /// These would turn the name into a plain value: write `cell.assign(cell.detach() + x)`.
  template <class T>
  Tensor& operator+=(const T&) = delete;
  template <class T>
  Tensor& operator-=(const T&) = delete;
  template <class T>
  Tensor& operator*=(const T&) = delete;
  template <class T>
  Tensor& operator/=(const T&) = delete;

 protected:
  enum class Kind : uint8_t { Parameter, Buffer, HiddenBuffer };
  NamedCell(Module& owner, std::string name, const Tensor& initial, Kind kind);
  ~NamedCell();

 private:
  friend class Module;
  Module* owner_;
};

/// A cell that collects a gradient and that optimizers update.
class Parameter : public NamedCell {
 public:
  /// \param name of letters, digits, `_` and the like; no dot, and unique in its module (ValueError)
  /// \param initial the first value, floating (DTypeError). Undefined: the parameter is absent, as a bias left out,
  ///        until a cell is tied to it.
  Parameter(Module& owner, std::string name, const Tensor& initial)
      : NamedCell(owner, std::move(name), initial, Kind::Parameter) {}
  using NamedCell::operator=;
};

/// A cell without gradient that belongs to the network's state, as the running statistics of a norm.
class Buffer : public NamedCell {
 public:
  /// \param persistent whether state_dict() holds it
  Buffer(Module& owner, std::string name, const Tensor& initial, bool persistent = true)
      : NamedCell(owner, std::move(name), initial, persistent ? Kind::Buffer : Kind::HiddenBuffer) {}
  using NamedCell::operator=;
};

/// What load_state_dict() found without a partner.
struct LoadReport {
  std::vector<std::string> missing;     ///< names of the network that the dict does not have
  std::vector<std::string> unexpected;  ///< names of the dict that the network does not have
};

class Module {
 public:
  Module() = default;
  /// Registers the module as a child of `parent`.
  Module(Module& parent, std::string name) { parent.register_module(std::move(name), *this); }
  virtual ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // --- running -------------------------------------------------------------------------------------------------------
  /// What the module computes. Unsupported unless overridden; a module of several inputs declares a forward of its own.
  virtual Tensor forward(const Tensor& x);
  /// Calls forward(). Whatever is recorded inside, and errors there, carry the line of this call.
  Tensor operator()(Arg x);

  // --- what it consists of -------------------------------------------------------------------------------------------
  /// Every parameter once, frozen ones too: own ones first, then those of the children, in order of registration.
  std::vector<Tensor> parameters() const;
  /// The same with their dotted names, as "body.weight". A tied cell appears under its first name.
  std::vector<std::pair<std::string, Tensor>> named_parameters() const;
  std::vector<Tensor> buffers() const;
  std::vector<std::pair<std::string, Tensor>> named_buffers() const;
  std::vector<std::pair<std::string, Module*>> named_children() const { return children_; }
  /// The module itself under the empty name, then everything below it, parents first.
  std::vector<std::pair<std::string, Module*>> named_modules();
  /// Calls `visit` for everything below the module, children first, then for the module itself.
  void apply(const std::function<void(Module&)>& visit);

  // --- modes ---------------------------------------------------------------------------------------------------------
  /// Sets the mode of the module and of everything below it. Modules start in training mode.
  Module& train(bool on = true);
  Module& eval() { return train(false); }
  bool training() const { return training_; }
  /// Freezes (false) or thaws every parameter.
  Module& requires_grad_(bool on = true);
  /// Forgets the gradients of every parameter.
  void zero_grad();

  // --- where it lives ------------------------------------------------------------------------------------------------
  /// Moves every parameter with its gradient, and every buffer. All handles of the cells see it.
  Module& to(Device device, Loc loc = Loc::here());
  /// Converts every floating parameter with its gradient, and every floating buffer.
  /// Errors: DTypeError when `dtype` is not floating.
  Module& to(DType dtype, Loc loc = Loc::here());

  // --- state ---------------------------------------------------------------------------------------------------------
  /// A snapshot of every parameter and persistent buffer by dotted name; later updates do not change it (PyTorch's is
  /// an alias). A tied cell appears under each of its names.
  StateDict state_dict() const;
  /// Assigns the values of `dict`, converted to each cell's dtype and device. Shapes must be equal.
  /// Errors: ValueError that lists everything missing and unexpected (when `strict`) and every shape that differs; the
  /// network is then unchanged.
  LoadReport load_state_dict(const StateDict& dict, bool strict = true, Loc loc = Loc::here());

  // --- names ---------------------------------------------------------------------------------------------------------
  /// Makes `child` a part of this module. The child must outlive its use here and has one parent (ValueError).
  void register_module(std::string name, Module& child);
  /// The class's name without namespaces, as "Conv2d".
  std::string type_name() const;
  /// The options that stand between the parentheses of the printed layer.
  virtual std::string extra_repr() const { return {}; }

 private:
  friend class NamedCell;
  struct Slot {
    std::string name;
    NamedCell* cell;
    NamedCell::Kind kind;
  };
  using SlotVisitor = std::function<void(const std::string& name, const Slot& slot)>;

  void register_cell(std::string name, NamedCell& cell, NamedCell::Kind kind);
  void check_name(std::string_view name, std::string_view what) const;
  std::string path() const;
  void visit(const std::string& prefix, const SlotVisitor& visitor) const;
  std::vector<std::pair<std::string, Tensor>> cells(bool parameters, bool buffers) const;
  Module& convert(const std::function<Tensor(const Tensor&)>& converted);
  void forget(const Module& child);
  void forget(const NamedCell& cell);

  std::vector<Slot> slots_;
  std::vector<std::pair<std::string, Module*>> children_;
  Module* parent_ = nullptr;
  std::string name_;
  bool training_ = true;
};

/// The module and everything below it as an indented tree.
std::string to_string(const Module& module);
std::ostream& operator<<(std::ostream& out, const Module& module);

}  // namespace stoker::nn
