// weft.FusedConv, weft.FusedMatMul: made by passes, never read from a file of standard ops.
#include "graph/ops/fused.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/dtype_sets.h"
#include "graph/ops/matmul.h"
#include "graph/ops/spatial.h"

namespace weft {
namespace {

absl::Status CheckActivation(const std::string& activation) {
  if (activation.empty() || std::find(std::begin(kFusableActivations), std::end(kFusableActivations), activation) != std::end(kFusableActivations)) {
    return absl::OkStatus();
  }
  return Invalid("attribute 'activation' is '", activation, "', expected '' or one of ",
                 absl::StrJoin(kFusableActivations, ", ", [](std::string* out, std::string_view name) { out->append(name); }));
}

absl::Status InferFusedConv(InferContext& ctx) {
  const auto& attrs = ctx.attrs<FusedConvAttrs>();
  WEFT_RETURN_IF_ERROR(CheckActivation(attrs.activation));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kFloatTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 1));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 2));
  WEFT_ASSIGN_OR_RETURN(Shape shape, InferConvShape(ctx, 0, 1, 2, SpecOf(attrs), attrs.group));
  ctx.SetOutput(0, ctx.dtype(0), std::move(shape));
  return absl::OkStatus();
}

Shape SwapLastTwo(Shape shape) {
  if (shape.has_rank() && shape.rank() >= 2) std::swap(shape[shape.rank() - 1], shape[shape.rank() - 2]);
  return shape;
}

absl::Status InferFusedMatMul(InferContext& ctx) {
  const auto& attrs = ctx.attrs<FusedMatMulAttrs>();
  WEFT_RETURN_IF_ERROR(CheckActivation(attrs.activation));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "A", kFloatTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 1));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 2));
  for (const auto& [i, transposed] : {std::pair(0, attrs.transA), std::pair(1, attrs.transB)}) {
    if (transposed) WEFT_RETURN_IF_ERROR(ctx.CheckRankAtLeast(i, i == 0 ? "A" : "B", 2));
  }
  WEFT_ASSIGN_OR_RETURN(Shape shape, InferMatMulShape(ctx, attrs.transA ? SwapLastTwo(ctx.shape(0)) : ctx.shape(0),
                                                      attrs.transB ? SwapLastTwo(ctx.shape(1)) : ctx.shape(1)));
  WEFT_RETURN_IF_ERROR(ctx.CheckRank(2, "bias", 1));
  if (ctx.HasInput(2) && ctx.shape(2).has_rank() && shape.has_rank() && shape.rank() > 0) {
    WEFT_RETURN_IF_ERROR(InferContext::Unify(ctx.shape(2)[0], shape[shape.rank() - 1], "the length of the bias and of the last axis").status());
  }
  ctx.SetOutput(0, ctx.dtype(0), std::move(shape));
  return absl::OkStatus();
}

Cost FusedConvCost(const NodeView& node) { return ConvCost(node, 1); }

Cost FusedMatMulCost(const NodeView& node) {
  const Shape& a = node.inputs[0].type->shape;
  if (!a.Concrete() || a.rank() < 2) return {};
  return MatMulCost(node, a[a.rank() - (node.attrs_as<FusedMatMulAttrs>().transA ? 2 : 1)].constant());
}

}  // namespace

constinit const Op ops::WeftFusedConv = {.domain = "weft", .name = "FusedConv", .inputs = Arity(2, 3), .outputs = 1,
                                     .attrs = &kAttrSchema<FusedConvAttrs>, .infer = &InferFusedConv, .cost = &FusedConvCost};
constinit const Op ops::WeftFusedMatMul = {.domain = "weft", .name = "FusedMatMul", .inputs = Arity(2, 3), .outputs = 1,
                                       .attrs = &kAttrSchema<FusedMatMulAttrs>, .infer = &InferFusedMatMul, .cost = &FusedMatMulCost};

}  // namespace weft
