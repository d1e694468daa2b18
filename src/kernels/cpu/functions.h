// exp and erf of float, for loops that the compiler vectorises: no branches, no calls, no tables. Coefficients are minimax fits.
#ifndef WEFT_KERNELS_CPU_FUNCTIONS_H_
#define WEFT_KERNELS_CPU_FUNCTIONS_H_

#include <bit>
#include <cstdint>

#include "kernels/cpu/instruction_set.h"

namespace weft::cpu {

// 2^n for n in [-126, 127].
WEFT_LOOP float PowerOfTwo(int32_t n) { return std::bit_cast<float>((n + 127) << 23); }

// exp(x) for x in [-104, 89]; NaN for NaN. Within 1 ulp, also where the result is subnormal.
WEFT_LOOP float ExpInRange(float x) {
  constexpr float kRound = 0x1.8p23f;  // x + kRound - kRound is x rounded to an integer, which the low bits of the sum hold
  constexpr float kLog2E = 0x1.715476p0f;
  constexpr float kLn2High = 0x1.62e4p-1f;  // 15 bits, so that its product with a small integer is exact
  constexpr float kLn2Low = 0x1.7f7d1cp-20f;
  const float shifted = x * kLog2E + kRound;
  const float whole = shifted - kRound;
  const int32_t n = std::bit_cast<int32_t>(shifted) - std::bit_cast<int32_t>(kRound);
  const float r = (x - whole * kLn2High) - whole * kLn2Low;  // |r| <= ln(2) / 2
  float p = 0x1.6a2352p-10f;
  p = p * r + 0x1.123a6cp-7f;
  p = p * r + 0x1.5558f4p-5f;
  p = p * r + 0x1.555490p-3f;
  p = p * r + 0x1.fffffcp-2f;
  const float power = 1.0f + (r + r * r * p);
  // In two steps: 2^n alone may be subnormal or too large.
  const int32_t half = n >> 1;
  return power * PowerOfTwo(half) * PowerOfTwo(n - half);
}

WEFT_LOOP float Exp(float x) {
  x = x < -104.0f ? -104.0f : x;
  x = x > 89.0f ? 89.0f : x;
  return ExpInRange(x);
}

// Within 2 ulp.
WEFT_LOOP float Erf(float x) {
  const float t = x < 0 ? -x : x, s = x * x;
  float p = 0x1.5cd524p-14f;
  p = p * s + -0x1.aa3f58p-11f;
  p = p * s + 0x1.54c7fap-8f;
  p = p * s + -0x1.b80e92p-6f;
  p = p * s + 0x1.ce2e0ap-4f;
  p = p * s + -0x1.812742p-2f;
  p = p * s + 0x1.06eba8p-3f;
  const float small = x + x * p;
  // 1 - exp(-q): q is -log(erfc(t)).
  const float u = t < 4.0f ? t : 4.0f;
  float q = -0x1.c11cfcp-13f;
  q = q * u + 0x1.a59634p-9f;
  q = q * u + -0x1.771d1ep-6f;
  q = q * u + 0x1.af3020p-4f;
  q = q * u + 0x1.457bf2p-1f;
  q = q * u + 0x1.20e676p0f;
  const float rest = 1.0f - ExpInRange(-(q * u));
  const float large = x < 0 ? -rest : rest;
  return t > 0.93f ? large : small;
}

}  // namespace weft::cpu

#endif  // WEFT_KERNELS_CPU_FUNCTIONS_H_
