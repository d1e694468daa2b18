// Det (ONNX Operators.md, opset 22).
#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/dtype_sets.h"

namespace weft {
namespace {

absl::Status InferDet(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kFloatTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckRankAtLeast(0, "X", 2));
  Shape out;
  if (const Shape& x = ctx.shape(0); x.has_rank()) {
    WEFT_RETURN_IF_ERROR(InferContext::Unify(x[x.rank() - 2], x[x.rank() - 1], "the side of a square matrix").status());
    out = Shape(std::vector<Dim>(x.dims().begin(), x.dims().end() - 2));
  }
  ctx.SetOutput(0, ctx.dtype(0), std::move(out));
  return absl::OkStatus();
}

}  // namespace

constinit const Op ops::Det = {.name = "Det", .since_version = 22, .inputs = 1, .outputs = 1, .infer = &InferDet};

}  // namespace weft
