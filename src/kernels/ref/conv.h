// Direct convolution for the reference kernels of Conv and its quantised kin.
#ifndef WEFT_KERNELS_REF_CONV_H_
#define WEFT_KERNELS_REF_CONV_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "graph/ops/spatial.h"
#include "kernels/ref/elements.h"
#include "kernels/ref/gemm.h"
#include "kernels/ref/window_rows.h"

namespace weft {

template <class T>
struct Convolution {
  const T* x = nullptr;     // [n, c, in...]
  const T* w = nullptr;     // [m, c/group, kernel...]
  const T* bias = nullptr;  // [m]; null for none
  T* y = nullptr;           // [n, m, out...]
  int64_t n = 0, c = 0, m = 0, group = 1;
  const Window* window = nullptr;
};

namespace conv_internal {

// Along the last axis: output o in [lo, hi) meets input `in` + (o - lo) * stride at this tap.
struct ColumnTap {
  int64_t tap, in, lo, hi;
};

inline std::vector<ColumnTap> ColumnTaps(const Window& w) {
  const int last = w.rank() - 1;
  const int64_t stride = w.strides[last];
  std::vector<ColumnTap> taps;
  for (int64_t k = 0; k < w.kernel[last]; ++k) {
    const int64_t shift = k * w.dilations[last] - w.pads_begin[last];  // input of output 0
    const int64_t lo = shift >= 0 ? 0 : CeilDivide(-shift, stride);
    const int64_t hi = std::min(w.out[last], FloorDivide(w.in[last] - 1 - shift, stride) + 1);
    if (lo < hi) taps.push_back({k, shift + lo * stride, lo, hi});
  }
  return taps;
}

inline bool IsPointwise(const Window& w) {
  for (int i = 0; i < w.rank(); ++i) {
    if (w.kernel[i] != 1 || w.strides[i] != 1 || w.pads_begin[i] != 0 || w.pads_end[i] != 0) return false;
  }
  return true;
}

template <class T>
void AddBias(const T* bias, T* y, int64_t n, int64_t m, int64_t plane) {
  if (bias == nullptr) return;
  ParallelFor(n * m, plane, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t j = 0; j < plane; ++j) y[i * plane + j] += bias[i % m];
    }
  });
}

template <class T>
void Pointwise(const Convolution<T>& p) {
  const int64_t plane = Product(p.window->out), cg = p.c / p.group, mg = p.m / p.group;
  BatchedGemm<T>(
      p.n * p.group, mg, plane, cg, [&](int64_t i) { return Matrix<T>{p.w + i % p.group * mg * cg, cg, 1}; },
      [&](int64_t i) { return Matrix<T>{p.x + i * cg * plane, plane, 1}; }, [&](int64_t i) { return p.y + i * mg * plane; });
  AddBias(p.bias, p.y, p.n, p.m, plane);
}

}  // namespace conv_internal

// y = conv(x, w) + bias, summed in T.
template <class T>
void RunConvolution(const Convolution<T>& p) {
  const Window& win = *p.window;
  if (conv_internal::IsPointwise(win)) return conv_internal::Pointwise(p);
  const int last = win.rank() - 1;
  const int64_t in_width = win.in[last], out_width = win.out[last], stride = win.strides[last], kernel_width = win.kernel[last];
  const int64_t in_plane = Product(win.in), out_plane = Product(win.out), kernel = Product(win.kernel);
  const int64_t cg = p.c / p.group, mg = p.m / p.group;
  if (p.n == 0 || p.m == 0 || out_plane == 0) return;
  const int64_t rows = out_plane / out_width;
  const auto columns = conv_internal::ColumnTaps(win);
  // One index is one output row of one channel: neighbours share the input rows.
  ParallelFor(p.n * rows * p.m, 2 * out_width * cg * kernel, [&](int64_t begin, int64_t end) {
    std::vector<RowTap> taps;
    int64_t taps_of = -1;
    for (int64_t index = begin; index < end; ++index) {
      const int64_t m = index % p.m, row = index / p.m % rows, n = index / p.m / rows;
      if (row != taps_of) {
        taps = RowTaps(win, row);
        taps_of = row;
      }
      T* y = p.y + (n * p.m + m) * out_plane + row * out_width;
      std::fill(y, y + out_width, p.bias != nullptr ? p.bias[m] : T(0));
      for (int64_t c = 0; c < cg; ++c) {
        const T* x = p.x + (n * p.c + m / mg * cg + c) * in_plane;
        const T* w = p.w + (m * cg + c) * kernel;
        for (const RowTap& r : taps) {
          for (const auto& t : columns) {
            const T weight = w[r.tap * kernel_width + t.tap];
            const T* from = x + r.row * in_width + t.in;
            T* to = y + t.lo;
            const int64_t count = t.hi - t.lo;
            if (stride == 1) {
              for (int64_t i = 0; i < count; ++i) to[i] += weight * from[i];
            } else {
              for (int64_t i = 0; i < count; ++i) to[i] += weight * from[i * stride];
            }
          }
        }
      }
    }
  });
}

}  // namespace weft

#endif  // WEFT_KERNELS_REF_CONV_H_
