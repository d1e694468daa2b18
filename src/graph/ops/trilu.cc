// Trilu (ONNX Operators.md, opset 14).
#include "graph/ops/trilu.h"

#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/operands.h"

namespace weft {
namespace {

absl::Status InferTrilu(InferContext& ctx) {
  constexpr DType kInt64Only[] = {DType::kInt64};
  WEFT_RETURN_IF_ERROR(CheckTensor(ctx, 0, "input"));
  WEFT_RETURN_IF_ERROR(ctx.CheckRankAtLeast(0, "input", 2));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(1, "k", kInt64Only));
  WEFT_RETURN_IF_ERROR(CheckScalar(ctx, 1, "k"));
  ctx.SetOutput(0, ctx.dtype(0), ctx.shape(0));
  return absl::OkStatus();
}

}  // namespace

constinit const Op ops::Trilu = {.name = "Trilu", .since_version = 14, .inputs = Arity(1, 2), .outputs = 1,
                                 .attrs = &kAttrSchema<TriluAttrs>, .in_place = 0b1, .infer = &InferTrilu};

}  // namespace weft
