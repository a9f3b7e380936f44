// Numbers and tensors to and from a state dict. Reading comes in two parts: everything is checked and every fault noted
// first, and only a dict without a fault is taken over.
#pragma once

#include <set>

#include <stoker/optim/optimizer.h>

namespace stoker::optim {

// Snapshots of numbers as tensors on the CPU.
Tensor number_tensor(double value);
Tensor number_tensor(int64_t value);
Tensor number_tensor(bool value);
Tensor number_tensor(const std::vector<double>& values);
Tensor number_tensor(const std::vector<int64_t>& values);

void write_fields(StateDict& dict, const std::string& prefix, const std::vector<StateField>& fields);

class StateReader {
 public:
  explicit StateReader(const StateDict& dict) : dict_(dict) {}

  // The entry of that name, nullptr and a fault if it is missing or of another shape. `whose` is added to the fault.
  const Tensor* find(const std::string& name, const Shape& shape, std::string_view whose = {});
  // Whether the dict has an entry that starts with `prefix`.
  bool has(const std::string& prefix) const;
  // Checks the fields' entries. Lists of reals keep their length, lists of integers need not.
  void check(const std::string& prefix, const std::vector<StateField>& fields);
  // Takes them over.
  void read(const std::string& prefix, const std::vector<StateField>& fields) const;
  void fault(std::string text) { faults_.push_back(std::move(text)); }
  bool good() const { return faults_.empty(); }
  // Throws ValueError with every fault, and every entry that nobody asked for.
  void finish(const std::string& name, Loc loc);

 private:
  const StateDict& dict_;
  std::set<std::string> used_;
  std::vector<std::string> faults_;
};

}  // namespace stoker::optim
