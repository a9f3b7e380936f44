// Drives a CPU device directly: arrays go up, one step runs, arrays come down.
#pragma once

#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>
#include <stoker/dtype.h>
#include <stoker/shape.h>

#include "backends/backend.h"
#include "graph/ops/attributes.h"

namespace stoker::backends::test {

// A tensor on the host; element 0 lies `offset` elements into the data.
struct Array {
  DType dtype = DType::F32;
  Shape shape;
  Dims strides;
  int64_t offset = 0;
  std::vector<std::byte> data;

  Array() = default;
  Array(DType type, Shape extents)
      : dtype(type),
        shape(extents),
        strides(contiguous_strides(extents)),
        data(size_t(numel(extents)) * size_of(type)) {}

  int64_t count() const { return numel(shape); }
  template <class T>
  T* as() {
    return reinterpret_cast<T*>(data.data());
  }
  template <class T>
  const T* as() const {
    return reinterpret_cast<const T*>(data.data());
  }
  // Element i of the data as a double, and back, rounded into the dtype.
  double get(int64_t i) const {
    return visit(dtype, [&](auto t) {
      using T = decltype(t);
      T v;
      std::memcpy(&v, data.data() + size_t(i) * sizeof(T), sizeof(T));
      if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
        return double(float(v));
      else
        return double(v);
    });
  }
  void set(int64_t i, double value) {
    visit(dtype, [&](auto t) {
      using T = decltype(t);
      T v;
      if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
        v = T(float(value));
      else
        v = T(value);
      std::memcpy(data.data() + size_t(i) * sizeof(T), &v, sizeof(T));
    });
  }
  std::vector<double> values() const {
    std::vector<double> out;
    for (int64_t i = 0; i < int64_t(data.size() / size_of(dtype)); ++i) out.push_back(get(i));
    return out;
  }
  bool same_bits(const Array& other) const {
    return dtype == other.dtype && shape == other.shape && data == other.data;
  }
};

inline Array array(DType dtype, const Shape& shape, const std::vector<double>& values) {
  Array a(dtype, shape);
  for (size_t i = 0; i < values.size(); ++i) a.set(int64_t(i), values[i]);
  return a;
}

// Numbers that a test can do sums with: a fixed sequence in [-1, 1), of multiples of 1/64.
inline Array pattern(DType dtype, const Shape& shape, uint32_t seed = 1, double scale = 1) {
  Array a(dtype, shape);
  uint32_t state = seed * 2654435761u + 12345;
  for (int64_t i = 0; i < a.count(); ++i) {
    state = state * 1664525u + 1013904223u;
    a.set(i, scale * (double(state >> 25) / 64 - 1));
  }
  return a;
}

// A number of the parameter block.
struct Number {
  DType dtype;
  uint64_t bits;
  static Number real(double v, DType dtype = DType::F32) { return {dtype, std::bit_cast<uint64_t>(v)}; }
  static Number integer(int64_t v, DType dtype = DType::I64) { return {dtype, uint64_t(v)}; }
};
using Input = std::variant<Array, Number>;

// A CPU with its own number of threads.
class Machine {
 public:
  explicit Machine(int threads) {
    setenv("STOKER_NUM_THREADS", std::to_string(threads).c_str(), 1);
    driver_ = find_backend("cpu")->open(0);
    unsetenv("STOKER_NUM_THREADS");
  }
  Driver& driver() { return *driver_; }

  static graph::Op row_of(const std::string& op) {
    graph::Op row;
    row.name = op;
    const std::map<std::string, graph::ReduceKind> kinds{{"sum", graph::ReduceKind::Sum},
                                                         {"prod", graph::ReduceKind::Prod},
                                                         {"max", graph::ReduceKind::Max},
                                                         {"min", graph::ReduceKind::Min}};
    if (const auto kind = kinds.find(op); kind != kinds.end()) row.reduce = kind->second;
    return row;
  }

  // Types of the outputs are given; `over`: an input whose memory is output 0's.
  std::vector<Array> run(const std::string& op, graph::Attrs attrs, const std::vector<Input>& inputs,
                         const std::vector<std::pair<DType, Shape>>& outputs, int over = -1) {
    StepRequest request;
    const graph::Op row = row_of(op);
    request.op = &row;
    request.attrs = std::move(attrs);
    request.loc = {"test.cpp", 7};
    Memory memory(*driver_);
    Batch batch;
    Batch::Step step{};
    step.loc = request.loc;
    for (const Input& in : inputs) add_input(in, request, step, memory);
    for (const auto& [dtype, shape] : outputs) {
      request.outputs.push_back({dtype, shape, contiguous_strides(shape)});
      const bool first = step.outputs.empty();
      step.outputs.push_back(first && over >= 0 ? step.inputs[size_t(over)].address
                                                : Address{memory.take(numel(shape) * int64_t(size_of(dtype))), 0});
    }
    std::unique_ptr<Kernel> kernel = driver_->lower(request);
    described = kernel->describe();
    step.kernel = kernel.get();
    step.scratch = {memory.take(kernel->scratch_bytes()), 0};
    batch.completion = std::make_shared<Completion>();
    const auto completion = batch.completion;
    const std::vector<Address> addresses = step.outputs;
    batch.steps.push_back(std::move(step));
    driver_->wait(driver_->submit(std::move(batch)));
    if (completion->error) std::rethrow_exception(completion->error);
    std::vector<Array> results;
    for (size_t i = 0; i < outputs.size(); ++i) {
      results.emplace_back(outputs[i].first, outputs[i].second);
      driver_->download(results.back().data.data(), addresses[i], int64_t(results.back().data.size()));
    }
    return results;
  }

  bool supports(const std::string& op, graph::Attrs attrs, const std::vector<DType>& inputs) {
    StepRequest request;
    const graph::Op row = row_of(op);
    request.op = &row;
    request.attrs = std::move(attrs);
    for (DType d : inputs) request.inputs.push_back({{d, {1, 1, 1, 1}, {1, 1, 1, 1}}, false});
    return driver_->supports(request);
  }

  std::string described;  // the implementation of the last run

 private:
  // Device memory between fences that must still stand when the step is done.
  class Memory {
   public:
    explicit Memory(Driver& driver) : driver_(driver) {}
    void* take(int64_t bytes) {
      auto* base = static_cast<unsigned char*>(driver_.allocate(bytes + 2 * kFence));
      std::memset(base, 0xcd, size_t(bytes + 2 * kFence));
      blocks_.push_back({base, bytes});
      return base + kFence;
    }
    ~Memory() {
      for (auto [base, bytes] : blocks_) {
        for (int64_t i = 0; i < kFence; ++i)
          if (base[i] != 0xcd || base[kFence + bytes + i] != 0xcd) {
            ADD_FAILURE() << "a kernel wrote outside of its memory";
            break;
          }
        driver_.release(base);
      }
    }

   private:
    static constexpr int64_t kFence = 64;
    Driver& driver_;
    std::vector<std::pair<unsigned char*, int64_t>> blocks_;
  };

  void add_input(const Input& in, StepRequest& request, Batch::Step& step, Memory& memory) {
    if (const Number* n = std::get_if<Number>(&in)) {
      request.inputs.push_back({{n->dtype, {}, {}}, true});
      step.inputs.push_back({{}, n->bits});
      return;
    }
    const Array& a = std::get<Array>(in);
    request.inputs.push_back({{a.dtype, a.shape, a.strides, a.offset}, false});
    void* base = memory.take(int64_t(a.data.size()));
    driver_->upload({base, 0}, a.data.data(), int64_t(a.data.size()));
    step.inputs.push_back({{base, a.offset * int64_t(size_of(a.dtype))}, 0});
  }

  std::unique_ptr<Driver> driver_;
};

inline Machine& machine(int threads) {
  static Machine* one = new Machine(1);
  static Machine* two = new Machine(2);
  static Machine* three = new Machine(3);
  return threads == 1 ? *one : threads == 2 ? *two : *three;
}

// Runs a step with one, two and three threads, whose results must be the same bits, and returns them.
inline std::vector<Array> run(const std::string& op, graph::Attrs attrs, const std::vector<Input>& inputs,
                              const std::vector<std::pair<DType, Shape>>& outputs, int over = -1) {
  std::vector<Array> first = machine(1).run(op, attrs, inputs, outputs, over);
  for (int threads : {2, 3}) {
    const std::vector<Array> other = machine(threads).run(op, attrs, inputs, outputs, over);
    for (size_t i = 0; i < first.size(); ++i)
      EXPECT_TRUE(first[i].same_bits(other[i])) << op << ": output " << i << " differs with " << threads << " threads";
  }
  return first;
}

// Equal up to `tolerance` of the larger of 1 and the expected value; NaN equals NaN.
inline void expect_close(const Array& actual, const std::vector<double>& expected, double tolerance = 0) {
  ASSERT_EQ(size_t(actual.count()), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const double a = actual.get(int64_t(i)), e = expected[i];
    if (std::isnan(e)) {
      EXPECT_TRUE(std::isnan(a)) << "element " << i << " is " << a;
    } else if (tolerance == 0 || std::isinf(e)) {
      EXPECT_EQ(a, e) << "element " << i;
    } else {
      EXPECT_NEAR(a, e, tolerance * std::max(1.0, std::fabs(e))) << "element " << i;
    }
  }
}

}  // namespace stoker::backends::test
