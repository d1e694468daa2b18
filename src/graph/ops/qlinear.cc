// QLinearAdd, QLinearMul, QLinearSigmoid, QLinearLeakyRelu, QLinearSoftmax, QLinearConcat, QLinearWhere of the domain com.microsoft
// (ONNX Runtime, ContribOperators.md).
#include "graph/ops/qlinear.h"

#include <vector>

#include "graph/op.h"
#include "graph/ops/dtype_sets.h"
#include "graph/ops/quantized.h"
#include "graph/ops/shape.h"
#include "graph/ops/unary.h"

namespace weft {

absl::Status CheckQuantized(const InferContext& ctx, int i, std::string_view operand) {
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(i, operand, kBytes));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(i + 1, "its scale", {DType::kFloat32}));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(i, i + 2));
  WEFT_RETURN_IF_ERROR(CheckPerTensor(ctx, i + 1, "its scale"));
  return CheckPerTensor(ctx, i + 2, "its zero point");
}

absl::Status CheckQuantization(const InferContext& ctx, int i, int like) {
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(i, "the output's scale", {DType::kFloat32}));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(like, i + 1));
  WEFT_RETURN_IF_ERROR(CheckPerTensor(ctx, i, "the output's scale"));
  return CheckPerTensor(ctx, i + 1, "the output's zero point");
}

namespace {

absl::Status InferBinary(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckQuantized(ctx, 0, "A"));
  WEFT_RETURN_IF_ERROR(CheckQuantized(ctx, 3, "B"));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 3));
  WEFT_RETURN_IF_ERROR(CheckQuantization(ctx, 6, 0));
  WEFT_ASSIGN_OR_RETURN(Shape shape, ctx.Broadcast({0, 3}));
  ctx.SetOutput(0, ctx.dtype(0), std::move(shape));
  return absl::OkStatus();
}

absl::Status InferUnary(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckQuantized(ctx, 0, "X"));
  WEFT_RETURN_IF_ERROR(CheckQuantization(ctx, 3, 0));
  ctx.SetOutput(0, ctx.input(0));
  return absl::OkStatus();
}

absl::Status InferSoftmax(InferContext& ctx) {
  const auto& attrs = ctx.attrs<QLinearSoftmaxAttrs>();
  if (attrs.opset < 1) return Invalid("opset is ", attrs.opset, ", expected 1 or more");
  if (ctx.shape(0).has_rank()) {
    WEFT_RETURN_IF_ERROR(ctx.CheckRankAtLeast(0, "X", 1));
    WEFT_RETURN_IF_ERROR(InferContext::NormalizeAxis(attrs.axis, ctx.shape(0).rank()).status());
  }
  return InferUnary(ctx);
}

absl::Status InferConcat(InferContext& ctx) {
  if (ctx.num_inputs() % 3 != 2) {
    return Invalid("has ", ctx.num_inputs(), " inputs, expected 2 and then 3 for each tensor: itself, its scale and its zero point");
  }
  std::vector<Shape> shapes;
  for (int i = 2; i < ctx.num_inputs(); i += 3) {
    WEFT_RETURN_IF_ERROR(CheckQuantized(ctx, i, "a tensor"));
    WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(2, i));
    shapes.push_back(ctx.shape(i));
  }
  WEFT_RETURN_IF_ERROR(CheckQuantization(ctx, 0, 2));
  WEFT_ASSIGN_OR_RETURN(Shape shape, ConcatShapes(ctx, shapes, ctx.attrs<ConcatAttrs>().axis));
  ctx.SetOutput(0, ctx.dtype(2), std::move(shape));
  return absl::OkStatus();
}

absl::Status InferWhere(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "condition", kBoolType));
  WEFT_RETURN_IF_ERROR(CheckQuantized(ctx, 1, "X"));
  WEFT_RETURN_IF_ERROR(CheckQuantized(ctx, 4, "Y"));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(1, 4));
  WEFT_RETURN_IF_ERROR(CheckQuantization(ctx, 7, 1));
  WEFT_ASSIGN_OR_RETURN(Shape shape, ctx.Broadcast({0, 1, 4}));
  ctx.SetOutput(0, ctx.dtype(1), std::move(shape));
  return absl::OkStatus();
}

constexpr Op QLinear(std::string_view name, absl::Status (*infer)(InferContext&), Arity inputs, uint32_t optional_inputs,
                     const AttrSchema* attrs = &kAttrSchema<NoAttrs>) {
  return {.domain = "com.microsoft", .name = name, .inputs = inputs, .outputs = 1, .optional_inputs = optional_inputs, .attrs = attrs,
          .infer = infer};
}

}  // namespace

constinit const Op ops::QLinearAdd = QLinear("QLinearAdd", &InferBinary, {7, 8}, 0b100100);
constinit const Op ops::QLinearMul = QLinear("QLinearMul", &InferBinary, {7, 8}, 0b100100);
constinit const Op ops::QLinearSigmoid = QLinear("QLinearSigmoid", &InferUnary, {4, 5}, 0b100);
constinit const Op ops::QLinearLeakyRelu = QLinear("QLinearLeakyRelu", &InferUnary, {4, 5}, 0b100, &kAttrSchema<LeakyReluAttrs>);
constinit const Op ops::QLinearSoftmax = QLinear("QLinearSoftmax", &InferSoftmax, {4, 5}, 0b100, &kAttrSchema<QLinearSoftmaxAttrs>);
constinit const Op ops::QLinearConcat = QLinear("QLinearConcat", &InferConcat, {5, Arity::kVariadic}, 0, &kAttrSchema<ConcatAttrs>);
constinit const Op ops::QLinearWhere = QLinear("QLinearWhere", &InferWhere, {8, 9}, 0b1001000);

}  // namespace weft
