#include <cstring>
#include <thread>

#include "graph/recorder.h"
#include "runtime/buffer.h"

namespace stoker {
namespace runtime {
namespace {

struct Opened {
  std::unique_ptr<backends::Driver> driver;
  std::unique_ptr<Allocator> allocator;
};

std::mutex& opened_mutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}
std::map<uint32_t, Opened>& opened_devices() {
  static auto* devices = new std::map<uint32_t, Opened>;  // buffers may die after every static
  return *devices;
}

// A process must not end under a running kernel: the statics of the libraries that it uses die before the device's
// thread can be stopped. What is local to the main thread dies first of all, and waits here.
const std::thread::id main_thread = std::this_thread::get_id();
struct FinishAtExit {
  ~FinishAtExit() {
    if (std::this_thread::get_id() != main_thread) return;
    std::lock_guard lock(opened_mutex());
    try {
      for (auto& [id, opened] : opened_devices()) opened.driver->wait(opened.driver->submitted());
    } catch (const DeviceError&) {  // NOLINT: a forked child has no queues to wait for
    }
  }
};

Opened& open(Device device) {
  thread_local FinishAtExit finish;
  (void)finish;
  std::lock_guard lock(opened_mutex());
  auto it = opened_devices().find(device.id());
  if (it != opened_devices().end()) return it->second;
  backends::Backend* backend = backends::find_backend(device.kind());
  if (!backend || device.index() < 0 || device.index() >= backend->count()) {
    std::string known;
    for (backends::Backend* b : backends::all_backends())
      for (int i = 0; i < b->count() && b->computes(); ++i)
        known += (known.empty() ? "" : ", ") + to_string(Device(b->kind(), i));
    throw DeviceError("device", fmt::format("expected one of {}, got {}", known, to_string(device)),
                      graph::LocScope::current());
  }
  Opened opened;
  opened.driver = backend->open(device.index());
  opened.allocator = std::make_unique<Allocator>(*opened.driver);
  return opened_devices().emplace(device.id(), std::move(opened)).first->second;
}

}  // namespace

backends::Driver& driver(Device device) { return *open(device).driver; }
Allocator& allocator(Device device) { return *open(device).allocator; }

Ref<Buffer> from_host(Device device, const void* data, int64_t bytes, Purpose purpose) {
  Allocator& memory = allocator(device);
  Ref<Buffer> buffer = memory.allocate(bytes, purpose, /*for_host=*/true);
  if (bytes == 0) return buffer;
  if (void* host = memory.driver().host_pointer(buffer->address()))
    std::memcpy(host, data, size_t(bytes));
  else
    memory.driver().upload(buffer->address(), data, bytes);
  return buffer;
}

void wait(const Buffer& buffer) {
  buffer.allocator().driver().wait(buffer.ready);
  if (auto failure = buffer.origin.failure()) std::rethrow_exception(failure);
}

void to_host(const Buffer& buffer, void* destination, int64_t bytes) {
  wait(buffer);
  if (bytes == 0) return;
  backends::Driver& d = buffer.allocator().driver();
  if (void* host = d.host_pointer(buffer.address()))
    std::memcpy(destination, host, size_t(bytes));
  else
    d.download(destination, buffer.address(), bytes);
}

}  // namespace runtime

// --- the public functions --------------------------------------------------------------------------------------------

namespace {
std::vector<Device> devices_of(backends::Backend& backend) {
  std::vector<Device> found;
  for (int i = 0; i < backend.count(); ++i) found.emplace_back(backend.kind(), i);
  return found;
}
std::vector<Device> gpus() {
  std::vector<Device> found;
  for (backends::Backend* b : backends::all_backends())
    if (b->kind() != "cpu" && b->computes())
      for (Device d : devices_of(*b)) found.push_back(d);
  return found;
}
}  // namespace

std::vector<Device> devices() {
  std::vector<Device> found;
  for (backends::Backend* b : backends::all_backends())
    if (b->computes())
      for (Device d : devices_of(*b)) found.push_back(d);
  return found;
}

int device_count(std::string_view kind) {
  backends::Backend* backend = backends::find_backend(kind);
  return backend ? backend->count() : 0;
}

DeviceProperties properties(Device device) { return runtime::driver(device).properties(); }

Device gpu(int index) {
  const std::vector<Device> found = gpus();
  if (index < 0 || index >= int(found.size()))
    throw DeviceError("gpu", fmt::format("expected a GPU of number {}, found {}; try_gpu() falls back to the CPU",
                                         index, found.size()));
  return found[size_t(index)];
}

Device try_gpu(int index) {
  const std::vector<Device> found = gpus();
  return index >= 0 && index < int(found.size()) ? found[size_t(index)] : cpu();
}

std::vector<Device> try_all_gpus() {
  std::vector<Device> found = gpus();
  if (found.empty()) found.push_back(cpu());
  return found;
}

MemoryStats memory_stats(Device device) { return runtime::allocator(device).stats(); }
void reset_peak_memory(Device device) { runtime::allocator(device).reset_peak(); }
void set_memory_limit(Device device, int64_t bytes) { runtime::allocator(device).set_limit(bytes); }
void trim(Device device) { runtime::allocator(device).trim(); }

}  // namespace stoker
