// Attributes of a node: a plain struct whose fields() tuple alone drives hashing, equality and printing.
//
//   struct ReduceAttrs {
//     Dims axes;
//     bool keepdim = false;
//     auto fields() const { return std::tuple{field("axes", axes), field("keepdim", keepdim)}; }
//   };
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <tuple>
#include <typeinfo>
#include <vector>

#include <fmt/format.h>
#include <stoker/device.h>
#include <stoker/dtype.h>
#include <stoker/shape.h>

#include "base/ref.h"

namespace stoker::graph {

// The exact, flat image of what a plan depends on. Two records are the same work if and only if their words are equal.
class KeyWriter {
 public:
  void add(uint64_t word) { words_.push_back(word); }
  void add(int64_t v) { add(uint64_t(v)); }
  void add(int v) { add(uint64_t(int64_t(v))); }
  void add(bool v) { add(uint64_t(v)); }
  void add(double v) { add(std::bit_cast<uint64_t>(v)); }
  void add(DType v) { add(uint64_t(v)); }
  void add(Device v) { add(uint64_t(v.id())); }
  void add(const void* p) { add(uint64_t(reinterpret_cast<uintptr_t>(p))); }
  void add(const Dims& dims) {
    add(uint64_t(dims.rank()));
    for (int64_t d : dims) add(d);
  }
  void add(const std::string& s) {
    add(uint64_t(s.size()));
    for (size_t i = 0; i < s.size(); i += 8) {
      uint64_t word = 0;
      std::memcpy(&word, s.data() + i, std::min<size_t>(8, s.size() - i));
      add(word);
    }
  }
  template <class T>
  void add(const std::vector<T>& v) {
    add(uint64_t(v.size()));
    for (const T& x : v) add(x);
  }
  // An attribute that is itself a structure writes its own words.
  template <class T>
  requires requires(const T& t, KeyWriter& k) { t.write_key(k); }
  void add(const T& v) { v.write_key(*this); }

  const std::vector<uint64_t>& words() const { return words_; }
  std::vector<uint64_t> take() { return std::move(words_); }
  void clear() { words_.clear(); }

 private:
  std::vector<uint64_t> words_;
};

template <class T>
struct Field {
  const char* name;
  const T& value;
};
template <class T>
Field<T> field(const char* name, const T& value) {
  return {name, value};
}

inline std::string print_field(bool v) { return v ? "true" : "false"; }
inline std::string print_field(int v) { return fmt::format("{}", v); }
inline std::string print_field(int64_t v) { return fmt::format("{}", v); }
inline std::string print_field(double v) { return fmt::format("{}", v); }
inline std::string print_field(DType v) { return std::string(name_of(v)); }
inline std::string print_field(Device v) { return to_string(v); }
inline std::string print_field(const Dims& v) { return to_string(v); }
inline std::string print_field(const std::string& v) { return v; }
template <class T>
requires requires(const T& t) { t.print(); }
std::string print_field(const T& v) { return v.print(); }
template <class T>
std::string print_field(const std::vector<T>& v) {
  std::string s = "[";
  for (const T& x : v) s += (s.size() > 1 ? ", " : "") + print_field(x);
  return s + "]";
}

// Type-erased, shared, immutable attributes. Empty for an operation without any.
class Attrs {
 public:
  Attrs() = default;
  template <class T>
  requires requires(const T& t) { t.fields(); }
  Attrs(T value) : box_(new Box<T>(std::move(value))) {}

  template <class T>
  const T& get() const {
    return static_cast<const Box<T>&>(*box_).value;
  }
  template <class T>
  const T* get_if() const {
    auto* box = dynamic_cast<const Box<T>*>(box_.get());
    return box ? &box->value : nullptr;
  }
  explicit operator bool() const { return bool(box_); }

  void write_key(KeyWriter& key) const {
    if (box_) box_->write_key(key);
  }
  // "axes=[1], keepdim=true"
  std::string print() const { return box_ ? box_->print() : std::string(); }
  bool operator==(const Attrs& other) const {
    if (box_ == other.box_) return true;
    if (!box_ || !other.box_) return false;
    KeyWriter a, b;
    box_->write_key(a);
    other.box_->write_key(b);
    return a.words() == b.words();
  }

 private:
  struct BoxBase : RefCounted {
    virtual void write_key(KeyWriter& key) const = 0;
    virtual std::string print() const = 0;
  };
  template <class T>
  struct Box final : BoxBase {
    explicit Box(T v) : value(std::move(v)) {}
    void write_key(KeyWriter& key) const override {
      std::apply([&](const auto&... f) { (key.add(f.value), ...); }, value.fields());
    }
    std::string print() const override {
      std::string s;
      auto one = [&](const auto& f) {
        s += (s.empty() ? "" : ", ") + std::string(f.name) + "=" + print_field(f.value);
      };
      std::apply([&](const auto&... f) { (one(f), ...); }, value.fields());
      return s;
    }
    T value;
  };
  Ref<BoxBase> box_;
};

}  // namespace stoker::graph
