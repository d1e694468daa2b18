// Det: elimination with the largest pivot of each column, in double.
#include <algorithm>
#include <cmath>
#include <vector>

#include "graph/op.h"
#include "kernels/kernel.h"
#include "kernels/ref/elements.h"

namespace weft {
namespace {

// Of a row-major n x n matrix, which is spoilt.
double Determinant(double* a, int64_t n) {
  double det = 1;
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n; ++i) {
      if (!(std::abs(a[i * n + k]) <= std::abs(a[pivot * n + k]))) pivot = i;  // a NaN must not be passed over
    }
    if (a[pivot * n + k] == 0) return 0;
    if (pivot != k) {
      std::swap_ranges(a + k * n, a + (k + 1) * n, a + pivot * n);
      det = -det;
    }
    det *= a[k * n + k];
    for (int64_t i = k + 1; i < n; ++i) {
      const double factor = a[i * n + k] / a[k * n + k];
      for (int64_t j = k + 1; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
    }
  }
  return det;
}

absl::Status RunDet(RunContext& ctx) {
  const Tensor& x = ctx.input(0);
  Tensor& y = ctx.output(0);
  const int64_t n = x.dim(x.rank() - 1);
  ParallelFor(y.size(), n * n * n, [&](int64_t begin, int64_t end) {
    std::vector<double> matrix(n * n);
    for (int64_t i = begin; i < end; ++i) {
      ReadElements(x, i * n * n, n * n, matrix.data());
      const double det = Determinant(matrix.data(), n);
      WriteElements(&det, 1, y, i);
    }
  });
  return absl::OkStatus();
}

}  // namespace

absl::Span<const Kernel> RefDet() {
  static constexpr Kernel kernels[] = {{.op = &ops::Det, .name = "ref", .run = &RunDet}};
  return kernels;
}

}  // namespace weft
