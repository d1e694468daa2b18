// LinearClassifier, LinearRegressor, SVMClassifier, SVMRegressor. Inference has compared the attributes' lengths with the shape of X.
#include "graph/ops/svm.h"

#include <algorithm>
#include <cmath>

#include "kernels/kernel.h"
#include "kernels/ref/elements.h"
#include "kernels/ref/gemm.h"
#include "kernels/ref/ml_scores.h"

namespace weft {
namespace {

// X as a matrix.
template <class T>
struct Points {
  Tensor tensor;
  int64_t rows = 0, features = 0;
  const T* row(int64_t i) const { return tensor.data<const T>() + i * features; }
};

template <class T>
absl::StatusOr<Points<T>> PointsOf(const Tensor& x) {
  Points<T> points;
  WEFT_ASSIGN_OR_RETURN(points.tensor, Widen<T>(x));
  points.features = x.dim(x.rank() - 1);
  points.rows = x.rank() == 1 ? 1 : x.dim(0);
  return points;
}

// [N,rows]: x times the transpose of the matrix, [rows,F].
template <class T>
std::vector<T> Products(const Points<T>& x, const std::vector<float>& matrix, int64_t rows) {
  const std::vector<T> wide(matrix.begin(), matrix.end());
  std::vector<T> out(x.rows * rows);
  BatchedGemm<T>(
      1, x.rows, rows, x.features, [&](int64_t) { return Matrix<T>{x.row(0), x.features, 1}; },
      [&](int64_t) { return Matrix<T>{wide.data(), 1, x.features}; }, [&](int64_t) { return out.data(); });
  return out;
}

// ---- Linear models ----

template <class T>
absl::Status ClassifyLinear(RunContext& ctx) {
  const auto& attrs = ctx.attrs<LinearClassifierAttrs>();
  WEFT_ASSIGN_OR_RETURN(const PostTransform transform, PostTransformFromName(attrs.post_transform));
  WEFT_ASSIGN_OR_RETURN(const Points<T> x, PointsOf<T>(ctx.input(0)));
  if (x.features == 0) return Invalid("X has no features");
  const int64_t count = static_cast<int64_t>(attrs.coefficients.size()) / x.features;  // scores
  const auto classes = static_cast<int64_t>(std::max(attrs.classlabels_ints.size(), attrs.classlabels_strings.size()));
  std::vector<T> products = Products(x, attrs.coefficients, count);
  const LabelWriter labels(attrs.classlabels_ints, attrs.classlabels_strings, ctx.HasOutput(0) ? &ctx.output(0) : nullptr);
  std::vector<float> unused(classes);
  for (int64_t i = 0; i < x.rows; ++i) {
    const absl::Span<T> scores(products.data() + i * count, count);
    for (size_t k = 0; k < attrs.intercepts.size(); ++k) scores[k] += attrs.intercepts[k];
    float* out = ctx.HasOutput(1) ? ctx.output(1).data<float>() + i * classes : unused.data();
    if (count == 1) {
      // The label goes by the sign, but the score is written as a probability.
      labels.Write(i, scores[0] > 0 ? 1 : 0);
      BinaryScore<T>{scores[0], true}.Write(transform, out);
    } else {
      labels.Write(i, std::max_element(scores.begin(), scores.end()) - scores.begin());
      TransformScores<T>(transform, scores);
      std::copy(scores.begin(), scores.end(), out);
    }
  }
  return absl::OkStatus();
}

absl::Status RunLinearClassifier(RunContext& ctx) {
  return DispatchWide(ctx.input(0).dtype(), [&]<class T>() { return ClassifyLinear<T>(ctx); });
}

template <class T>
absl::Status RegressLinear(RunContext& ctx) {
  const auto& attrs = ctx.attrs<LinearRegressorAttrs>();
  WEFT_ASSIGN_OR_RETURN(const PostTransform transform, PostTransformFromName(attrs.post_transform));
  WEFT_ASSIGN_OR_RETURN(const Points<T> x, PointsOf<T>(ctx.input(0)));
  std::vector<T> products = Products(x, attrs.coefficients, attrs.targets);
  for (int64_t i = 0; i < x.rows; ++i) {
    const absl::Span<T> scores(products.data() + i * attrs.targets, attrs.targets);
    for (size_t k = 0; k < attrs.intercepts.size(); ++k) scores[k] += attrs.intercepts[k];
    FinishScores<T>(transform, scores);
  }
  std::copy(products.begin(), products.end(), ctx.output(0).data<float>());
  return absl::OkStatus();
}

absl::Status RunLinearRegressor(RunContext& ctx) {
  return DispatchWide(ctx.input(0).dtype(), [&]<class T>() { return RegressLinear<T>(ctx); });
}

// ---- Support vectors ----

// [N,V]: the kernel function of each row of X and each support vector.
template <class T>
std::vector<T> KernelValues(const Points<T>& x, const std::vector<float>& vectors, int64_t count, const std::string& type,
                            const std::vector<float>& params) {
  const T gamma = params.empty() ? 0 : params[0], coef0 = params.empty() ? 0 : params[1], degree = params.empty() ? 0 : params[2];
  if (type != "RBF") {
    std::vector<T> values = Products(x, vectors, count);
    for (T& value : values) {
      if (type == "POLY") value = std::pow(gamma * value + coef0, degree);
      if (type == "SIGMOID") value = std::tanh(gamma * value + coef0);
    }
    return values;
  }
  std::vector<T> values(x.rows * count);
  ParallelFor(x.rows, 4 * count * x.features, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t v = 0; v < count; ++v) {
        T distance = 0;
        for (int64_t f = 0; f < x.features; ++f) {
          const T d = x.row(i)[f] - static_cast<T>(vectors[v * x.features + f]);
          distance += d * d;
        }
        values[i * count + v] = std::exp(-gamma * distance);
      }
    }
  });
  return values;
}

// Probabilities of the classes from those of the pairs, by the second method of Wu, Lin and Weng, "Probability Estimates for
// Multi-class Classification by Pairwise Coupling" (2004): the p that minimises the sum of (r[j][i] p[i] - r[i][j] p[j])^2, one p[t]
// at a time. r[i][j] is the probability of i where only i and j come into question.
template <class T>
void CouplePairs(int64_t classes, const std::vector<T>& r, absl::Span<T> p) {
  std::vector<T> q(classes * classes), product(classes);
  for (int64_t i = 0; i < classes; ++i) {
    for (int64_t j = 0; j < classes; ++j) {
      if (i == j) continue;
      q[i * classes + i] += r[j * classes + i] * r[j * classes + i];
      q[i * classes + j] = -r[j * classes + i] * r[i * classes + j];
    }
  }
  std::fill(p.begin(), p.end(), T(1) / static_cast<T>(classes));
  const T tolerance = T(0.005) / static_cast<T>(classes);
  for (int64_t sweep = 0, most = std::max<int64_t>(100, classes); sweep < most; ++sweep) {
    T total = 0, error = 0;  // total: p q p
    for (int64_t i = 0; i < classes; ++i) {
      product[i] = 0;
      for (int64_t j = 0; j < classes; ++j) product[i] += q[i * classes + j] * p[j];
      total += p[i] * product[i];
    }
    for (int64_t i = 0; i < classes; ++i) error = std::max(error, std::abs(product[i] - total));
    if (error < tolerance) break;
    for (int64_t t = 0; t < classes; ++t) {
      const T step = (total - product[t]) / q[t * classes + t], norm = 1 + step;
      p[t] += step;
      total = (total + step * (step * q[t * classes + t] + 2 * product[t])) / (norm * norm);
      for (int64_t j = 0; j < classes; ++j) {
        product[j] = (product[j] + step * q[t * classes + j]) / norm;
        p[j] /= norm;
      }
    }
  }
}

// What the machines of the pairs say of one row.
template <class T>
struct PairwiseScores {
  std::vector<T> scores;  // positive: for the first class of the pair
  std::vector<int64_t> votes;
};

template <class T>
void ScorePairs(const SVMClassifierAttrs& attrs, const T* kernels, int64_t vectors, PairwiseScores<T>& out) {
  const int64_t classes = attrs.classes();
  out.scores.clear();
  out.votes.assign(classes, 0);
  // The support vectors [begin, begin + count) of a class, with the coefficients they have against the k-th other class.
  auto sum = [&](int64_t k, int64_t begin, int64_t count) {
    T total = 0;
    for (int64_t v = begin; v < begin + count; ++v) total += static_cast<T>(attrs.coefficients[k * vectors + v]) * kernels[v];
    return total;
  };
  int64_t begin_i = 0;
  for (int64_t i = 0; i < classes; ++i) {
    const int64_t count_i = attrs.vectors_per_class[i];
    int64_t begin_j = begin_i + count_i;
    for (int64_t j = i + 1; j < classes; ++j) {
      const int64_t count_j = attrs.vectors_per_class[j];
      const T score = static_cast<T>(attrs.rho[out.scores.size()]) + sum(j - 1, begin_i, count_i) + sum(i, begin_j, count_j);
      out.scores.push_back(score);
      ++out.votes[score > 0 ? i : j];
      begin_j += count_j;
    }
    begin_i += count_i;
  }
}

// Platt's sigmoid of each pair's score, coupled.
template <class T>
void Probabilities(const SVMClassifierAttrs& attrs, const std::vector<T>& scores, absl::Span<T> out) {
  const int64_t classes = attrs.classes();
  std::vector<T> r(classes * classes);
  size_t pair = 0;
  for (int64_t i = 0; i < classes; ++i) {
    for (int64_t j = i + 1; j < classes; ++j, ++pair) {
      const T p = 1 - Logistic(scores[pair] * static_cast<T>(attrs.prob_a[pair]) + static_cast<T>(attrs.prob_b[pair]));
      r[i * classes + j] = std::clamp(p, T(1e-7), 1 - T(1e-7));
      r[j * classes + i] = 1 - r[i * classes + j];
    }
  }
  CouplePairs(classes, r, out);
}

template <class T>
absl::Status ClassifyPairwise(RunContext& ctx, const Points<T>& x, PostTransform transform, const LabelWriter& labels) {
  const auto& attrs = ctx.attrs<SVMClassifierAttrs>();
  int64_t vectors = 0;
  for (int64_t count : attrs.vectors_per_class) vectors += count;
  const std::vector<T> kernels = KernelValues(x, attrs.support_vectors, vectors, attrs.kernel_type, attrs.kernel_params);
  const bool probabilities = !attrs.prob_a.empty();
  const int64_t classes = attrs.classes(), width = probabilities || classes == 2 ? classes : attrs.pairs();
  ParallelFor(x.rows, 2 * vectors * classes, [&](int64_t begin, int64_t end) {
    PairwiseScores<T> pairwise;
    std::vector<T> values(width);
    std::vector<float> unused(width);
    for (int64_t i = begin; i < end; ++i) {
      ScorePairs(attrs, kernels.data() + i * vectors, vectors, pairwise);
      labels.Write(i, std::max_element(pairwise.votes.begin(), pairwise.votes.end()) - pairwise.votes.begin());
      float* out = ctx.HasOutput(1) ? ctx.output(1).template data<float>() + i * width : unused.data();
      if (!probabilities && classes == 2) {
        // The second class gets the score as it is, although it is the first class that a positive one is for.
        BinaryScore<T>{pairwise.scores[0], transform != PostTransform::kNone}.Write(transform, out);
        continue;
      }
      if (probabilities) {
        Probabilities(attrs, pairwise.scores, absl::MakeSpan(values));
      } else {
        values = pairwise.scores;
      }
      TransformScores<T>(transform, absl::MakeSpan(values));
      std::copy(values.begin(), values.end(), out);
    }
  });
  return absl::OkStatus();
}

template <class T>
absl::Status ClassifyWithVectors(RunContext& ctx) {
  const auto& attrs = ctx.attrs<SVMClassifierAttrs>();
  WEFT_ASSIGN_OR_RETURN(const PostTransform transform, PostTransformFromName(attrs.post_transform));
  WEFT_ASSIGN_OR_RETURN(const Points<T> x, PointsOf<T>(ctx.input(0)));
  const LabelWriter labels(attrs.classlabels_ints, attrs.classlabels_strings, ctx.HasOutput(0) ? &ctx.output(0) : nullptr);
  if (!attrs.vectors_per_class.empty()) return ClassifyPairwise<T>(ctx, x, transform, labels);
  const int64_t classes = attrs.classes();
  std::vector<T> products = Products(x, attrs.coefficients, classes);
  for (int64_t i = 0; i < x.rows; ++i) {
    const absl::Span<T> scores(products.data() + i * classes, classes);
    for (T& score : scores) score += attrs.rho[0];
    labels.Write(i, std::max_element(scores.begin(), scores.end()) - scores.begin());
    FinishScores<T>(transform, scores);
    if (ctx.HasOutput(1)) std::copy(scores.begin(), scores.end(), ctx.output(1).template data<float>() + i * classes);
  }
  return absl::OkStatus();
}

absl::Status RunSVMClassifier(RunContext& ctx) {
  return DispatchWide(ctx.input(0).dtype(), [&]<class T>() { return ClassifyWithVectors<T>(ctx); });
}

template <class T>
absl::Status RegressWithVectors(RunContext& ctx) {
  const auto& attrs = ctx.attrs<SVMRegressorAttrs>();
  WEFT_ASSIGN_OR_RETURN(const PostTransform transform, PostTransformFromName(attrs.post_transform));
  WEFT_ASSIGN_OR_RETURN(const Points<T> x, PointsOf<T>(ctx.input(0)));
  const int64_t vectors = attrs.n_supports;
  std::vector<T> scores(x.rows);
  if (vectors > 0) {
    const std::vector<T> kernels = KernelValues(x, attrs.support_vectors, vectors, attrs.kernel_type, attrs.kernel_params);
    for (int64_t i = 0; i < x.rows; ++i) {
      for (int64_t v = 0; v < vectors; ++v) scores[i] += static_cast<T>(attrs.coefficients[v]) * kernels[i * vectors + v];
    }
  } else {
    scores = Products(x, attrs.coefficients, 1);
  }
  for (int64_t i = 0; i < x.rows; ++i) {
    T score = scores[i] + static_cast<T>(attrs.rho[0]);
    if (attrs.one_class) score = score > 0 ? 1 : -1;
    FinishScores<T>(transform, absl::MakeSpan(&score, 1));
    ctx.output(0).template data<float>()[i] = static_cast<float>(score);
  }
  return absl::OkStatus();
}

absl::Status RunSVMRegressor(RunContext& ctx) {
  return DispatchWide(ctx.input(0).dtype(), [&]<class T>() { return RegressWithVectors<T>(ctx); });
}

}  // namespace

absl::Span<const Kernel> RefSvm() {
  static constexpr Kernel kernels[] = {
      {.op = &ops::LinearClassifier, .name = "ref", .run = &RunLinearClassifier},
      {.op = &ops::LinearRegressor, .name = "ref", .run = &RunLinearRegressor},
      {.op = &ops::SVMClassifier, .name = "ref", .run = &RunSVMClassifier},
      {.op = &ops::SVMRegressor, .name = "ref", .run = &RunSVMRegressor},
  };
  return kernels;
}

}  // namespace weft
