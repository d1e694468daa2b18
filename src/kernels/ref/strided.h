// Moving elements from anywhere to consecutive places: what Transpose, Slice and Expand come down to.
#ifndef WEFT_KERNELS_REF_STRIDED_H_
#define WEFT_KERNELS_REF_STRIDED_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "absl/types/span.h"
#include "base/threads.h"
#include "weft/tensor.h"

namespace weft {

// Elements from one axis to the next, row-major.
inline Dims StridesOf(absl::Span<const int64_t> dims) {
  Dims strides(dims.size());
  int64_t stride = 1;
  for (size_t axis = dims.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= dims[axis];
  }
  return strides;
}

// to[i0, i1, ...] = from[i0*s0 + i1*s1 + ...] for a row-major `to` of shape `dims`; strides may be 0 or negative.
template <class T>
void CopyStrided(const T* from, absl::Span<const int64_t> dims, absl::Span<const int64_t> strides, T* to) {
  // Merge neighbours that one stride walks through.
  Dims d, s;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] == 0) return;
    if (dims[axis] == 1) continue;
    if (!d.empty() && s.back() == strides[axis] * dims[axis]) {
      d.back() *= dims[axis];
      s.back() = strides[axis];
    } else {
      d.push_back(dims[axis]);
      s.push_back(strides[axis]);
    }
  }
  if (d.empty()) {
    *to = *from;
    return;
  }
  const auto rank = static_cast<int>(d.size());
  const Dims out = StridesOf(d);
  const int inner = rank - 1;
  // Where rows are not consecutive in `from` but another axis is, squares of the two axes are moved: each line of cache is read once.
  int across = -1;
  for (int axis = 0; s[inner] != 1 && axis < inner; ++axis) {
    if (s[axis] == 1) across = axis;
  }
  int64_t blocks = 1;
  for (int axis = 0; axis < inner; ++axis) blocks *= axis == across ? 1 : d[axis];
  const int64_t per_block = d[inner] * (across >= 0 ? d[across] : 1);
  auto block = [&](int64_t index) {
    int64_t source = 0, target = 0;
    for (int axis = inner - 1; axis >= 0; --axis) {
      if (axis == across) continue;
      source += index % d[axis] * s[axis];
      target += index % d[axis] * out[axis];
      index /= d[axis];
    }
    const T* p = from + source;
    T* q = to + target;
    const int64_t n = d[inner], stride = s[inner];
    if (across < 0) {
      if (stride == 1) {
        std::copy_n(p, n, q);
      } else if (stride == 0) {
        std::fill_n(q, n, *p);
      } else {
        for (int64_t i = 0; i < n; ++i) q[i] = p[i * stride];
      }
      return;
    }
    constexpr int64_t kTile = 16;
    const int64_t m = d[across], step = out[across];
    for (int64_t j0 = 0; j0 < m; j0 += kTile) {
      for (int64_t i0 = 0; i0 < n; i0 += kTile) {
        for (int64_t j = j0; j < std::min(j0 + kTile, m); ++j) {
          for (int64_t i = i0; i < std::min(i0 + kTile, n); ++i) q[j * step + i] = p[i * stride + j];
        }
      }
    }
  };
  ParallelFor(blocks, per_block, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) block(i);
  });
}

// `rows` runs of `count` elements: run r goes from from + r * from_step to to + r * to_step.
template <class T>
void CopyRows(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t rows, int64_t count) {
  ParallelFor(rows, count, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) std::copy_n(from + r * from_step, count, to + r * to_step);
  });
}

}  // namespace weft

#endif  // WEFT_KERNELS_REF_STRIDED_H_
