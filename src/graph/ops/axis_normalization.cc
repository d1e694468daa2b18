// Normalisations over given axes, without scale and bias (ONNX Operators.md): LpNormalization 22, MeanVarianceNormalization 13.
#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/dtype_sets.h"
#include "graph/ops/normalization.h"
#include "graph/ops/operands.h"

namespace weft {
namespace {

absl::Status InferLpNormalization(InferContext& ctx) {
  const auto& attrs = ctx.attrs<LpNormalizationAttrs>();
  if (attrs.p != 1 && attrs.p != 2) return Invalid("attribute 'p' is ", attrs.p, ", expected 1 or 2");
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "input", kFloatTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckRankAtLeast(0, "input", 1));
  if (ctx.shape(0).has_rank()) WEFT_RETURN_IF_ERROR(InferContext::NormalizeAxis(attrs.axis, ctx.shape(0).rank()).status());
  ctx.SetOutput(0, ctx.input(0));
  return absl::OkStatus();
}

absl::Status InferMeanVarianceNormalization(InferContext& ctx) {
  const auto& attrs = ctx.attrs<MeanVarianceNormalizationAttrs>();
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kFloatTypes));
  if (ctx.shape(0).has_rank()) WEFT_RETURN_IF_ERROR(NormalizeAxes(attrs.axes, ctx.shape(0).rank()).status());
  ctx.SetOutput(0, ctx.input(0));
  return absl::OkStatus();
}

}  // namespace

constinit const Op ops::LpNormalization = {.name = "LpNormalization", .since_version = 22, .inputs = 1, .outputs = 1,
                                           .attrs = &kAttrSchema<LpNormalizationAttrs>, .in_place = 0b1, .infer = &InferLpNormalization};
constinit const Op ops::MeanVarianceNormalization = {.name = "MeanVarianceNormalization", .since_version = 13, .inputs = 1, .outputs = 1,
                                                     .attrs = &kAttrSchema<MeanVarianceNormalizationAttrs>,
                                                     .infer = &InferMeanVarianceNormalization};

}  // namespace weft
