// Float types below 32 bits, as ONNX defines them (docs/docsgen float8, float4 pages of the ONNX specification).
#ifndef WEFT_BASE_FLOAT_TYPES_H_
#define WEFT_BASE_FLOAT_TYPES_H_

#include <cstdint>

#include "weft/dtype.h"

namespace weft {

float HalfToFloat(uint16_t bits);
uint16_t FloatToHalf(float value);        // round to nearest even; overflow gives infinity
float BFloat16ToFloat(uint16_t bits);
uint16_t FloatToBFloat16(float value);    // round to nearest even; NaN stays NaN

// Storage types with the arithmetic of float: convert, compute, convert back.
struct Float16 {
  uint16_t bits = 0;
  Float16() = default;
  explicit Float16(float v) : bits(FloatToHalf(v)) {}
  operator float() const { return HalfToFloat(bits); }  // NOLINT: implicit on purpose
};
struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float v) : bits(FloatToBFloat16(v)) {}
  operator float() const { return BFloat16ToFloat(bits); }  // NOLINT: implicit on purpose
};

// Any of float8e4m3fn, float8e4m3fnuz, float8e5m2, float8e5m2fnuz, float8e8m0, float4e2m1: `bits` in the low bits of the byte.
float SmallFloatToFloat(DType dtype, uint8_t bits);
// Round to nearest even. `saturate`: out of range and infinity give the largest finite value, else NaN or infinity as the type has it
// (ONNX Cast, attribute saturate; float4e2m1 always saturates). float8e8m0 rounds by `round_mode`: 'u' up, 'd' down, 'n' nearest.
uint8_t FloatToSmallFloat(DType dtype, float value, bool saturate, char round_mode = 'u');

}  // namespace weft

#endif  // WEFT_BASE_FLOAT_TYPES_H_
