// Normalisations (ONNX Operators.md): BatchNormalization 15, InstanceNormalization 22, GroupNormalization 21,
// LayerNormalization 17, RMSNormalization 23, LRN 13.
#include "graph/ops/normalization.h"

#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/dtype_sets.h"

namespace weft {
namespace {

// Input i (if present) is a vector of `channels`.
absl::Status CheckVector(const InferContext& ctx, int i, std::string_view operand, const Dim& channels) {
  WEFT_RETURN_IF_ERROR(ctx.CheckRank(i, operand, 1));
  if (!ctx.HasInput(i) || !ctx.shape(i).has_rank()) return absl::OkStatus();
  const Dim& size = ctx.shape(i)[0];
  if (!size.is_constant() || !channels.is_constant() || size == channels) return absl::OkStatus();
  return Invalid("input ", i, " (", operand, ") has ", size.constant(), " elements, expected one for each of ", channels.constant(), " channels");
}

// The statistics' element type, a value of TensorProto.DataType.
absl::Status CheckStash(int64_t stash) {
  for (DType t : kFloatTypes) {
    if (stash == static_cast<int64_t>(t)) return absl::OkStatus();
  }
  return Invalid("stash_type is ", stash, ", expected a float type: 1 (float), 10 (float16), 11 (double) or 16 (bfloat16)");
}

absl::Status InferBatchNormalization(InferContext& ctx) {
  const bool training = ctx.attrs<BatchNormalizationAttrs>().training_mode;
  static constexpr std::string_view kNames[] = {"X", "scale", "B", "input_mean", "input_var"};
  for (int i = 0; i < 5; ++i) WEFT_RETURN_IF_ERROR(ctx.CheckDType(i, kNames[i], kFloatTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(1, 2));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(3, 4));
  WEFT_RETURN_IF_ERROR(ctx.CheckRankAtLeast(0, "X", 1));
  if (!training && (ctx.HasOutput(1) || ctx.HasOutput(2))) {
    return Invalid("running_mean or running_var is an output, expected Y alone where training_mode is 0");
  }
  Dim channels = ctx.FreshDim();
  if (ctx.shape(0).has_rank()) channels = ctx.shape(0).rank() == 1 ? Dim(1) : ctx.shape(0)[1];
  for (int i = 1; i < 5; ++i) {
    WEFT_RETURN_IF_ERROR(CheckVector(ctx, i, kNames[i], channels));
    if (!channels.is_constant() && ctx.shape(i).has_rank()) channels = ctx.shape(i)[0];
  }
  ctx.SetOutput(0, ctx.input(0));
  ctx.SetOutput(1, ctx.dtype(3), Shape{channels});
  ctx.SetOutput(2, ctx.dtype(4), Shape{channels});
  return absl::OkStatus();
}

// X is [N, C, ...] with scale and bias [C].
absl::Status CheckChannelNorm(InferContext& ctx, int least_rank) {
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kFloatTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 1));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 2));
  WEFT_RETURN_IF_ERROR(ctx.CheckRankAtLeast(0, "X", least_rank));
  const Dim channels = ctx.shape(0).has_rank() ? ctx.shape(0)[1] : ctx.FreshDim();
  WEFT_RETURN_IF_ERROR(CheckVector(ctx, 1, "scale", channels));
  return CheckVector(ctx, 2, "B", channels);
}

absl::Status InferInstanceNormalization(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckChannelNorm(ctx, 2));
  ctx.SetOutput(0, ctx.input(0));
  return absl::OkStatus();
}

absl::Status InferGroupNormalization(InferContext& ctx) {
  const auto& attrs = ctx.attrs<GroupNormalizationAttrs>();
  WEFT_RETURN_IF_ERROR(CheckStash(attrs.stash_type));
  if (attrs.num_groups < 1) return Invalid("num_groups is ", attrs.num_groups, ", expected 1 or more");
  WEFT_RETURN_IF_ERROR(CheckChannelNorm(ctx, 2));
  if (ctx.shape(0).has_rank() && ctx.shape(0)[1].is_constant() && ctx.shape(0)[1].constant() % attrs.num_groups != 0) {
    return Invalid("input 0 (X) has ", ctx.shape(0)[1].constant(), " channels, expected a multiple of num_groups ", attrs.num_groups);
  }
  ctx.SetOutput(0, ctx.input(0));
  return absl::OkStatus();
}

absl::Status InferLayerNormalization(InferContext& ctx) {
  const auto& attrs = ctx.attrs<LayerNormalizationAttrs>();
  WEFT_RETURN_IF_ERROR(CheckStash(attrs.stash_type));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kFloatTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 1));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 2));
  WEFT_ASSIGN_OR_RETURN(Shape statistics, StatisticsShape(ctx.shape(0), attrs.axis));
  WEFT_RETURN_IF_ERROR(CheckBroadcastsToX(ctx, 1, "Scale"));
  WEFT_RETURN_IF_ERROR(CheckBroadcastsToX(ctx, 2, "B"));
  ctx.SetOutput(0, ctx.input(0));
  ctx.SetOutput(1, static_cast<DType>(attrs.stash_type), statistics);
  ctx.SetOutput(2, static_cast<DType>(attrs.stash_type), std::move(statistics));
  return absl::OkStatus();
}

absl::Status InferRMSNormalization(InferContext& ctx) {
  const auto& attrs = ctx.attrs<LayerNormalizationAttrs>();
  WEFT_RETURN_IF_ERROR(CheckStash(attrs.stash_type));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kFloatTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(1, "scale", kFloatTypes));
  WEFT_ASSIGN_OR_RETURN(Shape statistics, StatisticsShape(ctx.shape(0), attrs.axis));
  WEFT_RETURN_IF_ERROR(CheckBroadcastsToX(ctx, 1, "scale"));
  ctx.SetOutput(0, ctx.dtype(1) != DType::kUndefined ? ctx.dtype(1) : ctx.dtype(0), ctx.shape(0));
  ctx.SetOutput(1, static_cast<DType>(attrs.stash_type), std::move(statistics));  // SimplifiedLayerNormalization alone has it
  return absl::OkStatus();
}

absl::Status InferLrn(InferContext& ctx) {
  const int64_t size = ctx.attrs<LrnAttrs>().size;
  if (size < 1) return Invalid("size is ", size, ", expected 1 or more");
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kFloatTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckRankAtLeast(0, "X", 2));
  ctx.SetOutput(0, ctx.input(0));
  return absl::OkStatus();
}

template <int kEach>
Cost PerElement(const NodeView& node) {
  const auto dims = node.inputs[0].type->shape.Concrete();
  if (!dims) return {};
  const auto count = NumElements(*dims);
  return {count.ok() && *count < (int64_t{1} << 58) ? kEach * *count : 0};
}

}  // namespace

absl::Status CheckBroadcastsToX(const InferContext& ctx, int i, std::string_view operand) {
  if (!ctx.HasInput(i) || !ctx.shape(i).has_rank() || !ctx.shape(0).has_rank()) return absl::OkStatus();
  const Shape &x = ctx.shape(0), &s = ctx.shape(i);
  bool fits = s.rank() <= x.rank();
  for (int axis = 1; fits && axis <= s.rank(); ++axis) {
    const Dim &from = s[s.rank() - axis], &to = x[x.rank() - axis];
    fits = !from.is_constant() || from == Dim(1) || !to.is_constant() || from == to;
  }
  if (fits) return absl::OkStatus();
  return Invalid("input ", i, " (", operand, ") has shape ", s.ToString(), ", expected one that broadcasts to that of X, ", x.ToString());
}

absl::StatusOr<Shape> StatisticsShape(Shape x, int64_t axis) {
  if (!x.has_rank()) return x;
  WEFT_ASSIGN_OR_RETURN(const int first, InferContext::NormalizeAxis(axis, x.rank()));
  for (int i = first; i < x.rank(); ++i) x[i] = 1;
  return x;
}

constinit const Op ops::BatchNormalization = {.name = "BatchNormalization", .since_version = 15, .inputs = 5, .outputs = {1, 3},
                                              .attrs = &kAttrSchema<BatchNormalizationAttrs>, .in_place = 0b1,
                                              .infer = &InferBatchNormalization, .cost = &PerElement<3>};
constinit const Op ops::InstanceNormalization = {.name = "InstanceNormalization", .since_version = 22, .inputs = 3, .outputs = 1,
                                                 .attrs = &kAttrSchema<InstanceNormalizationAttrs>, .in_place = 0b1,
                                                 .infer = &InferInstanceNormalization, .cost = &PerElement<7>};
constinit const Op ops::GroupNormalization = {.name = "GroupNormalization", .since_version = 21, .inputs = 3, .outputs = 1,
                                              .attrs = &kAttrSchema<GroupNormalizationAttrs>, .in_place = 0b1,
                                              .infer = &InferGroupNormalization, .cost = &PerElement<7>};
constinit const Op ops::LayerNormalization = {.name = "LayerNormalization", .since_version = 17, .inputs = {2, 3}, .outputs = {1, 3},
                                              .attrs = &kAttrSchema<LayerNormalizationAttrs>, .in_place = 0b1,
                                              .infer = &InferLayerNormalization, .cost = &PerElement<7>};
constinit const Op ops::RMSNormalization = {.name = "RMSNormalization", .since_version = 23, .inputs = 2, .outputs = 1,
                                            .attrs = &kAttrSchema<LayerNormalizationAttrs>, .in_place = 0b1,
                                            .infer = &InferRMSNormalization, .cost = &PerElement<4>};
// ONNX Runtime's name for it, in the domain ai.onnx all the same; output 1 is the inverse root mean square.
constinit const Op ops::SimplifiedLayerNormalization = {.name = "SimplifiedLayerNormalization", .since_version = 1, .inputs = 2,
                                                        .outputs = {1, 2}, .attrs = &kAttrSchema<LayerNormalizationAttrs>,
                                                        .in_place = 0b1, .infer = &InferRMSNormalization, .cost = &PerElement<4>};
constinit const Op ops::LRN = {.name = "LRN", .since_version = 13, .inputs = 1, .outputs = 1, .attrs = &kAttrSchema<LrnAttrs>,
                               .infer = &InferLrn, .cost = [](const NodeView& node) {
                                 const Cost once = PerElement<1>(node);
                                 const int64_t each = node.attrs_as<LrnAttrs>().size + 4;
                                 return once.flops < (int64_t{1} << 40) && each < (1 << 20) ? Cost{each * once.flops} : Cost{};
                               }};

}  // namespace weft
