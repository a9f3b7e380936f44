#include <zlib.h>

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "data/inflate.h"
#include "data/zip.h"

namespace stoker::data {
namespace {

using namespace zip;

constexpr uint64_t kEndSize = 22, kLocator64Size = 20, kLongestComment = 0xffff;

// The extra field of an entry that holds 64-bit sizes, in the order of the fields that need it.
void read_extra64(ByteReader extra, ZipReader::Member& member) {
  while (extra.left() >= 4) {
    const auto tag = extra.little<uint16_t>("an extra field");
    const Bytes field = extra.take(extra.little<uint16_t>("an extra field"), "an extra field");
    if (tag != kExtra64) continue;
    ByteReader sizes(field, extra.file(), extra.operation());
    for (uint64_t* value : {&member.size, &member.compressed_size, &member.offset})
      if (*value == kIn64) *value = sizes.little<uint64_t>("a 64-bit size");
    return;
  }
}

}  // namespace

ZipReader::ZipReader(Bytes bytes, const std::string& file, std::string_view operation)
    : reader_(bytes, file, operation), bytes_(bytes) {
  const Directory directory = find_directory();
  reader_.seek(directory.offset, "the archive's directory");
  std::set<std::string> names;
  for (uint64_t i = 0; i < directory.count; ++i) {
    const uint64_t at = reader_.offset();
    Member member = read_entry(directory.offset);
    if (!names.insert(member.name).second)
      reader_.fail_at(at, fmt::format("expected each name once, got '{}' again", member.name));
    members_.push_back(std::move(member));
  }
  check_overlaps(directory.offset);
}

// The directory is found from the end, where a comment of unknown length may stand.
ZipReader::Directory ZipReader::find_directory() {
  if (bytes_.size() < kEndSize) reader_.fail("expected a zip archive, which has at least 22 bytes");
  const uint64_t last = bytes_.size() - kEndSize;
  const uint64_t first = last - std::min(last, kLongestComment);
  for (uint64_t at = last + 1; at-- > first;) {
    reader_.seek(at, "the archive's end");
    if (reader_.little<uint32_t>("the archive's end") != kEndMark) continue;
    reader_.take(6, "the archive's end");
    const auto count = reader_.little<uint16_t>("the archive's end");
    const auto size = reader_.little<uint32_t>("the archive's end");
    const auto offset = reader_.little<uint32_t>("the archive's end");
    if (reader_.little<uint16_t>("the archive's end") != last - at) continue;

    Directory directory{offset, size, count};
    uint64_t end = at;
    if (at >= kLocator64Size) {
      reader_.seek(at - kLocator64Size, "the 64-bit locator");
      if (reader_.little<uint32_t>("the 64-bit locator") == kLocator64Mark) {
        reader_.take(4, "the 64-bit locator");
        end = reader_.little<uint64_t>("the 64-bit locator");
        reader_.seek(end, "the 64-bit end");
        if (reader_.little<uint32_t>("the 64-bit end") != kEnd64Mark)
          reader_.fail("expected the 64-bit end of the archive");
        reader_.take(28, "the 64-bit end");
        directory.count = reader_.little<uint64_t>("the 64-bit end");
        directory.size = reader_.little<uint64_t>("the 64-bit end");
        directory.offset = reader_.little<uint64_t>("the 64-bit end");
      }
    }
    if (directory.offset > end || directory.size > end - directory.offset)
      reader_.fail_at(at, fmt::format("expected the directory before offset {}, got {} bytes at offset {}", end,
                                      directory.size, directory.offset));
    return directory;
  }
  reader_.fail("expected a zip archive, but found no end of a directory");
}

ZipReader::Member ZipReader::read_entry(uint64_t directory_offset) {
  constexpr std::string_view what = "an entry of the directory";
  const uint64_t at = reader_.offset();
  if (reader_.little<uint32_t>(what) != kEntryMark) reader_.fail_at(at, "expected an entry of the directory");
  reader_.take(4, what);
  const auto flags = reader_.little<uint16_t>(what);
  const auto method = reader_.little<uint16_t>(what);
  reader_.take(4, what);
  Member member;
  member.checksum = reader_.little<uint32_t>(what);
  member.compressed_size = reader_.little<uint32_t>(what);
  member.size = reader_.little<uint32_t>(what);
  const auto name_size = reader_.little<uint16_t>(what);
  const auto extra_size = reader_.little<uint16_t>(what);
  const auto comment_size = reader_.little<uint16_t>(what);
  reader_.take(8, what);
  member.offset = reader_.little<uint32_t>(what);
  member.name = text_of(reader_.take(name_size, "a member's name"));
  read_extra64(ByteReader(reader_.take(extra_size, "extra fields"), reader_.file(), reader_.operation()), member);
  reader_.take(comment_size, "a member's comment");
  if (flags & 1) reader_.unsupported(fmt::format("member '{}' is encrypted", member.name));
  if (method != kStored && method != kDeflated)
    reader_.unsupported(
        fmt::format("member '{}' is compressed by method {}; expected stored or deflated", member.name, method));
  member.deflated = method == kDeflated;

  // The local header repeats what the entry said; only its length matters.
  ByteReader local(bytes_.first(directory_offset), reader_.file(), reader_.operation());
  local.seek(member.offset, "a member");
  if (local.little<uint32_t>("a member's header") != kLocalMark)
    local.fail_at(member.offset, fmt::format("expected the header of member '{}'", member.name));
  local.take(22, "a member's header");
  const auto local_name = local.little<uint16_t>("a member's header");
  const auto local_extra = local.little<uint16_t>("a member's header");
  local.take(uint64_t(local_name) + local_extra, "a member's header");
  member.offset = local.offset();
  local.take(member.compressed_size, fmt::format("member '{}'", member.name));
  if (!member.deflated && member.size != member.compressed_size)
    local.fail_at(member.offset, fmt::format("member '{}' is stored, but its sizes differ: {} and {}", member.name,
                                             member.compressed_size, member.size));
  return member;
}

// Members that share bytes would let a small file stand for a large content many times over.
void ZipReader::check_overlaps(uint64_t directory_offset) const {
  std::vector<const Member*> order;
  for (const Member& member : members_) order.push_back(&member);
  std::sort(order.begin(), order.end(), [](const Member* a, const Member* b) { return a->offset < b->offset; });
  for (size_t i = 0; i < order.size(); ++i) {
    const uint64_t next = i + 1 < order.size() ? order[i + 1]->offset : directory_offset;
    if (order[i]->compressed_size > next - order[i]->offset)
      reader_.fail_at(next, fmt::format("member '{}' overlaps the next one", order[i]->name));
  }
}

Bytes ZipReader::content(const Member& member, std::unique_ptr<std::byte[]>& storage) const {
  ByteReader reader = reader_;
  reader.seek(member.offset, "a member");
  Bytes content = bytes_.subspan(member.offset, member.compressed_size);
  if (member.deflated) {
    InflateStream stream(reader, content, InflateStream::Kind::Raw);
    stream.expect_possible(member.size, "a member");
    storage = std::make_unique_for_overwrite<std::byte[]>(member.size);
    stream.read({storage.get(), member.size}, "a member");
    stream.expect_end("the member");
    content = {storage.get(), member.size};
  }
  const uLong checksum = crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size());
  if (checksum != member.checksum)
    reader.fail_at(member.offset, fmt::format("member '{}' has checksum {:08x}, the directory says {:08x}", member.name,
                                              checksum, member.checksum));
  return content;
}

}  // namespace stoker::data
