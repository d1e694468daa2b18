#include "base/float_types.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace weft {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

uint32_t Bits(float value) { return std::bit_cast<uint32_t>(value); }
float FromBits(uint32_t bits) { return std::bit_cast<float>(bits); }

// A type by the tables of the specification: (-1)^S * 2^(e - bias) * 1.m, or 2^(1 - bias) * 0.m where e is 0.
struct Spec {
  DType dtype;
  int exponent_bits, mantissa_bits, bias;
  int max;  // the code of the largest number; those up to the next power of two that follow are infinity and NaN
  double largest, smallest;  // as the specification lists them
  bool has_infinity, has_nan, has_negative_zero;

  int sign() const { return 1 << (exponent_bits + mantissa_bits); }
  // Of a code without sign, as if the type went on beyond its largest number.
  double Number(int code) const {
    const int e = code >> mantissa_bits;
    const double m = std::ldexp(code & ((1 << mantissa_bits) - 1), -mantissa_bits);
    return e == 0 ? std::ldexp(m, 1 - bias) : std::ldexp(1 + m, e - bias);
  }
};

const Spec kFloat16 = {DType::kFloat16, 5, 10, 15, 0x7bff, 65504, 0x1p-24, true, true, true};
const Spec kBFloat16 = {DType::kBFloat16, 8, 7, 127, 0x7f7f, 0x1.fep127, 0x1p-133, true, true, true};
const Spec kSmall[] = {
    {DType::kFloat8E4M3FN, 4, 3, 7, 0x7e, 448, 0x1p-9, false, true, true},
    {DType::kFloat8E4M3FNUZ, 4, 3, 8, 0x7f, 240, 0x1p-10, false, true, false},
    {DType::kFloat8E5M2, 5, 2, 15, 0x7b, 57344, 0x1p-16, true, true, true},
    {DType::kFloat8E5M2FNUZ, 5, 2, 16, 0x7f, 57344, 0x1p-17, false, true, false},
    {DType::kFloat4E2M1, 2, 1, 1, 0x7, 6, 0.5, false, false, true},
};

// The code, without sign, of the number nearest to a finite `magnitude`, of two the even one; more than spec.max beyond
// the type.
int NearestCode(const Spec& spec, double magnitude) {
  int low = 0, high = spec.max + 1;  // codes ascend as their numbers do
  if (magnitude >= spec.Number(high)) return high;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (spec.Number(middle) <= magnitude ? low : high) = middle;
  }
  const double below = magnitude - spec.Number(low), above = spec.Number(high) - magnitude;
  return below < above || (below == above && low % 2 == 0) ? low : high;
}

// Every number of the type, every midpoint between two, the floats next to those, every upper half of a float, and
// noise.
std::vector<float> Interesting(const Spec& spec) {
  std::vector<float> values = {0.0f, kInf, kNan};
  for (int code = 0; code <= spec.max + 1; ++code) {
    for (double v : {spec.Number(code), (spec.Number(code) + spec.Number(code + 1)) / 2}) {
      const auto f = static_cast<float>(v);
      values.insert(values.end(), {f, std::nextafter(f, 0.0f), std::nextafter(f, kInf)});
    }
  }
  for (uint32_t upper = 0; upper < 0x8000; ++upper) values.push_back(FromBits(upper << 16));
  std::mt19937 rng(11);
  for (int i = 0; i < 100000; ++i) values.push_back(FromBits(rng() & 0x7fffffff));
  const size_t positive = values.size();
  for (size_t i = 0; i < positive; ++i) values.push_back(-values[i]);
  return values;
}

TEST(Half, EveryPatternReads) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = HalfToFloat(static_cast<uint16_t>(bits));
    const int magnitude = bits & 0x7fff;
    EXPECT_EQ(std::signbit(value), bits >= 0x8000);
    if (magnitude <= kFloat16.max) {
      ASSERT_EQ(std::abs(value), kFloat16.Number(magnitude)) << bits;
    } else if (magnitude == 0x7c00) {
      ASSERT_TRUE(std::isinf(value)) << bits;
    } else {
      ASSERT_TRUE(std::isnan(value)) << bits;
    }
  }
}

TEST(Half, EveryPatternComesBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const bool nan = (bits & 0x7fff) > 0x7c00;
    ASSERT_EQ(FloatToHalf(HalfToFloat(static_cast<uint16_t>(bits))), nan ? bits | 0x200 : bits);
  }
}

TEST(BFloat16, EveryPatternComesBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    ASSERT_EQ(Bits(BFloat16ToFloat(static_cast<uint16_t>(bits))), bits << 16);
    const bool nan = (bits & 0x7fff) > 0x7f80;
    ASSERT_EQ(FloatToBFloat16(BFloat16ToFloat(static_cast<uint16_t>(bits))), nan ? bits | 0x40 : bits);
  }
}

TEST(Half, RoundsToNearestEven) {
  for (float value : Interesting(kFloat16)) {
    const uint16_t half = FloatToHalf(value);
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(HalfToFloat(half)));
      continue;
    }
    const int code = std::isinf(value) ? 0x7c00 : NearestCode(kFloat16, std::abs(value));
    ASSERT_EQ(half, code | (std::signbit(value) ? 0x8000 : 0)) << value;
  }
}

TEST(BFloat16, RoundsToNearestEven) {
  for (float value : Interesting(kBFloat16)) {
    const uint16_t rounded = FloatToBFloat16(value);
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(BFloat16ToFloat(rounded)));
      continue;
    }
    const int code = std::isinf(value) ? 0x7f80 : NearestCode(kBFloat16, std::abs(value));
    ASSERT_EQ(rounded, code | (std::signbit(value) ? 0x8000 : 0)) << value;
  }
}

TEST(NanPayloads, AreNeverLostToInfinity) {
  for (uint32_t nan : {0x7f800001u, 0x7f801fffu, 0x7fffffffu, 0xff800001u, 0xffffffffu}) {
    EXPECT_TRUE(std::isnan(HalfToFloat(FloatToHalf(FromBits(nan)))));
    EXPECT_TRUE(std::isnan(BFloat16ToFloat(FloatToBFloat16(FromBits(nan)))));
  }
}

TEST(SmallFloat, EveryPatternReads) {
  for (const Spec& spec : kSmall) {
    SCOPED_TRACE(DTypeName(spec.dtype));
    EXPECT_EQ(SmallFloatToFloat(spec.dtype, static_cast<uint8_t>(spec.max)), spec.largest);
    EXPECT_EQ(SmallFloatToFloat(spec.dtype, 1), spec.smallest);
    for (int bits = 0; bits < 2 * spec.sign(); ++bits) {
      const float value = SmallFloatToFloat(spec.dtype, static_cast<uint8_t>(bits));
      const int magnitude = bits % spec.sign();
      const bool negative = bits >= spec.sign();
      if (negative && magnitude == 0 && !spec.has_negative_zero) {
        EXPECT_TRUE(std::isnan(value));
      } else if (magnitude <= spec.max) {
        EXPECT_EQ(std::abs(value), spec.Number(magnitude)) << bits;
        EXPECT_EQ(std::signbit(value), negative) << bits;
      } else if (spec.has_infinity && magnitude == spec.max + 1) {
        EXPECT_EQ(value, negative ? -kInf : kInf);
      } else {
        EXPECT_TRUE(std::isnan(value)) << bits;
      }
    }
  }
}

// The two tables of ONNX's Cast.
TEST(SmallFloat, RoundsAndSaturatesAsCastSays) {
  for (const Spec& spec : kSmall) {
    for (bool saturate : {false, true}) {
      SCOPED_TRACE(DTypeName(spec.dtype));
      for (float value : Interesting(spec)) {
        const uint8_t bits = FloatToSmallFloat(spec.dtype, value, saturate);
        ASSERT_LT(bits, 2 * spec.sign());
        const float back = SmallFloatToFloat(spec.dtype, bits);
        const double sign = std::signbit(value) ? -1 : 1;
        if (std::isnan(value)) {
          ASSERT_TRUE(spec.has_nan ? std::isnan(back) : back == 0);
          continue;
        }
        const int code = std::isinf(value) ? spec.max + 1 : NearestCode(spec, std::abs(value));
        if (code <= spec.max) {
          ASSERT_EQ(back, sign * spec.Number(code)) << value;
          ASSERT_EQ(std::signbit(back), std::signbit(value) && (code != 0 || spec.has_negative_zero)) << value;
        } else if (saturate || !spec.has_nan) {
          ASSERT_EQ(back, sign * spec.largest) << value;
        } else if (spec.has_infinity) {
          ASSERT_EQ(back, sign * kInf) << value;
        } else {
          ASSERT_TRUE(std::isnan(back)) << value;
        }
      }
    }
  }
}

// What ml_dtypes, which wrote ONNX's conformance cases, gives for NaN, -NaN, infinity, -infinity, -0 and -1e-7 without
// saturation.
TEST(SmallFloat, SpecialCodes) {
  struct Row {
    DType dtype;
    uint8_t nan, minus_nan, infinity, minus_infinity, minus_zero, tiny;
  };
  for (const Row& row : {Row{DType::kFloat8E4M3FN, 0x7f, 0xff, 0x7f, 0xff, 0x80, 0x80},
                         Row{DType::kFloat8E4M3FNUZ, 0x80, 0x80, 0x80, 0x80, 0x00, 0x00},
                         Row{DType::kFloat8E5M2, 0x7e, 0xfe, 0x7c, 0xfc, 0x80, 0x80},
                         Row{DType::kFloat8E5M2FNUZ, 0x80, 0x80, 0x80, 0x80, 0x00, 0x00},
                         Row{DType::kFloat4E2M1, 0x08, 0x00, 0x07, 0x0f, 0x08, 0x08}}) {
    SCOPED_TRACE(DTypeName(row.dtype));
    EXPECT_EQ(FloatToSmallFloat(row.dtype, kNan, false), row.nan);
    EXPECT_EQ(FloatToSmallFloat(row.dtype, -kNan, false), row.minus_nan);
    EXPECT_EQ(FloatToSmallFloat(row.dtype, kInf, false), row.infinity);
    EXPECT_EQ(FloatToSmallFloat(row.dtype, -kInf, false), row.minus_infinity);
    EXPECT_EQ(FloatToSmallFloat(row.dtype, -0.0f, false), row.minus_zero);
    EXPECT_EQ(FloatToSmallFloat(row.dtype, -1e-7f, false), row.tiny);
  }
}

TEST(Float4, IgnoresTheUpperBits) {
  for (int bits = 0; bits < 16; ++bits) {
    EXPECT_EQ(Bits(SmallFloatToFloat(DType::kFloat4E2M1, static_cast<uint8_t>(bits | 0xa0))),
              Bits(SmallFloatToFloat(DType::kFloat4E2M1, static_cast<uint8_t>(bits))));
  }
}

TEST(E8M0, EveryPatternReadsAndComesBack) {
  for (int bits = 0; bits < 0xff; ++bits) {
    const float value = SmallFloatToFloat(DType::kFloat8E8M0, static_cast<uint8_t>(bits));
    EXPECT_EQ(value, std::ldexp(1.0, bits - 127));
    for (char mode : {'u', 'd', 'n'}) EXPECT_EQ(FloatToSmallFloat(DType::kFloat8E8M0, value, true, mode), bits) << mode;
  }
  EXPECT_TRUE(std::isnan(SmallFloatToFloat(DType::kFloat8E8M0, 0xff)));
}

TEST(E8M0, RoundsByItsMode) {
  for (float value : Interesting(kBFloat16)) {
    const float magnitude = std::abs(value);
    if (!(magnitude > 0x1p-127f) || std::isinf(value)) continue;
    const int below = std::ilogb(magnitude) + 127;
    const double ratio = magnitude / std::ldexp(1.0, below - 127);  // in [1, 2)
    for (char mode : {'u', 'd', 'n'}) {
      const bool up = mode == 'u' ? ratio > 1 : mode == 'n' && ratio >= 1.5;
      const int code = below + up;
      EXPECT_EQ(FloatToSmallFloat(DType::kFloat8E8M0, value, true, mode), std::min(code, 0xfe)) << value << mode;
      EXPECT_EQ(FloatToSmallFloat(DType::kFloat8E8M0, value, false, mode), code) << value << mode;
    }
  }
}

TEST(E8M0, SpecialValues) {
  for (char mode : {'u', 'd', 'n'}) {
    const auto code = [mode](float value, bool saturate) {
      return FloatToSmallFloat(DType::kFloat8E8M0, value, saturate, mode);
    };
    for (bool saturate : {false, true}) {
      EXPECT_EQ(code(kNan, saturate), 0xff);
      EXPECT_EQ(code(kInf, saturate), saturate ? 0xfe : 0xff);
      EXPECT_EQ(code(0.0f, saturate), saturate ? 0x00 : 0xff);
      EXPECT_EQ(code(0x1p-130f, saturate), 0x00);
      EXPECT_EQ(code(0x1p-127f, saturate), 0x00);
    }
  }
}

}  // namespace
}  // namespace weft
