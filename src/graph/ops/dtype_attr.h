// Attributes that name an element type.
#ifndef WEFT_GRAPH_OPS_DTYPE_ATTR_H_
#define WEFT_GRAPH_OPS_DTYPE_ATTR_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/status_macros.h"
#include "weft/dtype.h"

namespace weft {

// The element type that attribute `name` has the number of. Errors: Invalid where it is none of `allowed`.
inline absl::StatusOr<DType> DTypeAttr(std::string_view name, int64_t number, absl::Span<const DType> allowed) {
  for (DType dtype : allowed) {
    if (static_cast<int64_t>(dtype) == number) return dtype;
  }
  const bool known = number > 0 && number < kNumDTypes;
  return Invalid("attribute '", name, "' is ", number, known ? " (" : "",
                 known ? DTypeName(static_cast<DType>(number)) : std::string_view(), known ? ")" : "",
                 ", expected the number of an element type that the operator gives");
}

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_DTYPE_ATTR_H_
