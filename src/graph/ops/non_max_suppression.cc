// NonMaxSuppression (ONNX Operators.md, opset 11).
#include "graph/ops/non_max_suppression.h"

#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/operands.h"

namespace weft {
namespace {

absl::Status InferNonMaxSuppression(InferContext& ctx) {
  constexpr DType kFloat[] = {DType::kFloat32}, kInt64Only[] = {DType::kInt64};
  const int64_t center = ctx.attrs<NonMaxSuppressionAttrs>().center_point_box;
  if (center != 0 && center != 1) return Invalid("center_point_box is ", center, ", expected 0 or 1");
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "boxes", kFloat));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(1, "scores", kFloat));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(2, "max_output_boxes_per_class", kInt64Only));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(3, "iou_threshold", kFloat));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(4, "score_threshold", kFloat));
  WEFT_RETURN_IF_ERROR(ctx.CheckRank(0, "boxes", 3));
  WEFT_RETURN_IF_ERROR(ctx.CheckRank(1, "scores", 3));
  WEFT_RETURN_IF_ERROR(CheckScalar(ctx, 2, "max_output_boxes_per_class"));
  WEFT_RETURN_IF_ERROR(CheckScalar(ctx, 3, "iou_threshold"));
  WEFT_RETURN_IF_ERROR(CheckScalar(ctx, 4, "score_threshold"));
  const Shape &boxes = ctx.shape(0), &scores = ctx.shape(1);
  if (boxes.has_rank()) {
    WEFT_RETURN_IF_ERROR(InferContext::Unify(boxes[2], 4, "the size of a box").status());
  }
  if (boxes.has_rank() && scores.has_rank()) {
    WEFT_RETURN_IF_ERROR(InferContext::Unify(boxes[0], scores[0], "the batch of boxes and scores").status());
    WEFT_RETURN_IF_ERROR(InferContext::Unify(boxes[1], scores[2], "the number of boxes and of scores").status());
  }
  ctx.SetOutput(0, DType::kInt64, Shape({ctx.FreshDim(), 3}));
  return absl::OkStatus();
}

}  // namespace

constinit const Op ops::NonMaxSuppression = {.name = "NonMaxSuppression", .since_version = 11, .inputs = Arity(2, 5), .outputs = 1,
                                             .attrs = &kAttrSchema<NonMaxSuppressionAttrs>, .traits = kDataDependent,
                                             .infer = &InferNonMaxSuppression};

}  // namespace weft
