// numpy.matmul for the reference kernels.
#ifndef WEFT_KERNELS_REF_MATMUL_H_
#define WEFT_KERNELS_REF_MATMUL_H_

#include <cstdint>

#include "graph/ops/matmul.h"
#include "kernels/ref/gemm.h"
#include "weft/tensor.h"

namespace weft {

// y = matmul(a, b), all dense; summed in T.
template <class T>
void RunMatMul(const Dims& a_dims, const T* a, const Dims& b_dims, const T* b, T* y) {
  MatMulShape s = ResolveMatMul(a_dims, b_dims);
  int64_t batch = static_cast<int64_t>(s.a_matrix.size());
  if (b_dims.size() <= 2 && batch > 1) {  // one matrix for all: the batch is more rows
    s.m *= batch;
    batch = 1;
  }
  BatchedGemm<T>(
      batch, s.m, s.n, s.k, [&](int64_t i) { return Matrix<T>{a + s.a_matrix[i] * s.m * s.k, s.k, 1}; },
      [&](int64_t i) { return Matrix<T>{b + s.b_matrix[i] * s.k * s.n, s.n, 1}; }, [&](int64_t i) { return y + i * s.m * s.n; });
}

}  // namespace weft

#endif  // WEFT_KERNELS_REF_MATMUL_H_
