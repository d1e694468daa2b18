// SkipLayerNormalization, SkipSimplifiedLayerNormalization, EmbedLayerNormalization of the domain com.microsoft (ONNX Runtime,
// ContribOperators.md).
#include "graph/ops/skip_normalization.h"

#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/dtype_sets.h"
#include "graph/ops/expect_shape.h"
#include "graph/ops/normalization.h"

namespace weft {
namespace {

// The operands are input, skip, which broadcasts to it, and vectors over the last axis.
absl::Status InferSkipNormalization(InferContext& ctx, absl::Span<const std::string_view> operands) {
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "input", kFloatTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckRankAtLeast(0, "input", 1));
  const Shape& x = ctx.shape(0);
  for (int i = 1; i < static_cast<int>(operands.size()); ++i) {
    WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, i));
    if (i == 1) {
      WEFT_RETURN_IF_ERROR(CheckBroadcastsToX(ctx, i, operands[i]));
    } else if (x.has_rank()) {
      WEFT_RETURN_IF_ERROR(ExpectShape(ctx, i, operands[i], {x[x.rank() - 1]}));
    } else {
      WEFT_RETURN_IF_ERROR(ctx.CheckRank(i, operands[i], 1));
    }
  }
  WEFT_ASSIGN_OR_RETURN(Shape statistics, StatisticsShape(x, -1));
  ctx.SetOutput(0, ctx.input(0));
  ctx.SetOutput(1, DType::kFloat32, statistics);
  ctx.SetOutput(2, DType::kFloat32, std::move(statistics));
  ctx.SetOutput(3, ctx.input(0));
  return absl::OkStatus();
}

absl::Status InferSkipLayerNormalization(InferContext& ctx) {
  return InferSkipNormalization(ctx, {"input", "skip", "gamma", "beta", "bias"});
}
absl::Status InferSkipSimplifiedLayerNormalization(InferContext& ctx) {
  return InferSkipNormalization(ctx, {"input", "skip", "gamma", "bias"});
}

absl::Status InferEmbedLayerNormalization(InferContext& ctx) {
  constexpr std::string_view kOperands[] = {"input_ids", "segment_ids", "word_embedding", "position_embedding", "segment_embedding",
                                            "gamma",     "beta",        "mask",           "position_ids"};
  for (const int i : {0, 1, 7, 8}) {
    WEFT_RETURN_IF_ERROR(ctx.CheckDType(i, kOperands[i], {DType::kInt32}));
    WEFT_RETURN_IF_ERROR(ctx.CheckRank(i, kOperands[i], 2));
  }
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(2, kOperands[2], kFloatTypes));
  for (int i = 3; i <= 6; ++i) WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(2, i));
  if (ctx.HasInput(1) != ctx.HasInput(4)) {
    return Invalid("of segment_ids and segment_embedding there is one without the other");
  }
  WEFT_ASSIGN_OR_RETURN(const Shape ids, ShapeOfRank(ctx, 0, kOperands[0], 2));
  WEFT_ASSIGN_OR_RETURN(const Shape words, ShapeOfRank(ctx, 2, kOperands[2], 2));
  const Dim &batch = ids[0], &length = ids[1], &width = words[1];
  WEFT_RETURN_IF_ERROR(ExpectShape(ctx, 1, kOperands[1], {batch, length}));
  WEFT_RETURN_IF_ERROR(ExpectShape(ctx, 7, kOperands[7], {batch, length}));
  if (ctx.HasInput(8)) {  // [batch, length] or [1, length]
    WEFT_ASSIGN_OR_RETURN(const Shape positions, ShapeOfRank(ctx, 8, kOperands[8], 2));
    WEFT_RETURN_IF_ERROR(CheckBroadcastsToX(ctx, 8, kOperands[8]));
    WEFT_RETURN_IF_ERROR(InferContext::Unify(positions[1], length, "the last dims of input_ids and position_ids").status());
  }
  for (const int i : {3, 4}) {
    WEFT_ASSIGN_OR_RETURN(const Shape table, ShapeOfRank(ctx, i, kOperands[i], 2));
    WEFT_RETURN_IF_ERROR(InferContext::Unify(table[1], width, "the last dims of the embeddings").status());
  }
  for (const int i : {5, 6}) WEFT_RETURN_IF_ERROR(ExpectShape(ctx, i, kOperands[i], {width}));
  const Shape embedded = {batch, length, width};
  ctx.SetOutput(0, ctx.dtype(2), embedded);
  ctx.SetOutput(1, DType::kInt32, Shape{batch});
  ctx.SetOutput(2, ctx.dtype(2), embedded);
  return absl::OkStatus();
}

template <int kEach>
Cost PerElement(const NodeView& node) {
  const auto dims = node.outputs[0].shape.Concrete();
  return {dims ? kEach * NumElements(*dims).value_or(0) : 0};
}

}  // namespace

constinit const Op ops::SkipLayerNormalization = {.domain = "com.microsoft", .name = "SkipLayerNormalization", .inputs = {3, 5},
                                                  .outputs = {1, 4}, .attrs = &kAttrSchema<SkipNormalizationAttrs>,
                                                  .infer = &InferSkipLayerNormalization, .cost = &PerElement<9>};
constinit const Op ops::SkipSimplifiedLayerNormalization = {
    .domain = "com.microsoft", .name = "SkipSimplifiedLayerNormalization", .inputs = {3, 4}, .outputs = {1, 4},
    .attrs = &kAttrSchema<SkipNormalizationAttrs>, .infer = &InferSkipSimplifiedLayerNormalization, .cost = &PerElement<6>};
constinit const Op ops::EmbedLayerNormalization = {.domain = "com.microsoft", .name = "EmbedLayerNormalization", .inputs = {7, 9},
                                                   .outputs = {1, 3}, .optional_inputs = 0b10010,
                                                   .attrs = &kAttrSchema<EmbedLayerNormalizationAttrs>,
                                                   .infer = &InferEmbedLayerNormalization, .cost = &PerElement<9>};

}  // namespace weft
