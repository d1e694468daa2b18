// Dropout (ONNX Operators.md, opset 22): the identity, unless its third input says training.
#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/dtype_sets.h"
#include "graph/ops/operands.h"
#include "graph/ops/random.h"

namespace weft {
namespace {

absl::Status InferDropout(InferContext& ctx) {
  static constexpr DType kAllowed[] = {DType::kFloat32,      DType::kFloat16,        DType::kBFloat16,   DType::kFloat64,
                                       DType::kFloat8E4M3FN, DType::kFloat8E4M3FNUZ, DType::kFloat8E5M2, DType::kFloat8E5M2FNUZ};
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "data", kAllowed));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(1, "ratio", kAllowed));
  WEFT_RETURN_IF_ERROR(CheckScalar(ctx, 1, "ratio"));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(2, "training_mode", kBoolType));
  WEFT_RETURN_IF_ERROR(CheckScalar(ctx, 2, "training_mode"));
  ctx.SetOutput(0, ctx.input(0));
  ctx.SetOutput(1, DType::kBool, ctx.shape(0));
  return absl::OkStatus();
}

}  // namespace

constinit const Op ops::Dropout = {.name = "Dropout", .since_version = 22, .inputs = Arity(1, 3), .outputs = Arity(1, 2),
                                   .attrs = &kAttrSchema<DropoutAttrs>, .traits = kRandom, .in_place = 0b1, .infer = &InferDropout};

}  // namespace weft
