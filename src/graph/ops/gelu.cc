// Gelu, BiasGelu, FastGelu, QuickGelu of the domain com.microsoft (ONNX Runtime, ContribOperators.md).
#include "graph/ops/gelu.h"

#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/dtype_sets.h"

namespace weft {
namespace {

// Input 1, where there is one, is a bias over the last axis.
absl::Status InferGelu(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kFloatTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 1));
  if (ctx.HasInput(1)) {
    WEFT_RETURN_IF_ERROR(ctx.CheckRankAtLeast(0, "X", 1));
    WEFT_RETURN_IF_ERROR(ctx.CheckRank(1, "bias", 1));
    const Shape &x = ctx.shape(0), &bias = ctx.shape(1);
    if (x.has_rank() && bias.has_rank()) {
      WEFT_RETURN_IF_ERROR(InferContext::Unify(x[x.rank() - 1], bias[0], "the last dim of X and the bias").status());
    }
  }
  ctx.SetOutput(0, ctx.input(0));
  return absl::OkStatus();
}

Cost TenEach(const NodeView& node) {
  const auto dims = node.outputs[0].shape.Concrete();
  return {dims ? 10 * NumElements(*dims).value_or(0) : 0};
}

constexpr Op GeluLike(std::string_view name, Arity inputs, const AttrSchema* attrs = &kAttrSchema<NoAttrs>) {
  return {.domain = "com.microsoft", .name = name, .inputs = inputs, .outputs = 1, .attrs = attrs, .traits = kElementwise,
          .in_place = 0b1, .infer = &InferGelu, .cost = &TenEach};
}

}  // namespace

constinit const Op ops::MsGelu = GeluLike("Gelu", 1);
constinit const Op ops::BiasGelu = GeluLike("BiasGelu", 2);
constinit const Op ops::FastGelu = GeluLike("FastGelu", {1, 2});
constinit const Op ops::QuickGelu = GeluLike("QuickGelu", 1, &kAttrSchema<QuickGeluAttrs>);

}  // namespace weft
