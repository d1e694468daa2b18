// Discrete Fourier transforms of any length, in double.
#ifndef WEFT_KERNELS_REF_FFT_H_
#define WEFT_KERNELS_REF_FFT_H_

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "weft/tensor.h"

namespace weft {

// The transform of one length: tables made once, read by any number of threads.
class Fft {
 public:
  using Complex = std::complex<double>;

  // Errors: Exhausted.
  static absl::StatusOr<Fft> Create(int64_t n);  // n >= 1

  int64_t size() const { return n_; }
  // How many numbers of scratch memory a call takes.
  int64_t scratch_size() const { return convolution_ == nullptr ? 0 : 2 * convolution_->n_; }

  // out[k] = sum over j of in[j] exp(-2 pi i jk / n). `in`, `out` and `scratch` do not overlap.
  void Forward(const Complex* in, Complex* out, Complex* scratch) const;
  // out[j] = 1/n sum over k of in[k] exp(2 pi i jk / n). `in` is spoilt.
  void Inverse(Complex* in, Complex* out, Complex* scratch) const;

 private:
  Fft() = default;

  void MixedRadix(const Complex* in, int64_t stride, Complex* out, int64_t n, size_t level) const;
  void Combine(Complex* out, int64_t n, int64_t stride, int radix) const;
  void Bluestein(const Complex* in, Complex* out, Complex* scratch) const;

  int64_t n_ = 0;
  // Lengths of small factors: their product is n.
  std::vector<int> factors_;
  Tensor roots_;  // [n]: exp(-2 pi i k / n)
  // Other lengths.
  std::unique_ptr<Fft> convolution_;
  Tensor chirp_;            // [n]: exp(-pi i k^2 / n)
  Tensor chirp_transform_;  // [convolution_->n_]: of its conjugate, around 0
};

}  // namespace weft

#endif  // WEFT_KERNELS_REF_FFT_H_
