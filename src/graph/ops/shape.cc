// Between dims and tensors: Shape, Size, ConstantOfShape (ONNX Operators.md, opset 25).
#include "graph/ops/shape.h"

#include <algorithm>
#include <utility>

#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/operands.h"

namespace weft {

AxisRange ResolveShapeRange(const ShapeAttrs& attrs, int rank) {
  auto clamp = [rank](int64_t bound) {
    return static_cast<int>(std::clamp<int64_t>(bound < 0 ? bound + rank : bound, 0, rank));
  };
  AxisRange range{clamp(attrs.start), attrs.end ? clamp(*attrs.end) : rank};
  range.end = std::max(range.begin, range.end);
  return range;
}

namespace {

absl::Status InferShape(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckTensor(ctx, 0, "data"));
  const Shape& in = ctx.shape(0);
  if (!in.has_rank()) {
    ctx.SetOutput(0, DType::kInt64, ctx.FreshShape(1));
    return absl::OkStatus();
  }
  const AxisRange range = ResolveShapeRange(ctx.attrs<ShapeAttrs>(), in.rank());
  std::vector<Dim> dims(in.dims().begin() + range.begin, in.dims().begin() + range.end);
  ctx.SetOutput(0, DType::kInt64, Shape{Dim(static_cast<int64_t>(dims.size()))});
  ctx.SetElements(0, std::move(dims));
  return absl::OkStatus();
}

absl::Status InferSize(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckTensor(ctx, 0, "data"));
  ctx.SetOutput(0, DType::kInt64, Shape(std::vector<Dim>{}));
  if (ctx.shape(0).has_rank()) {
    WEFT_ASSIGN_OR_RETURN(Dim size, ProductOf(ctx.shape(0).dims()));
    ctx.SetElements(0, {std::move(size)});
  }
  return absl::OkStatus();
}

absl::Status InferConstantOfShape(InferContext& ctx) {
  constexpr DType kInt64Only[] = {DType::kInt64};
  const auto& value = ctx.attrs<ConstantOfShapeAttrs>().value;
  if (value && value->size() != 1) return Invalid("attribute 'value' has ", value->size(), " elements, expected 1");
  WEFT_RETURN_IF_ERROR(CheckList(ctx, 0, "input", kInt64Only));
  Shape out;
  if (const std::vector<Dim>* sizes = ctx.elements(0)) {
    std::vector<Dim> dims;
    for (const Dim& d : *sizes) {
      if (d.is_constant() && d.constant() < 0) return Invalid("the shape holds ", d.constant(), ", expected sizes of at least 0");
      dims.push_back(d.KnownNonNegative() ? d : ctx.FreshDim());
    }
    out = Shape(std::move(dims));
    const std::optional<Dims> concrete = out.Concrete();
    const absl::StatusOr<int64_t> count = concrete ? NumElements(*concrete) : -1;
    const std::optional<std::vector<Dim>> element = value ? ElementsOf(*value) : std::nullopt;
    if (element && count.ok() && *count >= 0 && *count <= static_cast<int64_t>(InferContext::kMaxElements)) {
      ctx.SetElements(0, std::vector<Dim>(*count, (*element)[0]));
    }
  } else if (const std::optional<int64_t> rank = ListLength(ctx, 0)) {
    if (*rank > kMaxRank) return Invalid("the shape has ", *rank, " axes, expected ", kMaxRank, " at most");
    out = ctx.FreshShape(static_cast<int>(*rank));
  }
  ctx.SetOutput(0, value ? value->dtype() : DType::kFloat32, std::move(out));
  return absl::OkStatus();
}

}  // namespace

constinit const Op ops::Shape = {.name = "Shape", .since_version = 25, .inputs = 1, .outputs = 1,
                                 .attrs = &kAttrSchema<ShapeAttrs>, .traits = kReadsShapeOnly, .infer = &InferShape};
constinit const Op ops::Size = {.name = "Size", .since_version = 25, .inputs = 1, .outputs = 1, .traits = kReadsShapeOnly,
                                .infer = &InferSize};
constinit const Op ops::ConstantOfShape = {.name = "ConstantOfShape", .since_version = 25, .inputs = 1, .outputs = 1,
                                           .attrs = &kAttrSchema<ConstantOfShapeAttrs>, .infer = &InferConstantOfShape};

}  // namespace weft
