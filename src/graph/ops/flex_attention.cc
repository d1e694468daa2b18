// FlexAttention (ONNX Operators.md, ai.onnx.preview 1).
#include "graph/ops/attention.h"
#include "graph/ops/dtype_attr.h"
#include "graph/ops/dtype_sets.h"
#include "graph/ops/expect_shape.h"

namespace weft {
namespace {

// The body takes and gives a tensor of type `scores`.
absl::Status CheckBody(InferContext& ctx, int region, std::string_view name, const Type& scores) {
  WEFT_ASSIGN_OR_RETURN(const std::vector<Type> outputs, ctx.Region(region, {scores}));
  if (outputs.size() != 1) return Invalid(name, " has ", outputs.size(), " outputs, expected 1");
  const Type& out = outputs[0];
  if (out.kind == Type::Kind::kUnknown) return absl::OkStatus();
  bool fits = out.is_tensor() && (out.dtype == DType::kUndefined || out.dtype == scores.dtype);
  if (fits && out.shape.has_rank()) {
    fits = out.shape.rank() == 4;
    for (int axis = 0; fits && axis < 4; ++axis) {
      const Dim &found = out.shape[axis], &expected = scores.shape[axis];
      fits = !found.is_constant() || !expected.is_constant() || found == expected;
    }
  }
  if (fits) return absl::OkStatus();
  return Invalid(name, " returns ", out.ToString(), ", expected ", scores.ToString());
}

absl::Status InferFlexAttention(InferContext& ctx) {
  const auto& attrs = ctx.attrs<FlexAttentionAttrs>();
  if (attrs.scale && !(*attrs.scale >= 0)) return Invalid("scale is ", *attrs.scale, ", expected 0 or more");
  if (attrs.softmax_precision) {
    WEFT_RETURN_IF_ERROR(DTypeAttr("softmax_precision", *attrs.softmax_precision, kFloatTypes).status());
  }
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "Q", kFloatTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 1));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 2));
  WEFT_ASSIGN_OR_RETURN(Shape q, ShapeOfRank(ctx, 0, "Q", 4));
  WEFT_ASSIGN_OR_RETURN(const Shape k, ShapeOfRank(ctx, 1, "K", 4));
  WEFT_ASSIGN_OR_RETURN(const Shape v, ShapeOfRank(ctx, 2, "V", 4));
  WEFT_ASSIGN_OR_RETURN(q[0], InferContext::Unify(q[0], k[0], "the batches of Q and K"));
  WEFT_RETURN_IF_ERROR(CheckHeadCounts(q[1], k[1]));
  WEFT_RETURN_IF_ERROR(ExpectShape(ctx, 1, "K", {q[0], k[1], k[2], q[3]}));
  WEFT_RETURN_IF_ERROR(ExpectShape(ctx, 2, "V", {q[0], k[1], k[2], v[3]}));
  const DType precision = ctx.dtype(0) == DType::kUndefined ? DType::kUndefined : attrs.precision(ctx.dtype(0));
  const Type scores = Type::OfTensor(precision, {q[0], q[1], q[2], k[2]});
  WEFT_RETURN_IF_ERROR(CheckBody(ctx, 0, "score_mod", scores));
  WEFT_RETURN_IF_ERROR(CheckBody(ctx, 1, "prob_mod", scores));
  ctx.SetOutput(0, ctx.dtype(0), Shape{q[0], q[1], q[2], v[3]});
  return absl::OkStatus();
}

Cost FlexAttentionCost(const NodeView& node) {
  const Shape &k = node.inputs[1].type->shape, &q = node.inputs[0].type->shape, &v = node.inputs[2].type->shape;
  if (!q.has_rank() || !k.has_rank() || !v.has_rank()) return {};
  return AttentionCost({q[0], q[1], q[2], k[2]}, q[3], v[3]);
}

constexpr std::string_view kRegions[] = {"score_mod", "prob_mod"};

}  // namespace

constinit const Op ops::FlexAttention = {.domain = "ai.onnx.preview", .name = "FlexAttention", .since_version = 1, .inputs = 3,
                                         .outputs = 1, .attrs = &kAttrSchema<FlexAttentionAttrs>, .regions = kRegions,
                                         .infer = &InferFlexAttention, .cost = &FlexAttentionCost};

}  // namespace weft
