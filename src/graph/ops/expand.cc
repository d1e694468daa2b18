// Copies of a tensor along its axes: Expand, Tile (ONNX Operators.md, opset 13).
#include <algorithm>
#include <utility>

#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/operands.h"

namespace weft {
namespace {

constexpr DType kInt64Only[] = {DType::kInt64};

// Broadcasting of `in` with the wanted shape.
absl::StatusOr<Shape> Expanded(InferContext& ctx, const Shape& in, const std::vector<Dim>& wanted) {
  const size_t rank = std::max<size_t>(in.rank(), wanted.size());
  std::vector<Dim> dims(rank, Dim(1));
  std::copy(in.dims().begin(), in.dims().end(), dims.end() - in.rank());
  for (size_t i = 0; i < wanted.size(); ++i) {
    const Dim& d = wanted[i];
    if (d.is_constant() && d.constant() < 0) return Invalid("the shape holds ", d.constant(), ", expected sizes of at least 0");
    Dim& dim = dims[rank - wanted.size() + i];
    const absl::StatusOr<Dim> both = ctx.BroadcastDim(dim, d.KnownNonNegative() ? d : ctx.FreshDim());
    if (!both.ok()) {
      return Invalid("input of shape ", in.ToString(), " does not broadcast to ", Shape(wanted).ToString(), ": ", both.status().message());
    }
    dim = *both;
  }
  return Shape(std::move(dims));
}

void PassExpandedElements(InferContext& ctx, const Shape& in, const Shape& out) {
  const std::optional<Dims> from = in.Concrete(), to = out.Concrete();
  if (!from || !to) return;
  const Dims row_major = RowMajorStrides(*from);
  Dims strides(to->size(), 0);
  for (size_t i = 0; i < from->size(); ++i) {
    if ((*from)[i] != 1) strides[to->size() - from->size() + i] = row_major[i];
  }
  PassStridedElements(ctx, *to, 0, strides);
}

absl::Status InferExpand(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckTensor(ctx, 0, "input"));
  WEFT_RETURN_IF_ERROR(CheckList(ctx, 1, "shape", kInt64Only));
  const Shape& in = ctx.shape(0);
  const std::optional<int64_t> length = ListLength(ctx, 1);
  if (length && *length > kMaxRank) return Invalid("the shape has ", *length, " axes, expected ", kMaxRank, " at most");
  Shape out;
  if (const std::vector<Dim>* wanted = ctx.elements(1); in.has_rank() && wanted != nullptr) {
    WEFT_ASSIGN_OR_RETURN(out, Expanded(ctx, in, *wanted));
    PassExpandedElements(ctx, in, out);
  } else if (in.has_rank() && length) {
    out = ctx.FreshShape(std::max(in.rank(), static_cast<int>(*length)));
    // Only axes of size 1 change.
    for (int i = 0; i < in.rank(); ++i) {
      if (in[i].is_constant() && in[i] != Dim(1)) out[out.rank() - in.rank() + i] = in[i];
    }
  }
  ctx.SetOutput(0, ctx.dtype(0), std::move(out));
  return absl::OkStatus();
}

absl::StatusOr<Shape> Tiled(InferContext& ctx, const Shape& in, const std::vector<Dim>& repeats) {
  std::vector<Dim> dims;
  for (int i = 0; i < in.rank(); ++i) {
    const Dim& d = repeats[i];
    if (d.is_constant() && d.constant() < 0) return Invalid("repeats holds ", d.constant(), ", expected counts of at least 0");
    WEFT_ASSIGN_OR_RETURN(Dim dim, ProductOf({in[i], d}));
    dims.push_back(d.KnownNonNegative() ? std::move(dim) : ctx.FreshDim());
  }
  return Shape(std::move(dims));
}

void PassTiledElements(InferContext& ctx, const Shape& in, const std::vector<Dim>& repeats) {
  const std::optional<Dims> from = in.Concrete(), counts = Shape(repeats).Concrete();
  if (!from || !counts) return;
  const Dims row_major = RowMajorStrides(*from);
  Dims dims, strides;
  for (size_t i = 0; i < from->size(); ++i) {
    dims.insert(dims.end(), {(*counts)[i], (*from)[i]});
    strides.insert(strides.end(), {0, row_major[i]});
  }
  PassStridedElements(ctx, dims, 0, strides);
}

absl::Status InferTile(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckTensor(ctx, 0, "input"));
  WEFT_RETURN_IF_ERROR(CheckList(ctx, 1, "repeats", kInt64Only));
  const Shape& in = ctx.shape(0);
  const std::optional<int64_t> length = ListLength(ctx, 1);
  if (length && *length > kMaxRank) return Invalid("repeats has ", *length, " values, expected ", kMaxRank, " at most");
  if (in.has_rank() && length && *length != in.rank()) {
    return Invalid("repeats has ", *length, " values, expected one for each axis of the input, shape ", in.ToString());
  }
  Shape out;
  if (const std::vector<Dim>* repeats = ctx.elements(1); in.has_rank() && length && repeats != nullptr) {
    WEFT_ASSIGN_OR_RETURN(out, Tiled(ctx, in, *repeats));
    PassTiledElements(ctx, in, *repeats);
  } else if (in.has_rank() || length) {
    out = ctx.FreshShape(in.has_rank() ? in.rank() : static_cast<int>(*length));
  }
  ctx.SetOutput(0, ctx.dtype(0), std::move(out));
  return absl::OkStatus();
}

}  // namespace

constinit const Op ops::Expand = {.name = "Expand", .since_version = 13, .inputs = 2, .outputs = 1, .infer = &InferExpand};
constinit const Op ops::Tile = {.name = "Tile", .since_version = 13, .inputs = 2, .outputs = 1, .infer = &InferTile};

}  // namespace weft
