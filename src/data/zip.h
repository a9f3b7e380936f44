// Zip archives, as far as NumPy's .npz goes: members stored or deflated, with 64-bit sizes, neither encrypted nor
// split.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "data/bytes.h"

namespace stoker::data {

namespace zip {
inline constexpr uint32_t kLocalMark = 0x04034b50, kEntryMark = 0x02014b50, kEndMark = 0x06054b50;
inline constexpr uint32_t kEnd64Mark = 0x06064b50, kLocator64Mark = 0x07064b50;
inline constexpr uint32_t kIn64 = 0xffffffff;  // a field whose value stands in a 64-bit one
inline constexpr uint16_t kExtra64 = 1;        // the extra field that holds those
inline constexpr uint16_t kStored = 0, kDeflated = 8;
}  // namespace zip

class ZipReader {
 public:
  struct Member {
    std::string name;
    uint64_t offset = 0;  // of the bytes in the file
    uint64_t compressed_size = 0;
    uint64_t size = 0;
    uint32_t checksum = 0;
    bool deflated = false;
  };

  // Reads the directory and checks that each member lies in the file and none overlaps another.
  ZipReader(Bytes bytes, const std::string& file, std::string_view operation);

  const std::vector<Member>& members() const { return members_; }
  // A member's content, verified against its checksum. A view of the file, or of `storage`.
  Bytes content(const Member& member, std::unique_ptr<std::byte[]>& storage) const;

 private:
  struct Directory {
    uint64_t offset, size, count;
  };
  Directory find_directory();
  Member read_entry(uint64_t directory_offset);
  void check_overlaps(uint64_t directory_offset) const;

  ByteReader reader_;
  Bytes bytes_;
  std::vector<Member> members_;
};

class ZipWriter {
 public:
  ZipWriter(AtomicFile& file, bool deflate) : file_(file), deflate_(deflate) {}
  // A member made of several pieces in a row.
  void add(const std::string& name, const std::vector<Bytes>& pieces);
  // Writes the directory; nothing may follow.
  void finish();

 private:
  AtomicFile& file_;
  bool deflate_;
  std::string directory_;
  uint64_t count_ = 0;
};

}  // namespace stoker::data
