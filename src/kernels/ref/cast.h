// Elements of one type as elements of another, by the rules of ONNX Cast.
#ifndef WEFT_KERNELS_REF_CAST_H_
#define WEFT_KERNELS_REF_CAST_H_

#include <cstdint>
#include <limits>
#include <type_traits>

#include "absl/status/status.h"
#include "weft/tensor.h"

namespace weft {

struct CastRules {
  bool saturate = true;   // of the 8-bit floats
  char round_mode = 'u';  // of float8e8m0: 'u' up, 'd' down, 'n' nearest
};

// out[i] = in[i]; both have as many elements. Errors: a string that is no number.
absl::Status CastElements(const Tensor& in, Tensor& out, const CastRules& rules = {});

// Toward zero; what no 64-bit integer holds is the smallest one, as the processor's own conversion has it.
inline int64_t TruncateToInt64(double x) {
  if (!(x >= -0x1p63 && x < 0x1p63)) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(x);
}

// V: a floating-point or integer type. Integers that To is too narrow for lose their high bits.
template <class To, class V>
To ToInteger(V value) {
  if constexpr (std::is_floating_point_v<V>) {
    // Above int64's range only uint64 has room.
    if constexpr (std::is_same_v<To, uint64_t>) {
      if (value >= static_cast<V>(0x1p63) && value < static_cast<V>(0x1p64)) return static_cast<uint64_t>(value);
    }
    return static_cast<To>(TruncateToInt64(value));
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace weft

#endif  // WEFT_KERNELS_REF_CAST_H_
