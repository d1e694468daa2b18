// Rounding to the quantised element types.
#ifndef WEFT_KERNELS_REF_QUANTIZE_H_
#define WEFT_KERNELS_REF_QUANTIZE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/float_types.h"
#include "weft/tensor.h"

namespace weft {

struct QuantizedRange {
  double lowest = 0, highest = 0;
};

// Of the integer types that QuantizeLinear writes.
inline QuantizedRange RangeOf(DType dtype) {
  switch (dtype) {
    case DType::kInt8: return {-128, 127};
    case DType::kUint16: return {0, 65535};
    case DType::kInt16: return {-32768, 32767};
    case DType::kUint4: return {0, 15};
    case DType::kInt4: return {-8, 7};
    case DType::kUint2: return {0, 3};
    case DType::kInt2: return {-2, 1};
    default: return {0, 255};
  }
}

// to[begin + i] = saturate(round(scaled[i]) + zero[i]), ties to even; NaN gives the lowest value. The small floats take the sum
// unrounded, and NaN and infinity as `saturate` says.
inline void StoreQuantized(const double* scaled, const double* zero, int64_t count, bool saturate, Tensor& to, int64_t begin) {
  const DType dtype = to.dtype();
  if (IsFloat(dtype)) {
    for (int64_t i = 0; i < count; ++i) {
      to.data<uint8_t>()[begin + i] = FloatToSmallFloat(dtype, static_cast<float>(scaled[i] + zero[i]), saturate);
    }
    return;
  }
  const QuantizedRange range = RangeOf(dtype);
  auto store = [&]<class S>(S* data) {
    for (int64_t i = 0; i < count; ++i) {
      const double value = std::nearbyint(scaled[i]) + zero[i];
      data[begin + i] = static_cast<S>(value >= range.lowest ? std::min(value, range.highest) : range.lowest);
    }
  };
  switch (dtype) {
    case DType::kUint16: return store(to.data<uint16_t>());
    case DType::kInt16: return store(to.data<int16_t>());
    case DType::kInt8: case DType::kInt4: case DType::kInt2: return store(to.data<int8_t>());
    default: return store(to.data<uint8_t>());
  }
}

}  // namespace weft

#endif  // WEFT_KERNELS_REF_QUANTIZE_H_
