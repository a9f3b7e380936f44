// Whole files: mapped for reading, and written beside their name and renamed when complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace stoker {

// A read-only view of a whole file. `operation` names the caller in errors.
class MappedFile {
 public:
  // Throws IoError with the system's words; a folder, device or pipe is refused.
  MappedFile(const std::filesystem::path& path, std::string_view operation);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

// A new version of a file. What is written goes to a file of a unique name in the same folder; commit() hands
// it to the disk and gives it the real name, in one step that leaves either the old file or the new one.
// Without commit() the old file stays as it was. Every failure is an IoError with the system's words.
class AtomicFile {
 public:
  AtomicFile(const std::filesystem::path& path, std::string_view operation);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, size_t size);
  void write(std::string_view text) { write(text.data(), text.size()); }
  void commit();
  // Bytes written so far.
  uint64_t size() const { return size_; }

 private:
  template <class Create>
  void create_temporary(Create create);
  [[noreturn]] void fail(std::string_view what) const;

  std::filesystem::path path_, temporary_;  // the second is empty while the new file has no name
  std::string operation_;
  int descriptor_ = -1;
  uint64_t size_ = 0;
};

}  // namespace stoker
