#include "backends/cpu/tile_memory.h"

#include <algorithm>

namespace stoker::backends::cpu {
namespace {

using Where = Place::Where;

int64_t aligned(int64_t bytes) { return (bytes + kBlockBytes - 1) / kBlockBytes * kBlockBytes; }

class Assignment {
 public:
  Assignment(TileProgram& program, const std::vector<bool>& fixed)
      : program_(program), fixed_(fixed), last_use_(program.places.size(), -1) {}

  void assign(const std::vector<graph::Lane>& buffers) {
    for (size_t i = 0; i < program_.places.size(); ++i) assign_permanent(i);
    for_each_use([&](int place, int64_t when) { last_use_[size_t(place)] = when; });
    assign_tiles();
    program_.lane_offset = take(program_.reductions * graph::kReduceLanes * 8);
    for (const graph::Lane lane : buffers)
      program_.buffer_offsets.push_back(take(program_.whole_rows ? 0 : program_.columns * width_of(lane)));
    program_.frame_bytes = end_;
  }

 private:
  int64_t take(int64_t bytes) {
    const int64_t at = end_;
    end_ += aligned(bytes);
    return at;
  }
  // An extra block keeps equal elements of two tiles from lying a power of two apart.
  int64_t take_tile(int64_t width) {
    const int64_t elements = program_.whole_rows ? program_.rows_per_tile * program_.columns : kTile;
    return take(elements * width + kBlockBytes);
  }

  void assign_permanent(size_t i) {
    Place& p = program_.places[i];
    if (p.where == Where::Block) p.offset = take(kBlockBytes);
    if (p.where == Where::Rows) p.offset = take(program_.rows_per_tile * p.width);
    if (p.where == Where::Tile && fixed_[i]) p.offset = take_tile(p.width);
  }

  bool is_reused(int place) const {
    return place >= 0 && program_.places[size_t(place)].where == Where::Tile && !fixed_[size_t(place)];
  }

  // Calls f(place, when) for what each step reads, in order of execution.
  template <class F>
  void for_each_use(const F& f) const {
    int64_t when = 0;
    const auto step = [&](const TileStep& s) {
      for (int in : s.in)
        if (in >= 0) f(in, when);
      ++when;
    };
    for (const TilePhase& phase : program_.phases) {
      for (const TileStep& s : phase.column) step(s);
      for (const TileReduction& r : phase.reductions) f(r.value, when++);
      for (const TileStep& s : phase.stores) step(s);
    }
  }

  void assign_tiles() {
    int64_t when = 0;
    for (const TilePhase& phase : program_.phases) {
      for (const TileStep& s : phase.column) {
        for (int in : s.in) release_after(in, when);
        if (is_reused(s.out)) program_.places[size_t(s.out)].offset = reuse(program_.places[size_t(s.out)].width);
        if (last_use_[size_t(s.out)] < when) release(s.out);
        ++when;
      }
      for (const TileReduction& r : phase.reductions) release_after(r.value, when++);
      for (const TileStep& s : phase.stores) {
        release_after(s.in[0], when);
        ++when;
      }
    }
  }

  void release_after(int place, int64_t when) {
    if (place < 0 || last_use_[size_t(place)] != when) return;
    last_use_[size_t(place)] = -2;  // an operand may stand twice in one step
    release(place);
  }
  void release(int place) {
    if (is_reused(place))
      free_of(program_.places[size_t(place)].width).push_back(program_.places[size_t(place)].offset);
  }
  int64_t reuse(int64_t width) {
    std::vector<int64_t>& free = free_of(width);
    if (free.empty()) return take_tile(width);
    const int64_t offset = free.back();
    free.pop_back();
    return offset;
  }
  std::vector<int64_t>& free_of(int64_t width) { return free_[width == 8]; }

  TileProgram& program_;
  const std::vector<bool>& fixed_;
  std::vector<int64_t> last_use_;  // by place
  std::vector<int64_t> free_[2];   // offsets, of 4-byte and of 8-byte elements
  int64_t end_ = 0;
};

}  // namespace

void assign_memory(TileProgram& program, const std::vector<bool>& fixed, const std::vector<graph::Lane>& buffers) {
  Assignment(program, fixed).assign(buffers);
}

}  // namespace stoker::backends::cpu
