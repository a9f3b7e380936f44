#include "backends/cpu/interpreter.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "backends/cpu/parallel.h"
#include "backends/cpu/tile_frame.h"

namespace stoker::backends::cpu {
namespace {

using graph::kReduceBlock;
using graph::kReduceLanes;

// Element instructions that are worth waking another thread for.
constexpr int64_t kWorth = 1 << 15;

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t aligned(int64_t bytes) { return divide_up(bytes, kBlockBytes) * kBlockBytes; }

// The scratch of a run: a frame for each thread, then each phase's reductions, block by block.
struct Layout {
  int64_t frame, partials, total;
  Layout(const TileProgram& p, int threads)
      : frame(aligned(p.frame_bytes)),
        partials(threads * frame),
        total(partials + aligned(divide_up(p.columns, kReduceBlock) * p.reductions * 8)) {}
};

class Run {
 public:
  Run(const TileProgram& program, int threads, std::span<const Operand> inputs, std::span<const Address> outputs,
      std::byte* scratch)
      : p_(program), threads_(threads), layout_(program, threads), scratch_(scratch) {
    for (const TileArgument& a : program.args) {
      ArgumentValue v;
      if (!a.output) v.bits = inputs[size_t(a.number)].bits;
      const Address at = a.output ? outputs[size_t(a.number)] : inputs[size_t(a.number)].address;
      v.base = static_cast<std::byte*>(at.base) + at.offset;
      args_.push_back(v);
    }
  }

  void go() {
    if (p_.rows == 0) return;
    if (p_.whole_rows)
      run_whole_rows();
    else if (p_.independent)
      run_tiles();
    else if (p_.rows >= threads_ || p_.columns <= kReduceBlock)
      run_rows();
    else
      run_columns();
  }

 private:
  TileFrame frame(int piece, const TileFrame* shared = nullptr) const {
    return TileFrame(p_, args_, scratch_ + piece * layout_.frame, shared);
  }
  int64_t grain(int64_t elements) const { return std::max<int64_t>(1, kWorth / (elements * p_.work_per_element + 1)); }

  // Short rows: several of them, every phase, in one tile.
  void run_whole_rows() const {
    const int64_t tiles = divide_up(p_.rows, p_.rows_per_tile);
    parallel_for(tiles, grain(p_.rows_per_tile * p_.columns), [&](int64_t begin, int64_t end, int piece) {
      TileFrame f = frame(piece);
      for (int64_t t = begin; t < end; ++t) {
        const int64_t row = t * p_.rows_per_tile, rows = std::min(p_.rows_per_tile, p_.rows - row);
        f.set_rows(row, rows);
        f.set_columns(0, p_.columns);
        for (const TilePhase& phase : p_.phases) run_whole_phase(f, phase, rows);
      }
    });
  }

  void run_whole_phase(TileFrame& f, const TilePhase& phase, int64_t rows) const {
    f.run(phase.row);
    f.run(phase.row_stores);
    f.run(phase.column);
    for (const TileReduction& r : phase.reductions) r.functions.rows(f.at(r.result), f.at(r.value), rows, p_.columns);
    f.run(phase.stores);
  }

  // Tiles that know nothing of each other, of all rows in one sequence.
  void run_tiles() const {
    const int64_t per_row = divide_up(p_.columns, kTile);
    const TilePhase& phase = p_.phases[0];
    parallel_for(p_.rows * per_row, grain(kTile), [&](int64_t begin, int64_t end, int piece) {
      TileFrame f = frame(piece);
      for (int64_t t = begin; t < end;) {
        const int64_t row = t / per_row, first = t % per_row, last = std::min(per_row, first + end - t);
        f.set_rows(row, 1);
        f.run(phase.row);
        if (first == 0) f.run(phase.row_stores);
        run_part(f, phase, first * kTile, std::min(last * kTile, p_.columns));
        t += last - first;
      }
    });
  }

  // Columns [begin, end) of a row; reductions add into the frame's lanes.
  void run_part(TileFrame& f, const TilePhase& phase, int64_t begin, int64_t end) const {
    for (int64_t c = begin; c < end; c += kTile) {
      const int64_t count = std::min(kTile, end - c);
      f.set_columns(c, count);
      f.run(phase.column);
      for (size_t r = 0; r < phase.reductions.size(); ++r)
        phase.reductions[r].functions.accumulate(f.lanes(r), f.at(phase.reductions[r].value), count);
      f.run(phase.stores);
    }
  }

  // One block of columns, to one element for each reduction.
  void run_block(TileFrame& f, const TilePhase& phase, int64_t block, std::byte* results) const {
    for (size_t r = 0; r < phase.reductions.size(); ++r) phase.reductions[r].functions.start(f.lanes(r), kReduceLanes);
    run_part(f, phase, block * kReduceBlock, std::min((block + 1) * kReduceBlock, p_.columns));
    for (size_t r = 0; r < phase.reductions.size(); ++r)
      phase.reductions[r].functions.finish(results + r * 8, f.lanes(r));
  }

  // Adds up the blocks' results in order.
  void finish_row(TileFrame& f, const TilePhase& phase, const std::byte* results, int64_t blocks) const {
    const int64_t stride = int64_t(phase.reductions.size()) * 8;
    for (size_t r = 0; r < phase.reductions.size(); ++r) {
      const TileReduction& reduction = phase.reductions[r];
      alignas(8) std::byte total[8];
      reduction.functions.start(total, 1);
      for (int64_t b = 0; b < blocks; ++b) reduction.functions.combine(total, results + b * stride + int64_t(r) * 8);
      f.set_row_value(reduction.result, total);
    }
  }

  // Long rows, each by one thread.
  void run_rows() const {
    const int64_t blocks = divide_up(p_.columns, kReduceBlock);
    parallel_for(p_.rows, grain(p_.columns), [&](int64_t begin, int64_t end, int piece) {
      TileFrame f = frame(piece);
      std::vector<double> memory(size_t(blocks * p_.reductions));
      std::byte* results = reinterpret_cast<std::byte*>(memory.data());
      for (int64_t row = begin; row < end; ++row) {
        f.set_rows(row, 1);
        for (const TilePhase& phase : p_.phases) {
          start_phase(f, phase);
          if (!has_columns(phase)) continue;
          for (int64_t b = 0; b < blocks; ++b)
            run_block(f, phase, b, results + b * int64_t(phase.reductions.size()) * 8);
          finish_row(f, phase, results, blocks);
        }
      }
    });
  }

  // Few and very long rows: the blocks of each by all threads.
  void run_columns() const {
    TileFrame main = frame(0);
    std::byte* results = scratch_ + layout_.partials;
    const int64_t blocks = divide_up(p_.columns, kReduceBlock);
    for (int64_t row = 0; row < p_.rows; ++row) {
      main.set_rows(row, 1);
      for (const TilePhase& phase : p_.phases) {
        start_phase(main, phase);
        if (!has_columns(phase)) continue;
        parallel_for(blocks, grain(kReduceBlock), [&](int64_t begin, int64_t end, int piece) {
          std::optional<TileFrame> own;
          if (piece > 0) own.emplace(frame(piece, &main)).set_rows(row, 1);
          TileFrame& f = own ? *own : main;
          for (int64_t b = begin; b < end; ++b)
            run_block(f, phase, b, results + b * int64_t(phase.reductions.size()) * 8);
        });
        finish_row(main, phase, results, blocks);
      }
    }
  }

  static void start_phase(TileFrame& f, const TilePhase& phase) {
    f.run(phase.row);
    f.run(phase.row_stores);
  }
  static bool has_columns(const TilePhase& phase) {
    return !phase.column.empty() || !phase.reductions.empty() || !phase.stores.empty();
  }

  const TileProgram& p_;
  int threads_;
  Layout layout_;
  std::byte* scratch_;
  std::vector<ArgumentValue> args_;
};

}  // namespace

Interpreter::Interpreter(const graph::Program& program, const graph::ProgramGeometry& geometry, int threads)
    : program_(lower_program(program, geometry)), threads_(threads) {}

int64_t Interpreter::scratch_bytes() const { return Layout(program_, threads_).total; }

void Interpreter::run(std::span<const Operand> inputs, std::span<const Address> outputs, Address scratch) const {
  Run(program_, threads_, inputs, outputs, static_cast<std::byte*>(scratch.base) + scratch.offset).go();
}

}  // namespace stoker::backends::cpu
