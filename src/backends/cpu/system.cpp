#include "backends/cpu/system.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <thread>

#include <fmt/format.h>
#include <hwy/targets.h>
#include <stoker/error.h>

#ifdef STOKER_HAVE_ONEDNN
#include <oneapi/dnnl/dnnl.h>
#endif

#include "backends/cpu/parallel.h"

namespace stoker::backends::cpu {
namespace {

constexpr int kMaxDevices = 64, kMaxThreads = 4096;
constexpr int64_t kAlignment = 64, kHugePage = 2 << 20, kHugeBlock = 4 << 20;

// The number that an environment variable holds; empty where it is not set.
std::optional<int> environment_number(const char* name, int largest) {
  const char* text = std::getenv(name);
  if (!text || !*text) return std::nullopt;
  int value = 0;
  const char* end = text + std::strlen(text);
  const auto [last, error] = std::from_chars(text, end, value);
  if (error != std::errc() || last != end || value < 1 || value > largest)
    throw DeviceError("cpu", fmt::format("expected {} to be a number from 1 to {}, got '{}'", name, largest, text));
  return value;
}

int usable_cores() {
#ifdef STOKER_HAVE_OPENMP
  return omp_get_max_threads();  // heeds OMP_NUM_THREADS and the process's affinity
#else
  return std::max(1, int(std::thread::hardware_concurrency()));
#endif
}

// The value of the first line "key : value" or "key: value" of a file, or "".
std::string find_line(const char* path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const size_t colon = line.find(':');
    const size_t value = colon == line.npos ? colon : line.find_first_not_of(" \t", colon + 1);
    if (value != line.npos) return line.substr(value);
  }
  return {};
}

int64_t available_memory() {
  const std::string kilobytes = find_line("/proc/meminfo", "MemAvailable");
  if (!kilobytes.empty()) return std::strtoll(kilobytes.c_str(), nullptr, 10) * 1024;
  return int64_t(sysconf(_SC_AVPHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}

std::string instruction_sets() {
  std::string names;
  for (int64_t rest = hwy::SupportedTargets(); rest != 0; rest &= rest - 1) {
    const std::string name = hwy::TargetName(rest & -rest);
    if (name != "Unknown") names += (names.empty() ? "" : " ") + name;
  }
  return names;
}

std::string library_version() {
#ifdef STOKER_HAVE_ONEDNN
  const dnnl_version_t* v = dnnl_version();
  return fmt::format("oneDNN {}.{}.{}", v->major, v->minor, v->patch);
#else
  return "portable";
#endif
}

std::atomic<int> generation{0};

}  // namespace

int device_count_from_environment() { return environment_number("STOKER_CPU_DEVICES", kMaxDevices).value_or(1); }

int threads_per_device(int devices) {
  const int threads = environment_number("STOKER_NUM_THREADS", kMaxThreads).value_or(usable_cores());
  return std::max(1, threads / devices);
}

DeviceProperties machine_properties(int threads) {
  DeviceProperties p;
  p.name = find_line("/proc/cpuinfo", "model name");
  if (p.name.empty()) p.name = "CPU";
  p.driver = library_version();
  p.total_memory = int64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  p.free_memory = available_memory();
  p.compute_units = threads;
  p.features = instruction_sets();
  return p;
}

void* allocate_memory(int64_t bytes) {
  if (bytes < 0 || bytes > INT64_MAX - kHugePage) return nullptr;
  const int64_t alignment = bytes >= kHugeBlock ? kHugePage : kAlignment;
  const int64_t rounded = std::max(alignment, (bytes + alignment - 1) / alignment * alignment);
  void* base = std::aligned_alloc(size_t(alignment), size_t(rounded));
#ifdef MADV_HUGEPAGE
  if (base && alignment == kHugePage) madvise(base, size_t(rounded), MADV_HUGEPAGE);
#endif
  return base;
}

void release_memory(void* base) { std::free(base); }

int fork_generation() {
  static const int registered = pthread_atfork(nullptr, nullptr, [] { generation.fetch_add(1); });
  (void)registered;
  return generation.load(std::memory_order_relaxed);
}

}  // namespace stoker::backends::cpu
