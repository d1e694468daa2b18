// Losses of classifications (ONNX Operators.md): NegativeLogLikelihoodLoss 22, SoftmaxCrossEntropyLoss 13.
#include "graph/ops/loss.h"

#include <vector>

#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/dtype_sets.h"
#include "graph/ops/expect_shape.h"

namespace weft {
namespace {

struct Names {
  std::string_view scores, targets, weights;
};

// scores [N,C,d1,...], targets [N,d1,...], weights [C].
absl::Status InferLoss(InferContext& ctx, const Names& names) {
  const std::string& reduction = ctx.attrs<LossAttrs>().reduction;
  if (reduction != "none" && reduction != "sum" && reduction != "mean") {
    return Invalid("attribute 'reduction' is '", reduction, "', expected 'none', 'sum' or 'mean'");
  }
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, names.scores, kFloatTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(1, names.targets, kIndexTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 2));
  WEFT_RETURN_IF_ERROR(ctx.CheckRankAtLeast(0, names.scores, 2));
  WEFT_RETURN_IF_ERROR(ctx.CheckRankAtLeast(1, names.targets, 1));
  WEFT_RETURN_IF_ERROR(ctx.CheckRank(2, names.weights, 1));
  const Shape& scores = ctx.shape(0);
  Shape losses = ctx.shape(1);
  if (scores.has_rank()) {
    std::vector<Dim> dims(scores.dims().begin(), scores.dims().end());
    const Dim classes = dims[1];
    dims.erase(dims.begin() + 1);
    WEFT_RETURN_IF_ERROR(ExpectShape(ctx, 1, names.targets, dims));
    WEFT_RETURN_IF_ERROR(ExpectShape(ctx, 2, names.weights, {classes}));
    for (int i = 0; i < static_cast<int>(dims.size()) && losses.has_rank(); ++i) {
      WEFT_ASSIGN_OR_RETURN(dims[i], InferContext::Unify(dims[i], losses[i], "an axis of the targets"));
    }
    losses = Shape(std::move(dims));
  }
  ctx.SetOutput(0, ctx.dtype(0), reduction == "none" ? std::move(losses) : Shape(std::vector<Dim>()));
  ctx.SetOutput(1, ctx.input(0));
  return absl::OkStatus();
}

absl::Status InferNegativeLogLikelihoodLoss(InferContext& ctx) { return InferLoss(ctx, {"input", "target", "weight"}); }
absl::Status InferSoftmaxCrossEntropyLoss(InferContext& ctx) { return InferLoss(ctx, {"scores", "labels", "weights"}); }

}  // namespace

constinit const Op ops::NegativeLogLikelihoodLoss = {.name = "NegativeLogLikelihoodLoss", .since_version = 22, .inputs = Arity(2, 3),
                                                     .outputs = 1, .attrs = &kAttrSchema<LossAttrs>,
                                                     .infer = &InferNegativeLogLikelihoodLoss};
constinit const Op ops::SoftmaxCrossEntropyLoss = {.name = "SoftmaxCrossEntropyLoss", .since_version = 13, .inputs = Arity(2, 3),
                                                   .outputs = Arity(1, 2), .attrs = &kAttrSchema<LossAttrs>,
                                                   .infer = &InferSoftmaxCrossEntropyLoss};

}  // namespace weft
