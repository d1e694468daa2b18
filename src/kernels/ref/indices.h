// Lists of integers and indices as kernels read them.
#ifndef WEFT_KERNELS_REF_INDICES_H_
#define WEFT_KERNELS_REF_INDICES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "kernels/ref/elements.h"
#include "weft/tensor.h"

namespace weft {

// All elements of an integer tensor.
inline std::vector<int64_t> ReadInts(const Tensor& tensor) {
  std::vector<int64_t> values(tensor.size());
  ReadElements(tensor, 0, tensor.size(), values.data());
  return values;
}

// For an index beyond an axis, counted from either end.
inline absl::Status IndexOutOfRange(int64_t index, int64_t axis, int64_t size) {
  return Invalid("index ", index, " is out of range for axis ", axis, " of size ", size);
}

// An index in [-size, size-1] made non-negative.
inline absl::StatusOr<int64_t> ResolveIndex(int64_t index, int64_t axis, int64_t size) {
  const int64_t resolved = index < 0 ? index + size : index;
  if (resolved < 0 || resolved >= size) return IndexOutOfRange(index, axis, size);
  return resolved;
}

}  // namespace weft

#endif  // WEFT_KERNELS_REF_INDICES_H_
