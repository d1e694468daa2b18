// GroupQueryAttention of the domain com.microsoft (ONNX Runtime, ContribOperators.md).
#include "graph/ops/group_query_attention.h"

#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/attention.h"
#include "graph/ops/expect_shape.h"
#include "graph/ops/operands.h"

namespace weft {
namespace {

using I = GqaInputs;
constexpr DType kAllowed[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16};

absl::Status CheckSupported(const InferContext& ctx, const GroupQueryAttentionAttrs& attrs) {
  if (attrs.k_quant_type != "NONE" || attrs.v_quant_type != "NONE" || attrs.kv_cache_bit_width != 0) {
    return Unsupported("k_quant_type is '", attrs.k_quant_type, "', v_quant_type '", attrs.v_quant_type, "' and kv_cache_bit_width ",
                       attrs.kv_cache_bit_width, ", expected a cache that is not quantised");
  }
  if (ctx.HasInput(I::kKScale) || ctx.HasInput(I::kVScale)) return Unsupported("inputs k_scale and v_scale");
  if (attrs.sliding_window_cache) return Unsupported("sliding_window_cache is 1, expected 0");
  if (attrs.qk_output != 0) return Unsupported("qk_output is ", attrs.qk_output, ", expected 0");
  if (ctx.HasOutput(3)) return Unsupported("output 3 (output_qk)");
  if (ctx.HasInput(I::kQNorm) || ctx.HasInput(I::kKNorm)) return Unsupported("q_norm_weight and k_norm_weight");
  return absl::OkStatus();
}

absl::Status CheckAttrs(const GroupQueryAttentionAttrs& attrs) {
  WEFT_RETURN_IF_ERROR(CheckHeadCounts(attrs.num_heads, attrs.kv_num_heads));
  if (!(attrs.softcap >= 0)) return Invalid("softcap is ", attrs.softcap, ", expected 0 or more");
  const int64_t window = attrs.local_window_size;
  if (window != -1 && (window < 1 || !attrs.causal)) {
    return Invalid("local_window_size is ", window, attrs.causal ? ", expected -1, or 1 or more" : ", expected -1 where causal is 0");
  }
  return absl::OkStatus();
}

absl::Status CheckTypes(const InferContext& ctx, const GroupQueryAttentionAttrs& attrs) {
  constexpr DType kInt32Only[] = {DType::kInt32};
  constexpr DType kInt64Only[] = {DType::kInt64};
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(I::kQuery, "query", kAllowed));
  for (int i : {I::kKey, I::kValue, I::kPastKey, I::kPastValue, I::kCos, I::kSin, I::kBias, I::kHeadSink}) {
    WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(I::kQuery, i));
  }
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(I::kSeqlensK, "seqlens_k", kInt32Only));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(I::kTotalLength, "total_sequence_length", kInt32Only));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(I::kPositionIds, "position_ids", kInt64Only));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(I::kQuerySeqlens, "query_seqlens", kInt32Only));
  if (ctx.HasInput(I::kKey) != ctx.HasInput(I::kValue)) return Invalid("has one of key and value, expected both or none");
  if (ctx.HasInput(I::kPastKey) != ctx.HasInput(I::kPastValue)) return Invalid("has one of past_key and past_value, expected both or none");
  if (attrs.do_rotary && !(ctx.HasInput(I::kCos) && ctx.HasInput(I::kSin))) {
    return Invalid("do_rotary is 1, expected inputs cos_cache and sin_cache");
  }
  if (ctx.HasInput(I::kQuerySeqlens) && !(attrs.causal && ctx.HasInput(I::kPastKey))) {
    return Invalid("has query_seqlens, expected causal 1 and a past_key");
  }
  return absl::OkStatus();
}

absl::Status CheckCaches(InferContext& ctx, const Dim& head_size) {
  WEFT_ASSIGN_OR_RETURN(const Shape cos, ShapeOfRank(ctx, I::kCos, "cos_cache", 2));
  WEFT_RETURN_IF_ERROR(ExpectShape(ctx, I::kSin, "sin_cache", {cos[0], cos[1]}));
  if (!cos[1].is_constant() || !head_size.is_constant() || 2 * cos[1].constant() <= head_size.constant()) return absl::OkStatus();
  return Invalid("input ", int{I::kCos}, " (cos_cache) has shape ", cos.ToString(), ", expected at most half the head size, ",
                 head_size.constant(), ", in the last axis");
}

absl::Status InferGroupQueryAttention(InferContext& ctx) {
  const auto& attrs = ctx.attrs<GroupQueryAttentionAttrs>();
  WEFT_RETURN_IF_ERROR(CheckSupported(ctx, attrs));
  WEFT_RETURN_IF_ERROR(CheckAttrs(attrs));
  WEFT_RETURN_IF_ERROR(CheckTypes(ctx, attrs));
  const int64_t heads = attrs.num_heads, kv_heads = attrs.kv_num_heads;
  WEFT_ASSIGN_OR_RETURN(const Shape query, ShapeOfRank(ctx, I::kQuery, "query", 3));
  const bool packed = !ctx.HasInput(I::kKey);
  WEFT_ASSIGN_OR_RETURN(const Dim size, HeadSize(query[2], packed ? heads + 2 * kv_heads : heads, "query"));
  const Dim &batch = query[0], &length = query[1];
  if (!packed) {
    WEFT_RETURN_IF_ERROR(ExpectShape(ctx, I::kKey, "key", {batch, length, Dim(kv_heads) * size}));
    WEFT_RETURN_IF_ERROR(ExpectShape(ctx, I::kValue, "value", {batch, length, Dim(kv_heads) * size}));
  }
  Dim capacity = 0;
  if (ctx.HasInput(I::kPastKey)) {
    WEFT_ASSIGN_OR_RETURN(const Shape past, ShapeOfRank(ctx, I::kPastKey, "past_key", 4));
    capacity = past[2];
    WEFT_RETURN_IF_ERROR(ExpectShape(ctx, I::kPastKey, "past_key", {batch, kv_heads, capacity, size}));
    WEFT_RETURN_IF_ERROR(ExpectShape(ctx, I::kPastValue, "past_value", {batch, kv_heads, capacity, size}));
  }
  const Shape& seqlens_k = ctx.shape(I::kSeqlensK);
  const bool column = seqlens_k.has_rank() && seqlens_k.rank() == 2;  // as a sum over the axes of a mask leaves it
  WEFT_RETURN_IF_ERROR(ExpectShape(ctx, I::kSeqlensK, "seqlens_k", column ? std::vector<Dim>{batch, 1} : std::vector<Dim>{batch}));
  WEFT_RETURN_IF_ERROR(CheckScalar(ctx, I::kTotalLength, "total_sequence_length"));
  const std::vector<Dim>* known = ctx.elements(I::kTotalLength);
  const Dim total = known != nullptr && known->size() == 1 ? (*known)[0] : ctx.FreshDim();
  if (total.is_constant() && total.constant() < 0) return Invalid("total_sequence_length is ", total.constant(), ", expected 0 or more");
  if (attrs.do_rotary) WEFT_RETURN_IF_ERROR(CheckCaches(ctx, size));
  WEFT_RETURN_IF_ERROR(ExpectShape(ctx, I::kPositionIds, "position_ids", {batch, length}));
  WEFT_RETURN_IF_ERROR(CheckAttentionBias(ctx, I::kBias, {batch, heads, length, total}));
  WEFT_RETURN_IF_ERROR(ExpectShape(ctx, I::kHeadSink, "head_sink", {heads}));
  WEFT_RETURN_IF_ERROR(ExpectShape(ctx, I::kQuerySeqlens, "query_seqlens", {batch}));
  const Shape present = {batch, kv_heads, Dim::Max(capacity, total), size};
  ctx.SetOutput(0, ctx.dtype(I::kQuery), Shape{batch, length, Dim(heads) * size});
  ctx.SetOutput(1, ctx.dtype(I::kQuery), present);
  ctx.SetOutput(2, ctx.dtype(I::kQuery), present);
  return absl::OkStatus();
}

// As if every query read all that the cache has room for.
Cost GroupQueryAttentionCost(const NodeView& node) {
  const int64_t heads = node.attrs_as<GroupQueryAttentionAttrs>().num_heads;
  const Shape& y = node.outputs[0].shape;
  if (!y.has_rank()) return {};
  Dim length = y[1];
  if (node.HasInput(I::kPastKey)) {
    const Shape& past = node.inputs[I::kPastKey].type->shape;
    if (past.has_rank()) length = length + past[2];
  }
  const Dim size = Dim::FloorDiv(y[2], heads);
  return AttentionCost({y[0], heads, y[1], length}, size, size);
}

}  // namespace

constinit const Op ops::GroupQueryAttention = {
    .domain = "com.microsoft", .name = "GroupQueryAttention", .inputs = {7, 17}, .outputs = {1, 4},
    .optional_inputs = 0b11110, .attrs = &kAttrSchema<GroupQueryAttentionAttrs>, .infer = &InferGroupQueryAttention,
    .cost = &GroupQueryAttentionCost};

}  // namespace weft
