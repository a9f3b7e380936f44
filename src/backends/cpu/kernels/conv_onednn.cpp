#include "backends/cpu/kernels/conv.h"
namespace stoker::backends::cpu {
std::unique_ptr<Kernel> lower_onednn_conv(ConvKind, const StepRequest&) { return nullptr; }
}  // namespace stoker::backends::cpu
