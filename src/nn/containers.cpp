#include <stoker/nn/containers.h>

#include "nn/expect.h"

namespace stoker::nn {

void ModuleList::own(std::unique_ptr<Module> module) {
  expect(module != nullptr, type_name(), "a module", "a null pointer", "make one with nn::make<Layer>(options)");
  register_module(std::to_string(modules_.size()), *module);
  modules_.push_back(std::move(module));
}

Module& ModuleList::operator[](size_t index) const {
  expect(index < size(), type_name(), fmt::format("an index below {}", size()), index, "see size()");
  return *modules_[index];
}

void ModuleList::wrong_type(size_t index) const {
  throw ValueError(type_name(), fmt::format("expected another type of module at {}, got {}; ask for that type", index,
                                            (*this)[index].type_name()));
}

Tensor Sequential::forward(const Tensor& x) {
  Tensor y = x;
  for (size_t i = 0; i < size(); ++i) y = (*this)[i](y);
  return y;
}

}  // namespace stoker::nn
