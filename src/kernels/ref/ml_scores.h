// Scores of the classifiers and regressors of ai.onnx.ml, made into what they return. The specification names the transforms and leaves the
// rest open; these are the rules of ONNX Runtime, which the exporters of scikit-learn, XGBoost and LightGBM rely on.
#ifndef WEFT_KERNELS_REF_ML_SCORES_H_
#define WEFT_KERNELS_REF_ML_SCORES_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "graph/ops/ml.h"
#include "weft/tensor.h"

namespace weft {

template <class T>
T Logistic(T x) {
  const T y = 1 / (1 + std::exp(-std::abs(x)));
  return x < 0 ? 1 - y : y;
}

// The quantile function of the normal distribution by Winitzki's formula for the inverse of erf: with his constant a, and
// L = ln(1 - z^2), it is sqrt(sqrt(b^2 - L/a) - b) where b = 2/(pi a) + L/2. Good to 2e-3, and what others compute too.
template <class T>
T Probit(T p) {
  constexpr T a = T(0.147), pi = T(3.14159);
  const T z = 2 * p - 1, l = std::log((1 - z) * (1 + z)), b = 2 / (pi * a) + l / 2;
  const T root = std::sqrt(std::sqrt(b * b - l / a) - b);
  return std::sqrt(T(2)) * (z < 0 ? -root : root);
}

// exp(x) / sum of exp, where with `keep_zeros` the zeros take no part and stay what they are.
template <class T>
void SoftmaxScores(absl::Span<T> scores, bool keep_zeros) {
  auto skip = [keep_zeros](T x) { return keep_zeros && std::abs(x) <= T(1e-7); };
  const T most = *std::max_element(scores.begin(), scores.end());
  T sum = 0;
  for (T& x : scores) {
    if (skip(x)) continue;
    x = std::exp(x - most);
    sum += x;
  }
  if (sum == 0) return;
  for (T& x : scores) x /= sum;
}

// Two scores and more: one by one, or all of them together.
template <class T>
void TransformScores(PostTransform transform, absl::Span<T> scores) {
  switch (transform) {
    case PostTransform::kNone: return;
    case PostTransform::kLogistic:
      for (T& x : scores) x = Logistic(x);
      return;
    case PostTransform::kProbit:
      for (T& x : scores) x = Probit(x);
      return;
    case PostTransform::kSoftmax: return SoftmaxScores(scores, false);
    case PostTransform::kSoftmaxZero: return SoftmaxScores(scores, true);
  }
}

// Two classes of which the model scores one.
enum class OtherClass : uint8_t {
  kAbsent,      // there is one class
  kComplement,  // scores are probabilities: the other's is 1 - p
  kOpposite,    // scores are margins: the other's is -s
};

// `score` is the one that there is; `out` has one element, or two where there is another class.
template <class T>
void WriteSingleScore(PostTransform transform, T score, OtherClass other, absl::Span<float> out) {
  if (transform == PostTransform::kProbit) score = Probit(score);
  out[0] = static_cast<float>(score);
  if (out.size() < 2) return;
  if (transform == PostTransform::kProbit || other == OtherClass::kAbsent) {
    out[1] = 0;
  } else if (other == OtherClass::kComplement) {
    out[0] = static_cast<float>(1 - score);
    out[1] = static_cast<float>(score);
  } else if (transform == PostTransform::kLogistic) {
    out[0] = static_cast<float>(Logistic(-score));
    out[1] = static_cast<float>(Logistic(score));
  } else {
    out[0] = static_cast<float>(-score);
    out[1] = static_cast<float>(score);
  }
}

// Writes labels, whichever of the two lists holds them.
class LabelWriter {
 public:
  LabelWriter(const std::vector<int64_t>& ints, const std::vector<std::string>& strings, Tensor* out)
      : ints_(ints), strings_(strings), out_(out) {}
  void Write(int64_t row, int64_t label) const {
    if (out_ == nullptr) return;
    if (strings_.empty()) {
      out_->data<int64_t>()[row] = ints_[label];
    } else {
      out_->data<std::string>()[row] = strings_[label];
    }
  }
  // Where there is one class: 1 or 0 instead of its label.
  void WriteFlag(int64_t row, bool flag) const {
    if (out_ == nullptr) return;
    if (strings_.empty()) {
      out_->data<int64_t>()[row] = flag ? 1 : 0;
    } else {
      out_->data<std::string>()[row] = flag ? '1' : '0';
    }
  }

 private:
  const std::vector<int64_t>& ints_;
  const std::vector<std::string>& strings_;
  Tensor* out_;
};

}  // namespace weft

#endif  // WEFT_KERNELS_REF_ML_SCORES_H_
