// The same elements under other dims: Identity, Reshape, Flatten, Squeeze, Unsqueeze (ONNX Operators.md, opset 25).
#include "graph/ops/shape.h"

#include <utility>

#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/operands.h"

namespace weft {
namespace {

constexpr DType kInt64Only[] = {DType::kInt64};

absl::Status InferIdentity(InferContext& ctx) {
  PassElements(ctx);
  ctx.SetOutput(0, ctx.input(0));
  return absl::OkStatus();
}

// What a target shape says: dims of the result, those taken over from the input, and the one to be found.
struct Target {
  std::vector<Dim> dims;
  std::vector<Dim> given;       // those not taken over
  std::vector<bool> taken_over;  // by axis of the input
  int inferred = -1;
};

absl::StatusOr<Target> ReadTarget(InferContext& ctx, const Shape& in, const std::vector<Dim>& wanted) {
  const bool allowzero = ctx.attrs<ReshapeAttrs>().allowzero;
  Target target;
  target.taken_over.resize(in.has_rank() ? in.rank() : 0);
  bool has_zero = false;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const Dim& d = wanted[i];
    if (d == Dim(-1)) {
      if (target.inferred >= 0) return Invalid("the shape has -1 at ", target.inferred, " and at ", i, ", expected one at most");
      target.inferred = static_cast<int>(i);
      target.dims.push_back(0);
    } else if (d == Dim(0) && !allowzero) {
      if (in.has_rank() && static_cast<int>(i) >= in.rank()) {
        return Invalid("the shape has 0 at ", i, ", which takes over an axis of the input, shape ", in.ToString());
      }
      if (in.has_rank()) target.taken_over[i] = true;
      target.dims.push_back(in.has_rank() ? in[static_cast<int>(i)] : ctx.FreshDim());
    } else if (d.is_constant() && d.constant() < -1) {
      return Invalid("the shape has ", d.constant(), " at ", i, ", expected a size, 0 or -1");
    } else {
      has_zero |= d == Dim(0);
      // An expression that may turn out -1 or negative says nothing about the size.
      target.dims.push_back(d.KnownNonNegative() ? d : ctx.FreshDim());
      target.given.push_back(target.dims.back());
    }
  }
  if (has_zero && target.inferred >= 0) return Invalid("the shape has both 0 and -1, which allowzero does not permit");
  return target;
}

absl::StatusOr<Shape> ReshapeTo(InferContext& ctx, const Shape& in, const std::vector<Dim>& wanted) {
  WEFT_ASSIGN_OR_RETURN(Target target, ReadTarget(ctx, in, wanted));
  if (!in.has_rank()) {
    if (target.inferred >= 0) target.dims[target.inferred] = ctx.FreshDim();
    return Shape(std::move(target.dims));
  }
  // Axes taken over stand on both sides: without them an empty one does not hide what the others must be.
  std::vector<Dim> left;
  for (int i = 0; i < in.rank(); ++i) {
    if (!target.taken_over[i]) left.push_back(in[i]);
  }
  WEFT_ASSIGN_OR_RETURN(const Dim have, ProductOf(left));
  WEFT_ASSIGN_OR_RETURN(const Dim want, ProductOf(target.given));
  if (have.is_constant() && want.is_constant()) {
    const int64_t a = have.constant(), b = want.constant();
    if (target.inferred >= 0 ? (b == 0 || a % b != 0) : a != b) {
      std::string text;
      for (const Dim& d : wanted) absl::StrAppend(&text, text.empty() ? "" : ",", d.ToString());
      return Invalid("cannot reshape ", in.ToString(), " to [", text, "]: ", a, " elements to share among ", b);
    }
  }
  if (target.inferred >= 0) target.dims[target.inferred] = Dim::FloorDiv(have, want);
  return Shape(std::move(target.dims));
}

absl::Status InferReshape(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckTensor(ctx, 0, "data"));
  WEFT_RETURN_IF_ERROR(CheckList(ctx, 1, "shape", kInt64Only));
  PassElements(ctx);
  Shape shape;
  if (const std::vector<Dim>* wanted = ctx.elements(1)) {
    WEFT_ASSIGN_OR_RETURN(shape, ReshapeTo(ctx, ctx.shape(0), *wanted));
  } else if (const std::optional<int64_t> rank = ListLength(ctx, 1)) {
    if (*rank > kMaxRank) return Invalid("the shape has ", *rank, " axes, expected ", kMaxRank, " at most");
    shape = ctx.FreshShape(static_cast<int>(*rank));
  }
  ctx.SetOutput(0, ctx.dtype(0), std::move(shape));
  return absl::OkStatus();
}

absl::Status InferFlatten(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckTensor(ctx, 0, "input"));
  PassElements(ctx);
  const Shape& in = ctx.shape(0);
  if (!in.has_rank()) {
    ctx.SetOutput(0, ctx.dtype(0), ctx.FreshShape(2));
    return absl::OkStatus();
  }
  int64_t axis = ctx.attrs<FlattenAttrs>().axis;
  if (axis < -in.rank() || axis > in.rank()) {
    return Invalid("axis is ", axis, ", expected a value in [", -in.rank(), ", ", in.rank(), "] for rank ", in.rank());
  }
  if (axis < 0) axis += in.rank();
  const absl::Span<const Dim> dims = in.dims();
  WEFT_ASSIGN_OR_RETURN(const Dim outer, ProductOf(dims.subspan(0, axis)));
  WEFT_ASSIGN_OR_RETURN(const Dim inner, ProductOf(dims.subspan(axis)));
  ctx.SetOutput(0, ctx.dtype(0), Shape{outer, inner});
  return absl::OkStatus();
}

absl::StatusOr<Shape> Squeezed(const Shape& in, const std::vector<int>& axes) {
  std::vector<bool> gone(in.rank());
  for (int axis : axes) {
    if (in[axis].is_constant() && in[axis] != Dim(1)) {
      return Invalid("axis ", axis, " of shape ", in.ToString(), " is to be squeezed, expected size 1");
    }
    gone[axis] = true;
  }
  std::vector<Dim> dims;
  for (int i = 0; i < in.rank(); ++i) {
    if (!gone[i]) dims.push_back(in[i]);
  }
  return Shape(std::move(dims));
}

absl::Status InferSqueeze(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckTensor(ctx, 0, "data"));
  WEFT_RETURN_IF_ERROR(CheckList(ctx, 1, "axes", kInt64Only));
  PassElements(ctx);
  const Shape& in = ctx.shape(0);
  Shape out;
  if (in.has_rank() && !ctx.HasInput(1)) {
    std::vector<int> ones;
    bool all_known = true;
    for (int i = 0; i < in.rank(); ++i) {
      all_known &= in[i].is_constant();
      if (in[i] == Dim(1)) ones.push_back(i);
    }
    if (all_known) {
      WEFT_ASSIGN_OR_RETURN(out, Squeezed(in, ones));
    }
  } else if (const std::optional<std::vector<int64_t>> values = ctx.ints(1); in.has_rank() && values) {
    WEFT_ASSIGN_OR_RETURN(const std::vector<int> axes, NormalizeAxes(*values, in.rank()));
    WEFT_ASSIGN_OR_RETURN(out, Squeezed(in, axes));
  } else if (const std::optional<int64_t> count = ListLength(ctx, 1); in.has_rank() && count) {
    if (*count > in.rank()) return Invalid("axes has ", *count, " values, expected at most the rank, ", in.rank());
    out = ctx.FreshShape(in.rank() - static_cast<int>(*count));
  }
  ctx.SetOutput(0, ctx.dtype(0), std::move(out));
  return absl::OkStatus();
}

absl::Status InferUnsqueeze(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckTensor(ctx, 0, "data"));
  WEFT_RETURN_IF_ERROR(CheckList(ctx, 1, "axes", kInt64Only));
  PassElements(ctx);
  const Shape& in = ctx.shape(0);
  const std::optional<int64_t> count = ListLength(ctx, 1);
  Shape out;
  if (in.has_rank() && count) {
    if (*count > kMaxRank - in.rank()) return Invalid("axes has ", *count, " values, expected a result of rank ", kMaxRank, " at most");
    const int rank = in.rank() + static_cast<int>(*count);
    if (const std::optional<std::vector<int64_t>> values = ctx.ints(1)) {
      WEFT_ASSIGN_OR_RETURN(const std::vector<int> axes, NormalizeAxes(*values, rank));
      std::vector<bool> added(rank);
      for (int axis : axes) added[axis] = true;
      std::vector<Dim> dims;
      for (int i = 0, from = 0; i < rank; ++i) dims.push_back(added[i] ? Dim(1) : in[from++]);
      out = Shape(std::move(dims));
    } else {
      out = ctx.FreshShape(rank);
    }
  }
  ctx.SetOutput(0, ctx.dtype(0), std::move(out));
  return absl::OkStatus();
}

}  // namespace

constinit const Op ops::Identity = {.name = "Identity", .since_version = 25, .inputs = 1, .outputs = 1, .traits = kView,
                                    .infer = &InferIdentity};
constinit const Op ops::Reshape = {.name = "Reshape", .since_version = 25, .inputs = 2, .outputs = 1,
                                   .attrs = &kAttrSchema<ReshapeAttrs>, .traits = kView, .infer = &InferReshape};
constinit const Op ops::Flatten = {.name = "Flatten", .since_version = 25, .inputs = 1, .outputs = 1,
                                   .attrs = &kAttrSchema<FlattenAttrs>, .traits = kView, .infer = &InferFlatten};
constinit const Op ops::Squeeze = {.name = "Squeeze", .since_version = 25, .inputs = {1, 2}, .outputs = 1, .traits = kView,
                                   .infer = &InferSqueeze};
constinit const Op ops::Unsqueeze = {.name = "Unsqueeze", .since_version = 25, .inputs = 2, .outputs = 1, .traits = kView,
                                     .infer = &InferUnsqueeze};

}  // namespace weft
