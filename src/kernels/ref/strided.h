// Copies between strided views: transpositions, slices, tilings, concatenations and the like come down to one of these.
#ifndef WEFT_KERNELS_REF_STRIDED_H_
#define WEFT_KERNELS_REF_STRIDED_H_

#include <cstdint>

#include "absl/types/span.h"
#include "weft/tensor.h"

namespace weft {

// Elements from one index of an axis to the next, row-major. The product of the dims fits int64.
inline Dims StridesOf(absl::Span<const int64_t> dims) {
  Dims strides(dims.size());
  int64_t stride = 1;
  for (size_t axis = dims.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= dims[axis];
  }
  return strides;
}

// Offsets and strides count elements; strides of the source may be negative or 0.
struct StridedCopy {
  Dims dims;
  Dims from_strides, to_strides;
  int64_t from_offset = 0, to_offset = 0;
};

// to[to_offset + sum i*to_strides] = from[from_offset + sum i*from_strides] for every index i within dims. The two tensors have elements of
// one size (or strings); both views lie inside, and no two indices share a place of `to`.
// Runs that are contiguous on both sides are moved whole, transpositions in blocks; large copies run in parallel.
void CopyStrided(const Tensor& from, Tensor& to, StridedCopy copy);

// All of `from`, row-major, into as many elements of `to` from `to_offset` on.
void CopyAll(const Tensor& from, Tensor& to, int64_t to_offset = 0);

}  // namespace weft

#endif  // WEFT_KERNELS_REF_STRIDED_H_
