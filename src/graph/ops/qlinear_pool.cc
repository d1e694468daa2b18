// QLinearAveragePool, QLinearGlobalAveragePool of the domain com.microsoft (ONNX Runtime, ContribOperators.md).
#include <vector>

#include "graph/op.h"
#include "graph/ops/qlinear.h"
#include "graph/ops/spatial.h"

namespace weft {
namespace {

// The sizes of an output with spatial axes `out` and the batch and channels of x.
Shape Pooled(const Shape& x, std::vector<Dim> out, bool channels_last) {
  out.insert(out.begin(), x[0]);
  out.insert(channels_last ? out.end() : out.begin() + 1, x[channels_last ? x.rank() - 1 : 1]);
  return Shape(std::move(out));
}

absl::Status InferAveragePool(InferContext& ctx) {
  const auto& attrs = ctx.attrs<QLinearAveragePoolAttrs>();
  WEFT_RETURN_IF_ERROR(CheckQuantized(ctx, 0, "X"));
  WEFT_RETURN_IF_ERROR(CheckQuantization(ctx, 3, 0));
  if (attrs.kernel_shape.empty()) return Invalid("kernel_shape is empty, expected one size for each spatial axis");
  const int rank = static_cast<int>(attrs.kernel_shape.size()) + 2;
  WEFT_RETURN_IF_ERROR(ctx.CheckRank(0, "X", rank));
  const WindowSpec spec = SpecOf(attrs);
  const std::vector<Dim> kernel(attrs.kernel_shape.begin(), attrs.kernel_shape.end());
  WEFT_RETURN_IF_ERROR(CheckWindow(spec, kernel));
  const Shape x = ctx.shape(0).has_rank() ? ctx.shape(0) : ctx.FreshShape(rank);
  const auto in = absl::MakeConstSpan(x.dims()).subspan(attrs.channels_last ? 1 : 2, kernel.size());
  WEFT_ASSIGN_OR_RETURN(std::vector<Dim> out, WindowOutputs(spec, in, kernel));
  ctx.SetOutput(0, ctx.dtype(0), Pooled(x, std::move(out), attrs.channels_last));
  return absl::OkStatus();
}

absl::Status InferGlobalAveragePool(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckQuantized(ctx, 0, "X"));
  WEFT_RETURN_IF_ERROR(CheckQuantization(ctx, 3, 0));
  WEFT_RETURN_IF_ERROR(ctx.CheckRankAtLeast(0, "X", 3));
  const Shape& x = ctx.shape(0);
  Shape shape;
  if (x.has_rank()) shape = Pooled(x, std::vector<Dim>(x.rank() - 2, Dim(1)), ctx.attrs<QLinearGlobalAveragePoolAttrs>().channels_last);
  ctx.SetOutput(0, ctx.dtype(0), std::move(shape));
  return absl::OkStatus();
}

}  // namespace

constinit const Op ops::QLinearAveragePool = {.domain = "com.microsoft", .name = "QLinearAveragePool", .inputs = {4, 5}, .outputs = 1,
                                              .optional_inputs = 0b100, .attrs = &kAttrSchema<QLinearAveragePoolAttrs>,
                                              .infer = &InferAveragePool};
constinit const Op ops::QLinearGlobalAveragePool = {.domain = "com.microsoft", .name = "QLinearGlobalAveragePool", .inputs = 5, .outputs = 1,
                                                    .attrs = &kAttrSchema<QLinearGlobalAveragePoolAttrs>,
                                                    .infer = &InferGlobalAveragePool};

}  // namespace weft
