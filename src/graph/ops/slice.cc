// Slice (ONNX Operators.md, opset 13).
#include "graph/ops/shape.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/dtype_sets.h"
#include "graph/ops/operands.h"

namespace weft {

SliceRange ResolveSlice(int64_t start, int64_t end, int64_t step, int64_t dim) {
  if (start < 0) start += dim;
  if (end < 0) end += dim;
  SliceRange range{.step = step};
  if (step > 0) {
    range.begin = std::clamp<int64_t>(start, 0, dim);
    end = std::clamp<int64_t>(end, 0, dim);
    if (end > range.begin) range.count = (end - range.begin - 1) / step + 1;
  } else if (dim > 0) {
    range.begin = std::clamp<int64_t>(start, 0, dim - 1);
    end = std::clamp<int64_t>(end, -1, dim - 1);
    // Division by the negative step, which may have no positive counterpart.
    if (range.begin > end) range.count = (end + 1 - range.begin) / step + 1;
  }
  return range;
}

namespace {

// From here on a bound means "to the end", however large the axis.
bool IsFarEnd(const Dim& bound) { return bound.is_constant() && bound.constant() >= INT32_MAX; }
bool IsFarBegin(const Dim& bound) { return bound.is_constant() && bound.constant() <= INT32_MIN + 1; }

Dim AtLeastZero(const Dim& d) { return d.KnownNonNegative() ? d : Dim::Max(Dim(0), d); }

// A bound of a slice with positive step, between 0 and `size`; nothing where its sign is not known.
std::optional<Dim> Clamped(const Dim& bound, const Dim& size) {
  if (IsFarEnd(bound)) return size;
  if (bound.is_constant() && bound.constant() < 0) return AtLeastZero(size + bound);
  if (bound == size - Dim(1)) return AtLeastZero(bound);  // of an empty axis it is -1, and counts from its end
  if (!bound.KnownNonNegative()) return std::nullopt;
  if ((size - bound).KnownNonNegative()) return bound;
  if ((bound - size).KnownNonNegative()) return size;
  return Dim::Min(bound, size);
}

// The size of start:end:step of an axis whose size, or whose bounds, are expressions; nothing where it cannot be said.
std::optional<Dim> SymbolicCount(const Dim& size, const Dim& start, const Dim& end, int64_t step) {
  if (step < 0) {
    const bool from_last = start == Dim(-1) || IsFarEnd(start) || start == size - Dim(1);
    if (!from_last || !IsFarBegin(end) || step == INT64_MIN) return std::nullopt;
    return Dim::CeilDiv(size, Dim(-step));
  }
  const std::optional<Dim> from = Clamped(start, size), to = Clamped(end, size);
  if (!from || !to) return std::nullopt;
  Dim count;
  if (*to == size && start.is_constant() && start.constant() >= 0) {
    count = AtLeastZero(size - start);
  } else if (*to == size && start.is_constant()) {
    count = Dim::Min(size, Dim(0) - start);  // the last few
  } else {
    count = AtLeastZero(*to - *from);
  }
  return Dim::CeilDiv(count, Dim(step));
}

// The number of axes sliced, where any of the lists tells; an error where they disagree.
absl::StatusOr<std::optional<int64_t>> CountAxes(const InferContext& ctx) {
  constexpr std::string_view kNames[] = {"data", "starts", "ends", "axes", "steps"};
  std::optional<int64_t> count;
  for (int i = 1; i < 5; ++i) {
    WEFT_RETURN_IF_ERROR(CheckList(ctx, i, kNames[i], kIndexTypes));
    const std::optional<int64_t> length = ListLength(ctx, i);
    if (length && count && *length != *count) {
      return Invalid("starts, ends, axes and steps have ", *count, " and ", *length, " (", kNames[i], ") values, expected equally many");
    }
    if (length) count = length;
  }
  return count;
}

// One axis of the output; `slice` is set where all is known.
absl::StatusOr<Dim> SliceAxis(InferContext& ctx, const Dim& size, const Dim& start, const Dim& end, int64_t step, SliceRange& slice) {
  if (step == 0) return Invalid("steps holds 0, expected another number");
  if (size.is_constant() && start.is_constant() && end.is_constant()) {
    slice = ResolveSlice(start.constant(), end.constant(), step, size.constant());
    return Dim(slice.count);
  }
  if (const std::optional<Dim> count = SymbolicCount(size, start, end, step)) return *count;
  return ctx.FreshDim();
}

absl::StatusOr<Shape> SliceShape(InferContext& ctx, const Shape& in, std::optional<int64_t> count) {
  std::vector<int64_t> axes, steps;
  if (ctx.HasInput(3)) {
    const std::optional<std::vector<int64_t>> given = ctx.ints(3);
    if (!given) return ctx.FreshShape(in.rank());
    axes = *given;
  } else {
    if (!count) return ctx.FreshShape(in.rank());
    if (*count > in.rank()) return Invalid("starts has ", *count, " values, expected at most the rank of the data, ", in.rank());
    axes.resize(*count);
    std::iota(axes.begin(), axes.end(), 0);
  }
  WEFT_ASSIGN_OR_RETURN(const std::vector<int> normal, NormalizeAxes(axes, in.rank()));
  const std::optional<std::vector<int64_t>> given_steps = ctx.ints(4);
  const std::vector<Dim>*starts = ctx.elements(1), *ends = ctx.elements(2);
  Shape out = in;
  const auto complete = [&](const auto& list) { return list->size() == normal.size(); };
  if (starts == nullptr || ends == nullptr || !complete(starts) || !complete(ends) ||
      (ctx.HasInput(4) && (!given_steps || !complete(given_steps)))) {
    for (int axis : normal) out[axis] = ctx.FreshDim();
    return out;
  }
  std::vector<SliceRange> slices(in.rank());
  for (int i = 0; i < in.rank(); ++i) slices[i].count = in[i].is_constant() ? in[i].constant() : 0;
  for (size_t i = 0; i < normal.size(); ++i) {
    const int axis = normal[i];
    const int64_t step = given_steps ? (*given_steps)[i] : 1;
    WEFT_ASSIGN_OR_RETURN(out[axis], SliceAxis(ctx, in[axis], (*starts)[i], (*ends)[i], step, slices[axis]));
  }
  const std::optional<Dims> from = in.Concrete(), to = out.Concrete();
  if (from && to && ctx.elements(0) != nullptr) {
    Dims strides = RowMajorStrides(*from);
    int64_t offset = 0;
    for (int i = 0; i < in.rank(); ++i) {
      offset += slices[i].begin * strides[i];
      strides[i] *= slices[i].count > 1 ? slices[i].step : 0;
    }
    PassStridedElements(ctx, *to, offset, strides);
  }
  return out;
}

absl::Status InferSlice(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckTensor(ctx, 0, "data"));
  WEFT_ASSIGN_OR_RETURN(const std::optional<int64_t> count, CountAxes(ctx));
  Shape out;
  if (ctx.shape(0).has_rank()) {
    WEFT_ASSIGN_OR_RETURN(out, SliceShape(ctx, ctx.shape(0), count));
  }
  ctx.SetOutput(0, ctx.dtype(0), std::move(out));
  return absl::OkStatus();
}

}  // namespace

constinit const Op ops::Slice = {.name = "Slice", .since_version = 13, .inputs = {3, 5}, .outputs = 1, .infer = &InferSlice};

}  // namespace weft
