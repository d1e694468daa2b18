// A plain blocked matrix product for the reference kernels.
#ifndef WEFT_KERNELS_REF_GEMM_H_
#define WEFT_KERNELS_REF_GEMM_H_

#include <algorithm>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "base/threads.h"

namespace weft {

// Element (i, j) is data[i * row + j * col].
template <class T>
struct Matrix {
  const T* data = nullptr;
  int64_t row = 0, col = 0;
};

namespace gemm_internal {

inline constexpr int64_t kRows = 4, kCols = 8;              // of the tile in registers
inline constexpr int64_t kPanel = 64, kDepth = 128;         // of the packed piece of B
inline constexpr int64_t kRowBlock = 128;                   // rows of A for each packing of B

// c[0..rows)[0..cols) (+)= a * panel, where the panel is [depth][kPanel] and cols <= kCols.
template <class T>
void Tile(int64_t rows, int64_t cols, int64_t depth, Matrix<T> a, const T* panel, T* c, int64_t ldc, bool first) {
  T acc[kRows][kCols] = {};
  if (rows == kRows) {
    for (int64_t p = 0; p < depth; ++p) {
      for (int r = 0; r < kRows; ++r) {
        const T value = a.data[r * a.row + p * a.col];
        for (int j = 0; j < kCols; ++j) acc[r][j] += value * panel[p * kPanel + j];
      }
    }
  } else {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t p = 0; p < depth; ++p) {
        const T value = a.data[r * a.row + p * a.col];
        for (int j = 0; j < kCols; ++j) acc[r][j] += value * panel[p * kPanel + j];
      }
    }
  }
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t j = 0; j < cols; ++j) c[r * ldc + j] = first ? acc[r][j] : static_cast<T>(c[r * ldc + j] + acc[r][j]);
  }
}

// c (+)= a * b for up to kPanel columns.
template <class T>
void Block(int64_t m, int64_t n, int64_t k, Matrix<T> a, Matrix<T> b, T* c, int64_t ldc) {
  alignas(64) T panel[kDepth * kPanel];
  for (int64_t p0 = 0; p0 < k; p0 += kDepth) {
    const int64_t depth = std::min(kDepth, k - p0);
    for (int64_t p = 0; p < depth; ++p) {
      const T* from = b.data + (p0 + p) * b.row;
      for (int64_t j = 0; j < n; ++j) panel[p * kPanel + j] = from[j * b.col];
      for (int64_t j = n; j < kPanel; ++j) panel[p * kPanel + j] = 0;
    }
    for (int64_t i = 0; i < m; i += kRows) {
      const Matrix<T> rows{a.data + i * a.row + p0 * a.col, a.row, a.col};
      for (int64_t j = 0; j < n; j += kCols) {
        Tile(std::min(kRows, m - i), std::min(kCols, n - j), depth, rows, panel + j, c + i * ldc + j, ldc, p0 == 0);
      }
    }
  }
  if (k == 0) {
    for (int64_t i = 0; i < m; ++i) std::fill(c + i * ldc, c + i * ldc + n, T(0));
  }
}

}  // namespace gemm_internal

// For each b in [0, batch): c(b) = a(b) * b(b), [m,k] times [k,n] into a dense [m,n]; over the threads. Sums over k in T.
template <class T>
void BatchedGemm(int64_t batch, int64_t m, int64_t n, int64_t k, absl::FunctionRef<Matrix<T>(int64_t)> a,
                 absl::FunctionRef<Matrix<T>(int64_t)> b, absl::FunctionRef<T*(int64_t)> c) {
  using namespace gemm_internal;  // NOLINT: constants of this file
  const int64_t panels = (n + kPanel - 1) / kPanel, row_blocks = (m + kRowBlock - 1) / kRowBlock;
  ParallelFor(batch * panels * row_blocks, 2 * std::min(m, kRowBlock) * std::min(n, kPanel) * std::max<int64_t>(k, 1),
              [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t i = task % row_blocks * kRowBlock, j = task / row_blocks % panels * kPanel;
      const int64_t which = task / row_blocks / panels;
      Matrix<T> left = a(which), right = b(which);
      left.data += i * left.row;
      right.data += j * right.col;
      Block(std::min(kRowBlock, m - i), std::min(kPanel, n - j), k, left, right, c(which) + i * n + j, n);
    }
  });
}

}  // namespace weft

#endif  // WEFT_KERNELS_REF_GEMM_H_
