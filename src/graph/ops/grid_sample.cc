// AffineGrid (20), GridSample (22); ONNX Operators.md.
#include "graph/ops/grid_sample.h"

#include <utility>
#include <vector>

#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/dtype_sets.h"
#include "graph/ops/expect_shape.h"
#include "graph/ops/operands.h"

namespace weft {
namespace {

absl::Status InferAffineGrid(InferContext& ctx) {
  constexpr DType kInt64Only[] = {DType::kInt64};
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "theta", kFloatTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckRank(0, "theta", 3));
  WEFT_RETURN_IF_ERROR(CheckList(ctx, 1, "size", kInt64Only));
  const Shape& theta = ctx.shape(0);
  // [N,C,D1..Dn], n = 2 or 3: from the list itself or from theta.
  int n = 0;
  if (const std::optional<int64_t> length = ListLength(ctx, 1)) {
    if (*length != 4 && *length != 5) return Invalid("input 1 (size) has ", *length, " elements, expected 4 or 5");
    n = static_cast<int>(*length) - 2;
  } else if (theta.has_rank() && theta[1].is_constant()) {
    n = theta[1] == Dim(2) ? 2 : 3;
  }
  if (n == 0) {
    ctx.SetOutput(0, ctx.dtype(0), Shape());
    return absl::OkStatus();
  }
  Shape out = ctx.FreshShape(n + 2);
  if (const std::vector<Dim>* size = ctx.elements(1)) {
    out[0] = size->front();
    for (int i = 0; i < n; ++i) out[i + 1] = (*size)[i + 2];
    for (const Dim& d : *size) {
      if (d.is_constant() && d.constant() < 0) return Invalid("input 1 (size) holds ", d.constant(), ", expected sizes");
    }
  }
  out[n + 1] = n;
  WEFT_RETURN_IF_ERROR(ExpectShape(ctx, 0, "theta", {out[0], n, n + 1}));
  if (theta.has_rank() && theta[0].is_constant()) out[0] = theta[0];
  ctx.SetOutput(0, ctx.dtype(0), std::move(out));
  return absl::OkStatus();
}

absl::Status InferGridSample(InferContext& ctx) {
  constexpr int kMaxAxes = 8;  // cubic sampling reads 4 elements to the power of this
  const auto& attrs = ctx.attrs<GridSampleAttrs>();
  if (attrs.mode != "linear" && attrs.mode != "nearest" && attrs.mode != "cubic") {
    return Invalid("mode is '", attrs.mode, "', expected 'linear', 'nearest' or 'cubic'");
  }
  if (attrs.padding_mode != "zeros" && attrs.padding_mode != "border" && attrs.padding_mode != "reflection") {
    return Invalid("padding_mode is '", attrs.padding_mode, "', expected 'zeros', 'border' or 'reflection'");
  }
  if (attrs.mode == "nearest") {
    WEFT_RETURN_IF_ERROR(CheckTensor(ctx, 0, "X"));
  } else {
    WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kNumericOrComplexTypes));
  }
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(1, "grid", kFloatTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckRankAtLeast(0, "X", 3));
  WEFT_RETURN_IF_ERROR(ctx.CheckRankAtLeast(1, "grid", 3));
  const Shape &x = ctx.shape(0), &grid = ctx.shape(1);
  if (!x.has_rank() && !grid.has_rank()) {
    ctx.SetOutput(0, ctx.dtype(0), Shape());
    return absl::OkStatus();
  }
  const int rank = x.has_rank() ? x.rank() : grid.rank();
  if (rank - 2 > kMaxAxes) return Unsupported("X has ", rank - 2, " spatial axes, expected at most ", kMaxAxes);
  // X: [N,C,d1..dr]; grid: [N,D1..Dr,r]; Y: [N,C,D1..Dr].
  Shape out = ctx.FreshShape(rank);
  if (x.has_rank()) {
    std::vector<Dim> dims = ctx.FreshShape(rank).dims();
    dims.front() = x[0];
    dims.back() = rank - 2;
    WEFT_RETURN_IF_ERROR(ExpectShape(ctx, 1, "grid", dims));
    out[0] = x[0];
    out[1] = x[1];
  }
  if (grid.has_rank()) {
    if (!out[0].is_constant()) out[0] = grid[0];
    for (int i = 2; i < rank; ++i) out[i] = grid[i - 1];
  }
  ctx.SetOutput(0, ctx.dtype(0), std::move(out));
  return absl::OkStatus();
}

}  // namespace

constinit const Op ops::AffineGrid = {.name = "AffineGrid", .since_version = 20, .inputs = 2, .outputs = 1,
                                      .attrs = &kAttrSchema<AffineGridAttrs>, .infer = &InferAffineGrid};
constinit const Op ops::GridSample = {.name = "GridSample", .since_version = 22, .inputs = 2, .outputs = 1,
                                      .attrs = &kAttrSchema<GridSampleAttrs>, .infer = &InferGridSample};

}  // namespace weft
