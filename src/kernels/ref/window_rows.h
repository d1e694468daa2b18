// Which input rows a row of outputs meets. A row is a line along the last spatial axis; rows are counted in row-major order of the
// other spatial axes.
#ifndef WEFT_KERNELS_REF_WINDOW_ROWS_H_
#define WEFT_KERNELS_REF_WINDOW_ROWS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "graph/ops/spatial.h"

namespace weft {

struct RowTap {
  int64_t tap;  // index into the kernel's positions on all axes but the last
  int64_t row;  // the input row it meets
};

inline int64_t CeilDivide(int64_t a, int64_t b) { return a / b + (a % b > 0); }
inline int64_t FloorDivide(int64_t a, int64_t b) { return a / b - (a % b < 0); }

// The taps k in [first, last) of output `o` that fall inside the input, on one axis of Conv or a pool.
struct TapRange {
  int64_t first, last;
};
inline TapRange TapsInside(const Window& w, int axis, int64_t o) {
  const int64_t start = o * w.strides[axis] - w.pads_begin[axis], dilation = w.dilations[axis];
  const int64_t first = start >= 0 ? 0 : CeilDivide(-start, dilation);
  const int64_t last = std::min(w.kernel[axis], FloorDivide(w.in[axis] - 1 - start, dilation) + 1);
  return {first, std::max(first, last)};
}

// Conv and the pools: the taps of output row `row` on the axes before the last.
inline std::vector<RowTap> RowTaps(const Window& w, int64_t row) {
  std::vector<RowTap> taps = {{0, 0}}, wider;
  int64_t rows = 1;
  for (int axis = 0; axis < w.rank() - 1; ++axis) rows *= w.out[axis];
  for (int axis = 0; axis < w.rank() - 1; ++axis) {
    rows /= w.out[axis];
    const int64_t o = row / rows % w.out[axis];
    const TapRange range = TapsInside(w, axis, o);
    wider.clear();
    for (const RowTap& t : taps) {
      for (int64_t k = range.first; k < range.last; ++k) {
        const int64_t i = o * w.strides[axis] - w.pads_begin[axis] + k * w.dilations[axis];
        wider.push_back({t.tap * w.kernel[axis] + k, t.row * w.in[axis] + i});
      }
    }
    taps.swap(wider);
  }
  return taps;
}

// ConvTranspose: the same for the window that ResolveTransposed gives.
inline std::vector<RowTap> TransposedRowTaps(const Window& w, int64_t row) {
  std::vector<RowTap> taps = {{0, 0}}, wider;
  int64_t rows = 1;
  for (int axis = 0; axis < w.rank() - 1; ++axis) rows *= w.out[axis];
  for (int axis = 0; axis < w.rank() - 1; ++axis) {
    rows /= w.out[axis];
    const int64_t o = row / rows % w.out[axis];
    wider.clear();
    for (const RowTap& t : taps) {
      for (int64_t k = 0; k < w.kernel[axis]; ++k) {
        const int64_t scaled = o + w.pads_begin[axis] - k * w.dilations[axis];
        if (scaled < 0 || scaled % w.strides[axis] != 0 || scaled / w.strides[axis] >= w.in[axis]) continue;
        wider.push_back({t.tap * w.kernel[axis] + k, t.row * w.in[axis] + scaled / w.strides[axis]});
      }
    }
    taps.swap(wider);
  }
  return taps;
}

}  // namespace weft

#endif  // WEFT_KERNELS_REF_WINDOW_ROWS_H_
