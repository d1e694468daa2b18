// SwiGLU (ONNX Operators.md, opset 28).
#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/dtype_sets.h"
#include "graph/ops/expect_shape.h"
#include "graph/ops/unary.h"

namespace weft {
namespace {

// The shapes are equal: nothing is broadcast.
absl::Status InferSwiGLU(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "A", kFloatTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(1, "B", kFloatTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 1));
  Shape shape = ctx.shape(0);
  if (!shape.has_rank()) {
    shape = ctx.shape(1);
  } else if (ctx.shape(1).has_rank()) {
    WEFT_RETURN_IF_ERROR(ExpectShape(ctx, 1, "B", shape.dims()));
    for (int i = 0; i < shape.rank(); ++i) {
      WEFT_ASSIGN_OR_RETURN(shape[i], InferContext::Unify(shape[i], ctx.shape(1)[i], "an axis of A and B"));
    }
  }
  ctx.SetOutput(0, ctx.dtype(0) != DType::kUndefined ? ctx.dtype(0) : ctx.dtype(1), std::move(shape));
  return absl::OkStatus();
}

Cost TwelveEach(const NodeView& node) {
  const auto dims = node.outputs[0].shape.Concrete();
  return {dims ? 12 * NumElements(*dims).value_or(0) : 0};
}

}  // namespace

constinit const Op ops::SwiGLU = {.name = "SwiGLU", .since_version = 28, .inputs = 2, .outputs = 1, .attrs = &kAttrSchema<AlphaOneAttrs>,
                                  .traits = kElementwise, .in_place = 0b11, .infer = &InferSwiGLU, .cost = &TwelveEach};

}  // namespace weft
