// Runs fused programs. Results are the same bits for any number of threads, any vector width and any fusion.
// An output may be the memory of an input that the program walks with the same strides and element size, as long as one
// phase reads and writes both.
#pragma once

#include <span>

#include "backends/backend.h"
#include "backends/cpu/tile_program.h"

namespace stoker::backends::cpu {

class Interpreter {
 public:
  // For teams of at most `threads` threads.
  Interpreter(const graph::Program& program, const graph::ProgramGeometry& geometry, int threads);

  int64_t scratch_bytes() const;
  // Operands of the program's inputs and outputs, in order; element 0 of an argument lies at its address.
  void run(std::span<const Operand> inputs, std::span<const Address> outputs, Address scratch) const;
  const TileProgram& program() const { return program_; }

 private:
  TileProgram program_;
  int threads_;
};

}  // namespace stoker::backends::cpu
