#include "backends/cpu/kernels.h"

#include <fmt/format.h>

namespace stoker::backends::cpu {
namespace {

KernelTable make_table() {
  KernelTable table;
  for (auto* family : {register_fused, register_reduce, register_optimizers, register_random, register_pooling,
                       register_matmul, register_conv, register_arg_reduce, register_scan, register_sort,
                       register_indexing, register_update_slice, register_join, register_iota, register_batch_norm})
    family(table);
  return table;
}

}  // namespace

const KernelEntry* find_kernel(std::string_view op) {
  static const KernelTable* table = new KernelTable(make_table());  // plans may outlive statics
  const auto found = table->find(op);
  return found == table->end() ? nullptr : &found->second;
}

std::string print_request(const StepRequest& request) {
  std::string inputs;
  for (const StepRequest::Input& in : request.inputs)
    inputs += fmt::format("{}{}{}", inputs.empty() ? "" : ", ", name_of(in.desc.dtype), to_string(in.desc.shape));
  return fmt::format("{}({})", request.op->name, inputs);
}

}  // namespace stoker::backends::cpu
