// Operands that are broadcast to a larger tensor and mostly are the end of its shape: a bias, a scale for each column.
#ifndef WEFT_KERNELS_REF_PERIODIC_H_
#define WEFT_KERNELS_REF_PERIODIC_H_

#include <algorithm>
#include <cstdint>

#include "kernels/ref/dispatch.h"
#include "kernels/ref/elements.h"
#include "weft/tensor.h"

namespace weft {

// Element i of the larger tensor meets element i % period.
template <class T>
struct Periodic {
  Tensor values;
  int64_t period = 0;

  // The elements for the tensor's elements from `begin` on; the next `run` of them lie in a row.
  const T* At(int64_t begin, int64_t* run) const {
    *run = period - begin % period;
    return values.data<T>() + begin % period;
  }
};

// `t`, which broadcasts to `dims`, widened; repeated only where its shape is not the end of `dims` (but for leading ones).
template <class T>
absl::StatusOr<Periodic<T>> Repeat(const Tensor& t, absl::Span<const int64_t> dims) {
  WEFT_ASSIGN_OR_RETURN(Tensor wide, Widen<T>(t));
  absl::Span<const int64_t> own = wide.dims();
  while (!own.empty() && own.front() == 1) own.remove_prefix(1);
  if (own.size() <= dims.size() && std::equal(own.begin(), own.end(), dims.end() - own.size())) return Periodic<T>{wide, wide.size()};
  WEFT_ASSIGN_OR_RETURN(Tensor full, Tensor::AllocateUninitialized(DTypeOf<T>::value, dims));
  const Dims trimmed(own.begin(), own.end());
  const BroadcastLoop<1> loop(dims, {&trimmed});
  loop.Run(2, [&](int64_t at, const std::array<int64_t, 1>& from, int64_t count) {
    for (int64_t i = 0; i < count; ++i) full.data<T>()[at + i] = wide.data<T>()[from[0] + i * loop.inner_stride(0)];
  });
  return Periodic<T>{full, full.size()};
}

}  // namespace weft

#endif  // WEFT_KERNELS_REF_PERIODIC_H_
