// Cubic convolution (Keys, IEEE Transactions on Acoustics, Speech, and Signal Processing 29(6), 1981).
#ifndef WEFT_KERNELS_REF_CUBIC_H_
#define WEFT_KERNELS_REF_CUBIC_H_

#include <cmath>

namespace weft {

// The weight of an element at distance x; 0 from distance 2 on.
inline double CubicWeight(double x, double a) {
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

}  // namespace weft

#endif  // WEFT_KERNELS_REF_CUBIC_H_
