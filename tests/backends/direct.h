// Runs one implementation of a CPU kernel by itself, whichever the table would choose.
#pragma once

#include "backends/cpu/kernels.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/system.h"
#include "backends/harness.h"

namespace stoker::backends::test {

// Memory between fences that must still stand at the end.
class FencedMemory {
 public:
  explicit FencedMemory(int64_t bytes)
      : bytes_(bytes), base_(static_cast<unsigned char*>(cpu::allocate_memory(bytes + 2 * kFence))) {
    std::memset(base_, 0xcd, size_t(bytes + 2 * kFence));
  }
  FencedMemory(const FencedMemory&) = delete;
  FencedMemory& operator=(const FencedMemory&) = delete;
  ~FencedMemory() {
    bool stands = true;
    for (int64_t i = 0; i < kFence; ++i) stands &= base_[i] == 0xcd && base_[kFence + bytes_ + i] == 0xcd;
    EXPECT_TRUE(stands) << "a kernel wrote outside of its memory";
    cpu::release_memory(base_);
  }
  unsigned char* data() const { return base_ + kFence; }

 private:
  static constexpr int64_t kFence = 64;
  int64_t bytes_;
  unsigned char* base_;
};

// `lower` makes the kernel of a request.
template <class Lower>
std::vector<Array> run_direct(const Lower& lower, const std::string& op, graph::Attrs attrs,
                              const std::vector<Array>& inputs, const std::vector<std::pair<DType, Shape>>& outputs,
                              int threads) {
  const cpu::ThreadCountScope team(threads);
  const graph::Op row = Machine::row_of(op);
  StepRequest request{.op = &row, .attrs = std::move(attrs), .inputs = {}, .outputs = {}, .loc = {"test.cpp", 7}};
  std::vector<std::unique_ptr<FencedMemory>> memory;
  std::vector<Operand> operands;
  std::vector<Address> results;
  for (const Array& a : inputs) {
    request.inputs.push_back({{a.dtype, a.shape, a.strides, a.offset}, false});
    memory.push_back(std::make_unique<FencedMemory>(int64_t(a.data.size())));
    std::copy(a.data.begin(), a.data.end(), reinterpret_cast<std::byte*>(memory.back()->data()));
    operands.push_back({{memory.back()->data(), a.offset * int64_t(size_of(a.dtype))}, 0});
  }
  for (const auto& [dtype, shape] : outputs) {
    request.outputs.push_back({dtype, shape, contiguous_strides(shape)});
    memory.push_back(std::make_unique<FencedMemory>(numel(shape) * int64_t(size_of(dtype))));
    results.push_back({memory.back()->data(), 0});
  }
  const std::unique_ptr<Kernel> kernel = lower(request);
  if (!kernel) return {};
  const FencedMemory scratch(kernel->scratch_bytes());
  kernel->launch({operands, results, {scratch.data(), 0}, {}});
  std::vector<Array> arrays;
  for (size_t i = 0; i < outputs.size(); ++i) {
    arrays.emplace_back(outputs[i].first, outputs[i].second);
    std::copy_n(static_cast<const std::byte*>(results[i].base), arrays.back().data.size(), arrays.back().data.begin());
  }
  return arrays;
}

}  // namespace stoker::backends::test
