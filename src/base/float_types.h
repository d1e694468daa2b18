// Float types below 32 bits, as ONNX defines them (docs/docsgen float8, float4 pages of the ONNX specification).
#ifndef WEFT_BASE_FLOAT_TYPES_H_
#define WEFT_BASE_FLOAT_TYPES_H_

#include <bit>
#include <cstdint>

#include "weft/dtype.h"

namespace weft {

// Exact; a NaN keeps its sign and its payload. None of these depends on whether the processor flushes denormals.
inline float HalfToFloat(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t exponent = bits >> 10 & 0x1f, mantissa = bits & 0x3ff;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | mantissa << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(static_cast<float>(mantissa) * 0x1p-24f));
}

// Round to nearest even; overflow gives infinity; NaN stays NaN, made quiet.
inline uint16_t FloatToHalf(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00 | (magnitude >> 13 & 0x1ff);
  if (magnitude >= 0x477ff000) return sign | 0x7c00;  // 65520, halfway from the largest number to 2^16, and all beyond
  if (magnitude < 0x38800000) {
    // Subnormal: adding 0.5 puts the last bit of the result at the last bit of the sum, which rounds to nearest even.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return sign | static_cast<uint16_t>(std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(0.5f));
  }
  const uint32_t odd = magnitude >> 13 & 1;
  return sign | static_cast<uint16_t>((magnitude + 0xfff + odd - (112u << 23)) >> 13);
}

inline float BFloat16ToFloat(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

// Round to nearest even; overflow gives infinity; NaN stays NaN, made quiet.
inline uint16_t FloatToBFloat16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

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

// `dtype` is any of float8e4m3fn, float8e4m3fnuz, float8e5m2, float8e5m2fnuz, float8e8m0, float4e2m1; `bits` of the
// last are the low four of the byte, the others are ignored.
float SmallFloatToFloat(DType dtype, uint8_t bits);

// Round to nearest even. Infinity, and what rounds beyond the largest number, gives the largest number with `saturate`,
// without it infinity or, where the type has none, NaN (ONNX Cast, attribute saturate). NaN gives NaN. float4e2m1
// always saturates; NaN gives a zero of the other sign there, as ONNX's own conformance cases have it. float8e8m0 has
// neither sign nor zero: it rounds the magnitude by `round_mode`, 'u' up, 'd' down, 'n' to nearest with ties up; what
// is below its smallest number gives that, but zero without `saturate` gives NaN.
uint8_t FloatToSmallFloat(DType dtype, float value, bool saturate, char round_mode = 'u');

}  // namespace weft

#endif  // WEFT_BASE_FLOAT_TYPES_H_
