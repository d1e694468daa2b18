// Integer arithmetic that wraps around.
#ifndef WEFT_KERNELS_REF_WRAPPING_H_
#define WEFT_KERNELS_REF_WRAPPING_H_

#include <cstdint>
#include <type_traits>

namespace weft {

// Integers are added, subtracted and multiplied as unsigned numbers, wide enough that no promotion makes them signed.
template <class T>
using Wrapping = std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;

}  // namespace weft

#endif  // WEFT_KERNELS_REF_WRAPPING_H_
