// MultiHeadAttention of the domain com.microsoft (ONNX Runtime, ContribOperators.md).
//
// Queries, keys and values come in one of these layouts:
//
//   query [B,S,N*D], key [B,L,N*D], value [B,L,N*Dv]
//   query [B,S,N*D], key [B,L,N,2,D]: keys and values
//   query [B,S,N*D], key [B,N,L,D], value [B,N,L,Dv]: computed before
//   query [B,S,N,3,D]: queries, keys and values
#include "graph/ops/multi_head_attention.h"

#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/attention.h"
#include "graph/ops/expect_shape.h"

namespace weft {
namespace {

using I = MhaInputs;
constexpr DType kAllowed[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16};

struct Sizes {
  Dim batch, length, kv_length, size, v_size;
};

absl::StatusOr<Sizes> SizesOf(InferContext& ctx, const Dim& heads, int64_t num_heads) {
  const Shape &query = ctx.shape(I::kQuery), &key = ctx.shape(I::kKey);
  if (query.rank() == 5) {
    if (ctx.HasInput(I::kKey) || ctx.HasInput(I::kValue)) {
      return Invalid("has packed queries, keys and values, expected no other key and value");
    }
    WEFT_RETURN_IF_ERROR(ExpectShape(ctx, I::kQuery, "query", {query[0], query[1], heads, 3, query[4]}));
    return Sizes{query[0], query[1], query[1], query[4], query[4]};
  }
  if (query.rank() != 3) return Invalid("input 0 (query) has rank ", query.rank(), ", expected 3 or 5");
  WEFT_ASSIGN_OR_RETURN(const Dim size, HeadSize(query[2], num_heads, "query"));
  const Dim &batch = query[0], &length = query[1];
  if (!ctx.HasInput(I::kKey)) return Invalid("has no key, which a query of rank 3 needs");
  if (key.rank() == 5) {
    if (ctx.HasInput(I::kValue)) return Invalid("has packed keys and values, expected no other value");
    WEFT_RETURN_IF_ERROR(ExpectShape(ctx, I::kKey, "key", {batch, key[1], heads, 2, size}));
    return Sizes{batch, length, key[1], size, size};
  }
  if (key.rank() != 3 && key.rank() != 4) return Invalid("input 1 (key) has rank ", key.rank(), ", expected 3, 4 or 5");
  if (!ctx.HasInput(I::kValue)) return Invalid("has no value, which a key of rank ", key.rank(), " needs");
  WEFT_ASSIGN_OR_RETURN(const Shape value, ShapeOfRank(ctx, I::kValue, "value", key.rank()));
  if (key.rank() == 3) {
    WEFT_ASSIGN_OR_RETURN(const Dim v_size, HeadSize(value[2], num_heads, "value"));
    WEFT_RETURN_IF_ERROR(ExpectShape(ctx, I::kKey, "key", {batch, key[1], query[2]}));
    WEFT_RETURN_IF_ERROR(ExpectShape(ctx, I::kValue, "value", {batch, key[1], value[2]}));
    return Sizes{batch, length, key[1], size, v_size};
  }
  if (ctx.HasInput(I::kPastKey)) return Invalid("has a key of rank 4 and a past_key, expected one of them");
  WEFT_RETURN_IF_ERROR(ExpectShape(ctx, I::kKey, "key", {batch, heads, key[2], size}));
  WEFT_RETURN_IF_ERROR(ExpectShape(ctx, I::kValue, "value", {batch, heads, key[2], value[3]}));
  return Sizes{batch, length, key[2], size, value[3]};
}

absl::Status CheckMask(const InferContext& ctx, const Sizes& sizes, const Dim& total) {
  if (!ctx.HasInput(I::kMask) || !ctx.shape(I::kMask).has_rank()) return absl::OkStatus();
  const int rank = ctx.shape(I::kMask).rank();
  std::vector<Dim> expected = {sizes.batch, sizes.length, total};
  if (rank == 2) expected = {sizes.batch, total};
  if (rank == 1) expected = {sizes.batch};
  return ExpectShape(ctx, I::kMask, "key_padding_mask", expected);
}

absl::Status CheckOperands(const InferContext& ctx) {
  constexpr DType kInt32Only[] = {DType::kInt32};
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(I::kQuery, "query", kAllowed));
  for (int i : {I::kKey, I::kValue, I::kBias, I::kAttentionBias, I::kPastKey, I::kPastValue}) {
    WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(I::kQuery, i));
  }
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(I::kMask, "key_padding_mask", kInt32Only));
  if (ctx.HasInput(I::kPastKey) != ctx.HasInput(I::kPastValue)) return Invalid("has one of past_key and past_value, expected both or none");
  if (ctx.HasInput(I::kPastLength)) return Unsupported("input past_sequence_length, a cache that is written in place");
  if (ctx.HasInput(I::kCacheIndirection)) return Unsupported("input cache_indirection, the beams of a search");
  if (ctx.HasOutput(3)) return Unsupported("output 3 (qk)");
  return absl::OkStatus();
}

absl::Status InferMultiHeadAttention(InferContext& ctx) {
  const int64_t num_heads = ctx.attrs<MultiHeadAttentionAttrs>().num_heads;
  if (num_heads < 1) return Invalid("num_heads is ", num_heads, ", expected 1 or more");
  WEFT_RETURN_IF_ERROR(CheckOperands(ctx));
  const Dim heads = num_heads;
  const bool known = ctx.shape(I::kQuery).has_rank() && (!ctx.HasInput(I::kKey) || ctx.shape(I::kKey).has_rank());
  if (!known) {
    ctx.SetOutput(0, ctx.dtype(I::kQuery), ctx.FreshShape(3));
    for (int i : {1, 2}) ctx.SetOutput(i, ctx.dtype(I::kQuery), Shape{ctx.FreshDim(), heads, ctx.FreshDim(), ctx.FreshDim()});
    return absl::OkStatus();
  }
  WEFT_ASSIGN_OR_RETURN(const Sizes s, SizesOf(ctx, heads, num_heads));
  Dim total = s.kv_length;
  if (ctx.HasInput(I::kPastKey)) {
    WEFT_ASSIGN_OR_RETURN(const Shape past, ShapeOfRank(ctx, I::kPastKey, "past_key", 4));
    WEFT_RETURN_IF_ERROR(ExpectShape(ctx, I::kPastKey, "past_key", {s.batch, heads, past[2], s.size}));
    WEFT_RETURN_IF_ERROR(ExpectShape(ctx, I::kPastValue, "past_value", {s.batch, heads, past[2], s.v_size}));
    total = past[2] + total;
  }
  WEFT_RETURN_IF_ERROR(ExpectShape(ctx, I::kBias, "bias", {heads * (Dim(2) * s.size + s.v_size)}));
  WEFT_RETURN_IF_ERROR(CheckMask(ctx, s, total));
  WEFT_RETURN_IF_ERROR(CheckAttentionBias(ctx, I::kAttentionBias, {s.batch, heads, s.length, total}));
  ctx.SetOutput(0, ctx.dtype(I::kQuery), Shape{s.batch, s.length, heads * s.v_size});
  ctx.SetOutput(1, ctx.dtype(I::kQuery), Shape{s.batch, heads, total, s.size});
  ctx.SetOutput(2, ctx.dtype(I::kQuery), Shape{s.batch, heads, total, s.v_size});
  return absl::OkStatus();
}

Cost MultiHeadAttentionCost(const NodeView& node) {
  const int64_t heads = node.attrs_as<MultiHeadAttentionAttrs>().num_heads;
  const Shape& y = node.outputs[0].shape;
  if (!y.has_rank()) return {};
  Dim length = y[1];
  if (node.HasInput(I::kKey) && node.inputs[I::kKey].type->shape.has_rank()) {
    const Shape& key = node.inputs[I::kKey].type->shape;
    length = key[key.rank() == 4 ? 2 : 1];
  }
  if (node.HasInput(I::kPastKey)) {
    const Shape& past = node.inputs[I::kPastKey].type->shape;
    if (past.has_rank()) length = length + past[2];
  }
  const Dim size = Dim::FloorDiv(y[2], heads);
  return AttentionCost({y[0], heads, y[1], length}, size, size);
}

}  // namespace

constinit const Op ops::MultiHeadAttention = {.domain = "com.microsoft", .name = "MultiHeadAttention", .inputs = {1, 10},
                                              .outputs = {1, 4}, .attrs = &kAttrSchema<MultiHeadAttentionAttrs>,
                                              .infer = &InferMultiHeadAttention, .cost = &MultiHeadAttentionCost};

}  // namespace weft
