// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3; 2011): random bits as a function of a key and a
// counter, so that element i of a tensor is the same number whichever thread draws it.
#ifndef WEFT_KERNELS_REF_PHILOX_H_
#define WEFT_KERNELS_REF_PHILOX_H_

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace weft {

using PhiloxBlock = std::array<uint32_t, 4>;

inline PhiloxBlock Philox(PhiloxBlock counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t even = uint64_t{0xD2511F53} * counter[0], odd = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(odd >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(odd),
               static_cast<uint32_t>(even >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(even)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

// Numbers by index from a seed.
class RandomNumbers {
 public:
  explicit RandomNumbers(uint64_t seed) : key_{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)} {}

  // Uniform in [0, 1), of 53 bits.
  double Uniform(int64_t index) const {
    const PhiloxBlock bits = Block(index);
    return Fraction(bits[0], bits[1]);
  }
  // Normal with mean 0 and deviation 1, by Box and Muller.
  double Normal(int64_t index) const {
    const PhiloxBlock bits = Block(index);
    const double radius = std::sqrt(-2 * std::log(1 - Fraction(bits[0], bits[1])));
    return radius * std::cos(2 * std::numbers::pi * Fraction(bits[2], bits[3]));
  }

 private:
  PhiloxBlock Block(int64_t index) const {
    const auto i = static_cast<uint64_t>(index);
    return Philox({static_cast<uint32_t>(i), static_cast<uint32_t>(i >> 32), 0, 0}, key_);
  }
  static double Fraction(uint32_t high, uint32_t low) { return ((high >> 5) * 0x1p26 + (low >> 6)) * 0x1p-53; }

  std::array<uint32_t, 2> key_;
};

}  // namespace weft

#endif  // WEFT_KERNELS_REF_PHILOX_H_
