// Maximum pooling by 2x2 windows that do not overlap, the common case, in vectors. One plane at a time.
#pragma once

#include <cstdint>

namespace stoker::backends::cpu {

// x[2*rows, width], width 2*columns or 2*columns+1 -> y[rows, columns] and the index of each in x's plane.
void max_pool_2x2(const float* x, float* y, int32_t* index, int64_t rows, int64_t columns, int64_t width);

// dx[2*rows, 2*columns] from dy[rows, columns], where each index names an element of its own window; returns false, and
// has written nothing, where one does not.
bool max_pool_2x2_gradient(const float* dy, const int32_t* index, float* dx, int64_t rows, int64_t columns);

}  // namespace stoker::backends::cpu
