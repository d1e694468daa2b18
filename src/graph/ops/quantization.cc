// QuantizeLinear, DequantizeLinear (ONNX Operators.md, opset 25), DynamicQuantizeLinear (opset 11).
#include "graph/ops/quantization.h"

#include <algorithm>

#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/dtype_sets.h"
#include "graph/ops/quantized.h"

namespace weft {
namespace {

constexpr DType kQuantizedTypes[] = {
    DType::kUint8,          DType::kInt8,       DType::kUint16,          DType::kInt16, DType::kUint4, DType::kInt4,        DType::kUint2,
    DType::kInt2,           DType::kFloat8E4M3FN, DType::kFloat8E4M3FNUZ, DType::kFloat8E5M2, DType::kFloat8E5M2FNUZ, DType::kFloat4E2M1};
constexpr DType kDequantizableTypes[] = {
    DType::kUint8,          DType::kInt8,       DType::kUint16,          DType::kInt16, DType::kUint4, DType::kInt4,        DType::kUint2,
    DType::kInt2,           DType::kFloat8E4M3FN, DType::kFloat8E4M3FNUZ, DType::kFloat8E5M2, DType::kFloat8E5M2FNUZ, DType::kFloat4E2M1,
    DType::kInt32};
constexpr DType kRealTypes[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16};

absl::Status CheckTypeAttribute(std::string_view name, int64_t value, absl::Span<const DType> allowed) {
  if (value == 0) return absl::OkStatus();
  for (DType t : allowed) {
    if (value == static_cast<int64_t>(t)) return absl::OkStatus();
  }
  const bool known = value > 0 && value < kNumDTypes;
  return Invalid(name, " is ", value, known ? " (" : "", known ? DTypeName(static_cast<DType>(value)) : "", known ? ")" : "",
                 ", expected an element type that the operator allows");
}

// Scale (input 1) against x (input 0), zero point (input 2) against scale.
absl::Status CheckGranularity(const InferContext& ctx, int64_t axis, int64_t block_size) {
  if (block_size < 0) return Invalid("block_size is ", block_size, ", expected 0 or more");
  const Shape &x = ctx.shape(0), &scale = ctx.shape(1), &zero = ctx.shape(2);
  if (ctx.HasInput(2) && scale.has_rank() && zero.has_rank()) {
    bool same = scale.rank() == zero.rank();
    for (int i = 0; same && i < scale.rank(); ++i) {
      same = !scale[i].is_constant() || !zero[i].is_constant() || scale[i] == zero[i];
    }
    // A scalar beside a vector of one is common in models.
    if (!same && !(CheckPerTensor(ctx, 1, "").ok() && CheckPerTensor(ctx, 2, "").ok())) {
      return Invalid("input 2 (zero point) has shape ", zero.ToString(), ", expected that of the scale, ", scale.ToString());
    }
  }
  if (!x.has_rank() || !scale.has_rank() || CheckPerTensor(ctx, 1, "").ok()) return absl::OkStatus();
  auto agree = [](const Dim& a, const Dim& b) { return !a.is_constant() || !b.is_constant() || a == b; };
  if (x.rank() == 0) return Invalid("input 1 (scale) has shape ", scale.ToString(), ", expected a scalar for a scalar");
  int at = 0;
  if (x.rank() > 1) {
    WEFT_ASSIGN_OR_RETURN(at, InferContext::NormalizeAxis(axis, x.rank()));
  }
  bool fits;
  if (block_size == 0) {
    fits = scale.rank() == 1 && agree(scale[0], x[at]);
  } else {
    fits = scale.rank() == x.rank();
    for (int i = 0; fits && i < x.rank(); ++i) fits = agree(scale[i], i == at ? Dim::CeilDiv(x[i], block_size) : x[i]);
  }
  if (fits) return absl::OkStatus();
  return Invalid("input 1 (scale) has shape ", scale.ToString(), ", expected a scalar, or ",
                 block_size == 0 ? "one value for each index of axis " : "one value for each block of axis ", at, " of ", x.ToString(),
                 block_size == 0 ? "" : " in blocks of ", block_size == 0 ? std::string() : std::to_string(block_size));
}

absl::Status InferQuantizeLinear(InferContext& ctx) {
  const auto& attrs = ctx.attrs<QuantizeLinearAttrs>();
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "x", {DType::kFloat32, DType::kFloat16, DType::kBFloat16, DType::kInt32}));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(1, "y_scale", {DType::kFloat32, DType::kFloat16, DType::kBFloat16, DType::kInt32, DType::kFloat8E8M0}));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(2, "y_zero_point", kQuantizedTypes));
  WEFT_RETURN_IF_ERROR(CheckTypeAttribute("output_dtype", attrs.output_dtype, kQuantizedTypes));
  WEFT_RETURN_IF_ERROR(CheckTypeAttribute("precision", attrs.precision, kFloatTypes));
  WEFT_RETURN_IF_ERROR(CheckGranularity(ctx, attrs.axis, attrs.block_size));
  DType dtype = static_cast<DType>(attrs.output_dtype);
  if (ctx.HasInput(2)) {
    if (dtype != DType::kUndefined && ctx.dtype(2) != DType::kUndefined && ctx.dtype(2) != dtype) {
      return Invalid("input 2 (y_zero_point) has element type ", DTypeName(ctx.dtype(2)), ", expected output_dtype, ", DTypeName(dtype));
    }
    if (ctx.dtype(2) != DType::kUndefined) dtype = ctx.dtype(2);
  } else if (dtype == DType::kUndefined) {
    dtype = DType::kUint8;
  }
  ctx.SetOutput(0, dtype, ctx.shape(0));
  return absl::OkStatus();
}

absl::Status InferDequantizeLinear(InferContext& ctx) {
  const auto& attrs = ctx.attrs<DequantizeLinearAttrs>();
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "x", kDequantizableTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(1, "x_scale", {DType::kFloat32, DType::kFloat16, DType::kBFloat16, DType::kFloat8E8M0}));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 2));
  WEFT_RETURN_IF_ERROR(CheckTypeAttribute("output_dtype", attrs.output_dtype, kRealTypes));
  WEFT_RETURN_IF_ERROR(CheckGranularity(ctx, attrs.axis, attrs.block_size));
  if (attrs.output_dtype == 0 && ctx.dtype(1) == DType::kFloat8E8M0) {
    return Invalid("output_dtype is not set, expected float, float16 or bfloat16 for a scale of float8e8m0");
  }
  ctx.SetOutput(0, attrs.output_dtype != 0 ? static_cast<DType>(attrs.output_dtype) : ctx.dtype(1), ctx.shape(0));
  return absl::OkStatus();
}

absl::Status InferDynamicQuantizeLinear(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "x", {DType::kFloat32}));
  ctx.SetOutput(0, DType::kUint8, ctx.shape(0));
  ctx.SetOutput(1, DType::kFloat32, Shape::Of({}));
  ctx.SetOutput(2, DType::kUint8, Shape::Of({}));
  return absl::OkStatus();
}

template <int kEach>
Cost PerElement(const NodeView& node) {
  const auto dims = node.inputs[0].type->shape.Concrete();
  if (!dims) return {};
  const auto count = NumElements(*dims);
  return {count.ok() && *count < (int64_t{1} << 58) ? kEach * *count : 0};
}

}  // namespace

void QuantizationGrid::ScaleIndices(int64_t begin, int64_t count, int64_t* indices) const {
  if (whole) return static_cast<void>(std::fill_n(indices, count, 0));
  int64_t i = begin % inner, d = begin / inner % size, o = begin / inner / size;
  for (int64_t k = 0; k < count; ++k) {
    indices[k] = blocked ? (o * blocks() + d / block) * inner + i : d;
    if (++i < inner) continue;
    i = 0;
    if (++d < size) continue;
    d = 0;
    ++o;
  }
}

QuantizationGrid ResolveQuantization(absl::Span<const int64_t> x, absl::Span<const int64_t> scale, int64_t axis, int64_t block_size) {
  QuantizationGrid grid;
  grid.whole = std::all_of(scale.begin(), scale.end(), [](int64_t d) { return d == 1; });
  if (grid.whole) return grid;
  const size_t at = x.size() == 1 ? 0 : static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(x.size()) : axis);
  for (size_t i = 0; i < x.size(); ++i) (i < at ? grid.outer : i == at ? grid.size : grid.inner) *= x[i];
  if (block_size > 0) {
    grid.blocked = true;
    grid.block = block_size;
  }
  return grid;
}

constinit const Op ops::QuantizeLinear = {.name = "QuantizeLinear", .since_version = 28, .inputs = {2, 3}, .outputs = 1,
                                          .attrs = &kAttrSchema<QuantizeLinearAttrs>, .infer = &InferQuantizeLinear,
                                          .cost = &PerElement<2>};
constinit const Op ops::DequantizeLinear = {.name = "DequantizeLinear", .since_version = 28, .inputs = {2, 3}, .outputs = 1,
                                            .attrs = &kAttrSchema<DequantizeLinearAttrs>, .infer = &InferDequantizeLinear,
                                            .cost = &PerElement<2>};
constinit const Op ops::DynamicQuantizeLinear = {.name = "DynamicQuantizeLinear", .since_version = 11, .inputs = 1, .outputs = {1, 3},
                                                 .infer = &InferDynamicQuantizeLinear, .cost = &PerElement<4>};

}  // namespace weft
