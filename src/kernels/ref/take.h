// Slices of a tensor by their numbers.
#ifndef WEFT_KERNELS_REF_TAKE_H_
#define WEFT_KERNELS_REF_TAKE_H_

#include <cstdint>

#include "absl/types/span.h"
#include "weft/tensor.h"

namespace weft {

// out = data with the slices `indices` of the axis, in that order, in place of the axis. The indices lie inside; the rank of `out`, which has
// data's element type, is open.
void TakeSlices(const Tensor& data, int axis, absl::Span<const int64_t> indices, Tensor& out);

}  // namespace weft

#endif  // WEFT_KERNELS_REF_TAKE_H_
