// A total order of numbers: for sorting, and for telling which are the same.
#ifndef WEFT_KERNELS_REF_ORDER_H_
#define WEFT_KERNELS_REF_ORDER_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace weft {

// An integer that compares as x does. The two zeros are equal; NaNs are equal to each other and above everything else.
template <class T>
auto OrderKey(T x) {
  if constexpr (std::is_integral_v<T>) {
    return x;
  } else if constexpr (std::is_same_v<T, double>) {
    if (std::isnan(x)) return std::numeric_limits<int64_t>::max();
    const auto bits = std::bit_cast<int64_t>(x == 0 ? 0.0 : x);
    return bits < 0 ? bits ^ std::numeric_limits<int64_t>::max() : bits;
  } else {  // float, and those of 16 bits, which are floats too
    const float value = x;
    if (std::isnan(value)) return std::numeric_limits<int32_t>::max();
    const auto bits = std::bit_cast<int32_t>(value == 0 ? 0.0f : value);
    return bits < 0 ? bits ^ std::numeric_limits<int32_t>::max() : bits;
  }
}

}  // namespace weft

#endif  // WEFT_KERNELS_REF_ORDER_H_
