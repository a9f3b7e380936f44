// Runtime room: opened devices, their memory, and running plans. It knows backends' drivers and nothing of tensors; the
// compiler above makes the plans that it runs.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <unordered_map>

#include <stoker/device.h>

#include "backends/backend.h"
#include "graph/node.h"

namespace stoker::runtime {

class Allocator;

// Memory of one evaluated value, a plan's arena, or a cell's home. Returns to its allocator with the last reference;
// work that was submitted before may still use it, because the next owner's work is ordered after it.
class Buffer final : public graph::Storage {
 public:
  Buffer(Allocator& allocator, backends::Address address, int64_t bytes)
      : allocator_(allocator), address_(address), bytes_(bytes) {}
  ~Buffer() override;

  Allocator& allocator() const { return allocator_; }
  backends::Address address() const { return address_; }
  int64_t bytes() const { return bytes_; }

  // Whether this is the permanent storage of a cell, which changes under whoever shares it.
  bool home = false;
  // When what was last written here is there, and by which step.
  backends::Ticket ready = 0;
  backends::Origin origin;
  // Work of other devices that may still read it, and that the next step to store here waits for.
  std::map<backends::Driver*, backends::Ticket> foreign_readers;

 private:
  Allocator& allocator_;
  backends::Address address_;
  int64_t bytes_;
};

// Who asked for memory, for the error when there is none.
struct Purpose {
  std::string_view what;  // an operation's name, "arena", "parameter"; must outlive the process
  Loc loc;
};

// One per device. Keeps returned blocks for reuse; sizes are rounded to kGranule.
class Allocator {
 public:
  explicit Allocator(backends::Driver& driver) : driver_(driver) {}

  static constexpr int64_t kGranule = 256;
  static int64_t rounded(int64_t bytes) { return (std::max<int64_t>(bytes, 1) + kGranule - 1) / kGranule * kGranule; }

  // Throws OutOfMemory. `for_host`: the host will write it at once, so no submitted work may still use it.
  Ref<Buffer> allocate(int64_t bytes, Purpose purpose, bool for_host = false);
  void trim();
  MemoryStats stats() const;
  void reset_peak();
  void set_limit(int64_t bytes);
  backends::Driver& driver() const { return driver_; }

 private:
  friend class Buffer;
  struct Block {
    void* base;
    int64_t size;              // as the driver gave it
    backends::Ticket retired;  // work up to here may use it
  };
  void* take(int64_t bytes, bool for_host, int64_t* size);
  void give_back(void* base, int64_t bytes);
  void release_free_blocks();
  [[noreturn]] void fail(int64_t bytes, Purpose purpose);

  backends::Driver& driver_;
  mutable std::mutex mutex_;
  std::multimap<int64_t, Block> free_;
  struct Live {
    int64_t size;
    int64_t bytes;
    Purpose purpose;
  };
  std::unordered_map<void*, Live> live_;
  MemoryStats stats_;
};

// The driver and allocator of a device, opened when first asked for. DeviceError, with the devices that exist, for
// another.
backends::Driver& driver(Device device);
Allocator& allocator(Device device);

// Copies between the host and a buffer. from_host returns a filled buffer; to_host waits for the value and rethrows its
// failure.
Ref<Buffer> from_host(Device device, const void* data, int64_t bytes, Purpose purpose);
void to_host(const Buffer& buffer, void* destination, int64_t bytes);
// Waits for a buffer and rethrows what failed.
void wait(const Buffer& buffer);

}  // namespace stoker::runtime
