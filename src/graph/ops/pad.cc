// Axes made longer or shorter at their ends: Pad (ONNX Operators.md, opset 25), CenterCropPad (opset 18).
#include "graph/ops/shape.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/dtype_sets.h"
#include "graph/ops/operands.h"

namespace weft {

AxisPad CenterPad(int64_t from, int64_t to) {
  if (to >= from) {
    const int64_t begin = (to - from) / 2;
    return {begin, to - from - begin};
  }
  const int64_t begin = (from - to) / 2;
  return {-begin, -(from - to - begin)};
}

namespace {

constexpr DType kInt64Only[] = {DType::kInt64};

absl::StatusOr<Dim> PaddedDim(const Dim& dim, const Dim& begin, const Dim& end, int axis, std::string_view mode) {
  WEFT_ASSIGN_OR_RETURN(const Dim out, SumOf({dim, begin, end}));
  if (!dim.is_constant() || !begin.is_constant() || !end.is_constant()) return out;
  if (out.constant() < 0) {
    return Invalid("pads ", begin.constant(), " and ", end.constant(), " take more from axis ", axis, " than its size, ", dim.constant());
  }
  // What remains of the axis is where the values come from.
  const int64_t size = dim.constant();
  auto cropped = [size](const Dim& pad) { return pad.constant() < 0 ? -std::max(pad.constant(), -size) : 0; };
  if (mode != "constant" && out.constant() > 0 && size - cropped(begin) - cropped(end) <= 0) {
    return Invalid("axis ", axis, " of size ", dim.constant(), " has nothing to pad from in mode '", mode, "', pads ",
                   begin.constant(), " and ", end.constant());
  }
  return out;
}

absl::StatusOr<Shape> PaddedShape(InferContext& ctx, const Shape& in) {
  std::vector<int64_t> axes(in.rank());
  std::iota(axes.begin(), axes.end(), 0);
  if (ctx.HasInput(3)) {
    const std::optional<std::vector<int64_t>> given = ctx.ints(3);
    if (!given) return ctx.FreshShape(in.rank());
    axes = *given;
  }
  WEFT_ASSIGN_OR_RETURN(const std::vector<int> normal, NormalizeAxes(axes, in.rank()));
  const auto count = static_cast<int64_t>(normal.size());
  if (const std::optional<int64_t> length = ListLength(ctx, 1); length && *length != 2 * count) {
    return Invalid("pads has ", *length, " values, expected two for each of ", count, " axes");
  }
  Shape out = in;
  const std::vector<Dim>* pads = ctx.elements(1);
  for (int64_t i = 0; i < count; ++i) {
    Dim& dim = out[normal[i]];
    if (pads == nullptr) {
      dim = ctx.FreshDim();
      continue;
    }
    WEFT_ASSIGN_OR_RETURN(dim, PaddedDim(dim, (*pads)[i], (*pads)[count + i], normal[i], ctx.attrs<PadAttrs>().mode));
  }
  return out;
}

absl::Status InferPad(InferContext& ctx) {
  const std::string& mode = ctx.attrs<PadAttrs>().mode;
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap") {
    return Invalid("mode is '", mode, "', expected constant, reflect, edge or wrap");
  }
  WEFT_RETURN_IF_ERROR(CheckTensor(ctx, 0, "data"));
  WEFT_RETURN_IF_ERROR(CheckList(ctx, 1, "pads", kInt64Only));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 2));
  WEFT_RETURN_IF_ERROR(CheckScalar(ctx, 2, "constant_value"));
  WEFT_RETURN_IF_ERROR(CheckList(ctx, 3, "axes", kIndexTypes));
  Shape out;
  if (ctx.shape(0).has_rank()) {
    WEFT_ASSIGN_OR_RETURN(out, PaddedShape(ctx, ctx.shape(0)));
  }
  ctx.SetOutput(0, ctx.dtype(0), std::move(out));
  return absl::OkStatus();
}

absl::Status InferCenterCropPad(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckTensor(ctx, 0, "input_data"));
  WEFT_RETURN_IF_ERROR(CheckList(ctx, 1, "shape", kIndexTypes));
  Shape out = ctx.shape(0);
  if (out.has_rank()) {
    std::vector<int64_t> axes = ctx.attrs<CenterCropPadAttrs>().axes;
    if (axes.empty()) {
      axes.resize(out.rank());
      std::iota(axes.begin(), axes.end(), 0);
    }
    WEFT_ASSIGN_OR_RETURN(const std::vector<int> normal, NormalizeAxes(axes, out.rank()));
    if (const std::optional<int64_t> length = ListLength(ctx, 1); length && *length != static_cast<int64_t>(normal.size())) {
      return Invalid("the shape has ", *length, " sizes, expected one for each of ", normal.size(), " axes");
    }
    const std::vector<Dim>* sizes = ctx.elements(1);
    for (size_t i = 0; i < normal.size(); ++i) {
      const Dim size = sizes != nullptr ? (*sizes)[i] : ctx.FreshDim();
      if (size.is_constant() && size.constant() < 0) return Invalid("the shape holds ", size.constant(), ", expected sizes of at least 0");
      out[normal[i]] = size.KnownNonNegative() ? size : ctx.FreshDim();
    }
  }
  ctx.SetOutput(0, ctx.dtype(0), std::move(out));
  return absl::OkStatus();
}

}  // namespace

constinit const Op ops::Pad = {.name = "Pad", .since_version = 25, .inputs = {2, 4}, .outputs = 1,
                               .attrs = &kAttrSchema<PadAttrs>, .infer = &InferPad};
constinit const Op ops::CenterCropPad = {.name = "CenterCropPad", .since_version = 18, .inputs = 2, .outputs = 1,
                                         .attrs = &kAttrSchema<CenterCropPadAttrs>, .infer = &InferCenterCropPad};

}  // namespace weft
