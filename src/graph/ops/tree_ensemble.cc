#include "graph/ops/tree_ensemble.h"

#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/ml.h"

namespace weft {

absl::StatusOr<TreeAggregate> TreeAggregateFromName(std::string_view name) {
  if (name == "AVERAGE") return TreeAggregate::kAverage;
  if (name == "SUM") return TreeAggregate::kSum;
  if (name == "MIN") return TreeAggregate::kMin;
  if (name == "MAX") return TreeAggregate::kMax;
  return Invalid("aggregate_function is '", name, "', expected AVERAGE, SUM, MIN or MAX");
}

namespace {

// Bounds what a hostile model makes us allocate for a row.
constexpr int64_t kMostTargets = int64_t{1} << 24;

absl::StatusOr<int64_t> TargetsOf(std::optional<int64_t> n_targets) {
  const int64_t count = n_targets.value_or(1);
  if (count < 1 || count > kMostTargets) return Invalid("n_targets is ", count, ", expected 1 to ", kMostTargets);
  return count;
}

absl::Status InferTreeEnsembleClassifier(InferContext& ctx) {
  const auto& attrs = ctx.attrs<TreeEnsembleClassifierAttrs>();
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kMlTypes));
  WEFT_RETURN_IF_ERROR(PostTransformFromName(attrs.post_transform).status());
  WEFT_ASSIGN_OR_RETURN(const ClassLabels labels, ClassLabelsOf(attrs.classlabels_int64s, attrs.classlabels_strings));
  WEFT_ASSIGN_OR_RETURN(const Rows x, RowsOf(ctx, 0, "X"));
  ctx.SetOutput(0, labels.dtype, Shape{x.rows});
  ctx.SetOutput(1, DType::kFloat32, Shape{x.rows, labels.count});
  return absl::OkStatus();
}

absl::Status InferTreeEnsembleRegressor(InferContext& ctx) {
  const auto& attrs = ctx.attrs<TreeEnsembleRegressorAttrs>();
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kMlTypes));
  WEFT_RETURN_IF_ERROR(PostTransformFromName(attrs.post_transform).status());
  WEFT_RETURN_IF_ERROR(TreeAggregateFromName(attrs.aggregate_function).status());
  WEFT_ASSIGN_OR_RETURN(const int64_t targets, TargetsOf(attrs.n_targets));
  WEFT_ASSIGN_OR_RETURN(const Rows x, RowsOf(ctx, 0, "X"));
  ctx.SetOutput(0, DType::kFloat32, Shape{x.rows, targets});
  return absl::OkStatus();
}

absl::Status InferTreeEnsemble(InferContext& ctx) {
  constexpr DType kTypes[] = {DType::kFloat32, DType::kFloat64, DType::kFloat16};
  const auto& attrs = ctx.attrs<TreeEnsembleAttrs>();
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kTypes));
  if (attrs.post_transform < 0 || attrs.post_transform > 4) return Invalid("post_transform is ", attrs.post_transform, ", expected 0 to 4");
  if (attrs.aggregate_function < 0 || attrs.aggregate_function > 3) {
    return Invalid("aggregate_function is ", attrs.aggregate_function, ", expected 0 to 3");
  }
  WEFT_ASSIGN_OR_RETURN(const int64_t targets, TargetsOf(attrs.n_targets));
  WEFT_ASSIGN_OR_RETURN(const Rows x, RowsOf(ctx, 0, "X"));
  ctx.SetOutput(0, ctx.dtype(0), Shape{x.rows, targets});
  return absl::OkStatus();
}

constexpr Op Ml(std::string_view name, int outputs, int since, const AttrSchema* attrs, absl::Status (*infer)(InferContext&)) {
  return {.domain = "ai.onnx.ml", .name = name, .since_version = since, .inputs = 1, .outputs = Arity(1, outputs), .attrs = attrs,
          .infer = infer};
}

}  // namespace

constinit const Op ops::TreeEnsembleClassifier =
    Ml("TreeEnsembleClassifier", 2, 5, &kAttrSchema<TreeEnsembleClassifierAttrs>, &InferTreeEnsembleClassifier);
constinit const Op ops::TreeEnsembleRegressor =
    Ml("TreeEnsembleRegressor", 1, 5, &kAttrSchema<TreeEnsembleRegressorAttrs>, &InferTreeEnsembleRegressor);
constinit const Op ops::TreeEnsemble = Ml("TreeEnsemble", 1, 5, &kAttrSchema<TreeEnsembleAttrs>, &InferTreeEnsemble);

}  // namespace weft
