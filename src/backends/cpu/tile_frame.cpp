#include "backends/cpu/tile_frame.h"

#include <bit>
#include <cstring>

#include "backends/cpu/scalar_ops.h"
#include "backends/cpu/tile_geometry.h"

namespace stoker::backends::cpu {
namespace {

using graph::Lane;
using Access = graph::ProgramArg::Access;
using Where = Place::Where;

// The offsets of `count` rows from `row`.
void list_row_offsets(const Dims& extents, const Dims& strides, int64_t row, int64_t count, int64_t* out) {
  Dims index = extents;
  int64_t rest = row;
  for (int k = extents.rank() - 1; k >= 0; --k) {
    index[k] = rest % extents[k];
    rest /= extents[k];
  }
  int64_t offset = offset_of_row(extents, strides, row);
  for (int64_t i = 0; i < count; ++i) {
    out[i] = offset;
    for (int k = extents.rank() - 1; k >= 0; --k) {
      offset += strides[k];
      if (++index[k] < extents[k]) break;
      offset -= strides[k] * extents[k];
      index[k] = 0;
    }
  }
}

// A number in a lane; `floating` says whether the bits are those of a double or of an integer.
void write_number(void* out, Lane lane, uint64_t bits, bool floating) {
  const auto write = [out](auto v) { std::memcpy(out, &v, sizeof v); };
  const double d = std::bit_cast<double>(bits);
  const int64_t i = int64_t(bits);
  switch (lane) {
    case Lane::F32:
      return write(floating ? float(d) : float(i));
    case Lane::F64:
      return write(floating ? d : double(i));
    case Lane::I32:
      return write(floating ? scalar::convert<int32_t>(d) : int32_t(i));
    case Lane::I64:
      return write(floating ? scalar::convert<int64_t>(d) : i);
  }
}

}  // namespace

TileFrame::TileFrame(const TileProgram& program, std::span<const ArgumentValue> args, std::byte* memory,
                     const TileFrame* shared)
    : program_(program),
      args_(args),
      memory_(memory),
      shared_(shared),
      at_(program.places.size()),
      first_(program.args.size()),
      offsets_of_(program.args.size(), -1) {
  bind();
  if (shared) return;
  fill_literals();
  rows_ = program.rows_per_tile;
  columns_ = program.whole_rows ? program.columns : kTile;
  run(program.once);
}

void TileFrame::bind() {
  for (size_t i = 0; i < at_.size(); ++i) {
    const Place& p = program_.places[i];
    const bool of_row = p.where == Where::Block || p.where == Where::Rows;
    if (p.where == Where::Argument)
      direct_.push_back({int(i), p.index});
    else if (p.where == Where::Buffer)
      buffered_.push_back({int(i), p.index});
    else
      at_[i] = (shared_ && of_row ? shared_->memory_ : memory_) + p.offset;
  }
  int lists = 0;
  for (size_t a = 0; a < program_.args.size(); ++a)
    if (program_.whole_rows && !program_.args[a].linear) offsets_of_[a] = lists++;
  row_offsets_.resize(size_t(lists * program_.rows_per_tile));
}

void TileFrame::fill_literals() {
  for (const TileProgram::Literal& l : program_.literals) {
    const bool floating =
        l.arg >= 0 ? is_floating(program_.args[size_t(l.arg)].dtype) : l.lane == Lane::F32 || l.lane == Lane::F64;
    uint64_t value = 0;
    write_number(&value, l.lane, l.arg >= 0 ? args_[size_t(l.arg)].bits : l.bits, floating);
    fill_block(l.place, &value);
  }
}

void TileFrame::fill_block(int place, const void* value) {
  const int64_t width = program_.places[size_t(place)].width;
  for (int64_t i = 0; i < kBlockBytes; i += width) std::memcpy(at(place) + i, value, size_t(width));
}

void TileFrame::set_row_value(int place, const void* value) { fill_block(place, value); }

void TileFrame::set_rows(int64_t row, int64_t count) {
  rows_ = count;
  for (size_t a = 0; a < first_.size(); ++a) {
    const TileArgument& arg = program_.args[a];
    if (offsets_of_[a] >= 0) {
      int64_t* offsets = row_offsets_.data() + offsets_of_[a] * program_.rows_per_tile;
      list_row_offsets(program_.row_extents, arg.row_strides, row, count, offsets);
      first_[a] = offsets[0];
    } else {
      first_[a] = arg.linear ? row * arg.row_stride : offset_of_row(program_.row_extents, arg.row_strides, row);
    }
  }
}

void TileFrame::set_columns(int64_t column, int64_t count) {
  column_ = column;
  columns_ = count;
  for (const Bound& b : direct_) {
    const TileArgument& a = program_.args[size_t(b.index)];
    at_[size_t(b.place)] = args_[size_t(b.index)].base + (first_[size_t(b.index)] + column) * int64_t(size_of(a.dtype));
  }
  const std::byte* const owner = shared_ ? shared_->memory_ : memory_;
  for (const Bound& b : buffered_)
    at_[size_t(b.place)] = const_cast<std::byte*>(owner) + program_.buffer_offsets[size_t(b.index)] +
                           column * program_.places[size_t(b.place)].width;
}

void TileFrame::run(const std::vector<TileStep>& steps) {
  for (const TileStep& s : steps) {
    switch (s.kind) {
      case TileStep::Kind::Compute:
        compute(s);
        break;
      case TileStep::Kind::Load:
        load(s);
        break;
      case TileStep::Kind::Store:
        store(s);
        break;
      case TileStep::Kind::Expand:
        expand(s);
        break;
    }
  }
}

int64_t TileFrame::extent_of(const TileStep& step, int64_t width) const {
  switch (step.extent) {
    case Where::Block:
      return kBlockBytes / width;
    case Where::Rows:
      return rows_;
    default:
      return rows_ * columns_;
  }
}

void TileFrame::compute(const TileStep& s) const {
  TileCall call;
  call.out = at(s.out);
  for (int k = 0; k < 3 && s.in[k] >= 0; ++k) {
    call.in[k] = at(s.in[k]);
    call.step[k] = program_.places[size_t(s.in[k])].step();
  }
  call.count = extent_of(s, program_.places[size_t(s.out)].width);
  s.compute(call);
}

int64_t TileFrame::row_offset(const TileArgument& a, size_t arg, int64_t i) const {
  const int64_t elements = offsets_of_[arg] >= 0 ? row_offsets_[size_t(offsets_of_[arg] * program_.rows_per_tile + i)]
                                                 : first_[arg] + i * a.row_stride;
  return elements * int64_t(size_of(a.dtype));
}

void TileFrame::load(const TileStep& s) const {
  const size_t arg = size_t(s.arg);
  const TileArgument& a = program_.args[arg];
  const std::byte* base = args_[arg].base;
  const int64_t width = program_.places[size_t(s.out)].width;
  const int64_t start = column_ * a.column_stride * int64_t(size_of(a.dtype));
  if (s.extent == Where::Block) return s.move(at(s.out), 1, base + row_offset(a, arg, 0), 0, kBlockBytes / width);
  const bool rows = s.extent == Where::Rows;
  if (rows ? a.linear : a.even)
    return s.move(at(s.out), 1, base + row_offset(a, arg, 0) + start, rows ? a.row_stride : a.column_stride,
                  extent_of(s, width));
  const int64_t run = rows ? 1 : columns_;
  for (int64_t i = 0; i < rows_; ++i)
    s.move(at(s.out) + i * run * width, 1, base + row_offset(a, arg, i) + start, a.column_stride, run);
}

void TileFrame::store(const TileStep& s) const {
  const size_t arg = size_t(s.arg);
  const TileArgument& a = program_.args[arg];
  std::byte* base = args_[arg].base;
  const Place& p = program_.places[size_t(s.in[0])];
  const std::byte* from = at(s.in[0]);
  const int64_t start = column_ * a.column_stride * int64_t(size_of(a.dtype));
  if (s.extent == Where::Block) return s.move(base + row_offset(a, arg, 0), 1, from, 0, 1);
  const bool rows = s.extent == Where::Rows;
  if (rows ? a.linear : a.even)
    return s.move(base + row_offset(a, arg, 0) + start, rows ? a.row_stride : a.column_stride, from, p.step(),
                  extent_of(s, p.width));
  const int64_t run = rows ? 1 : columns_;
  for (int64_t i = 0; i < rows_; ++i)
    s.move(base + row_offset(a, arg, i) + start, a.column_stride, from + i * run * p.width * p.step(), p.step(), run);
}

void TileFrame::expand(const TileStep& s) const {
  const Place& p = program_.places[size_t(s.in[0])];
  if (p.where != Where::Rows) return s.move(at(s.out), 1, at(s.in[0]), p.step(), rows_ * columns_);
  for (int64_t i = 0; i < rows_; ++i)
    s.move(at(s.out) + i * columns_ * p.width, 1, at(s.in[0]) + i * p.width, 0, columns_);
}

}  // namespace stoker::backends::cpu
