// LinearAttention (ONNX Operators.md, opset 27).
#include "graph/ops/linear_attention.h"

#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/attention.h"
#include "graph/ops/expect_shape.h"

namespace weft {
namespace {

constexpr DType kAllowed[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16};
enum Inputs { kQuery, kKey, kValue, kPastState, kDecay, kBeta };

absl::Status CheckRule(const InferContext& ctx, const LinearAttentionAttrs& attrs) {
  if (attrs.update_rule != "linear" && !attrs.gated() && !attrs.delta()) {
    return Invalid("update_rule is '", attrs.update_rule, "', expected linear, gated, delta or gated_delta");
  }
  auto check = [&](int i, std::string_view operand, bool needed) -> absl::Status {
    if (ctx.HasInput(i) == needed) return absl::OkStatus();
    return Invalid("update_rule '", attrs.update_rule, needed ? "' needs" : "' has no use for", " the input ", operand);
  };
  WEFT_RETURN_IF_ERROR(check(kDecay, "decay", attrs.gated()));
  return check(kBeta, "beta", attrs.delta());
}

// Input i is [B,T,one] or [B,T,other].
absl::Status CheckGate(const InferContext& ctx, int i, std::string_view operand, const Shape& query, const Dim& one, const Dim& other) {
  if (!ctx.HasInput(i) || !ctx.shape(i).has_rank()) return absl::OkStatus();
  if (ExpectShape(ctx, i, operand, {query[0], query[1], one}).ok()) return absl::OkStatus();
  return ExpectShape(ctx, i, operand, {query[0], query[1], other});
}

absl::Status InferLinearAttention(InferContext& ctx) {
  const auto& attrs = ctx.attrs<LinearAttentionAttrs>();
  const int64_t heads = attrs.kv_num_heads;
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(kQuery, "query", kAllowed));
  for (int i : {kKey, kValue, kDecay, kBeta}) WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(kQuery, i));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(kPastState, "past_state", kAllowed));
  WEFT_RETURN_IF_ERROR(CheckRule(ctx, attrs));
  WEFT_RETURN_IF_ERROR(CheckHeadCounts(attrs.q_num_heads, heads));
  WEFT_ASSIGN_OR_RETURN(Shape query, ShapeOfRank(ctx, kQuery, "query", 3));
  WEFT_ASSIGN_OR_RETURN(const Shape value, ShapeOfRank(ctx, kValue, "value", 3));
  WEFT_ASSIGN_OR_RETURN(const Dim d_k, HeadSize(query[2], attrs.q_num_heads, "query"));
  WEFT_ASSIGN_OR_RETURN(const Dim d_v, HeadSize(value[2], heads, "value"));
  WEFT_ASSIGN_OR_RETURN(query[0], InferContext::Unify(query[0], value[0], "the batches of query and value"));
  WEFT_ASSIGN_OR_RETURN(query[1], InferContext::Unify(query[1], value[1], "the lengths of query and value"));
  const Shape state = {query[0], heads, d_k, d_v};
  WEFT_RETURN_IF_ERROR(ExpectShape(ctx, kKey, "key", {query[0], query[1], Dim(heads) * d_k}));
  WEFT_RETURN_IF_ERROR(ExpectShape(ctx, kPastState, "past_state", state.dims()));
  WEFT_RETURN_IF_ERROR(CheckGate(ctx, kDecay, "decay", query, heads, Dim(heads) * d_k));
  WEFT_RETURN_IF_ERROR(CheckGate(ctx, kBeta, "beta", query, 1, heads));
  ctx.SetOutput(0, ctx.dtype(kQuery), Shape{query[0], query[1], Dim(attrs.q_num_heads) * d_v});
  ctx.SetOutput(1, ctx.HasInput(kPastState) ? ctx.dtype(kPastState) : ctx.dtype(kQuery), state);
  return absl::OkStatus();
}

// The state is written once for each position, and read once for each query head and, by the delta rules, once more.
Cost LinearAttentionCost(const NodeView& node) {
  const auto& attrs = node.attrs_as<LinearAttentionAttrs>();
  const auto q = node.inputs[kQuery].type->shape.Concrete(), v = node.inputs[kValue].type->shape.Concrete();
  if (!q || !v) return {};
  const double state = static_cast<double>((*q)[2] / attrs.q_num_heads) * static_cast<double>((*v)[2] / attrs.kv_num_heads);
  const double passes = attrs.q_num_heads + attrs.kv_num_heads * (1.0 + attrs.gated() * 0.5 + attrs.delta());
  const double flops = 2 * passes * state * static_cast<double>((*q)[0]) * static_cast<double>((*q)[1]);
  return {flops < 0x1p62 ? static_cast<int64_t>(flops) : 0};
}

}  // namespace

constinit const Op ops::LinearAttention = {.name = "LinearAttention", .since_version = 27, .inputs = {3, 6}, .outputs = 2,
                                           .attrs = &kAttrSchema<LinearAttentionAttrs>, .infer = &InferLinearAttention,
                                           .cost = &LinearAttentionCost};

}  // namespace weft
