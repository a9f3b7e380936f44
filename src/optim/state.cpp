#include "optim/state.h"

#include <fmt/format.h>

namespace stoker::optim {
namespace {

template <class T>
Tensor from_numbers(const T* values, const Shape& shape) {
  return from_host(values, shape, {dtype_of<T>, cpu()});
}

}  // namespace

Tensor number_tensor(double value) { return from_numbers(&value, {}); }
Tensor number_tensor(int64_t value) { return from_numbers(&value, {}); }
Tensor number_tensor(bool value) { return from_numbers(&value, {}); }
Tensor number_tensor(const std::vector<double>& values) {
  return from_numbers(values.data(), {int64_t(values.size())});
}
Tensor number_tensor(const std::vector<int64_t>& values) {
  return from_numbers(values.data(), {int64_t(values.size())});
}

void write_fields(StateDict& dict, const std::string& prefix, const std::vector<StateField>& fields) {
  for (const StateField& f : fields)
    dict[prefix + f.name] = std::visit([](const auto* value) { return number_tensor(*value); }, f.value);
}

const Tensor* StateReader::find(const std::string& name, const Shape& shape, std::string_view whose) {
  const std::string of = whose.empty() ? std::string() : fmt::format(" of {}", whose);
  const auto entry = dict_.find(name);
  if (entry == dict_.end() || !entry->second.defined()) {
    fault(fmt::format("no {}{}", name, of));
    return nullptr;
  }
  used_.insert(name);
  if (entry->second.shape() == shape) return &entry->second;
  fault(fmt::format("{}{} of shape {} instead of {}", name, of, to_string(entry->second.shape()), to_string(shape)));
  return nullptr;
}

bool StateReader::has(const std::string& prefix) const {
  const auto entry = dict_.lower_bound(prefix);
  return entry != dict_.end() && entry->first.starts_with(prefix);
}

void StateReader::check(const std::string& prefix, const std::vector<StateField>& fields) {
  for (const StateField& f : fields) {
    const std::string name = prefix + f.name;
    std::visit(
        [&]<class T>(const T* value) {
          if constexpr (std::is_arithmetic_v<T>) {
            find(name, {});
          } else {
            int64_t length = int64_t(value->size());
            if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
              const auto entry = dict_.find(name);
              if (entry != dict_.end() && entry->second.defined()) length = entry->second.numel();
            }
            find(name, {length});
          }
        },
        f.value);
  }
}

void StateReader::read(const std::string& prefix, const std::vector<StateField>& fields) const {
  for (const StateField& f : fields) {
    const Tensor& entry = dict_.at(prefix + f.name);
    std::visit(
        [&]<class T>(T* value) {
          if constexpr (std::is_arithmetic_v<T>)
            *value = entry.item<T>();
          else
            *value = entry.to_vector<typename T::value_type>();
        },
        f.value);
  }
}

void StateReader::finish(const std::string& name, Loc loc) {
  for (const auto& [entry, value] : dict_)
    if (!used_.count(entry)) fault(fmt::format("{}, which nothing asks for", entry));
  if (good()) return;
  throw ValueError(name,
                   fmt::format("expected the state of a {} like this one, got {}; nothing was loaded", name,
                               fmt::join(faults_, "; ")),
                   loc);
}

}  // namespace stoker::optim
