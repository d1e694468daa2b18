#include "graph/ops/svm.h"

#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/ml.h"

namespace weft {
namespace {

absl::Status CheckCount(std::string_view name, size_t found, int64_t expected, std::string_view what) {
  if (static_cast<int64_t>(found) == expected) return absl::OkStatus();
  return Invalid("attribute '", name, "' has ", found, " elements, expected ", expected, ", ", what);
}

// A list of `rows` times as many elements as X has columns.
absl::Status CheckMatrix(std::string_view name, size_t found, int64_t rows, const Dim& features) {
  if (found == 0 || found % rows != 0) {
    return Invalid("attribute '", name, "' has ", found, " elements, expected a multiple of ", rows);
  }
  return InferContext::Unify(features, static_cast<int64_t>(found) / rows, absl::StrCat("the number of features (columns of X, and in ", ToAbsl(name), ")")).status();
}

absl::Status CheckKernel(const std::string& type, const std::vector<float>& params) {
  if (type != "LINEAR" && type != "POLY" && type != "RBF" && type != "SIGMOID") {
    return Invalid("kernel_type is '", type, "', expected LINEAR, POLY, RBF or SIGMOID");
  }
  if (!params.empty() && params.size() != 3) return Invalid("kernel_params has ", params.size(), " elements, expected gamma, coef0 and degree");
  return absl::OkStatus();
}

absl::Status InferLinearClassifier(InferContext& ctx) {
  const auto& attrs = ctx.attrs<LinearClassifierAttrs>();
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kMlTypes));
  WEFT_RETURN_IF_ERROR(PostTransformFromName(attrs.post_transform).status());
  WEFT_ASSIGN_OR_RETURN(const ClassLabels labels, ClassLabelsOf(attrs.classlabels_ints, attrs.classlabels_strings));
  WEFT_ASSIGN_OR_RETURN(const Rows x, RowsOf(ctx, 0, "X"));
  if (labels.count < 2) return Invalid("there is 1 class label, expected at least 2");
  if (!attrs.intercepts.empty()) {
    const auto scores = static_cast<int64_t>(attrs.intercepts.size());
    if (scores != labels.count && !(scores == 1 && labels.count == 2)) {
      return Invalid("there are ", scores, " intercepts for ", labels.count, " classes, expected as many, or 1 for 2 classes");
    }
    WEFT_RETURN_IF_ERROR(CheckMatrix("coefficients", attrs.coefficients.size(), scores, x.features));
  } else if (x.features.is_constant() && x.features.constant() > 0) {
    const bool one = labels.count == 2 && static_cast<int64_t>(attrs.coefficients.size()) == x.features.constant();
    WEFT_RETURN_IF_ERROR(CheckMatrix("coefficients", attrs.coefficients.size(), one ? 1 : labels.count, x.features));
  }
  ctx.SetOutput(0, labels.dtype, Shape{x.rows});
  ctx.SetOutput(1, DType::kFloat32, Shape{x.rows, labels.count});
  return absl::OkStatus();
}

absl::Status InferLinearRegressor(InferContext& ctx) {
  const auto& attrs = ctx.attrs<LinearRegressorAttrs>();
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kMlTypes));
  WEFT_RETURN_IF_ERROR(PostTransformFromName(attrs.post_transform).status());
  if (attrs.targets < 1) return Invalid("targets is ", attrs.targets, ", expected at least 1");
  WEFT_ASSIGN_OR_RETURN(const Rows x, RowsOf(ctx, 0, "X"));
  WEFT_RETURN_IF_ERROR(CheckMatrix("coefficients", attrs.coefficients.size(), attrs.targets, x.features));
  if (!attrs.intercepts.empty()) {
    WEFT_RETURN_IF_ERROR(CheckCount("intercepts", attrs.intercepts.size(), attrs.targets, "one for each target"));
  }
  ctx.SetOutput(0, DType::kFloat32, Shape{x.rows, attrs.targets});
  return absl::OkStatus();
}

absl::Status CheckPairwise(const SVMClassifierAttrs& attrs, const Rows& x) {
  constexpr int64_t kMostClasses = 1 << 16;
  const int64_t classes = attrs.classes();
  if (classes < 2 || classes > kMostClasses) return Invalid("there are ", classes, " class labels, expected 2 to ", kMostClasses);
  WEFT_RETURN_IF_ERROR(CheckCount("vectors_per_class", attrs.vectors_per_class.size(), classes, "one for each class"));
  int64_t vectors = 0;
  for (int64_t count : attrs.vectors_per_class) {
    if (count < 0 || count > static_cast<int64_t>(attrs.support_vectors.size())) {
      return Invalid("vectors_per_class holds ", count, ", expected a part of the support vectors");
    }
    vectors += count;
  }
  if (vectors == 0) return Invalid("vectors_per_class holds zeros, expected the number of support vectors of each class");
  WEFT_RETURN_IF_ERROR(CheckMatrix("support_vectors", attrs.support_vectors.size(), vectors, x.features));
  WEFT_RETURN_IF_ERROR(CheckCount("coefficients", attrs.coefficients.size(), (classes - 1) * vectors,
                                  "one for each support vector and each other class"));
  WEFT_RETURN_IF_ERROR(CheckCount("rho", attrs.rho.size(), attrs.pairs(), "one for each pair of classes"));
  if (attrs.prob_a.empty()) return absl::OkStatus();
  return CheckCount("prob_a", attrs.prob_a.size(), attrs.pairs(), "one for each pair of classes");
}

absl::Status InferSVMClassifier(InferContext& ctx) {
  const auto& attrs = ctx.attrs<SVMClassifierAttrs>();
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kMlTypes));
  WEFT_RETURN_IF_ERROR(PostTransformFromName(attrs.post_transform).status());
  WEFT_RETURN_IF_ERROR(CheckKernel(attrs.kernel_type, attrs.kernel_params));
  WEFT_ASSIGN_OR_RETURN(const ClassLabels labels, ClassLabelsOf(attrs.classlabels_ints, attrs.classlabels_strings));
  WEFT_ASSIGN_OR_RETURN(const Rows x, RowsOf(ctx, 0, "X"));
  WEFT_RETURN_IF_ERROR(CheckCount("prob_b", attrs.prob_b.size(), static_cast<int64_t>(attrs.prob_a.size()), "as many as prob_a"));
  int64_t scores = labels.count;
  if (!attrs.vectors_per_class.empty()) {
    WEFT_RETURN_IF_ERROR(CheckPairwise(attrs, x));
    if (attrs.prob_a.empty() && labels.count > 2) scores = attrs.pairs();
  } else {
    if (!attrs.support_vectors.empty()) return Invalid("there are support vectors, but no vectors_per_class");
    if (!attrs.prob_a.empty()) return Unsupported("probabilities (prob_a) of a machine without support vectors");
    if (attrs.kernel_type != "LINEAR") return Unsupported("kernel_type is '", attrs.kernel_type, "' without support vectors, expected LINEAR");
    WEFT_RETURN_IF_ERROR(CheckMatrix("coefficients", attrs.coefficients.size(), labels.count, x.features));
    WEFT_RETURN_IF_ERROR(CheckCount("rho", attrs.rho.size(), 1, "as there are no support vectors"));
  }
  ctx.SetOutput(0, labels.dtype, Shape{x.rows});
  ctx.SetOutput(1, DType::kFloat32, Shape{x.rows, scores});
  return absl::OkStatus();
}

absl::Status InferSVMRegressor(InferContext& ctx) {
  const auto& attrs = ctx.attrs<SVMRegressorAttrs>();
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kMlTypes));
  WEFT_RETURN_IF_ERROR(PostTransformFromName(attrs.post_transform).status());
  WEFT_RETURN_IF_ERROR(CheckKernel(attrs.kernel_type, attrs.kernel_params));
  WEFT_ASSIGN_OR_RETURN(const Rows x, RowsOf(ctx, 0, "X"));
  if (attrs.n_supports < 0) return Invalid("n_supports is ", attrs.n_supports, ", expected a number of support vectors");
  if (attrs.n_supports > 0) {
    WEFT_RETURN_IF_ERROR(CheckMatrix("support_vectors", attrs.support_vectors.size(), attrs.n_supports, x.features));
    WEFT_RETURN_IF_ERROR(CheckCount("coefficients", attrs.coefficients.size(), attrs.n_supports, "one for each support vector"));
  } else {
    WEFT_RETURN_IF_ERROR(CheckMatrix("coefficients", attrs.coefficients.size(), 1, x.features));
  }
  WEFT_RETURN_IF_ERROR(CheckCount("rho", attrs.rho.size(), 1, "for the one result"));
  ctx.SetOutput(0, DType::kFloat32, Shape{x.rows, 1});
  return absl::OkStatus();
}

constexpr Op Ml(std::string_view name, int outputs, const AttrSchema* attrs, absl::Status (*infer)(InferContext&)) {
  return {.domain = "ai.onnx.ml", .name = name, .inputs = 1, .outputs = Arity(1, outputs), .attrs = attrs, .infer = infer};
}

}  // namespace

constinit const Op ops::LinearClassifier = Ml("LinearClassifier", 2, &kAttrSchema<LinearClassifierAttrs>, &InferLinearClassifier);
constinit const Op ops::LinearRegressor = Ml("LinearRegressor", 1, &kAttrSchema<LinearRegressorAttrs>, &InferLinearRegressor);
constinit const Op ops::SVMClassifier = Ml("SVMClassifier", 2, &kAttrSchema<SVMClassifierAttrs>, &InferSVMClassifier);
constinit const Op ops::SVMRegressor = Ml("SVMRegressor", 1, &kAttrSchema<SVMRegressorAttrs>, &InferSVMRegressor);

}  // namespace weft
