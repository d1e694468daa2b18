// ReverseSequence (ONNX Operators.md, opset 28).
#include "graph/ops/reverse_sequence.h"

#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/expect_shape.h"
#include "graph/ops/operands.h"

namespace weft {
namespace {

absl::Status InferReverseSequence(InferContext& ctx) {
  constexpr DType kInt64Only[] = {DType::kInt64};
  const auto [batch_axis, time_axis] = ctx.attrs<ReverseSequenceAttrs>();
  if (!(batch_axis == 0 && time_axis == 1) && !(batch_axis == 1 && time_axis == 0)) {
    return Invalid("batch_axis is ", batch_axis, " and time_axis ", time_axis, ", expected one of them 0, the other 1");
  }
  WEFT_RETURN_IF_ERROR(CheckTensor(ctx, 0, "input"));
  WEFT_RETURN_IF_ERROR(ctx.CheckRankAtLeast(0, "input", 2));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(1, "sequence_lens", kInt64Only));
  WEFT_RETURN_IF_ERROR(ctx.CheckRank(1, "sequence_lens", 1));
  const Shape& in = ctx.shape(0);
  if (in.has_rank()) WEFT_RETURN_IF_ERROR(ExpectShape(ctx, 1, "sequence_lens", {in[static_cast<int>(batch_axis)]}));
  ctx.SetOutput(0, ctx.dtype(0), in);
  return absl::OkStatus();
}

}  // namespace

constinit const Op ops::ReverseSequence = {.name = "ReverseSequence", .since_version = 28, .inputs = 2, .outputs = 1,
                                           .attrs = &kAttrSchema<ReverseSequenceAttrs>, .infer = &InferReverseSequence};

}  // namespace weft
