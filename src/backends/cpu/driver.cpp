#include "backends/cpu/driver.h"

#include <cstring>

#include <fmt/format.h>

#include "backends/cpu/kernels.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/system.h"

namespace stoker::backends {

namespace cpu {

CpuDriver::CpuDriver(int index, int threads)
    : device_(stoker::cpu(index)), threads_(threads), executor_(device_, threads) {}

DeviceProperties CpuDriver::properties() const { return machine_properties(threads_); }

void* CpuDriver::allocate(int64_t bytes) {
  executor_.check_process();
  return allocate_memory(bytes);
}

void CpuDriver::release(void* base) { release_memory(base); }

bool CpuDriver::supports(const StepRequest& request) const {
  const KernelEntry* entry = find_kernel(request.op->name);
  return entry && entry->supports(request);
}

std::unique_ptr<Kernel> CpuDriver::lower(const StepRequest& request) {
  executor_.check_process();
  if (!supports(request))
    throw Unsupported(request.op->name,
                      fmt::format("expected an operation that {} has a kernel for, got {}", to_string(device_),
                                  print_request(request)),
                      request.loc);
  const ThreadCountScope team(threads_);
  return find_kernel(request.op->name)->lower(request);
}

void CpuDriver::upload(Address to, const void* from, int64_t bytes) {
  wait(submitted());
  if (bytes > 0) std::memcpy(host_pointer(to), from, size_t(bytes));
}

void CpuDriver::download(void* to, Address from, int64_t bytes) {
  wait(submitted());
  if (bytes > 0) std::memcpy(to, host_pointer(from), size_t(bytes));
}

int CpuBackend::count() const {
  try {
    return device_count_from_environment();
  } catch (const DeviceError&) {
    return 1;  // open() says what is wrong
  }
}

std::unique_ptr<Driver> CpuBackend::open(int index) {
  const int devices = device_count_from_environment();
  if (index < 0 || index >= devices)
    throw DeviceError("cpu", fmt::format("expected an index below {} (STOKER_CPU_DEVICES), got {}", devices, index));
  return std::make_unique<CpuDriver>(index, threads_per_device(devices));
}

}  // namespace cpu

std::unique_ptr<Backend> make_cpu_backend() { return std::make_unique<cpu::CpuBackend>(); }

}  // namespace stoker::backends
