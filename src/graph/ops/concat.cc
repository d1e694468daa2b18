// Tensors side by side, and apart again: Concat (ONNX Operators.md, opset 13), Split (opset 18).
#include "graph/ops/shape.h"

#include <algorithm>
#include <utility>

#include "graph/op.h"
#include "graph/ops/operands.h"

namespace weft {

absl::StatusOr<Shape> ConcatShapes(InferContext& ctx, absl::Span<const Shape> shapes, int64_t axis) {
  const auto known = std::find_if(shapes.begin(), shapes.end(), [](const Shape& s) { return s.has_rank(); });
  if (known == shapes.end()) return Shape();
  Shape out = *known;
  WEFT_ASSIGN_OR_RETURN(const int along, InferContext::NormalizeAxis(axis, out.rank()));
  std::vector<Dim> sizes;
  bool all_known = true;
  for (const Shape& s : shapes) {
    all_known &= s.has_rank();
    if (!s.has_rank()) continue;
    if (s.rank() != out.rank()) {
      return Invalid("inputs of shapes ", known->ToString(), " and ", s.ToString(), ", expected the same rank");
    }
    for (int i = 0; i < out.rank(); ++i) {
      if (i == along) continue;
      if (out[i].is_constant() && s[i].is_constant() && out[i] != s[i]) {
        return Invalid("inputs of shapes ", known->ToString(), " and ", s.ToString(), " differ on axis ", i,
                       ", expected equal sizes on every axis but ", along);
      }
      if (s[i].is_constant()) out[i] = s[i];
    }
    sizes.push_back(s[along]);
  }
  if (all_known) {
    WEFT_ASSIGN_OR_RETURN(out[along], SumOf(sizes));
  } else {
    out[along] = ctx.FreshDim();
  }
  return out;
}

std::vector<Dim> EqualParts(const Dim& whole, int n) {
  const Dim part = Dim::CeilDiv(whole, Dim(n));
  std::vector<Dim> sizes(n, part);
  if (part * Dim(n) == whole) return sizes;
  for (int i = 0; i < n; ++i) sizes[i] = Dim::Max(Dim(0), Dim::Min(part, whole - part * Dim(i)));
  return sizes;
}

namespace {

absl::Status InferConcat(InferContext& ctx) {
  std::vector<Shape> shapes;
  std::vector<Dim> elements;
  bool elements_known = true;
  DType dtype = DType::kUndefined;
  for (int i = 0; i < ctx.num_inputs(); ++i) {
    WEFT_RETURN_IF_ERROR(CheckTensor(ctx, i, "inputs"));
    if (dtype == DType::kUndefined) dtype = ctx.dtype(i);
    if (ctx.dtype(i) != dtype && ctx.dtype(i) != DType::kUndefined) {
      return Invalid("input ", i, " has element type ", DTypeName(ctx.dtype(i)), ", expected that of the others, ", DTypeName(dtype));
    }
    shapes.push_back(ctx.shape(i));
    const std::vector<Dim>* known = ctx.elements(i);
    elements_known = elements_known && known != nullptr && elements.size() + known->size() <= InferContext::kMaxElements;
    if (elements_known) elements.insert(elements.end(), known->begin(), known->end());
  }
  const int64_t axis = ctx.attrs<ConcatAttrs>().axis;
  WEFT_ASSIGN_OR_RETURN(Shape out, ConcatShapes(ctx, shapes, axis));
  // Along the outermost axis the elements stand one tensor after the other.
  if (elements_known && out.has_rank() && (axis == 0 || axis == -out.rank())) ctx.SetElements(0, std::move(elements));
  ctx.SetOutput(0, dtype, std::move(out));
  return absl::OkStatus();
}

// Sizes of the parts along the axis; nothing where input `split` is not known yet.
absl::StatusOr<std::optional<std::vector<Dim>>> PartSizes(InferContext& ctx, const std::optional<Dim>& whole) {
  const auto& attrs = ctx.attrs<SplitAttrs>();
  const int n = ctx.num_outputs();
  if (!ctx.HasInput(1)) {
    if (attrs.num_outputs && *attrs.num_outputs != n) {
      return Invalid("num_outputs is ", *attrs.num_outputs, ", but the node has ", n, " outputs");
    }
    return whole ? std::optional(EqualParts(*whole, n)) : std::nullopt;
  }
  if (attrs.num_outputs) return Invalid("has both the input 'split' and the attribute 'num_outputs', expected one of them");
  if (const std::optional<int64_t> count = ListLength(ctx, 1); count && *count != n) {
    return Invalid("split has ", *count, " sizes, expected one for each of the ", n, " outputs");
  }
  const std::vector<Dim>* sizes = ctx.elements(1);
  if (sizes == nullptr) return std::nullopt;
  for (const Dim& d : *sizes) {
    if (d.is_constant() && d.constant() < 0) return Invalid("split holds ", d.constant(), ", expected sizes of at least 0");
  }
  WEFT_ASSIGN_OR_RETURN(const Dim sum, SumOf(*sizes));
  if (whole && whole->is_constant() && sum.is_constant() && *whole != sum) {
    return Invalid("the sizes in split add up to ", sum.constant(), ", expected the size of the axis, ", whole->constant());
  }
  return std::optional(*sizes);
}

absl::Status InferSplit(InferContext& ctx) {
  constexpr DType kInt64Only[] = {DType::kInt64};
  WEFT_RETURN_IF_ERROR(CheckTensor(ctx, 0, "input"));
  WEFT_RETURN_IF_ERROR(CheckList(ctx, 1, "split", kInt64Only));
  const Shape& in = ctx.shape(0);
  std::optional<Dim> whole;
  int axis = 0;
  if (in.has_rank()) {
    WEFT_ASSIGN_OR_RETURN(axis, InferContext::NormalizeAxis(ctx.attrs<SplitAttrs>().axis, in.rank()));
    whole = in[axis];
  }
  WEFT_ASSIGN_OR_RETURN(const std::optional<std::vector<Dim>> sizes, PartSizes(ctx, whole));
  const std::vector<Dim>* elements = in.has_rank() && in.rank() == 1 ? ctx.elements(0) : nullptr;
  size_t begin = 0;
  for (int i = 0; i < ctx.num_outputs(); ++i) {
    if (!in.has_rank()) {
      ctx.SetOutput(i, ctx.dtype(0), Shape());
      continue;
    }
    Shape part = in;
    part[axis] = sizes ? ((*sizes)[i].KnownNonNegative() ? (*sizes)[i] : ctx.FreshDim()) : ctx.FreshDim();
    if (elements != nullptr && part[0].is_constant()) {
      const auto count = static_cast<size_t>(part[0].constant());
      if (count > elements->size() - begin) return Invalid("the sizes in split exceed the size of the axis, ", elements->size());
      ctx.SetElements(i, {elements->begin() + begin, elements->begin() + begin + count});
      begin += count;
    } else {
      elements = nullptr;
    }
    ctx.SetOutput(i, ctx.dtype(0), std::move(part));
  }
  return absl::OkStatus();
}

}  // namespace

constinit const Op ops::Concat = {.name = "Concat", .since_version = 13, .inputs = {1, Arity::kVariadic}, .outputs = 1,
                                  .attrs = &kAttrSchema<ConcatAttrs>, .infer = &InferConcat};
constinit const Op ops::Split = {.name = "Split", .since_version = 18, .inputs = {1, 2}, .outputs = {1, Arity::kVariadic},
                                 .attrs = &kAttrSchema<SplitAttrs>, .infer = &InferSplit};

}  // namespace weft
