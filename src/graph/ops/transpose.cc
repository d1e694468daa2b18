// Axes in another order: Transpose (ONNX Operators.md, opset 25), DepthToSpace, SpaceToDepth (opset 28).
#include "graph/ops/shape.h"

#include <numeric>
#include <utility>

#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/operands.h"

namespace weft {

std::vector<int64_t> PermOf(const TransposeAttrs& attrs, int rank) {
  if (attrs.perm) return *attrs.perm;
  std::vector<int64_t> perm(rank);
  std::iota(perm.rbegin(), perm.rend(), 0);
  return perm;
}

namespace {

absl::Status CheckPerm(absl::Span<const int64_t> perm) {
  if (perm.size() > kMaxRank) return Invalid("perm has ", perm.size(), " axes, expected ", kMaxRank, " at most");
  const auto rank = static_cast<int64_t>(perm.size());
  std::vector<bool> seen(rank);
  for (int64_t axis : perm) {
    if (axis < 0 || axis >= rank || seen[axis]) {
      return Invalid("perm is ", DimsToString(perm), ", expected each axis from 0 to ", rank - 1, " once");
    }
    seen[axis] = true;
  }
  return absl::OkStatus();
}

absl::Status InferTranspose(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckTensor(ctx, 0, "data"));
  const auto& attrs = ctx.attrs<TransposeAttrs>();
  const Shape& in = ctx.shape(0);
  if (attrs.perm) {
    WEFT_RETURN_IF_ERROR(CheckPerm(*attrs.perm));
    WEFT_RETURN_IF_ERROR(ctx.CheckRank(0, "data", static_cast<int>(attrs.perm->size())));
  }
  if (!in.has_rank()) {
    ctx.SetOutput(0, ctx.dtype(0), attrs.perm ? ctx.FreshShape(static_cast<int>(attrs.perm->size())) : Shape());
    return absl::OkStatus();
  }
  const std::vector<int64_t> perm = PermOf(attrs, in.rank());
  std::vector<Dim> dims;
  for (int64_t axis : perm) dims.push_back(in[static_cast<int>(axis)]);
  Shape out(std::move(dims));
  if (const auto from = in.Concrete(); from && ctx.elements(0) != nullptr) {
    const Dims row_major = RowMajorStrides(*from);
    Dims strides;
    for (int64_t axis : perm) strides.push_back(row_major[axis]);
    PassStridedElements(ctx, *out.Concrete(), 0, strides);
  }
  ctx.SetOutput(0, ctx.dtype(0), std::move(out));
  return absl::OkStatus();
}

absl::Status CheckBlocks(InferContext& ctx, int64_t blocksize, std::string_view mode) {
  WEFT_RETURN_IF_ERROR(CheckTensor(ctx, 0, "input"));
  WEFT_RETURN_IF_ERROR(ctx.CheckRank(0, "input", 4));
  // Its square must fit 64 bits.
  if (blocksize < 1 || blocksize > INT32_MAX) return Invalid("blocksize is ", blocksize, ", expected a positive 32-bit number");
  if (mode != "DCR" && mode != "CRD") return Invalid("mode is '", mode, "', expected DCR or CRD");
  return absl::OkStatus();
}

// dim / divisor, which must be exact.
absl::StatusOr<Dim> Divide(const Dim& dim, int64_t divisor, std::string_view what) {
  if (dim.is_constant() && dim.constant() % divisor != 0) {
    return Invalid(what, " is ", dim.constant(), ", expected a multiple of ", divisor);
  }
  return Dim::FloorDiv(dim, Dim(divisor));
}

absl::Status InferDepthToSpace(InferContext& ctx) {
  const auto& attrs = ctx.attrs<DepthToSpaceAttrs>();
  WEFT_RETURN_IF_ERROR(CheckBlocks(ctx, attrs.blocksize, attrs.mode));
  const Shape in = ctx.shape(0).has_rank() ? ctx.shape(0) : ctx.FreshShape(4);
  WEFT_ASSIGN_OR_RETURN(const Dim depth, Divide(in[1], attrs.blocksize * attrs.blocksize, "the depth"));
  WEFT_ASSIGN_OR_RETURN(const Dim height, ProductOf({in[2], Dim(attrs.blocksize)}));
  WEFT_ASSIGN_OR_RETURN(const Dim width, ProductOf({in[3], Dim(attrs.blocksize)}));
  ctx.SetOutput(0, ctx.dtype(0), Shape{in[0], depth, height, width});
  return absl::OkStatus();
}

absl::Status InferSpaceToDepth(InferContext& ctx) {
  const auto& attrs = ctx.attrs<SpaceToDepthAttrs>();
  WEFT_RETURN_IF_ERROR(CheckBlocks(ctx, attrs.blocksize, attrs.mode));
  const Shape in = ctx.shape(0).has_rank() ? ctx.shape(0) : ctx.FreshShape(4);
  WEFT_ASSIGN_OR_RETURN(const Dim depth, ProductOf({in[1], Dim(attrs.blocksize * attrs.blocksize)}));
  WEFT_ASSIGN_OR_RETURN(const Dim height, Divide(in[2], attrs.blocksize, "the height"));
  WEFT_ASSIGN_OR_RETURN(const Dim width, Divide(in[3], attrs.blocksize, "the width"));
  ctx.SetOutput(0, ctx.dtype(0), Shape{in[0], depth, height, width});
  return absl::OkStatus();
}

}  // namespace

constinit const Op ops::Transpose = {.name = "Transpose", .since_version = 25, .inputs = 1, .outputs = 1,
                                     .attrs = &kAttrSchema<TransposeAttrs>, .infer = &InferTranspose};
constinit const Op ops::DepthToSpace = {.name = "DepthToSpace", .since_version = 28, .inputs = 1, .outputs = 1,
                                        .attrs = &kAttrSchema<DepthToSpaceAttrs>, .infer = &InferDepthToSpace};
constinit const Op ops::SpaceToDepth = {.name = "SpaceToDepth", .since_version = 28, .inputs = 1, .outputs = 1,
                                        .attrs = &kAttrSchema<SpaceToDepthAttrs>, .infer = &InferSpaceToDepth};

}  // namespace weft
