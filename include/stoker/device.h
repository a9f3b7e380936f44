/// \file
/// Devices by name: "cpu:0", "cuda:1", "opencl:0".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

/// Names a device: a kind of backend and an index. A value; costs nothing to copy.
class Device {
 public:
  /// The default device's name is resolved when a Device is made without arguments: see default_device().
  Device();
  Device(std::string_view kind, int index);
  /// Parses "cuda:1" or "cpu"; DeviceError for text of another form. Kinds are an open set: whether there is such a
  /// device shows when something is made on it.
  explicit Device(std::string_view text);

  std::string_view kind() const;
  int index() const { return index_; }
  bool operator==(const Device&) const = default;
  bool is_cpu() const { return kind_ == 0; }
  /// A small number that identifies the device within this process.
  uint32_t id() const { return uint32_t(kind_) << 16 | uint32_t(uint16_t(index_)); }

 private:
  uint8_t kind_ = 0;
  int16_t index_ = 0;
};

/// "cpu:0".
std::string to_string(Device device);

/// What a device is and offers. Figures that a driver does not tell are zero.
struct DeviceProperties {
  std::string name = {};      ///< the model, as the driver says it
  std::string driver = {};    ///< driver or library with version
  int64_t total_memory = 0;   ///< bytes
  int64_t free_memory = 0;    ///< bytes, when asked
  int compute_units = 0;      ///< cores or multiprocessors
  double bandwidth = 0;       ///< bytes per second of device memory
  std::string features = {};  ///< instruction sets or architecture
};

/// The CPU, or its `index`-th part when STOKER_CPU_DEVICES splits it.
Device cpu(int index = 0);
/// The `index`-th device that is not a CPU, in the order CUDA, then OpenCL; throws DeviceError when there is none.
Device gpu(int index = 0);
Device cuda(int index = 0);
Device opencl(int index = 0);

/// Every usable device, CPUs first.
std::vector<Device> devices();
/// How many devices of a kind are usable ("cpu", "cuda", "opencl").
int device_count(std::string_view kind);
DeviceProperties properties(Device device);

/// gpu(index) if there is one, else the CPU.
Device try_gpu(int index = 0);
/// Every GPU, or the CPU alone when there is none.
std::vector<Device> try_all_gpus();

/// The device on which tensors are created when none is given: the CPU unless a DeviceScope says otherwise.
Device default_device();

/// Changes the calling thread's default device for a scope.
class DeviceScope {
 public:
  explicit DeviceScope(Device device);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  Device previous_;
};

/// Waits until everything that was started on `device` has finished; rethrows what failed there.
void synchronize(Device device);
void synchronize();

/// What Stoker's allocator holds on a device, in bytes.
struct MemoryStats {
  int64_t in_use = 0;    ///< handed out and not returned
  int64_t peak = 0;      ///< the largest in_use since the last reset
  int64_t reserved = 0;  ///< taken from the system, in use or kept for reuse
  int64_t limit = 0;     ///< 0: none
  int64_t requests = 0;  ///< allocations served since the process began
};
MemoryStats memory_stats(Device device);
void reset_peak_memory(Device device);
/// A hard limit on `reserved`; 0 removes it. Exceeding it throws OutOfMemory.
void set_memory_limit(Device device, int64_t bytes);
/// Returns memory kept for reuse to the system.
void trim(Device device);

}  // namespace stoker
