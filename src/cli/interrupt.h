// Ctrl-C and SIGTERM as a wish to stop; a second one ends the process at once.
#pragma once

#include <atomic>

namespace stoker::cli {

// Becomes true at the first signal after this call.
const std::atomic<bool>& stop_on_signals();

}  // namespace stoker::cli
