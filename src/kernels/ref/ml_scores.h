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

// What a model returns of its scores: a single one by itself has no logistic and no softmax.
template <class T>
void FinishScores(PostTransform transform, absl::Span<T> scores) {
  if (scores.size() > 1 || transform == PostTransform::kProbit) TransformScores(transform, scores);
}

// Two classes and one score, that of the second: a probability where the model's parts are all positive, else a margin around zero.
template <class T>
struct BinaryScore {
  T score;
  bool is_probability;

  bool second() const { return score > (is_probability ? T(0.5) : T(0)); }
  void Write(PostTransform transform, float* out) const {
    switch (transform) {
      case PostTransform::kLogistic:
        out[0] = static_cast<float>(Logistic(-score));
        out[1] = static_cast<float>(Logistic(score));
        return;
      case PostTransform::kProbit:
        out[0] = static_cast<float>(Probit(1 - score));
        out[1] = static_cast<float>(Probit(score));
        return;
      default:  // the softmax of one score would say nothing
        out[0] = static_cast<float>(is_probability ? 1 - score : -score);
        out[1] = static_cast<float>(score);
    }
  }
};

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
  // Where there is one class: integers say whether it is the case, 1 or 0.
  void WriteOnly(int64_t row, bool is_case) const {
    if (out_ != nullptr && strings_.empty()) {
      out_->data<int64_t>()[row] = is_case ? 1 : 0;
    } else {
      Write(row, 0);
    }
  }

 private:
  const std::vector<int64_t>& ints_;
  const std::vector<std::string>& strings_;
  Tensor* out_;
};

}  // namespace weft

#endif  // WEFT_KERNELS_REF_ML_SCORES_H_
