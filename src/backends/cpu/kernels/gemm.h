// A blocked matrix product for what oneDNN does not take: f64, integers, and f32 where there is no oneDNN.
#pragma once

#include <cstdint>

namespace stoker::backends::cpu {

// A matrix of any strides, in elements.
template <class T>
struct Matrix {
  T* data;
  int64_t row, column;
};

// Elements of scratch for products with this n and k.
template <class T>
int64_t gemm_scratch(int64_t n, int64_t k, int threads);

// c[m,n] = a[m,k] b[k,n], or with `add` c += a b; rows of c lie `c_row` apart. T: float, double, int32_t, int64_t;
// integers wrap. Every element is one sum over k in order, whatever the number of threads.
template <class T>
void gemm(int64_t m, int64_t n, int64_t k, Matrix<const T> a, Matrix<const T> b, T* c, int64_t c_row, bool add,
          T* scratch);

}  // namespace stoker::backends::cpu
