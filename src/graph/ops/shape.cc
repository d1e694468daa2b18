// Ops that describe, view, cut and join tensors: the ones that shape arithmetic is made of (ONNX Operators.md).
#include "graph/ops/shape.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_join.h"
#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/dtype_sets.h"

namespace weft {

SliceRange ResolveSlice(int64_t start, int64_t end, int64_t step, int64_t dim) {
  // Below -dim there is nothing left to count from the end: the lower limit, without an overflow on the way.
  auto clamp = [&](int64_t bound, int64_t lo, int64_t hi) {
    return bound < -dim ? lo : std::clamp(bound < 0 ? bound + dim : bound, lo, hi);
  };
  SliceRange range;
  range.step = step;
  if (step > 0) {
    range.begin = clamp(start, 0, dim);
    const int64_t stop = clamp(end, 0, dim);
    range.count = stop > range.begin ? (stop - range.begin - 1) / step + 1 : 0;
  } else {
    range.begin = clamp(start, -1, dim - 1);
    const int64_t stop = clamp(end, -1, dim - 1);
    // -step may not be representable for INT64_MIN; the distance always is.
    const uint64_t stride = step == INT64_MIN ? uint64_t{1} << 63 : static_cast<uint64_t>(-step);
    range.count = range.begin > stop ? static_cast<int64_t>(static_cast<uint64_t>(range.begin - stop - 1) / stride) + 1 : 0;
  }
  return range;
}

std::vector<int64_t> PermOf(const TransposeAttrs& attrs, int rank) {
  if (attrs.perm) return *attrs.perm;
  std::vector<int64_t> perm(rank);
  for (int i = 0; i < rank; ++i) perm[i] = rank - 1 - i;
  return perm;
}

namespace {

void PassElements(InferContext& ctx) {
  if (ctx.elements(0) != nullptr) ctx.SetElements(0, *ctx.elements(0));
}

absl::Status InferIdentity(InferContext& ctx) {
  PassElements(ctx);
  ctx.SetOutput(0, ctx.input(0));
  return absl::OkStatus();
}

// ---- Reshape, Flatten, Squeeze, Unsqueeze ----

absl::Status CheckCount(const Shape& from, const Shape& to) {
  if (!from.has_rank()) return absl::OkStatus();
  const Dim a = from.NumElements(), b = to.NumElements();
  if (!a.is_constant() || !b.is_constant() || a == b) return absl::OkStatus();
  return Invalid("shape ", from.ToString(), " has ", a.constant(), " elements, the target ", to.ToString(), " takes ", b.constant());
}

absl::Status InferReshape(InferContext& ctx) {
  const bool allow_zero = ctx.attrs<ReshapeAttrs>().allowzero != 0;
  static constexpr DType kInt64Only[] = {DType::kInt64};
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(1, "shape", kInt64Only));
  WEFT_RETURN_IF_ERROR(ctx.CheckRank(1, "shape", 1));
  PassElements(ctx);
  const std::vector<Dim>* target = ctx.elements(1);
  const Shape& from = ctx.shape(0);
  if (target == nullptr) {
    const bool count_known = ctx.shape(1).has_rank() && ctx.shape(1)[0].is_constant();
    ctx.SetOutput(0, ctx.dtype(0), count_known ? ctx.FreshShape(static_cast<int>(ctx.shape(1)[0].constant())) : Shape());
    return absl::OkStatus();
  }
  std::vector<Dim> dims;
  int inferred = -1;
  bool has_zero = false, unknown_copy = false;
  for (size_t i = 0; i < target->size(); ++i) {
    const Dim& d = (*target)[i];
    dims.push_back(d);
    if (!d.is_constant()) continue;
    if (d.constant() < -1) return Invalid("target dim ", i, " is ", d.constant(), ", expected -1, 0 or a size");
    if (d.constant() == -1) {
      if (inferred >= 0) return Invalid("target dims ", inferred, " and ", i, " are both -1, expected at most one");
      inferred = static_cast<int>(i);
      dims[i] = Dim(1);
    } else if (d.constant() == 0 && !allow_zero) {
      if (from.has_rank() && static_cast<int>(i) >= from.rank()) {
        return Invalid("target dim ", i, " is 0 (copy), but the input has rank ", from.rank());
      }
      if (from.has_rank()) dims[i] = from[static_cast<int>(i)];
      else {
        dims[i] = ctx.FreshDim();
        unknown_copy = true;
      }
    } else if (d.constant() == 0) {
      has_zero = true;
    }
  }
  if (inferred >= 0 && has_zero) return Invalid("the target has both -1 and 0 while allowzero is 1");
  if (inferred >= 0) {
    const Dim rest = Shape(dims).NumElements();
    if (!from.has_rank() || unknown_copy) {
      dims[inferred] = ctx.FreshDim();
    } else {
      const Dim total = from.NumElements();
      if (total.is_constant() && rest.is_constant()) {
        if (rest.constant() == 0) {
          if (total.constant() != 0) return Invalid("shape ", from.ToString(), " cannot take the target ", Shape(dims).ToString());
          dims[inferred] = Dim(0);
        } else if (total.constant() % rest.constant() != 0) {
          return Invalid("shape ", from.ToString(), " has ", total.constant(), " elements, no multiple of the target's other dims, ", rest.constant());
        } else {
          dims[inferred] = Dim(total.constant() / rest.constant());
        }
      } else {
        dims[inferred] = Dim::FloorDiv(total, rest);
      }
    }
  }
  Shape to(std::move(dims));
  WEFT_RETURN_IF_ERROR(CheckCount(from, to));
  ctx.SetOutput(0, ctx.dtype(0), std::move(to));
  return absl::OkStatus();
}

absl::Status InferFlatten(InferContext& ctx) {
  const Shape& from = ctx.shape(0);
  if (!from.has_rank()) {
    ctx.SetOutput(0, ctx.dtype(0), ctx.FreshShape(2));
    return absl::OkStatus();
  }
  const int rank = from.rank();
  int64_t axis = ctx.attrs<FlattenAttrs>().axis;
  if (axis < -rank || axis > rank) return Invalid("attribute 'axis' is ", axis, ", expected a value in [", -rank, ", ", rank, "]");
  if (axis < 0) axis += rank;
  Dim outer = 1, inner = 1;
  for (int i = 0; i < rank; ++i) (i < axis ? outer : inner) = (i < axis ? outer : inner) * from[i];
  PassElements(ctx);
  ctx.SetOutput(0, ctx.dtype(0), Shape({outer, inner}));
  return absl::OkStatus();
}

absl::Status NormalizeAxes(std::vector<int64_t>& axes, int rank) {
  for (int64_t& axis : axes) {
    WEFT_ASSIGN_OR_RETURN(axis, InferContext::NormalizeAxis(axis, rank, "an axis"));
  }
  std::sort(axes.begin(), axes.end());
  for (size_t i = 1; i < axes.size(); ++i) {
    if (axes[i] == axes[i - 1]) return Invalid("axis ", axes[i], " is given twice");
  }
  return absl::OkStatus();
}

absl::Status InferSqueeze(InferContext& ctx) {
  PassElements(ctx);
  const Shape& from = ctx.shape(0);
  std::optional<std::vector<int64_t>> axes = ctx.HasInput(1) ? ctx.ints(1) : std::nullopt;
  if (!from.has_rank() || (ctx.HasInput(1) && !axes)) {
    // Without the axes' values their number still tells the rank.
    const bool rank_known = from.has_rank() && ctx.HasInput(1) && ctx.shape(1).has_rank() && ctx.shape(1).rank() == 1 && ctx.shape(1)[0].is_constant();
    const int64_t rank = rank_known ? from.rank() - ctx.shape(1)[0].constant() : -1;
    ctx.SetOutput(0, ctx.dtype(0), rank >= 0 ? ctx.FreshShape(static_cast<int>(rank)) : Shape());
    return absl::OkStatus();
  }
  std::vector<Dim> dims;
  if (axes) {
    WEFT_RETURN_IF_ERROR(NormalizeAxes(*axes, from.rank()));
    for (int i = 0; i < from.rank(); ++i) {
      if (!std::binary_search(axes->begin(), axes->end(), i)) {
        dims.push_back(from[i]);
      } else if (from[i].is_constant() && from[i] != Dim(1)) {
        return Invalid("axis ", i, " of shape ", from.ToString(), " has size ", from[i].constant(), ", expected 1 to squeeze it");
      }
    }
  } else {
    for (int i = 0; i < from.rank(); ++i) {
      if (!from[i].is_constant()) {
        ctx.SetOutput(0, ctx.dtype(0), Shape());  // it vanishes where it is 1
        return absl::OkStatus();
      }
      if (from[i] != Dim(1)) dims.push_back(from[i]);
    }
  }
  ctx.SetOutput(0, ctx.dtype(0), Shape(std::move(dims)));
  return absl::OkStatus();
}

absl::Status InferUnsqueeze(InferContext& ctx) {
  PassElements(ctx);
  const Shape& from = ctx.shape(0);
  std::optional<std::vector<int64_t>> axes = ctx.ints(1);
  if (!from.has_rank() || !axes) {
    const bool rank_known = from.has_rank() && ctx.shape(1).has_rank() && ctx.shape(1).rank() == 1 && ctx.shape(1)[0].is_constant();
    ctx.SetOutput(0, ctx.dtype(0), rank_known ? ctx.FreshShape(static_cast<int>(from.rank() + ctx.shape(1)[0].constant())) : Shape());
    return absl::OkStatus();
  }
  const int rank = from.rank() + static_cast<int>(axes->size());
  WEFT_RETURN_IF_ERROR(NormalizeAxes(*axes, rank));
  std::vector<Dim> dims;
  int next = 0;
  for (int i = 0; i < rank; ++i) {
    dims.push_back(std::binary_search(axes->begin(), axes->end(), i) ? Dim(1) : from[next++]);
  }
  ctx.SetOutput(0, ctx.dtype(0), Shape(std::move(dims)));
  return absl::OkStatus();
}

// ---- Shape, Size, ConstantOfShape ----

absl::Status InferShape(InferContext& ctx) {
  const Shape& from = ctx.shape(0);
  if (!from.has_rank()) {
    ctx.SetOutput(0, DType::kInt64, ctx.FreshShape(1));
    return absl::OkStatus();
  }
  const auto& attrs = ctx.attrs<ShapeAttrs>();
  const int64_t rank = from.rank();
  auto clamp = [rank](int64_t bound) { return std::clamp(bound < 0 ? std::max(bound, -rank - 1) + rank : bound, int64_t{0}, rank); };
  const int64_t start = clamp(attrs.start), end = attrs.end ? clamp(*attrs.end) : rank;
  std::vector<Dim> dims;
  for (int64_t i = start; i < end; ++i) dims.push_back(from[static_cast<int>(i)]);
  ctx.SetOutput(0, DType::kInt64, Shape({Dim(static_cast<int64_t>(dims.size()))}));
  ctx.SetElements(0, std::move(dims));
  return absl::OkStatus();
}

absl::Status InferSize(InferContext& ctx) {
  ctx.SetOutput(0, DType::kInt64, Shape(std::vector<Dim>{}));
  if (ctx.shape(0).has_rank()) ctx.SetElements(0, {ctx.shape(0).NumElements()});
  return absl::OkStatus();
}

absl::Status InferConstantOfShape(InferContext& ctx) {
  const auto& value = ctx.attrs<ConstantOfShapeAttrs>().value;
  if (value && value->size() != 1) return Invalid("attribute 'value' has ", value->size(), " elements, expected 1");
  const DType dtype = value ? value->dtype() : DType::kFloat32;
  WEFT_RETURN_IF_ERROR(ctx.CheckRank(0, "input", 1));
  const std::vector<Dim>* dims = ctx.elements(0);
  if (dims == nullptr) {
    const Shape& shape = ctx.shape(0);
    const bool rank_known = shape.has_rank() && shape[0].is_constant();
    ctx.SetOutput(0, dtype, rank_known ? ctx.FreshShape(static_cast<int>(shape[0].constant())) : Shape());
    return absl::OkStatus();
  }
  for (const Dim& d : *dims) {
    if (d.is_constant() && d.constant() < 0) return Invalid("the shape has the dim ", d.constant(), ", expected sizes >= 0");
  }
  Shape to(*dims);
  const Dim count = to.NumElements();
  if (value && count.is_constant() && count.constant() <= static_cast<int64_t>(InferContext::kMaxElements)) {
    if (const auto element = ElementsOf(*value)) ctx.SetElements(0, std::vector<Dim>(count.constant(), (*element)[0]));
  }
  ctx.SetOutput(0, dtype, std::move(to));
  return absl::OkStatus();
}

// ---- Transpose ----

absl::Status InferTranspose(InferContext& ctx) {
  const Shape& from = ctx.shape(0);
  const auto& attrs = ctx.attrs<TransposeAttrs>();
  if (attrs.perm) {
    std::vector<int64_t> sorted = *attrs.perm;
    std::sort(sorted.begin(), sorted.end());
    for (size_t i = 0; i < sorted.size(); ++i) {
      if (sorted[i] != static_cast<int64_t>(i)) {
        return Invalid("attribute 'perm' is [", absl::StrJoin(*attrs.perm, ","), "], expected each axis from 0 to ", sorted.size() - 1, " once");
      }
    }
    WEFT_RETURN_IF_ERROR(ctx.CheckRank(0, "data", static_cast<int>(attrs.perm->size())));
  }
  if (!from.has_rank()) {
    ctx.SetOutput(0, ctx.dtype(0), attrs.perm ? ctx.FreshShape(static_cast<int>(attrs.perm->size())) : Shape());
    return absl::OkStatus();
  }
  if (from.rank() <= 1) PassElements(ctx);
  std::vector<Dim> dims;
  for (int64_t axis : PermOf(attrs, from.rank())) dims.push_back(from[static_cast<int>(axis)]);
  ctx.SetOutput(0, ctx.dtype(0), Shape(std::move(dims)));
  return absl::OkStatus();
}

// ---- Concat, Split, Slice ----

absl::Status InferConcat(InferContext& ctx) {
  int rank = -1;
  for (int i = 0; i < ctx.num_inputs(); ++i) {
    WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, i));
    if (ctx.shape(i).has_rank()) rank = ctx.shape(i).rank();
  }
  DType dtype = ctx.dtype(0);
  for (int i = 1; i < ctx.num_inputs() && dtype == DType::kUndefined; ++i) dtype = ctx.dtype(i);
  if (rank < 0) {
    ctx.SetOutput(0, dtype, Shape());
    return absl::OkStatus();
  }
  if (rank == 0) return Invalid("joins scalars, expected a rank of at least 1");
  WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(ctx.attrs<ConcatAttrs>().axis, rank, "attribute 'axis'"));
  std::vector<std::optional<Dim>> dims(rank);
  dims[axis] = Dim(0);
  bool elements_known = rank == 1;
  std::vector<Dim> elements;
  for (int i = 0; i < ctx.num_inputs(); ++i) {
    const Shape& shape = ctx.shape(i);
    if (!shape.has_rank()) {
      dims[axis] = std::nullopt;
    } else if (shape.rank() != rank) {
      return Invalid("input ", i, " has rank ", shape.rank(), ", shape ", shape.ToString(), ", expected rank ", rank, " as the others");
    } else {
      for (int a = 0; a < rank; ++a) {
        if (a == axis) {
          if (dims[a]) dims[a] = *dims[a] + shape[a];
        } else if (!dims[a]) {
          dims[a] = shape[a];
        } else {
          WEFT_ASSIGN_OR_RETURN(dims[a], InferContext::Unify(*dims[a], shape[a], absl::StrCat("axis ", a, " of the inputs")));
        }
      }
    }
    if (elements_known && ctx.elements(i) != nullptr) {
      elements.insert(elements.end(), ctx.elements(i)->begin(), ctx.elements(i)->end());
    } else {
      elements_known = false;
    }
  }
  std::vector<Dim> out;
  for (const auto& d : dims) out.push_back(d ? *d : ctx.FreshDim());
  if (elements_known) ctx.SetElements(0, std::move(elements));
  ctx.SetOutput(0, dtype, Shape(std::move(out)));
  return absl::OkStatus();
}

absl::Status InferSplit(InferContext& ctx) {
  const auto& attrs = ctx.attrs<SplitAttrs>();
  const Shape& from = ctx.shape(0);
  const int outputs = ctx.num_outputs();
  if (ctx.HasInput(1) && attrs.num_outputs) return Invalid("has both the input 'split' and the attribute 'num_outputs', expected one of them");
  if (attrs.num_outputs && *attrs.num_outputs != outputs) return Invalid("attribute 'num_outputs' is ", *attrs.num_outputs, ", the node has ", outputs, " outputs");
  if (!from.has_rank()) {
    for (int i = 0; i < outputs; ++i) ctx.SetOutput(i, ctx.dtype(0), Shape());
    return absl::OkStatus();
  }
  WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(attrs.axis, from.rank(), "attribute 'axis'"));
  const Dim& whole = from[axis];
  std::vector<Dim> sizes(outputs);
  if (ctx.HasInput(1)) {
    const std::vector<Dim>* split = ctx.elements(1);
    if (split != nullptr) {
      if (static_cast<int>(split->size()) != outputs) return Invalid("'split' has ", split->size(), " sizes, the node has ", outputs, " outputs");
      Dim sum = 0;
      for (const Dim& d : *split) {
        if (d.is_constant() && d.constant() < 0) return Invalid("'split' has the size ", d.constant(), ", expected sizes >= 0");
        sum = sum + d;
      }
      if (sum.is_constant() && whole.is_constant() && sum != whole) {
        return Invalid("'split' adds up to ", sum.constant(), ", axis ", axis, " has size ", whole.constant());
      }
      sizes = *split;
    } else {
      for (Dim& d : sizes) d = ctx.FreshDim();
    }
  } else {
    // Equal chunks, the last one smaller where they do not divide the axis.
    const Dim chunk = Dim::CeilDiv(whole, Dim(outputs));
    for (int i = 0; i + 1 < outputs; ++i) sizes[i] = chunk;
    sizes[outputs - 1] = whole - chunk * Dim(outputs - 1);
    if (whole.is_constant()) {
      int64_t left = whole.constant();
      for (Dim& d : sizes) {
        d = Dim(std::min(left, chunk.constant()));
        left -= d.constant();
      }
    }
  }
  size_t at = 0;
  for (int i = 0; i < outputs; ++i) {
    std::vector<Dim> dims = from.dims();
    dims[axis] = sizes[i];
    ctx.SetOutput(i, ctx.dtype(0), Shape(std::move(dims)));
    if (from.rank() == 1 && ctx.elements(0) != nullptr && sizes[i].is_constant() && at + sizes[i].constant() <= ctx.elements(0)->size()) {
      const auto begin = ctx.elements(0)->begin() + at;
      ctx.SetElements(i, std::vector<Dim>(begin, begin + sizes[i].constant()));
      at += sizes[i].constant();
    }
  }
  return absl::OkStatus();
}

// The size of a slice whose bounds are not all integers; symbols are sizes, so they are not negative.
Dim SlicedDim(InferContext& ctx, const Dim& start, const Dim& end, const Dim& step, const Dim& dim) {
  if (start.is_constant() && end.is_constant() && step.is_constant()) {
    const int64_t from = start.constant(), to = end.constant(), by = step.constant();
    if (dim.is_constant()) return Dim(ResolveSlice(from, to, by, dim.constant()).count);
    if (by == 1 && from == 0 && to >= INT32_MAX) return dim;
    if (by == 1 && from == 0 && to < 0) return Dim::Max(dim + Dim(to), Dim(0));
    if (by == 1 && from >= 0 && to >= INT32_MAX) return Dim::Max(dim - Dim(from), Dim(0));
    if (by == 1 && from < 0 && to >= INT32_MAX && from > INT32_MIN) return Dim::Min(dim, Dim(-from));
    if (by == 1 && from >= 0 && to >= from) return Dim::Min(Dim::Max(dim - Dim(from), Dim(0)), Dim(to - from));
    if (by == -1 && from == -1 && to <= INT32_MIN) return dim;
    if (by > 1 && from == 0 && to >= INT32_MAX) return Dim::CeilDiv(dim, Dim(by));
  }
  if (step == Dim(1) && start == Dim(0) && end == dim) return dim;
  if (step == Dim(1) && start == Dim(0) && !end.is_constant() && end.KnownNonNegative()) return Dim::Min(end, dim);
  return ctx.FreshDim();
}

absl::Status InferSlice(InferContext& ctx) {
  const Shape& from = ctx.shape(0);
  for (int i = 1; i < 5; ++i) {
    WEFT_RETURN_IF_ERROR(ctx.CheckDType(i, "bounds", kIndexTypes));
    WEFT_RETURN_IF_ERROR(ctx.CheckRank(i, "bounds", 1));
  }
  if (!from.has_rank()) {
    ctx.SetOutput(0, ctx.dtype(0), Shape());
    return absl::OkStatus();
  }
  const std::vector<Dim>*starts = ctx.elements(1), *ends = ctx.elements(2), *steps = ctx.elements(4);
  std::optional<std::vector<int64_t>> axes = ctx.HasInput(3) ? ctx.ints(3) : std::nullopt;
  if (!ctx.HasInput(3)) {
    const std::vector<Dim>* known = starts != nullptr ? starts : ends;
    const Shape& count = ctx.shape(1);
    if (known != nullptr) {
      axes.emplace(known->size());
      std::iota(axes->begin(), axes->end(), 0);
    } else if (count.has_rank() && count[0].is_constant()) {
      axes.emplace(std::clamp<int64_t>(count[0].constant(), 0, from.rank()));
      std::iota(axes->begin(), axes->end(), 0);
    }
  }
  if (!axes) {
    ctx.SetOutput(0, ctx.dtype(0), ctx.FreshShape(from.rank()));
    return absl::OkStatus();
  }
  for (const auto* bounds : {starts, ends, steps}) {
    if (bounds != nullptr && bounds->size() != axes->size()) {
      return Invalid("starts, ends, axes and steps have different lengths: ", bounds->size(), " and ", axes->size());
    }
  }
  if (axes->size() > static_cast<size_t>(from.rank())) return Invalid("slices ", axes->size(), " axes of shape ", from.ToString());
  std::vector<int64_t> sorted = *axes;
  WEFT_RETURN_IF_ERROR(NormalizeAxes(sorted, from.rank()));
  std::vector<Dim> dims = from.dims();
  for (size_t i = 0; i < axes->size(); ++i) {
    WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis((*axes)[i], from.rank(), "an axis"));
    const Dim step = steps != nullptr ? (*steps)[i] : Dim(1);
    if (step == Dim(0)) return Invalid("the step on axis ", axis, " is 0");
    const bool known = starts != nullptr && ends != nullptr && (steps != nullptr || !ctx.HasInput(4));
    dims[axis] = known ? SlicedDim(ctx, (*starts)[i], (*ends)[i], step, from[axis]) : ctx.FreshDim();
  }
  const bool vector = from.rank() == 1 && axes->size() == 1 && ctx.elements(0) != nullptr && starts != nullptr && ends != nullptr;
  if (vector && (*starts)[0].is_constant() && (*ends)[0].is_constant() && (steps == nullptr ? !ctx.HasInput(4) : (*steps)[0].is_constant())) {
    const SliceRange range = ResolveSlice((*starts)[0].constant(), (*ends)[0].constant(), steps == nullptr ? 1 : (*steps)[0].constant(),
                                          static_cast<int64_t>(ctx.elements(0)->size()));
    std::vector<Dim> cut;
    for (int64_t i = 0; i < range.count; ++i) cut.push_back((*ctx.elements(0))[range.begin + i * range.step]);
    ctx.SetElements(0, std::move(cut));
  }
  ctx.SetOutput(0, ctx.dtype(0), Shape(std::move(dims)));
  return absl::OkStatus();
}

// ---- Gather, Expand, Tile, Pad ----

absl::Status InferGather(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(1, "indices", kIndexTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckRankAtLeast(0, "data", 1));
  const Shape &data = ctx.shape(0), &indices = ctx.shape(1);
  if (!data.has_rank() || !indices.has_rank()) {
    ctx.SetOutput(0, ctx.dtype(0), Shape());
    return absl::OkStatus();
  }
  WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(ctx.attrs<GatherAttrs>().axis, data.rank(), "attribute 'axis'"));
  std::vector<Dim> dims(data.dims().begin(), data.dims().begin() + axis);
  dims.insert(dims.end(), indices.dims().begin(), indices.dims().end());
  dims.insert(dims.end(), data.dims().begin() + axis + 1, data.dims().end());
  const auto at = ctx.ints(1);
  if (data.rank() == 1 && ctx.elements(0) != nullptr && at) {
    std::vector<Dim> picked;
    const auto size = static_cast<int64_t>(ctx.elements(0)->size());
    for (int64_t i : *at) {
      if (i < -size || i >= size) return Invalid("index ", i, " is out of range on axis 0, expected a value in [", -size, ", ", size - 1, "]");
      picked.push_back((*ctx.elements(0))[i < 0 ? i + size : i]);
    }
    ctx.SetElements(0, std::move(picked));
  }
  ctx.SetOutput(0, ctx.dtype(0), Shape(std::move(dims)));
  return absl::OkStatus();
}

absl::Status InferExpand(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(ctx.CheckRank(1, "shape", 1));
  const std::vector<Dim>* target = ctx.elements(1);
  const Shape& from = ctx.shape(0);
  if (target == nullptr || !from.has_rank()) {
    const bool rank_known = from.has_rank() && ctx.shape(1).has_rank() && ctx.shape(1)[0].is_constant();
    const int rank = rank_known ? std::max<int>(from.rank(), static_cast<int>(ctx.shape(1)[0].constant())) : -1;
    ctx.SetOutput(0, ctx.dtype(0), rank >= 0 ? ctx.FreshShape(rank) : Shape());
    return absl::OkStatus();
  }
  const int rank = std::max<int>(from.rank(), static_cast<int>(target->size()));
  std::vector<Dim> dims(rank);
  for (int i = 0; i < rank; ++i) {
    const int a = i - (rank - from.rank()), b = i - (rank - static_cast<int>(target->size()));
    const Dim x = a >= 0 ? from[a] : Dim(1), y = b >= 0 ? (*target)[b] : Dim(1);
    if (y.is_constant() && y.constant() < 0) return Invalid("the target has the dim ", y.constant(), ", expected sizes >= 0");
    absl::StatusOr<Dim> dim = ctx.BroadcastDim(x, y);
    if (!dim.ok()) return Invalid("shape ", from.ToString(), " cannot be expanded to ", Shape(*target).ToString(), ": ", dim.status().message());
    dims[i] = *std::move(dim);
  }
  Shape to(std::move(dims));
  const Dim count = to.NumElements();
  if (ctx.elements(0) != nullptr && ctx.elements(0)->size() == 1 && count.is_constant() && count.constant() <= static_cast<int64_t>(InferContext::kMaxElements)) {
    ctx.SetElements(0, std::vector<Dim>(count.constant(), (*ctx.elements(0))[0]));
  }
  ctx.SetOutput(0, ctx.dtype(0), std::move(to));
  return absl::OkStatus();
}

absl::Status InferTile(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(ctx.CheckRank(1, "repeats", 1));
  const std::vector<Dim>* repeats = ctx.elements(1);
  const Shape& from = ctx.shape(0);
  if (!from.has_rank() || repeats == nullptr) {
    ctx.SetOutput(0, ctx.dtype(0), from.has_rank() ? ctx.FreshShape(from.rank()) : Shape());
    return absl::OkStatus();
  }
  if (static_cast<int>(repeats->size()) != from.rank()) return Invalid("'repeats' has ", repeats->size(), " numbers, expected one for each of ", from.rank(), " axes");
  std::vector<Dim> dims;
  for (int i = 0; i < from.rank(); ++i) {
    if ((*repeats)[i].is_constant() && (*repeats)[i].constant() < 0) return Invalid("'repeats' has ", (*repeats)[i].constant(), ", expected numbers >= 0");
    dims.push_back(from[i] * (*repeats)[i]);
  }
  if (from.rank() == 1 && ctx.elements(0) != nullptr && (*repeats)[0].is_constant() &&
      (*repeats)[0].constant() * static_cast<int64_t>(ctx.elements(0)->size()) <= static_cast<int64_t>(InferContext::kMaxElements)) {
    std::vector<Dim> all;
    for (int64_t r = 0; r < (*repeats)[0].constant(); ++r) all.insert(all.end(), ctx.elements(0)->begin(), ctx.elements(0)->end());
    ctx.SetElements(0, std::move(all));
  }
  ctx.SetOutput(0, ctx.dtype(0), Shape(std::move(dims)));
  return absl::OkStatus();
}

absl::Status InferPad(InferContext& ctx) {
  const std::string& mode = ctx.attrs<PadAttrs>().mode;
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap") {
    return Invalid("attribute 'mode' is '", mode, "', expected 'constant', 'reflect', 'edge' or 'wrap'");
  }
  WEFT_RETURN_IF_ERROR(ctx.CheckRank(1, "pads", 1));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 2));
  const Shape& from = ctx.shape(0);
  const std::vector<Dim>* pads = ctx.elements(1);
  std::optional<std::vector<int64_t>> axes = ctx.HasInput(3) ? ctx.ints(3) : std::nullopt;
  if (!from.has_rank() || pads == nullptr || (ctx.HasInput(3) && !axes)) {
    ctx.SetOutput(0, ctx.dtype(0), from.has_rank() ? ctx.FreshShape(from.rank()) : Shape());
    return absl::OkStatus();
  }
  if (!axes) {
    axes.emplace(from.rank());
    std::iota(axes->begin(), axes->end(), 0);
  }
  if (pads->size() != 2 * axes->size()) return Invalid("'pads' has ", pads->size(), " numbers, expected two for each of ", axes->size(), " axes");
  std::vector<int64_t> sorted = *axes;
  WEFT_RETURN_IF_ERROR(NormalizeAxes(sorted, from.rank()));
  std::vector<Dim> dims = from.dims();
  for (size_t i = 0; i < axes->size(); ++i) {
    WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis((*axes)[i], from.rank(), "an axis"));
    const Dim &begin = (*pads)[i], &end = (*pads)[i + axes->size()];
    dims[axis] = from[axis] + begin + end;
    if (dims[axis].is_constant() && dims[axis].constant() < 0) {
      return Invalid("pads ", begin.ToString(), " and ", end.ToString(), " cut more than axis ", axis, " of shape ", from.ToString(), " has");
    }
    if (from[axis].is_constant() && begin.is_constant() && end.is_constant() && mode != "constant") {
      const int64_t d = from[axis].constant(), most = std::max(begin.constant(), end.constant());
      if (mode == "reflect" && most >= d && most > 0) {
        return Invalid("reflects ", most, " elements on axis ", axis, " of size ", d, ", expected fewer than its size");
      }
      if (d == 0 && most > 0) return Invalid("pads the empty axis ", axis, " in mode '", mode, "', which has nothing to repeat");
    }
  }
  ctx.SetOutput(0, ctx.dtype(0), Shape(std::move(dims)));
  return absl::OkStatus();
}

}  // namespace

constinit const Op ops::Identity = {.name = "Identity", .since_version = 25, .inputs = 1, .outputs = 1, .traits = kView, .infer = &InferIdentity};
constinit const Op ops::Reshape = {.name = "Reshape", .since_version = 25, .inputs = 2, .outputs = 1, .attrs = &kAttrSchema<ReshapeAttrs>,
                                   .traits = kView, .infer = &InferReshape};
constinit const Op ops::Flatten = {.name = "Flatten", .since_version = 25, .inputs = 1, .outputs = 1, .attrs = &kAttrSchema<FlattenAttrs>,
                                   .traits = kView, .infer = &InferFlatten};
constinit const Op ops::Squeeze = {.name = "Squeeze", .since_version = 25, .inputs = Arity(1, 2), .outputs = 1, .traits = kView, .infer = &InferSqueeze};
constinit const Op ops::Unsqueeze = {.name = "Unsqueeze", .since_version = 25, .inputs = 2, .outputs = 1, .traits = kView, .infer = &InferUnsqueeze};
constinit const Op ops::Shape = {.name = "Shape", .since_version = 25, .inputs = 1, .outputs = 1, .attrs = &kAttrSchema<ShapeAttrs>,
                                 .traits = kReadsShapeOnly, .infer = &InferShape};
constinit const Op ops::Size = {.name = "Size", .since_version = 25, .inputs = 1, .outputs = 1, .traits = kReadsShapeOnly, .infer = &InferSize};
constinit const Op ops::ConstantOfShape = {.name = "ConstantOfShape", .since_version = 25, .inputs = 1, .outputs = 1,
                                           .attrs = &kAttrSchema<ConstantOfShapeAttrs>, .infer = &InferConstantOfShape};
constinit const Op ops::Transpose = {.name = "Transpose", .since_version = 25, .inputs = 1, .outputs = 1,
                                     .attrs = &kAttrSchema<TransposeAttrs>, .infer = &InferTranspose};
constinit const Op ops::Concat = {.name = "Concat", .since_version = 13, .inputs = Arity(1, Arity::kVariadic), .outputs = 1,
                                  .attrs = &kAttrSchema<ConcatAttrs>, .infer = &InferConcat};
constinit const Op ops::Split = {.name = "Split", .since_version = 18, .inputs = Arity(1, 2), .outputs = Arity(1, Arity::kVariadic),
                                 .attrs = &kAttrSchema<SplitAttrs>, .infer = &InferSplit};
constinit const Op ops::Slice = {.name = "Slice", .since_version = 13, .inputs = Arity(3, 5), .outputs = 1, .infer = &InferSlice};
constinit const Op ops::Gather = {.name = "Gather", .since_version = 13, .inputs = 2, .outputs = 1, .attrs = &kAttrSchema<GatherAttrs>,
                                  .infer = &InferGather};
constinit const Op ops::Expand = {.name = "Expand", .since_version = 13, .inputs = 2, .outputs = 1, .infer = &InferExpand};
constinit const Op ops::Tile = {.name = "Tile", .since_version = 13, .inputs = 2, .outputs = 1, .infer = &InferTile};
constinit const Op ops::Pad = {.name = "Pad", .since_version = 25, .inputs = Arity(2, 4), .outputs = 1, .attrs = &kAttrSchema<PadAttrs>,
                               .infer = &InferPad};

}  // namespace weft
