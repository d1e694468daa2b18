// QGemm, MatMulIntegerToFloat, DynamicQuantizeMatMul of the domain com.microsoft (ONNX Runtime, ContribOperators.md).
#include "graph/ops/ms_quantized.h"

#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/dtype_sets.h"
#include "graph/ops/expect_shape.h"
#include "graph/ops/matmul.h"
#include "graph/ops/quantized.h"

namespace weft {
namespace {

// The product of inputs a and b, with the scale and the zero point of b and a bias.
absl::Status InferProduct(InferContext& ctx, int a, int b, int b_scale, int b_zero, int bias, DType dtype) {
  const Shape& right = ctx.shape(b);
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(b, "B", kBytes));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(b, b_zero));
  WEFT_RETURN_IF_ERROR(ctx.CheckRankAtLeast(b, "B", 1));
  WEFT_RETURN_IF_ERROR(CheckPerLine(ctx, b_scale, "b_scale", right, false));
  WEFT_RETURN_IF_ERROR(CheckPerLine(ctx, b_zero, "b_zero_point", right, false));
  WEFT_ASSIGN_OR_RETURN(Shape shape, InferMatMulShape(ctx, ctx.shape(a), right));
  if (right.has_rank() && right.rank() >= 2) WEFT_RETURN_IF_ERROR(ExpectShape(ctx, bias, "bias", {right[right.rank() - 1]}));
  WEFT_RETURN_IF_ERROR(ctx.CheckRank(bias, "bias", 1));
  ctx.SetOutput(0, dtype, std::move(shape));
  return absl::OkStatus();
}

absl::Status InferDynamicQuantizeMatMul(InferContext& ctx) {
  for (const int i : {0, 2, 4}) WEFT_RETURN_IF_ERROR(ctx.CheckDType(i, i == 0 ? "A" : i == 2 ? "b_scale" : "bias", {DType::kFloat32}));
  return InferProduct(ctx, 0, 1, 2, 3, 4, DType::kFloat32);
}

absl::Status InferMatMulIntegerToFloat(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "A", kBytes));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(2, "a_scale", {DType::kFloat32, DType::kFloat16, DType::kBFloat16}));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(2, 3));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 4));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(2, 6));
  WEFT_RETURN_IF_ERROR(CheckPerTensor(ctx, 2, "a_scale"));
  WEFT_RETURN_IF_ERROR(CheckPerTensor(ctx, 4, "a_zero_point"));
  return InferProduct(ctx, 0, 1, 3, 5, 6, ctx.dtype(2));
}

absl::Status InferQGemm(InferContext& ctx) {
  const auto& attrs = ctx.attrs<QGemmAttrs>();
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "A", kBytes));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(3, "B", kBytes));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(6, "C", {DType::kInt32}));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(8, "y_zero_point", kBytes));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 2));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(3, 5));
  for (const int scale : {1, 4, 7}) WEFT_RETURN_IF_ERROR(ctx.CheckDType(scale, "a scale", {DType::kFloat32}));
  WEFT_RETURN_IF_ERROR(CheckPerTensor(ctx, 1, "a_scale"));
  WEFT_RETURN_IF_ERROR(CheckPerTensor(ctx, 2, "a_zero_point"));
  WEFT_RETURN_IF_ERROR(CheckPerTensor(ctx, 7, "y_scale"));
  WEFT_RETURN_IF_ERROR(CheckPerTensor(ctx, 8, "y_zero_point"));
  if (ctx.HasInput(7) != ctx.HasInput(8)) return Invalid("of y_scale and y_zero_point there is one without the other");
  WEFT_ASSIGN_OR_RETURN(const Shape a, ShapeOfRank(ctx, 0, "A", 2));
  WEFT_ASSIGN_OR_RETURN(const Shape b, ShapeOfRank(ctx, 3, "B", 2));
  const int columns = attrs.transB ? 0 : 1;
  WEFT_RETURN_IF_ERROR(CheckPerTensorOrChannel(ctx, 4, "b_scale", b, columns));
  WEFT_RETURN_IF_ERROR(CheckPerTensorOrChannel(ctx, 5, "b_zero_point", b, columns));
  WEFT_RETURN_IF_ERROR(InferContext::Unify(a[attrs.transA ? 0 : 1], b[1 - columns], "the inner dim of the product").status());
  const Dim m = a[attrs.transA ? 1 : 0], n = b[columns];
  WEFT_RETURN_IF_ERROR(CheckAddend(ctx, 6, m, n));
  ctx.SetOutput(0, ctx.HasInput(8) ? ctx.dtype(8) : DType::kFloat32, Shape{m, n});
  return absl::OkStatus();
}

Cost ProductCost(const NodeView& node) { return MatMulCost(node); }

Cost QGemmCost(const NodeView& node) {
  const auto a = node.inputs[0].type->shape.Concrete();
  return a && a->size() == 2 ? MatMulCost(node, (*a)[node.attrs_as<QGemmAttrs>().transA ? 0 : 1]) : Cost{};
}

}  // namespace

constinit const Op ops::QGemm = {.domain = "com.microsoft", .name = "QGemm", .inputs = {6, 9}, .outputs = 1,
                                 .attrs = &kAttrSchema<QGemmAttrs>, .infer = &InferQGemm, .cost = &QGemmCost};
constinit const Op ops::MatMulIntegerToFloat = {.domain = "com.microsoft", .name = "MatMulIntegerToFloat", .inputs = {4, 7}, .outputs = 1,
                                                .infer = &InferMatMulIntegerToFloat, .cost = &ProductCost};
constinit const Op ops::DynamicQuantizeMatMul = {.domain = "com.microsoft", .name = "DynamicQuantizeMatMul", .inputs = {3, 5}, .outputs = 1,
                                                 .infer = &InferDynamicQuantizeMatMul, .cost = &ProductCost};

}  // namespace weft
