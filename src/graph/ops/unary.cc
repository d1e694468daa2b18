// Ops on one tensor, element by element (ONNX Operators.md).
#include "graph/ops/unary.h"

#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/dtype_sets.h"

namespace weft {
namespace {

absl::Status InferSame(InferContext& ctx, absl::Span<const DType> allowed) {
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", allowed));
  ctx.SetOutput(0, ctx.input(0));
  return absl::OkStatus();
}

absl::Status InferFloat(InferContext& ctx) { return InferSame(ctx, kFloatTypes); }
absl::Status InferNumeric(InferContext& ctx) { return InferSame(ctx, kNumericTypes); }
absl::Status InferIntegers(InferContext& ctx) { return InferSame(ctx, kIntegerTypes); }

absl::Status InferSigned(InferContext& ctx) { return InferSame(ctx, kSignedTypes); }

absl::Status InferNeg(InferContext& ctx) {
  if (const auto* x = ctx.elements(0)) {
    std::vector<Dim> negated;
    for (const Dim& d : *x) negated.push_back(Dim(0) - d);
    ctx.SetElements(0, std::move(negated));
  }
  return InferSame(ctx, kSignedTypes);
}

absl::Status InferNot(InferContext& ctx) {
  if (const auto x = ctx.ints(0)) {
    std::vector<Dim> inverted;
    for (int64_t v : *x) inverted.push_back(Dim(v == 0));
    ctx.SetElements(0, std::move(inverted));
  }
  return InferSame(ctx, kBoolType);
}

absl::Status InferFloatToBool(InferContext& ctx) {
  static constexpr DType kAllowed[] = {DType::kFloat32,        DType::kFloat16,      DType::kBFloat16,
                                       DType::kFloat64,        DType::kFloat8E4M3FN, DType::kFloat8E4M3FNUZ,
                                       DType::kFloat8E5M2, DType::kFloat8E5M2FNUZ};
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kAllowed));
  ctx.SetOutput(0, DType::kBool, ctx.shape(0));
  return absl::OkStatus();
}

absl::Status InferGelu(InferContext& ctx) {
  const std::string& approximate = ctx.attrs<GeluAttrs>().approximate;
  if (approximate != "none" && approximate != "tanh") {
    return Invalid("attribute 'approximate' is '", approximate, "', expected 'none' or 'tanh'");
  }
  return InferFloat(ctx);
}

// About what the functions take; for ordering and reports alone.
Cost PerElement(const NodeView& node, int64_t flops) {
  const auto dims = node.outputs[0].shape.Concrete();
  if (!dims) return {};
  return {NumElements(*dims).value_or(0) * flops};
}
Cost OneFlop(const NodeView& node) { return PerElement(node, 1); }
Cost TenFlops(const NodeView& node) { return PerElement(node, 10); }

constexpr Op Unary(std::string_view name, int version, absl::Status (*infer)(InferContext&), Cost (*cost)(const NodeView&),
                   const AttrSchema* attrs = &kAttrSchema<NoAttrs>) {
  return {.name = name, .since_version = version, .inputs = 1, .outputs = 1, .attrs = attrs, .traits = kElementwise, .in_place = 0b1,
          .infer = infer, .cost = cost};
}

}  // namespace

constinit const Op ops::Abs = Unary("Abs", 13, &InferNumeric, &OneFlop);
constinit const Op ops::Neg = Unary("Neg", 13, &InferNeg, &OneFlop);
constinit const Op ops::Sign = Unary("Sign", 13, &InferNumeric, &OneFlop);
constinit const Op ops::Ceil = Unary("Ceil", 13, &InferFloat, &OneFlop);
constinit const Op ops::Floor = Unary("Floor", 13, &InferFloat, &OneFlop);
constinit const Op ops::Round = Unary("Round", 22, &InferFloat, &OneFlop);
constinit const Op ops::Sqrt = Unary("Sqrt", 13, &InferFloat, &OneFlop);
constinit const Op ops::Reciprocal = Unary("Reciprocal", 13, &InferFloat, &OneFlop);
constinit const Op ops::Exp = Unary("Exp", 13, &InferFloat, &TenFlops);
constinit const Op ops::Log = Unary("Log", 13, &InferFloat, &TenFlops);
constinit const Op ops::Sin = Unary("Sin", 22, &InferFloat, &TenFlops);
constinit const Op ops::Cos = Unary("Cos", 22, &InferFloat, &TenFlops);
constinit const Op ops::Tan = Unary("Tan", 22, &InferFloat, &TenFlops);
constinit const Op ops::Asin = Unary("Asin", 22, &InferFloat, &TenFlops);
constinit const Op ops::Acos = Unary("Acos", 22, &InferFloat, &TenFlops);
constinit const Op ops::Atan = Unary("Atan", 22, &InferFloat, &TenFlops);
constinit const Op ops::Sinh = Unary("Sinh", 22, &InferFloat, &TenFlops);
constinit const Op ops::Cosh = Unary("Cosh", 22, &InferFloat, &TenFlops);
constinit const Op ops::Tanh = Unary("Tanh", 13, &InferFloat, &TenFlops);
constinit const Op ops::Asinh = Unary("Asinh", 22, &InferFloat, &TenFlops);
constinit const Op ops::Acosh = Unary("Acosh", 22, &InferFloat, &TenFlops);
constinit const Op ops::Atanh = Unary("Atanh", 22, &InferFloat, &TenFlops);
constinit const Op ops::Erf = Unary("Erf", 13, &InferNumeric, &TenFlops);
constinit const Op ops::Not = Unary("Not", 1, &InferNot, nullptr);
constinit const Op ops::BitwiseNot = Unary("BitwiseNot", 18, &InferIntegers, nullptr);
constinit const Op ops::IsNaN = {.name = "IsNaN", .since_version = 20, .inputs = 1, .outputs = 1, .traits = kElementwise,
                                 .infer = &InferFloatToBool};
constinit const Op ops::IsInf = {.name = "IsInf", .since_version = 20, .inputs = 1, .outputs = 1, .attrs = &kAttrSchema<IsInfAttrs>,
                                 .traits = kElementwise, .infer = &InferFloatToBool};
constinit const Op ops::Sigmoid = Unary("Sigmoid", 13, &InferFloat, &TenFlops);
constinit const Op ops::Relu = Unary("Relu", 14, &InferSigned, &OneFlop);
constinit const Op ops::LeakyRelu = Unary("LeakyRelu", 16, &InferFloat, &OneFlop, &kAttrSchema<LeakyReluAttrs>);
constinit const Op ops::ThresholdedRelu = Unary("ThresholdedRelu", 22, &InferFloat, &OneFlop, &kAttrSchema<AlphaOneAttrs>);
constinit const Op ops::Elu = Unary("Elu", 22, &InferFloat, &TenFlops, &kAttrSchema<AlphaOneAttrs>);
constinit const Op ops::Celu = Unary("Celu", 28, &InferFloat, &TenFlops, &kAttrSchema<AlphaOneAttrs>);
constinit const Op ops::Selu = Unary("Selu", 22, &InferFloat, &TenFlops, &kAttrSchema<SeluAttrs>);
constinit const Op ops::HardSigmoid = Unary("HardSigmoid", 22, &InferFloat, &OneFlop, &kAttrSchema<HardSigmoidAttrs>);
constinit const Op ops::HardSwish = Unary("HardSwish", 22, &InferFloat, &OneFlop);
constinit const Op ops::Swish = Unary("Swish", 24, &InferFloat, &TenFlops, &kAttrSchema<AlphaOneAttrs>);
constinit const Op ops::Mish = Unary("Mish", 22, &InferFloat, &TenFlops);
constinit const Op ops::Softplus = Unary("Softplus", 22, &InferFloat, &TenFlops);
constinit const Op ops::Softsign = Unary("Softsign", 22, &InferFloat, &OneFlop);
constinit const Op ops::Gelu = Unary("Gelu", 20, &InferGelu, &TenFlops, &kAttrSchema<GeluAttrs>);
constinit const Op ops::Shrink = Unary("Shrink", 9, &InferNumeric, &OneFlop, &kAttrSchema<ShrinkAttrs>);

}  // namespace weft
