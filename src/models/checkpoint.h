// A training run in one safetensors file: tensors under "network.", "optimizer.", "schedule." and "sums.", the rest as
// JSON in the metadata.
#pragma once

#include <stoker/models.h>

namespace stoker::models {

struct Checkpoint {
  CheckpointInfo info;
  int64_t batches = 0;  // of an epoch
  RandomState random;
  StateDict network, optimizer, schedule, sums;
};

void write_checkpoint(const Checkpoint& checkpoint, const std::filesystem::path& path);
// Everything on the CPU.
Checkpoint load_checkpoint(const std::filesystem::path& path);

}  // namespace stoker::models
