#include <cstring>

#include "runtime/plan.h"

namespace stoker::runtime {
namespace {

// Runs on the destination's queue, after the source's segment.
class Transfer final : public backends::Kernel {
 public:
  Transfer(backends::Driver& from, backends::Driver& to, int64_t bytes) : from_(from), to_(to), bytes_(bytes) {}

  void launch(const backends::Launch& launch) override {
    if (bytes_ == 0) return;
    const backends::Address source = launch.inputs[0].address, destination = launch.outputs[0];
    const void* seen = from_.host_pointer(source);
    void* target = to_.host_pointer(destination);
    if (seen && target) {
      std::memcpy(target, seen, size_t(bytes_));
    } else if (seen) {
      to_.upload(destination, seen, bytes_);
    } else if (target) {
      from_.download(target, source, bytes_);
    } else {
      std::vector<char> staging(static_cast<size_t>(bytes_));
      from_.download(staging.data(), source, bytes_);
      to_.upload(destination, staging.data(), bytes_);
    }
  }
  std::string describe() const override { return "copy from " + to_string(from_.device()); }

 private:
  backends::Driver &from_, &to_;
  int64_t bytes_;
};

}  // namespace

std::unique_ptr<backends::Kernel> make_transfer(Device from, const graph::TensorType& to) {
  return std::make_unique<Transfer>(driver(from), driver(to.device), to.bytes());
}

}  // namespace stoker::runtime
