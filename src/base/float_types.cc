#include "base/float_types.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft {
namespace {

constexpr uint32_t kFloatInfinity = 0x7f800000;
constexpr uint8_t kNone = 0;

// From the top: a sign, an exponent, `mantissa_bits`. Codes without the sign ascend as their numbers do.
struct Format {
  int mantissa_bits, bias;
  uint8_t sign;
  uint8_t max;       // the largest number
  uint8_t infinity;  // or kNone
  uint8_t nan;       // or kNone; equal to `sign` where what would be -0 is the only NaN
};

Format FormatOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat8E4M3FN:
      return {3, 7, 0x80, 0x7e, kNone, 0x7f};
    case DType::kFloat8E4M3FNUZ:
      return {3, 8, 0x80, 0x7f, kNone, 0x80};
    case DType::kFloat8E5M2:
      return {2, 15, 0x80, 0x7b, 0x7c, 0x7e};
    case DType::kFloat8E5M2FNUZ:
      return {2, 16, 0x80, 0x7f, kNone, 0x80};
    default:
      return {1, 1, 0x08, 0x07, kNone, kNone};  // float4e2m1
  }
}

// 2^exponent, within the normal numbers of float.
float PowerOfTwo(int exponent) { return std::bit_cast<float>(static_cast<uint32_t>(exponent + 127) << 23); }

float Number(const Format& f, uint8_t magnitude) {
  const int exponent = magnitude >> f.mantissa_bits, mantissa = magnitude & ((1 << f.mantissa_bits) - 1);
  const int hidden = exponent == 0 ? 0 : 1 << f.mantissa_bits;
  return static_cast<float>(mantissa + hidden) * PowerOfTwo(std::max(exponent, 1) - f.bias - f.mantissa_bits);
}

// An exponent of float and nothing else: the code e stands for 2^(e - 127), 0xff for NaN.
float E8M0ToFloat(uint8_t bits) {
  if (bits == 0xff) return std::numeric_limits<float>::quiet_NaN();
  return std::bit_cast<float>(bits == 0 ? 0x00400000u : static_cast<uint32_t>(bits) << 23);
}

uint8_t FloatToE8M0(float value, bool saturate, char round_mode) {
  constexpr uint8_t kMax = 0xfe, kNan = 0xff;
  const uint32_t magnitude = std::bit_cast<uint32_t>(value) & 0x7fffffff;
  if (magnitude > kFloatInfinity) return kNan;
  if (magnitude == 0) return saturate ? 0 : kNan;
  if (magnitude <= 0x00400000) return 0;  // 2^-127, the smallest
  const uint32_t exponent = magnitude >> 23, fraction = magnitude & 0x7fffff;
  bool up = round_mode == 'n' ? fraction >= 0x400000 : round_mode == 'u' && fraction != 0;
  // Between 2^-127 and 2^-126 float is subnormal: its fraction has the leading one in it.
  if (exponent == 0 && round_mode == 'n') up = fraction >= 0x600000;
  const uint32_t code = exponent + (up ? 1 : 0);
  if (code > kMax) return saturate ? kMax : kNan;
  return static_cast<uint8_t>(code);
}

}  // namespace

float SmallFloatToFloat(DType dtype, uint8_t bits) {
  if (dtype == DType::kFloat8E8M0) return E8M0ToFloat(bits);
  const Format f = FormatOf(dtype);
  const auto magnitude = static_cast<uint8_t>(bits & (f.sign - 1));
  const bool negative = (bits & f.sign) != 0;
  float number = Number(f, magnitude);
  if (f.infinity != kNone && magnitude == f.infinity) {
    number = std::numeric_limits<float>::infinity();
  } else if (magnitude > f.max || (f.nan == f.sign && bits == f.nan)) {
    number = std::numeric_limits<float>::quiet_NaN();
  }
  return negative ? -number : number;
}

uint8_t FloatToSmallFloat(DType dtype, float value, bool saturate, char round_mode) {
  if (dtype == DType::kFloat8E8M0) return FloatToE8M0(value, saturate, round_mode);
  const Format f = FormatOf(dtype);
  const uint32_t bits = std::bit_cast<uint32_t>(value), magnitude = bits & 0x7fffffff;
  const uint8_t sign = bits == magnitude ? 0 : f.sign;
  if (magnitude > kFloatInfinity) return f.nan == kNone ? sign ^ f.sign : sign | f.nan;
  // The significand loses `dropped` bits; the carry of rounding may run into the exponent, where it belongs.
  const int exponent = static_cast<int>(magnitude >> 23) - 127 + f.bias;
  const int dropped = 23 - f.mantissa_bits + std::max(0, 1 - exponent);
  uint32_t code = 0;
  if (dropped <= 24) {  // else below half of the smallest number
    const uint32_t significand = (magnitude & 0x7fffff) | 0x800000;
    const uint32_t rounded = (significand + (1u << (dropped - 1)) - 1 + (significand >> dropped & 1)) >> dropped;
    code = (static_cast<uint32_t>(std::max(exponent, 1) - 1) << f.mantissa_bits) + rounded;
  }
  if (code > f.max) {
    if (saturate || f.nan == kNone) return sign | f.max;
    return sign | (f.infinity != kNone ? f.infinity : f.nan);
  }
  if (code == 0 && f.nan == f.sign) return 0;
  return static_cast<uint8_t>(sign | code);
}

}  // namespace weft
