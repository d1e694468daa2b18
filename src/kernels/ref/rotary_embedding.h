// The rotation of one head's vector, for every op that turns by position.
#ifndef WEFT_KERNELS_REF_ROTARY_EMBEDDING_H_
#define WEFT_KERNELS_REF_ROTARY_EMBEDDING_H_

#include <cstdint>

#include "kernels/ref/attention.h"

namespace weft {

// Turns the `half` pairs at the front of x into y, which may be x; each operation is rounded to E.
template <class E>
void Rotate(const E* cos, const E* sin, int64_t half, bool interleaved, const E* x, E* y) {
  using C = Compute<E>;
  const int64_t step = interleaved ? 2 : 1, second = interleaved ? 1 : half;
  for (int64_t i = 0; i < half; ++i) {
    const C c = static_cast<C>(cos[i]), s = static_cast<C>(sin[i]);
    const C x1 = static_cast<C>(x[i * step]), x2 = static_cast<C>(x[i * step + second]);
    y[i * step] = E(RoundAs<E>(c * x1) - RoundAs<E>(s * x2));
    y[i * step + second] = E(RoundAs<E>(s * x1) + RoundAs<E>(c * x2));
  }
}

}  // namespace weft

#endif  // WEFT_KERNELS_REF_ROTARY_EMBEDDING_H_
