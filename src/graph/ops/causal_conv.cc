// CausalConvWithState (ONNX Operators.md, opset 27).
#include "graph/ops/causal_conv.h"

#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/expect_shape.h"

namespace weft {
namespace {

constexpr DType kAllowed[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16};

absl::Status InferCausalConv(InferContext& ctx) {
  const std::string& activation = ctx.attrs<CausalConvAttrs>().activation;
  if (activation != "none" && activation != "silu" && activation != "swish") {
    return Invalid("activation is '", activation, "', expected none, silu or swish");
  }
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "input", kAllowed));
  for (int i : {1, 2, 3}) WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, i));
  WEFT_ASSIGN_OR_RETURN(Shape x, ShapeOfRank(ctx, 0, "input", 3));
  WEFT_ASSIGN_OR_RETURN(const Shape w, ShapeOfRank(ctx, 1, "weight", 3));
  WEFT_ASSIGN_OR_RETURN(x[1], InferContext::Unify(x[1], w[0], "the channels of input and weight"));
  const Dim& k = w[2];
  if (k.is_constant() && k.constant() < 1) return Invalid("input 1 (weight) has shape ", w.ToString(), ", expected a kernel of 1 or more");
  const Shape state = {x[0], x[1], k - Dim(1)};
  WEFT_RETURN_IF_ERROR(ExpectShape(ctx, 1, "weight", {x[1], 1, k}));
  WEFT_RETURN_IF_ERROR(ExpectShape(ctx, 2, "bias", {x[1]}));
  WEFT_RETURN_IF_ERROR(ExpectShape(ctx, 3, "past_state", state.dims()));
  ctx.SetOutput(0, ctx.dtype(0), std::move(x));
  ctx.SetOutput(1, ctx.dtype(0), state);
  return absl::OkStatus();
}

Cost CausalConvCost(const NodeView& node) {
  const auto x = node.outputs[0].shape.Concrete(), w = node.inputs[1].type->shape.Concrete();
  if (!x || !w) return {};
  const double flops = 2.0 * (*w)[2] * static_cast<double>(NumElements(*x).value_or(0));
  return {flops < 0x1p62 ? static_cast<int64_t>(flops) : 0};
}

}  // namespace

constinit const Op ops::CausalConvWithState = {.name = "CausalConvWithState", .since_version = 27, .inputs = {2, 4}, .outputs = 2,
                                               .attrs = &kAttrSchema<CausalConvAttrs>, .infer = &InferCausalConv,
                                               .cost = &CausalConvCost};

}  // namespace weft
