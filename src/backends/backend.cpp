#include "backends/backend.h"

#include <mutex>

namespace stoker::backends {

// Defined by each backend's folder.
std::unique_ptr<Backend> make_cpu_backend();
std::unique_ptr<Backend> make_null_backend();

namespace {
struct Registry {
  std::mutex mutex;
  std::vector<std::unique_ptr<Backend>> backends;
  Registry() {
    backends.push_back(make_cpu_backend());
    backends.push_back(make_null_backend());
  }
};
Registry& registry() {
  static Registry* r = new Registry;  // drivers may be used until the process ends
  return *r;
}
}  // namespace

void register_backend(std::unique_ptr<Backend> backend) {
  std::lock_guard lock(registry().mutex);
  registry().backends.push_back(std::move(backend));
}

std::vector<Backend*> all_backends() {
  std::lock_guard lock(registry().mutex);
  std::vector<Backend*> out;
  for (auto& b : registry().backends) out.push_back(b.get());
  return out;
}

Backend* find_backend(std::string_view kind) {
  for (Backend* b : all_backends())
    if (b->kind() == kind) return b;
  return nullptr;
}

}  // namespace stoker::backends
