// The table of kernels: one row an operation, one file under kernels/ a family. A new family is a file there with a
// register function, and that function's name here and in kernels.cpp.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "backends/backend.h"

namespace stoker::backends::cpu {

struct KernelEntry {
  std::function<bool(const StepRequest&)> supports;
  // Called only for requests that supports() takes, with the executor's number of threads set.
  std::function<std::unique_ptr<Kernel>(const StepRequest&)> lower;
};
using KernelTable = std::map<std::string, KernelEntry, std::less<>>;

// nullptr where there is none.
const KernelEntry* find_kernel(std::string_view op);

// "matmul(f32[2, 3], f32[3, 4])", for errors.
std::string print_request(const StepRequest& request);

void register_fused(KernelTable& table);
void register_reduce(KernelTable& table);
void register_optimizers(KernelTable& table);
void register_random(KernelTable& table);
void register_pooling(KernelTable& table);
void register_matmul(KernelTable& table);
void register_conv(KernelTable& table);
void register_arg_reduce(KernelTable& table);
void register_scan(KernelTable& table);
void register_sort(KernelTable& table);
void register_indexing(KernelTable& table);
void register_update_slice(KernelTable& table);
void register_join(KernelTable& table);
void register_iota(KernelTable& table);
void register_batch_norm(KernelTable& table);

}  // namespace stoker::backends::cpu
