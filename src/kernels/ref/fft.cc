#include "kernels/ref/fft.h"

#include <algorithm>
#include <bit>
#include <numbers>
#include <utility>

#include "base/status_macros.h"

namespace weft {
namespace {

using Complex = Fft::Complex;

// Without the library's care for infinities, which costs more than the product.
inline Complex Times(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

constexpr int kLargestRadix = 13;

// Fours first, then primes; empty where a prime factor is too large.
std::vector<int> SmallFactors(int64_t n) {
  std::vector<int> factors;
  for (int radix : {4, 2, 3, 5, 7, 11, kLargestRadix}) {
    for (; n % radix == 0; n /= radix) factors.push_back(radix);
  }
  return n == 1 ? factors : std::vector<int>();
}

absl::StatusOr<Tensor> Numbers(int64_t n) { return Tensor::AllocateUninitialized(DType::kComplex128, {n}); }

}  // namespace

absl::StatusOr<Fft> Fft::Create(int64_t n) {
  constexpr int64_t kLongest = int64_t{1} << 40;
  if (n < 1 || n > kLongest) return Exhausted("a Fourier transform of length ", n, ", expected 1 to ", kLongest);
  Fft fft;
  fft.n_ = n;
  fft.factors_ = SmallFactors(n);
  if (n == 1 || !fft.factors_.empty()) {
    WEFT_ASSIGN_OR_RETURN(fft.roots_, Numbers(n));
    for (int64_t k = 0; k < n; ++k) {
      fft.roots_.data<Complex>()[k] = std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n));
    }
    return fft;
  }
  WEFT_ASSIGN_OR_RETURN(Fft convolution, Create(static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(2 * n - 1)))));
  const int64_t m = convolution.n_;
  WEFT_ASSIGN_OR_RETURN(fft.chirp_, Numbers(n));
  WEFT_ASSIGN_OR_RETURN(fft.chirp_transform_, Numbers(m));
  WEFT_ASSIGN_OR_RETURN(Tensor around, Tensor::Allocate(DType::kComplex128, {m}));
  Complex* chirp = fft.chirp_.data<Complex>();
  Complex* both = around.data<Complex>();
  int64_t square = 0;  // k^2 modulo 2n, the period of exp(-pi i . / n)
  for (int64_t k = 0; k < n; ++k) {
    chirp[k] = std::polar(1.0, -std::numbers::pi * static_cast<double>(square) / static_cast<double>(n));
    both[k] = both[(m - k) % m] = std::conj(chirp[k]);
    square = (square + 2 * k + 1) % (2 * n);
  }
  convolution.Forward(both, fft.chirp_transform_.data<Complex>(), nullptr);
  fft.convolution_ = std::make_unique<Fft>(std::move(convolution));
  return fft;
}

void Fft::Forward(const Complex* in, Complex* out, Complex* scratch) const {
  if (convolution_ != nullptr) {
    Bluestein(in, out, scratch);
  } else if (n_ == 1) {
    out[0] = in[0];
  } else {
    MixedRadix(in, 1, out, n_, 0);
  }
}

void Fft::Inverse(Complex* in, Complex* out, Complex* scratch) const {
  for (int64_t i = 0; i < n_; ++i) in[i] = std::conj(in[i]);
  Forward(in, out, scratch);
  const double scale = 1 / static_cast<double>(n_);
  for (int64_t i = 0; i < n_; ++i) out[i] = std::conj(out[i]) * scale;
}

// Cooley and Tukey, decimation in time: the transforms of every radix-th element, then one pass that combines them.
void Fft::MixedRadix(const Complex* in, int64_t stride, Complex* out, int64_t n, size_t level) const {
  const int radix = factors_[level];
  const int64_t part = n / radix;
  for (int64_t r = 0; r < radix; ++r) {
    if (part == 1) out[r] = in[r * stride];
    else MixedRadix(in + r * stride, stride * radix, out + r * part, part, level + 1);
  }
  Combine(out, n, stride, radix);
}

// `stride` is n_ / n: roots_[stride * k] is exp(-2 pi i k / n).
void Fft::Combine(Complex* out, int64_t n, int64_t stride, int radix) const {
  const Complex* roots = roots_.data<const Complex>();
  const int64_t part = n / radix;
  if (radix == 2) {
    for (int64_t k = 0; k < part; ++k) {
      const Complex a = out[k], b = Times(out[part + k], roots[stride * k]);
      out[k] = a + b;
      out[part + k] = a - b;
    }
  } else if (radix == 4) {
    for (int64_t k = 0; k < part; ++k) {
      const Complex a = out[k], b = Times(out[part + k], roots[stride * k]), c = Times(out[2 * part + k], roots[stride * 2 * k]),
                    d = Times(out[3 * part + k], roots[stride * 3 * k]);
      const Complex sum_ac = a + c, less_ac = a - c, sum_bd = b + d;
      const Complex turned(b.imag() - d.imag(), d.real() - b.real());  // -i (b - d)
      out[k] = sum_ac + sum_bd;
      out[part + k] = less_ac + turned;
      out[2 * part + k] = sum_ac - sum_bd;
      out[3 * part + k] = less_ac - turned;
    }
  } else {
    const int64_t turn = n_ / radix;
    Complex parts[kLargestRadix];
    for (int64_t k = 0; k < part; ++k) {
      for (int64_t r = 0; r < radix; ++r) parts[r] = Times(out[r * part + k], roots[stride * r * k]);
      for (int64_t q = 0; q < radix; ++q) {
        Complex sum = parts[0];
        for (int64_t r = 1; r < radix; ++r) sum += Times(parts[r], roots[q * r % radix * turn]);
        out[q * part + k] = sum;
      }
    }
  }
}

// jk = (j^2 + k^2 - (k - j)^2) / 2 makes a convolution with a chirp of the transform.
void Fft::Bluestein(const Complex* in, Complex* out, Complex* scratch) const {
  const int64_t m = convolution_->n_;
  Complex* a = scratch;
  Complex* b = scratch + m;
  const Complex* chirp = chirp_.data<const Complex>();
  const Complex* transform = chirp_transform_.data<const Complex>();
  for (int64_t j = 0; j < n_; ++j) a[j] = Times(in[j], chirp[j]);
  std::fill(a + n_, a + m, Complex());
  convolution_->Forward(a, b, nullptr);
  for (int64_t k = 0; k < m; ++k) b[k] = Times(b[k], transform[k]);
  convolution_->Inverse(b, a, nullptr);
  for (int64_t k = 0; k < n_; ++k) out[k] = Times(a[k], chirp[k]);
}

}  // namespace weft
