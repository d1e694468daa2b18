#include "base/float_types.h"

#include <bit>
#include <cmath>
#include <limits>

namespace weft {

float HalfToFloat(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t exponent = bits >> 10 & 0x1f, mantissa = bits & 0x3ff;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | mantissa << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  const float subnormal = static_cast<float>(mantissa) * 0x1p-24f;
  return sign != 0 ? -subnormal : subnormal;
}

uint16_t FloatToHalf(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00 | (magnitude >> 13 & 0x1ff);  // NaN, quiet
  if (magnitude >= 0x477ff000) return sign | 0x7c00;                             // rounds beyond 65504
  if (magnitude < 0x38800000) {
    // Subnormal: adding 0.5 puts the last bit of the result at the last bit of the sum, which rounds to nearest even.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return sign | static_cast<uint16_t>(std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(0.5f));
  }
  const uint32_t odd = magnitude >> 13 & 1;
  return sign | static_cast<uint16_t>((magnitude + 0xfff + odd - (112u << 23)) >> 13);
}

float BFloat16ToFloat(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

uint16_t FloatToBFloat16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

namespace {

// A sign, `exponent_bits`, `mantissa_bits`. Where the topmost exponent stands for numbers too, `max_bits` is the largest of them.
struct Format {
  int exponent_bits, mantissa_bits, bias;
  uint8_t max_bits;  // the largest finite number
  uint8_t infinity;  // 0: there is none
  uint8_t nan;       // 0: there is none
  bool fnuz;         // no negative zero: its bits are NaN's
};

Format FormatOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat8E4M3FN: return {4, 3, 7, 0x7e, 0, 0x7f, false};
    case DType::kFloat8E4M3FNUZ: return {4, 3, 8, 0x7f, 0, 0x80, true};
    case DType::kFloat8E5M2: return {5, 2, 15, 0x7b, 0x7c, 0x7e, false};
    case DType::kFloat8E5M2FNUZ: return {5, 2, 16, 0x7f, 0, 0x80, true};
    default: return {2, 1, 1, 0x07, 0, 0, false};  // float4e2m1
  }
}

float Magnitude(const Format& format, uint8_t bits) {
  const int mantissa = bits & ((1 << format.mantissa_bits) - 1), exponent = bits >> format.mantissa_bits;
  if (exponent == 0) return std::ldexp(static_cast<float>(mantissa), 1 - format.bias - format.mantissa_bits);
  return std::ldexp(static_cast<float>(mantissa + (1 << format.mantissa_bits)), exponent - format.bias - format.mantissa_bits);
}

uint8_t FloatToE8M0(float value, bool saturate, char round_mode) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t exponent = bits >> 23 & 0xff, fraction = bits & 0x7fffff;
  if (exponent == 0xff) return 0xff;
  bool up = false;
  if (round_mode == 'u') up = fraction != 0;
  if (round_mode == 'n') up = fraction > 0x400000 || (fraction == 0x400000 && exponent > 0);
  if (up && exponent == 0xfe && saturate) up = false;
  return static_cast<uint8_t>(exponent + up);
}

}  // namespace

float SmallFloatToFloat(DType dtype, uint8_t bits) {
  if (dtype == DType::kFloat8E8M0) {
    return bits == 0xff ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0f, bits - 127);
  }
  const Format format = FormatOf(dtype);
  const int sign_bit = 1 << (format.exponent_bits + format.mantissa_bits);
  const uint8_t magnitude = bits & (sign_bit - 1);
  const bool negative = (bits & sign_bit) != 0;
  if (format.fnuz && bits == format.nan) return std::numeric_limits<float>::quiet_NaN();
  if (format.infinity != 0 && magnitude == format.infinity) return negative ? -INFINITY : INFINITY;
  if (!format.fnuz && format.nan != 0 && magnitude > format.max_bits) {
    return std::copysign(std::numeric_limits<float>::quiet_NaN(), negative ? -1.0f : 1.0f);
  }
  const float value = Magnitude(format, magnitude);
  return negative ? -value : value;
}

uint8_t FloatToSmallFloat(DType dtype, float value, bool saturate, char round_mode) {
  if (dtype == DType::kFloat8E8M0) return FloatToE8M0(value, saturate, round_mode);
  const Format format = FormatOf(dtype);
  const auto sign = static_cast<uint8_t>(std::signbit(value) ? 1 << (format.exponent_bits + format.mantissa_bits) : 0);
  if (std::isnan(value)) {
    if (format.nan == 0) return sign | format.max_bits;  // float4e2m1 has no NaN
    return format.fnuz ? format.nan : sign | format.nan;
  }
  const float magnitude = std::abs(value), largest = Magnitude(format, format.max_bits);
  // The number is q units of its binade's last place, rounded to nearest even; q may reach the next binade.
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const int last_place = std::max(exponent - 1, 1 - format.bias) - format.mantissa_bits;
  const double q = std::isinf(magnitude) ? INFINITY : std::nearbyint(std::ldexp(static_cast<double>(magnitude), -last_place));
  const double rounded = std::ldexp(q, last_place);
  if (rounded > largest) {
    if (saturate || format.nan == 0) return sign | format.max_bits;
    if (format.infinity != 0) return sign | format.infinity;
    return format.fnuz ? format.nan : sign | format.nan;
  }
  if (rounded == 0) return format.fnuz ? 0 : sign;
  int binade = 0;
  std::frexp(rounded, &binade);
  --binade;
  if (binade < 1 - format.bias) return sign | static_cast<uint8_t>(std::ldexp(rounded, format.bias - 1 + format.mantissa_bits));
  const auto mantissa = static_cast<int>(std::ldexp(rounded, format.mantissa_bits - binade)) - (1 << format.mantissa_bits);
  return sign | static_cast<uint8_t>((binade + format.bias) << format.mantissa_bits | mantissa);
}

}  // namespace weft
