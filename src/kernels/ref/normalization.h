// Row-wise normalisation, shared by the reference kernels of the layer and skip-layer norms.
#ifndef WEFT_KERNELS_REF_NORMALIZATION_H_
#define WEFT_KERNELS_REF_NORMALIZATION_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/ref/periodic.h"

namespace weft {

struct Moments {
  double mean = 0, variance = 0;
};

// In double, in two passes, so that neither large means nor large squares spoil it.
template <class T>
Moments MomentsOf(const T* x, int64_t count) {
  constexpr int kLanes = 4;
  double sums[kLanes] = {}, squares[kLanes] = {};
  const int64_t whole = count / kLanes * kLanes;
  for (int64_t i = 0; i < whole; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) sums[j] += x[i + j];
  }
  for (int64_t i = whole; i < count; ++i) sums[0] += x[i];
  const double mean = (sums[0] + sums[1] + sums[2] + sums[3]) / static_cast<double>(count);
  for (int64_t i = 0; i < whole; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) squares[j] += (x[i + j] - mean) * (x[i + j] - mean);
  }
  for (int64_t i = whole; i < count; ++i) squares[0] += (x[i] - mean) * (x[i] - mean);
  return {mean, (squares[0] + squares[1] + squares[2] + squares[3]) / static_cast<double>(count)};
}

template <class T>
double MeanSquare(const T* x, int64_t count) {
  double sums[4] = {};
  const int64_t whole = count / 4 * 4;
  for (int64_t i = 0; i < whole; i += 4) {
    for (int j = 0; j < 4; ++j) sums[j] += static_cast<double>(x[i + j]) * x[i + j];
  }
  for (int64_t i = whole; i < count; ++i) sums[0] += static_cast<double>(x[i]) * x[i];
  return (sums[0] + sums[1] + sums[2] + sums[3]) / static_cast<double>(count);
}

// y = (x - mean) * factor * scale + bias over elements [begin, begin + count) of the whole tensor, which `x` and `y` point at;
// bias may be null.
template <class T>
void NormalizeRow(const T* x, T* y, int64_t begin, int64_t count, T mean, T factor, const Periodic<T>& scale,
                  const std::type_identity_t<Periodic<T>>* bias = nullptr) {
  for (int64_t i = 0; i < count;) {
    int64_t run = 0, bias_run = count;
    const T* s = scale.At(begin + i, &run);
    const T* b = bias != nullptr ? bias->At(begin + i, &bias_run) : nullptr;
    run = std::min({run, bias_run, count - i});
    if (b == nullptr) {
      for (int64_t j = 0; j < run; ++j) y[i + j] = (x[i + j] - mean) * factor * s[j];
    } else {
      for (int64_t j = 0; j < run; ++j) y[i + j] = (x[i + j] - mean) * factor * s[j] + b[j];
    }
    i += run;
  }
}

}  // namespace weft

#endif  // WEFT_KERNELS_REF_NORMALIZATION_H_
