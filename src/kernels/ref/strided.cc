#include "kernels/ref/strided.h"

#include <algorithm>
#include <string>

#include "base/threads.h"
#include "kernels/ref/dispatch.h"

namespace weft {
namespace {

// Drops axes of size 1 and merges neighbours that are one run on both sides.
void Simplify(StridedCopy& copy) {
  size_t kept = 0;
  for (size_t axis = 0; axis < copy.dims.size(); ++axis) {
    const int64_t d = copy.dims[axis], from = copy.from_strides[axis], to = copy.to_strides[axis];
    if (d == 1) continue;
    if (kept > 0 && copy.from_strides[kept - 1] == d * from && copy.to_strides[kept - 1] == d * to) {
      copy.dims[kept - 1] *= d;
      copy.from_strides[kept - 1] = from;
      copy.to_strides[kept - 1] = to;
      continue;
    }
    copy.dims[kept] = d;
    copy.from_strides[kept] = from;
    copy.to_strides[kept] = to;
    ++kept;
  }
  if (kept == 0) {  // a single element
    copy.dims = copy.from_strides = copy.to_strides = {1};
    return;
  }
  copy.dims.resize(kept);
  copy.from_strides.resize(kept);
  copy.to_strides.resize(kept);
}

int64_t Product(const Dims& dims) {
  int64_t product = 1;
  for (int64_t d : dims) product *= d;
  return product;
}

template <class T>
void CopyRow(const T* from, int64_t from_stride, T* to, int64_t to_stride, int64_t count) {
  if (to_stride == 1 && from_stride == 1) {
    std::copy_n(from, count, to);
  } else if (to_stride == 1 && from_stride == 0) {
    std::fill_n(to, count, *from);
  } else {
    for (int64_t i = 0; i < count; ++i) to[i * to_stride] = from[i * from_stride];
  }
}

// Row after row along the last axis; a thread may begin and end in the middle of one.
template <class T>
void CopyRows(const T* from, T* to, const StridedCopy& copy) {
  const int last = static_cast<int>(copy.dims.size()) - 1;
  ParallelFor(Product(copy.dims), 1, [&](int64_t begin, int64_t end) {
    Dims at(copy.dims.size(), 0);
    int64_t rest = begin, source = copy.from_offset, target = copy.to_offset;
    for (int axis = last; axis >= 0; --axis) {
      at[axis] = rest % copy.dims[axis];
      rest /= copy.dims[axis];
      source += at[axis] * copy.from_strides[axis];
      target += at[axis] * copy.to_strides[axis];
    }
    while (begin < end) {
      const int64_t count = std::min(end - begin, copy.dims[last] - at[last]);
      CopyRow(from + source, copy.from_strides[last], to + target, copy.to_strides[last], count);
      begin += count;
      source -= at[last] * copy.from_strides[last];
      target -= at[last] * copy.to_strides[last];
      at[last] = 0;
      for (int axis = last - 1; axis >= 0; --axis) {
        source += copy.from_strides[axis];
        target += copy.to_strides[axis];
        if (++at[axis] < copy.dims[axis]) break;
        source -= at[axis] * copy.from_strides[axis];
        target -= at[axis] * copy.to_strides[axis];
        at[axis] = 0;
      }
    }
  });
}

// The source is contiguous along `across`, the target along the last axis: blocks of both stay in the cache.
template <class T>
void CopyBlocks(const T* from, T* to, const StridedCopy& copy, int across) {
  constexpr int64_t kBlock = 32;
  const int last = static_cast<int>(copy.dims.size()) - 1;
  const int64_t rows = copy.dims[across], columns = copy.dims[last];
  const int64_t from_stride = copy.from_strides[last], to_stride = copy.to_strides[across];
  const int64_t bands = (rows + kBlock - 1) / kBlock;
  const int64_t planes = Product(copy.dims) / rows / columns;
  ParallelFor(planes * bands, std::min(rows, kBlock) * columns, [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      int64_t rest = unit / bands, source = copy.from_offset, target = copy.to_offset;
      for (int axis = last - 1; axis >= 0; --axis) {
        if (axis == across) continue;
        source += rest % copy.dims[axis] * copy.from_strides[axis];
        target += rest % copy.dims[axis] * copy.to_strides[axis];
        rest /= copy.dims[axis];
      }
      const int64_t row_begin = unit % bands * kBlock, row_end = std::min(row_begin + kBlock, rows);
      for (int64_t block = 0; block < columns; block += kBlock) {
        const int64_t block_end = std::min(block + kBlock, columns);
        for (int64_t row = row_begin; row < row_end; ++row) {
          const T* x = from + source + row;
          T* y = to + target + row * to_stride;
          for (int64_t column = block; column < block_end; ++column) y[column] = x[column * from_stride];
        }
      }
    }
  });
}

template <class T>
void Copy(const T* from, T* to, const StridedCopy& copy) {
  const int last = static_cast<int>(copy.dims.size()) - 1;
  if (copy.to_strides[last] == 1 && copy.from_strides[last] > 1) {
    for (int axis = 0; axis < last; ++axis) {
      if (copy.from_strides[axis] == 1) return CopyBlocks(from, to, copy, axis);
    }
  }
  CopyRows(from, to, copy);
}

}  // namespace

void CopyStrided(const Tensor& from, Tensor& to, StridedCopy copy) {
  if (std::find(copy.dims.begin(), copy.dims.end(), 0) != copy.dims.end()) return;
  Simplify(copy);
  DispatchSize(from.dtype(), [&]<class T>() {
    Copy(from.data<const T>(), to.data<T>(), copy);
    return absl::OkStatus();
  }).IgnoreError();
}

void CopyAll(const Tensor& from, Tensor& to, int64_t to_offset) {
  CopyStrided(from, to, {.dims = {from.size()}, .from_strides = {1}, .to_strides = {1}, .to_offset = to_offset});
}

}  // namespace weft
