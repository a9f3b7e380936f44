// From a record to running work: decides what must be kept, finds or makes the plan, runs it, and hands out the
// results.
#pragma once

#include "graph/recorder.h"
#include "runtime/buffer.h"

namespace stoker::detail {

// The memory of a value; starts what it waits for, and rethrows what failed. Does not wait.
Ref<runtime::Buffer> buffer_of(const graph::Value& value);

// Whether each operation runs at once and its results are searched for NaN.
bool anomaly_detection();
void set_anomaly_detection(bool on);

}  // namespace stoker::detail
