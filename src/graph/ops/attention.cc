// Attention (ONNX Operators.md, opset 25).
#include "graph/ops/attention.h"

#include <utility>

#include "graph/ops/dtype_attr.h"
#include "graph/ops/dtype_sets.h"
#include "graph/ops/expect_shape.h"

namespace weft {
namespace {

constexpr DType kMaskTypes[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16, DType::kFloat64, DType::kInt64,
                                DType::kInt32,   DType::kInt16,   DType::kInt8,     DType::kUint8,   DType::kUint16,
                                DType::kUint32,  DType::kUint64,  DType::kBool};
enum Inputs { kQ, kK, kV, kMask, kPastKey, kPastValue, kNonpad };

absl::Status CheckAttrs(const AttentionAttrs& attrs) {
  if (attrs.qk_matmul_output_mode < 0 || attrs.qk_matmul_output_mode > 3) {
    return Invalid("qk_matmul_output_mode is ", attrs.qk_matmul_output_mode, ", expected 0 to 3");
  }
  if (!(attrs.softcap >= 0)) return Invalid("softcap is ", attrs.softcap, ", expected 0 or more");
  if (attrs.scale && !(*attrs.scale >= 0)) return Invalid("scale is ", *attrs.scale, ", expected 0 or more");
  if (attrs.left_window_size < -1) return Invalid("left_window_size is ", attrs.left_window_size, ", expected -1 or more");
  if (attrs.right_window_size < -1) return Invalid("right_window_size is ", attrs.right_window_size, ", expected -1 or more");
  if (attrs.softmax_precision) {
    WEFT_RETURN_IF_ERROR(DTypeAttr("softmax_precision", *attrs.softmax_precision, kFloatTypes).status());
  }
  return absl::OkStatus();
}

absl::Status CheckTypes(const InferContext& ctx) {
  constexpr DType kInt64Only[] = {DType::kInt64};
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(kQ, "Q", kFloatTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(kV, "V", kFloatTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(kQ, kK));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(kQ, kPastKey));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(kV, kPastValue));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(kMask, "attn_mask", kMaskTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(kNonpad, "nonpad_kv_seqlen", kInt64Only));
  if (ctx.HasInput(kPastKey) != ctx.HasInput(kPastValue)) return Invalid("has one of past_key and past_value, expected both or none");
  if (ctx.HasInput(kPastKey) && ctx.HasInput(kNonpad)) return Invalid("has past_key and nonpad_kv_seqlen, expected one of them at most");
  return absl::OkStatus();
}

// [B,H,S,D] of Q, K or V. Of rank 3 it is [B,S,H*D]; of rank 4 `heads`, where older models give it, repeats what the shape says.
absl::StatusOr<std::vector<Dim>> HeadsOf(InferContext& ctx, int i, std::string_view operand, int rank, const std::optional<int64_t>& heads,
                                         std::string_view heads_name) {
  WEFT_ASSIGN_OR_RETURN(const Shape shape, ShapeOfRank(ctx, i, operand, rank));
  if (heads && *heads < 1) return Invalid(heads_name, " is ", *heads, ", expected 1 or more");
  if (rank == 4) {
    if (heads) WEFT_RETURN_IF_ERROR(InferContext::Unify(shape[1], *heads, "the heads of the shape and the attribute").status());
    return shape.dims();
  }
  if (!heads) return Invalid("has no ", heads_name, ", which inputs of rank 3 need");
  WEFT_ASSIGN_OR_RETURN(const Dim size, HeadSize(shape[2], *heads, operand));
  return std::vector<Dim>{shape[0], *heads, shape[1], size};
}

// The mask broadcasts to [B,H,S,T], but for its last axis, which may end early.
absl::Status CheckMask(const InferContext& ctx, const std::vector<Dim>& scores) {
  if (!ctx.HasInput(kMask) || !ctx.shape(kMask).has_rank()) return absl::OkStatus();
  const Shape& mask = ctx.shape(kMask);
  const int rank = mask.rank(), missing = 4 - rank;
  bool fits = rank >= 1 && rank <= 4;
  for (int axis = 0; fits && axis < rank; ++axis) {
    const Dim &from = mask[axis], &to = scores[axis + missing];
    if (!from.is_constant() || !to.is_constant()) continue;
    fits = axis == rank - 1 ? from.constant() <= to.constant() : from == Dim(1) || from == to;
  }
  if (fits) return absl::OkStatus();
  return Invalid("input ", static_cast<int>(kMask), " (attn_mask) has shape ", mask.ToString(), ", expected one that broadcasts to ",
                 Shape(scores).ToString());
}

absl::Status InferAttention(InferContext& ctx) {
  const auto& attrs = ctx.attrs<AttentionAttrs>();
  WEFT_RETURN_IF_ERROR(CheckAttrs(attrs));
  WEFT_RETURN_IF_ERROR(CheckTypes(ctx));
  int rank = 0;
  for (int i : {kV, kK, kQ}) {
    if (ctx.shape(i).has_rank()) rank = ctx.shape(i).rank();
  }
  if (rank == 0) {
    ctx.SetOutput(0, ctx.dtype(kQ), Shape());
    ctx.SetOutput(1, ctx.dtype(kQ), ctx.FreshShape(4));
    ctx.SetOutput(2, ctx.dtype(kV), ctx.FreshShape(4));
    ctx.SetOutput(3, ctx.dtype(kQ), ctx.FreshShape(4));
    return absl::OkStatus();
  }
  if (rank != 3 && rank != 4) return Invalid("Q, K and V have rank ", rank, ", expected 3 or 4");
  WEFT_ASSIGN_OR_RETURN(std::vector<Dim> q, HeadsOf(ctx, kQ, "Q", rank, attrs.q_num_heads, "q_num_heads"));
  WEFT_ASSIGN_OR_RETURN(std::vector<Dim> k, HeadsOf(ctx, kK, "K", rank, attrs.kv_num_heads, "kv_num_heads"));
  WEFT_ASSIGN_OR_RETURN(std::vector<Dim> v, HeadsOf(ctx, kV, "V", rank, attrs.kv_num_heads, "kv_num_heads"));
  WEFT_ASSIGN_OR_RETURN(k[0], InferContext::Unify(k[0], v[0], "the batches of K and V"));
  WEFT_ASSIGN_OR_RETURN(k[1], InferContext::Unify(k[1], v[1], "the heads of K and V"));
  WEFT_ASSIGN_OR_RETURN(k[2], InferContext::Unify(k[2], v[2], "the lengths of K and V"));
  WEFT_ASSIGN_OR_RETURN(q[0], InferContext::Unify(q[0], k[0], "the batches of Q and K"));
  WEFT_ASSIGN_OR_RETURN(q[3], InferContext::Unify(q[3], k[3], "the head sizes of Q and K"));
  WEFT_RETURN_IF_ERROR(CheckHeadCounts(q[1], k[1]));
  Dim total = k[2];
  if (ctx.HasInput(kPastKey)) {
    WEFT_ASSIGN_OR_RETURN(const Shape past_key, ShapeOfRank(ctx, kPastKey, "past_key", 4));
    WEFT_ASSIGN_OR_RETURN(const Shape past_value, ShapeOfRank(ctx, kPastValue, "past_value", 4));
    WEFT_ASSIGN_OR_RETURN(const Dim past, InferContext::Unify(past_key[2], past_value[2], "the lengths of past_key and past_value"));
    WEFT_RETURN_IF_ERROR(ExpectShape(ctx, kPastKey, "past_key", {q[0], k[1], past, q[3]}));
    WEFT_RETURN_IF_ERROR(ExpectShape(ctx, kPastValue, "past_value", {q[0], k[1], past, v[3]}));
    total = past + k[2];
  }
  WEFT_RETURN_IF_ERROR(ExpectShape(ctx, kNonpad, "nonpad_kv_seqlen", {q[0]}));
  const std::vector<Dim> scores = {q[0], q[1], q[2], total};
  WEFT_RETURN_IF_ERROR(CheckMask(ctx, scores));
  ctx.SetOutput(0, ctx.dtype(kQ), rank == 4 ? Shape{q[0], q[1], q[2], v[3]} : Shape{q[0], q[2], q[1] * v[3]});
  ctx.SetOutput(1, ctx.dtype(kQ), Shape{q[0], k[1], total, q[3]});
  ctx.SetOutput(2, ctx.dtype(kV), Shape{q[0], k[1], total, v[3]});
  ctx.SetOutput(3, ctx.dtype(kQ), Shape(scores));
  return absl::OkStatus();
}

Cost CostOfAttention(const NodeView& node) {
  const auto& attrs = node.attrs_as<AttentionAttrs>();
  const Shape &q = node.inputs[kQ].type->shape, &k = node.inputs[kK].type->shape, &y = node.outputs[0].shape;
  if (!q.has_rank() || !k.has_rank() || !y.has_rank()) return {};
  Dim total = k[k.rank() - 2];
  if (node.HasInput(kPastKey) && node.inputs[kPastKey].type->shape.has_rank()) total = total + node.inputs[kPastKey].type->shape[2];
  if (q.rank() == 4) return AttentionCost({q[0], q[1], q[2], total}, q[3], y[3]);
  const Dim heads = attrs.q_num_heads.value_or(1);
  return AttentionCost({q[0], heads, q[1], total}, Dim::FloorDiv(q[2], heads), Dim::FloorDiv(y[2], heads));
}

}  // namespace

absl::StatusOr<Dim> HeadSize(const Dim& hidden, int64_t heads, std::string_view operand) {
  if (hidden.is_constant() && hidden.constant() % heads != 0) {
    return Invalid("the last axis of ", operand, " has ", hidden.constant(), " elements, expected a multiple of its ", heads, " heads");
  }
  return Dim::FloorDiv(hidden, heads);
}

absl::Status CheckHeadCounts(const Dim& q_heads, const Dim& kv_heads) {
  if (!q_heads.is_constant() || !kv_heads.is_constant()) return absl::OkStatus();
  const int64_t q = q_heads.constant(), kv = kv_heads.constant();
  if (kv >= 1 && q >= kv && q % kv == 0) return absl::OkStatus();
  return Invalid("Q has ", q, " heads and K has ", kv, ", expected those of Q to be a multiple of those of K");
}

absl::Status CheckAttentionBias(const InferContext& ctx, int i, const std::vector<Dim>& scores) {
  std::vector<Dim> expected = scores;
  const Shape& bias = ctx.shape(i);
  for (int axis = 0; axis < 2 && bias.has_rank() && bias.rank() == 4; ++axis) {
    if (bias[axis] == Dim(1)) expected[axis] = 1;
  }
  return ExpectShape(ctx, i, "attention_bias", expected);
}

Cost AttentionCost(const std::vector<Dim>& scores, const Dim& head_size, const Dim& v_head_size) {
  double flops = 2;
  for (const Dim& d : scores) {
    if (!d.is_constant()) return {};
    flops *= static_cast<double>(d.constant());
  }
  if (!head_size.is_constant() || !v_head_size.is_constant()) return {};
  flops *= static_cast<double>(head_size.constant()) + static_cast<double>(v_head_size.constant());
  return {flops < 0x1p62 ? static_cast<int64_t>(flops) : 0};
}

constinit const Op ops::Attention = {.name = "Attention", .since_version = 25, .inputs = {3, 7}, .outputs = {1, 4},
                                     .attrs = &kAttrSchema<AttentionAttrs>, .infer = &InferAttention, .cost = &CostOfAttention};

}  // namespace weft
