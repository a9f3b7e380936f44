#include "data/inflate.h"

#include <algorithm>
#include <limits>
#include <new>

#include <fmt/format.h>

namespace stoker::data {
namespace {

constexpr size_t kMostAtOnce = std::numeric_limits<uInt>::max();

}  // namespace

InflateStream::InflateStream(const ByteReader& reader, Bytes compressed, Kind kind)
    : reader_(reader), begin_(reader.offset()), compressed_(compressed), kind_(kind) {
  const int window = kind == Kind::Gzip ? 16 + MAX_WBITS : -MAX_WBITS;
  if (inflateInit2(&stream_, window) != Z_OK) throw std::bad_alloc();
}

InflateStream::~InflateStream() { inflateEnd(&stream_); }

void InflateStream::fail(std::string_view message) const { reader_.fail_at(begin_ + fed_ - stream_.avail_in, message); }

void InflateStream::expect_possible(uint64_t size, std::string_view what) const {
  if (size / kDeflateRatio > compressed_.size())
    fail(fmt::format("expected {} bytes of {}, but {} compressed bytes cannot hold them", size, what,
                     compressed_.size()));
}

void InflateStream::read(std::span<std::byte> destination, std::string_view what) {
  const size_t count = read_some(destination);
  if (count < destination.size())
    fail(fmt::format("expected {} bytes of {}, but the compressed stream ends after {}", destination.size(), what,
                     count));
}

void InflateStream::expect_end(std::string_view what) {
  std::byte more;
  if (read_some({&more, 1}) != 0) fail(fmt::format("expected the end of {}, but more bytes follow", what));
}

bool InflateStream::next_member() {
  if (kind_ == Kind::Raw || (stream_.avail_in == 0 && fed_ == compressed_.size())) return false;
  inflateReset(&stream_);
  return true;
}

size_t InflateStream::read_some(std::span<std::byte> destination) {
  size_t done = 0;
  while (done < destination.size() && !ended_) {
    if (stream_.avail_in == 0) {
      const size_t count = std::min(compressed_.size() - fed_, kMostAtOnce);
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(compressed_.data() + fed_));
      stream_.avail_in = uInt(count);
      fed_ += count;
    }
    const size_t room = std::min(destination.size() - done, kMostAtOnce);
    stream_.next_out = reinterpret_cast<Bytef*>(destination.data() + done);
    stream_.avail_out = uInt(room);
    const int status = inflate(&stream_, Z_NO_FLUSH);
    done += room - stream_.avail_out;
    if (status == Z_STREAM_END) {
      ended_ = !next_member();
    } else if (status == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (status == Z_BUF_ERROR) {
      fail("the compressed stream is cut off");
    } else if (status != Z_OK) {
      fail(fmt::format("the compressed stream is damaged: {}", stream_.msg ? stream_.msg : "no reason given"));
    }
  }
  return done;
}

}  // namespace stoker::data
