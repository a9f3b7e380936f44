// One thread's view of a running tile program: where its values lie, and the tile it is at.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "backends/cpu/tile_program.h"

namespace stoker::backends::cpu {

// An argument at run time: its first element, or a scalar's bits.
struct ArgumentValue {
  std::byte* base = nullptr;
  uint64_t bits = 0;
};

class TileFrame {
 public:
  // `memory`: program.frame_bytes. With `shared`, row values and row buffers are that frame's.
  TileFrame(const TileProgram& program, std::span<const ArgumentValue> args, std::byte* memory,
            const TileFrame* shared = nullptr);

  // Goes to `count` rows from `row`, and runs a phase's row steps there.
  void set_rows(int64_t row, int64_t count);
  // Goes to columns [column, column + count), or, in whole rows, to all of them.
  void set_columns(int64_t column, int64_t count);
  void run(const std::vector<TileStep>& steps);

  std::byte* at(int place) const { return at_[size_t(place)]; }
  // The accumulators of the current phase's reduction `r`.
  std::byte* lanes(size_t r) const { return memory_ + program_.lane_offset + int64_t(r) * graph::kReduceLanes * 8; }
  // Makes a row value of the one element at `value`.
  void set_row_value(int place, const void* value);

 private:
  struct Bound {
    int place;
    int index;
  };
  void bind();
  void fill_literals();
  void fill_block(int place, const void* value);
  void compute(const TileStep& step) const;
  void load(const TileStep& step) const;
  void store(const TileStep& step) const;
  void expand(const TileStep& step) const;
  int64_t extent_of(const TileStep& step, int64_t width) const;
  // Bytes of row i of the tile, from the argument's base.
  int64_t row_offset(const TileArgument& a, size_t arg, int64_t i) const;

  const TileProgram& program_;
  std::span<const ArgumentValue> args_;
  std::byte* memory_;
  const TileFrame* shared_;
  std::vector<std::byte*> at_;        // by place
  std::vector<Bound> direct_;         // places in arguments
  std::vector<Bound> buffered_;       // places in row buffers
  std::vector<int64_t> first_;        // by argument: elements to the tile's first row
  std::vector<int64_t> row_offsets_;  // by argument that is not linear, then by row: elements
  std::vector<int> offsets_of_;       // by argument: its part of row_offsets_
  int64_t rows_ = 1, column_ = 0, columns_ = 0;
};

}  // namespace stoker::backends::cpu
