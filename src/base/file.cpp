#include "base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <system_error>

#include <fmt/format.h>

#include <stoker/error.h>

namespace stoker {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(std::string_view operation, std::string_view what, const fs::path& path, int error) {
  throw IoError(operation,
                fmt::format("cannot {} {}: {}", what, path.string(), std::generic_category().message(error)));
}

// Closes on every way out of a scope.
struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

}  // namespace

MappedFile::MappedFile(const fs::path& path, std::string_view operation) {
  // Opening a pipe would wait for its other end unless told not to.
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat status;
  if (file.number < 0 || ::fstat(file.number, &status) != 0) refuse(operation, "read", path, errno);
  if (S_ISDIR(status.st_mode)) refuse(operation, "read", path, EISDIR);
  if (!S_ISREG(status.st_mode))
    throw IoError(operation, fmt::format("cannot read {}: it is not a regular file", path.string()));
  size_ = size_t(status.st_size);
  if (size_ == 0) return;
  void* data = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.number, 0);
  if (data == MAP_FAILED) refuse(operation, "read", path, errno);
  data_ = static_cast<const std::byte*>(data);
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(const_cast<std::byte*>(data_), size_);
}

AtomicFile::AtomicFile(const fs::path& path, std::string_view operation) : path_(path), operation_(operation) {
  // Renaming over a device or a pipe would replace it.
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status))
    throw IoError(operation, fmt::format("cannot write {}: it is not a regular file", path.string()));

#ifdef O_TMPFILE
  // A file without a name leaves nothing behind when the process is killed; commit() names it through /proc.
  if (::access("/proc/self/fd", X_OK) == 0)
    descriptor_ = ::open(folder_of(path).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
#endif
  if (descriptor_ < 0)
    create_temporary([this] {
      descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      return descriptor_ >= 0;
    });
}

// Tries names beside the file until one is free.
template <class Create>
void AtomicFile::create_temporary(Create create) {
  std::random_device random;
  do {
    temporary_ = path_;
    temporary_ += fmt::format(".{:08x}.tmp", random());
    if (create()) return;
  } while (errno == EEXIST);
  temporary_.clear();
  fail("write");
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::fail(std::string_view what) const { refuse(operation_, what, path_, errno); }

void AtomicFile::write(const void* data, size_t size) {
  auto* next = static_cast<const char*>(data);
  for (size_t left = size; left > 0;) {
    const ssize_t count = ::write(descriptor_, next, std::min(left, size_t(1) << 30));
    if (count < 0 && errno != EINTR) fail("write");
    if (count <= 0) continue;
    next += count;
    left -= size_t(count);
  }
  size_ += size;
}

void AtomicFile::commit() {
  if (::fsync(descriptor_) != 0) fail("write");
  if (temporary_.empty()) {
    const std::string nameless = fmt::format("/proc/self/fd/{}", descriptor_);
    create_temporary(
        [&] { return ::linkat(AT_FDCWD, nameless.c_str(), AT_FDCWD, temporary_.c_str(), AT_SYMLINK_FOLLOW) == 0; });
  }
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("replace");
  ::close(descriptor_);
  descriptor_ = -1;
  // The new name is on the disk once its folder is; some file systems cannot sync folders, and need not.
  const Descriptor folder{::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (folder.number >= 0) ::fsync(folder.number);
}

}  // namespace stoker
