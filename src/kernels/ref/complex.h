// Complex numbers beside the others.
#ifndef WEFT_KERNELS_REF_COMPLEX_H_
#define WEFT_KERNELS_REF_COMPLEX_H_

#include <complex>

#include "kernels/ref/dispatch.h"

namespace weft {

// As DispatchNumeric, for std::complex<float> and std::complex<double> too.
template <class F>
absl::Status DispatchNumericOrComplex(DType dtype, F&& f) {
  if (dtype == DType::kComplex64) return f.template operator()<std::complex<float>>();
  if (dtype == DType::kComplex128) return f.template operator()<std::complex<double>>();
  return DispatchNumeric(dtype, f);
}

}  // namespace weft

#endif  // WEFT_KERNELS_REF_COMPLEX_H_
