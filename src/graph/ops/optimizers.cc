// Optimisers of training (ONNX Operators.md, ai.onnx.preview.training 1): Adagrad, Adam, Momentum.
//
//   inputs R, T, then n tensors X, n gradients G, n of each state;  outputs n new X, n of each new state
#include "graph/ops/optimizers.h"

#include <vector>

#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/expect_shape.h"
#include "graph/ops/operands.h"

namespace weft {
namespace {

constexpr DType kAllowed[] = {DType::kFloat32, DType::kFloat64};

absl::Status InferOptimizer(InferContext& ctx, int states) {
  constexpr DType kInt64Only[] = {DType::kInt64};
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "R", kAllowed));
  WEFT_RETURN_IF_ERROR(CheckScalar(ctx, 0, "R"));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(1, "T", kInt64Only));
  WEFT_RETURN_IF_ERROR(CheckScalar(ctx, 1, "T"));
  const int groups = 2 + states, count = (ctx.num_inputs() - 2) / groups;
  if (ctx.num_inputs() != 2 + count * groups || ctx.num_outputs() != count * (1 + states)) {
    return Invalid("has ", ctx.num_inputs(), " inputs and ", ctx.num_outputs(), " outputs, expected R, T and ", groups,
                   " inputs for each tensor, and ", 1 + states, " outputs");
  }
  for (int k = 0; k < count; ++k) {
    const int x = 2 + k;
    Shape shape = ctx.shape(x);
    WEFT_RETURN_IF_ERROR(ctx.CheckDType(x, "X", kAllowed));
    for (int i = x + count; i < ctx.num_inputs(); i += count) {
      WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(x, i));
      if (!shape.has_rank()) shape = ctx.shape(i);
      if (shape.has_rank()) {
        WEFT_RETURN_IF_ERROR(ExpectShape(ctx, i, "of X's shape", std::vector<Dim>(shape.dims().begin(), shape.dims().end())));
      }
    }
    for (int i = k; i < ctx.num_outputs(); i += count) ctx.SetOutput(i, ctx.dtype(x), shape);
  }
  return absl::OkStatus();
}

absl::Status InferAdagrad(InferContext& ctx) { return InferOptimizer(ctx, 1); }
absl::Status InferAdam(InferContext& ctx) { return InferOptimizer(ctx, 2); }
absl::Status InferMomentum(InferContext& ctx) {
  const std::string& mode = ctx.attrs<MomentumAttrs>().mode;
  if (mode != "standard" && mode != "nesterov") return Invalid("attribute 'mode' is '", mode, "', expected 'standard' or 'nesterov'");
  return InferOptimizer(ctx, 1);
}

constexpr Op Optimizer(std::string_view name, int inputs, const AttrSchema* attrs, absl::Status (*infer)(InferContext&)) {
  return {.domain = "ai.onnx.preview.training", .name = name, .since_version = 1, .inputs = Arity(inputs, Arity::kVariadic),
          .outputs = Arity(1, Arity::kVariadic), .attrs = attrs, .infer = infer};
}

}  // namespace

constinit const Op ops::Adagrad = Optimizer("Adagrad", 5, &kAttrSchema<AdagradAttrs>, &InferAdagrad);
constinit const Op ops::Adam = Optimizer("Adam", 6, &kAttrSchema<AdamAttrs>, &InferAdam);
constinit const Op ops::Momentum = Optimizer("Momentum", 5, &kAttrSchema<MomentumAttrs>, &InferMomentum);

}  // namespace weft
