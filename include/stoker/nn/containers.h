/// \file
/// Modules that own their children: ModuleList and Sequential. Children are named "0", "1", ...
#pragma once

#include <memory>
#include <type_traits>

#include <stoker/nn/module.h>

namespace stoker::nn {

/// A layer from its options: `nn::make<nn::Linear>({.in_features = 8, .out_features = 4})`.
template <class Layer>
requires requires { typename Layer::Options; }
std::unique_ptr<Layer> make(typename Layer::Options options) { return std::make_unique<Layer>(std::move(options)); }
/// A layer with default options or none: `nn::make<nn::ReLU>()`.
template <class Layer>
std::unique_ptr<Layer> make() {
  return std::make_unique<Layer>();
}

/// A list of modules without a forward of its own.
class ModuleList : public Module {
 public:
  ModuleList() = default;
  ModuleList(Module& parent, std::string name) : Module(parent, std::move(name)) {}
  template <class... Layers>
  requires(sizeof...(Layers) > 0) explicit ModuleList(std::unique_ptr<Layers>... layers) {
    (push_back(std::move(layers)), ...);
  }
  template <class... Layers>
  requires(sizeof...(Layers) > 0) ModuleList(Module& parent, std::string name, std::unique_ptr<Layers>... layers)
      : ModuleList(std::move(layers)...) {
    parent.register_module(std::move(name), *this);
  }

  /// Appends a module (ValueError for a null pointer) and returns it.
  template <class Layer>
  Layer& push_back(std::unique_ptr<Layer> layer) {
    Layer* const raw = layer.get();
    own(std::move(layer));
    return *raw;
  }
  size_t size() const { return modules_.size(); }
  bool empty() const { return modules_.empty(); }
  /// ValueError outside of 0 .. size() - 1.
  Module& operator[](size_t index) const;
  /// The module as what it is: `list.at<Block>(0)`; ValueError when it is something else.
  template <class Layer>
  Layer& at(size_t index) const {
    auto* layer = dynamic_cast<Layer*>(&(*this)[index]);
    if (!layer) wrong_type(index);
    return *layer;
  }

 private:
  void own(std::unique_ptr<Module> module);
  [[noreturn]] void wrong_type(size_t index) const;

  std::vector<std::unique_ptr<Module>> modules_;
};

/// Modules that run one after the other:
///
///     nn::Sequential net(nn::make<nn::Linear>({.in_features = 784, .out_features = 128}),
///                        nn::make<nn::ReLU>(),
///                        nn::make<nn::Linear>({.in_features = 128, .out_features = 10}));
class Sequential : public ModuleList {
 public:
  using ModuleList::ModuleList;
  Tensor forward(const Tensor& x) override;
};

}  // namespace stoker::nn
