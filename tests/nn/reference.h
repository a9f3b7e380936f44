// Values recorded by the scripts of tests/reference, and comparisons with them.
#pragma once

#include <gtest/gtest.h>
#include <stoker/io.h>
#include <stoker/tensor.h>

#include <cmath>

namespace stoker::test {

class Reference {
 public:
  // tests/data/<name>.npz
  explicit Reference(const std::string& name)
      : all_(load_npz(std::string(STOKER_TESTS_DIR) + "/data/" + name + ".npz")) {}

  bool has(const std::string& key) const { return all_.count(key) > 0; }
  const Tensor& at(const std::string& key) const {
    if (!has(key)) throw ValueError("reference", "no recorded value " + key);
    return all_.at(key);
  }
  // Every entry that starts with `prefix`, under the rest of its name.
  StateDict below(const std::string& prefix) const {
    StateDict found;
    for (auto entry = all_.lower_bound(prefix); entry != all_.end() && entry->first.starts_with(prefix); ++entry)
      found[entry->first.substr(prefix.size())] = entry->second;
    return found;
  }

 private:
  StateDict all_;
};

// Equal shapes, and |got - expected| <= tolerance * (1 + |expected|) everywhere.
inline ::testing::AssertionResult close(const Tensor& got, const Tensor& expected, double tolerance) {
  if (!got.defined()) return ::testing::AssertionFailure() << "undefined";
  if (!(got.shape() == expected.shape()))
    return ::testing::AssertionFailure() << "shape " << to_string(got.shape()) << " instead of "
                                         << to_string(expected.shape());
  const auto a = got.to_vector<double>(), b = expected.to_vector<double>();
  for (size_t i = 0; i < a.size(); ++i)
    if (!(std::abs(a[i] - b[i]) <= tolerance * (1 + std::abs(b[i]))))
      return ::testing::AssertionFailure() << "element " << i << " is " << a[i] << " instead of " << b[i];
  return ::testing::AssertionSuccess();
}

inline ::testing::AssertionResult same(const Tensor& got, const Tensor& expected) { return close(got, expected, 0); }

// The message of the error that `call` throws; empty if it throws none of that type.
template <class Error, class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace stoker::test
