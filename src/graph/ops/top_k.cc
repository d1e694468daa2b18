// TopK (ONNX Operators.md, opset 24).
#include "graph/ops/top_k.h"

#include <utility>

#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/dtype_sets.h"
#include "graph/ops/operands.h"

namespace weft {
namespace {

absl::Status InferTopK(InferContext& ctx) {
  constexpr DType kInt64Only[] = {DType::kInt64};
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kNumericTypes));
  WEFT_RETURN_IF_ERROR(CheckList(ctx, 1, "K", kInt64Only));
  WEFT_RETURN_IF_ERROR(CheckScalar(ctx, 1, "K"));
  WEFT_RETURN_IF_ERROR(ctx.CheckRankAtLeast(0, "X", 1));
  Shape out = ctx.shape(0);
  if (out.has_rank()) {
    WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(ctx.attrs<TopKAttrs>().axis, out.rank()));
    const std::vector<Dim>* elements = ctx.elements(1);
    const Dim k = elements != nullptr && elements->size() == 1 ? elements->front() : ctx.FreshDim();
    const Dim& size = out[axis];
    if (k.is_constant() && (k.constant() < 0 || (size.is_constant() && k.constant() > size.constant()))) {
      return Invalid("K is ", k.constant(), ", expected at least 0 and at most the size of axis ", axis, " of X, shape ",
                     out.ToString());
    }
    out[axis] = k;
  }
  ctx.SetOutput(0, ctx.dtype(0), out);
  ctx.SetOutput(1, DType::kInt64, std::move(out));
  return absl::OkStatus();
}

}  // namespace

constinit const Op ops::TopK = {.name = "TopK", .since_version = 24, .inputs = 2, .outputs = Arity(1, 2), .attrs = &kAttrSchema<TopKAttrs>,
                                .infer = &InferTopK};

}  // namespace weft
