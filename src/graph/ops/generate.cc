// Ops that make a tensor from a few numbers: Range, EyeLike, windows, mel filter banks (ONNX Operators.md).
#include "graph/ops/generate.h"

#include <algorithm>
#include <cmath>

#include "base/float_types.h"
#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/dtype_attr.h"
#include "graph/ops/dtype_sets.h"

namespace weft {
namespace {

// The specification wants a scalar; exporters also write one element of rank 1.
absl::Status CheckScalar(const InferContext& ctx, int i, std::string_view operand) {
  if (!ctx.HasInput(i) || !ctx.shape(i).has_rank()) return absl::OkStatus();
  const Dim count = ctx.shape(i).NumElements();
  if (ctx.shape(i).rank() <= 1 && (!count.is_constant() || count == Dim(1))) return absl::OkStatus();
  return Invalid("input ", i, " (", operand, ") has shape ", ctx.shape(i).ToString(), ", expected a scalar");
}

// The value of a scalar where it is known.
const Dim* KnownScalar(const InferContext& ctx, int i) {
  const auto* elements = ctx.elements(i);
  return elements != nullptr && elements->size() == 1 ? elements->data() : nullptr;
}

// ---- Range ----

double FloatScalar(const Tensor& t) {
  switch (t.dtype()) {
    case DType::kFloat64: return *t.data<double>();
    case DType::kFloat16: return HalfToFloat(*t.data<uint16_t>());
    case DType::kBFloat16: return BFloat16ToFloat(*t.data<uint16_t>());
    default: return *t.data<float>();
  }
}

absl::Status ZeroStep() { return Invalid("input 2 (delta) is 0, expected a step"); }

absl::StatusOr<Dim> FloatCount(const Tensor& start, const Tensor& limit, const Tensor& delta) {
  const double step = FloatScalar(delta);
  if (step == 0) return ZeroStep();
  const double count = std::ceil((FloatScalar(limit) - FloatScalar(start)) / step);
  if (std::isnan(count) || count > 0x1p53) {
    return Invalid("range from ", FloatScalar(start), " to ", FloatScalar(limit), " by ", step, " has no countable number of elements");
  }
  return Dim(static_cast<int64_t>(std::max(count, 0.0)));
}

// max(0, ceil((limit - start) / delta)), exactly.
absl::StatusOr<Dim> IntegerCount(const Dim& start, const Dim& limit, const Dim& delta, InferContext& ctx) {
  if (delta == Dim(0)) return ZeroStep();
  if (!delta.is_constant()) return ctx.FreshDim();
  const int64_t step = delta.constant();
  if (!start.is_constant() || !limit.is_constant()) {
    if (step == INT64_MIN) return ctx.FreshDim();
    const Dim count = step > 0 ? Dim::CeilDiv(limit - start, delta) : Dim::CeilDiv(start - limit, Dim(-step));
    return count.KnownNonNegative() ? count : Dim::Max(Dim(0), count);
  }
  const int64_t low = step > 0 ? start.constant() : limit.constant(), high = step > 0 ? limit.constant() : start.constant();
  if (low >= high) return Dim(0);
  const uint64_t distance = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  const uint64_t stride = step > 0 ? static_cast<uint64_t>(step) : 0 - static_cast<uint64_t>(step);
  const uint64_t count = (distance - 1) / stride + 1;
  if (count > static_cast<uint64_t>(INT64_MAX)) return Exhausted("a range of ", count, " elements");
  return Dim(static_cast<int64_t>(count));
}

absl::Status InferRange(InferContext& ctx) {
  static constexpr DType kAllowed[] = {DType::kFloat32, DType::kFloat64, DType::kInt16,   DType::kInt32,
                                       DType::kInt64,   DType::kFloat16, DType::kBFloat16};
  static constexpr std::string_view kNames[] = {"start", "limit", "delta"};
  for (int i = 0; i < 3; ++i) {
    WEFT_RETURN_IF_ERROR(ctx.CheckDType(i, kNames[i], kAllowed));
    WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, i));
    WEFT_RETURN_IF_ERROR(CheckScalar(ctx, i, kNames[i]));
  }
  const int64_t stash = ctx.attrs<RangeAttrs>().stash_type;
  if (stash != static_cast<int64_t>(DType::kFloat32) && stash != static_cast<int64_t>(DType::kFloat64)) {
    return Invalid("attribute 'stash_type' is ", stash, ", expected 1 (float) or 11 (double)");
  }
  const DType dtype = ctx.dtype(0);
  Dim count = ctx.FreshDim();
  if (IsFloat(dtype)) {
    const Tensor *start = ctx.tensor(0), *limit = ctx.tensor(1), *delta = ctx.tensor(2);
    if (start != nullptr && limit != nullptr && delta != nullptr) {
      WEFT_ASSIGN_OR_RETURN(count, FloatCount(*start, *limit, *delta));
    }
  } else {
    const Dim *start = KnownScalar(ctx, 0), *limit = KnownScalar(ctx, 1), *delta = KnownScalar(ctx, 2);
    if (start != nullptr && limit != nullptr && delta != nullptr) {
      WEFT_ASSIGN_OR_RETURN(count, IntegerCount(*start, *limit, *delta, ctx));
    }
    if (count.is_constant() && count.constant() <= static_cast<int64_t>(InferContext::kMaxElements)) {
      std::vector<Dim> elements;
      for (int64_t i = 0; i < count.constant(); ++i) elements.push_back(*start + Dim(i) * *delta);
      ctx.SetElements(0, std::move(elements));
    }
  }
  ctx.SetOutput(0, dtype, Shape({count}));
  return absl::OkStatus();
}

// ---- EyeLike ----

absl::Status InferEyeLike(InferContext& ctx) {
  static constexpr DType kAllowed[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16, DType::kFloat64, DType::kInt64,
                                       DType::kInt32,   DType::kInt16,   DType::kInt8,     DType::kUint8,   DType::kUint16,
                                       DType::kUint32,  DType::kUint64,  DType::kBool};
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "input", kAllowed));
  WEFT_RETURN_IF_ERROR(ctx.CheckRank(0, "input", 2));
  DType dtype = ctx.dtype(0);
  if (const auto& given = ctx.attrs<EyeLikeAttrs>().dtype) {
    WEFT_ASSIGN_OR_RETURN(dtype, DTypeAttr("dtype", *given, kAllowed));
  }
  ctx.SetOutput(0, dtype, ctx.shape(0).has_rank() ? ctx.shape(0) : ctx.FreshShape(2));
  return absl::OkStatus();
}

// ---- Windows and mel filter banks ----

// A size that an input gives: positive, or a symbol while it is not known.
absl::StatusOr<Dim> SizeFrom(InferContext& ctx, int i, std::string_view operand) {
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(i, operand, kIndexTypes));
  WEFT_RETURN_IF_ERROR(CheckScalar(ctx, i, operand));
  const Dim* size = KnownScalar(ctx, i);
  if (size == nullptr) return ctx.FreshDim();
  if (!size->is_constant() || size->constant() > 0) return *size;
  return Invalid("input ", i, " (", operand, ") is ", size->constant(), ", expected a size > 0");
}

absl::Status InferWindow(InferContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const DType dtype, DTypeAttr("output_datatype", ctx.attrs<WindowAttrs>().output_datatype, kNumericTypes));
  WEFT_ASSIGN_OR_RETURN(const Dim size, SizeFrom(ctx, 0, "size"));
  ctx.SetOutput(0, dtype, Shape({size}));
  return absl::OkStatus();
}

absl::Status InferMelWeightMatrix(InferContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const DType dtype,
                        DTypeAttr("output_datatype", ctx.attrs<MelWeightMatrixAttrs>().output_datatype, kNumericTypes));
  WEFT_ASSIGN_OR_RETURN(const Dim mel_bins, SizeFrom(ctx, 0, "num_mel_bins"));
  WEFT_ASSIGN_OR_RETURN(const Dim dft_length, SizeFrom(ctx, 1, "dft_length"));
  WEFT_RETURN_IF_ERROR(SizeFrom(ctx, 2, "sample_rate").status());
  static constexpr std::string_view kEdges[] = {"lower_edge_hertz", "upper_edge_hertz"};
  for (int i = 3; i < 5; ++i) {
    WEFT_RETURN_IF_ERROR(ctx.CheckDType(i, kEdges[i - 3], kFloatTypes));
    WEFT_RETURN_IF_ERROR(CheckScalar(ctx, i, kEdges[i - 3]));
  }
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(3, 4));
  ctx.SetOutput(0, dtype, Shape({Dim::FloorDiv(dft_length, Dim(2)) + Dim(1), mel_bins}));
  return absl::OkStatus();
}

constexpr Op Window(std::string_view name) {
  return {.name = name, .since_version = 17, .inputs = 1, .outputs = 1, .attrs = &kAttrSchema<WindowAttrs>, .infer = &InferWindow};
}

}  // namespace

constinit const Op ops::Range = {.name = "Range", .since_version = 27, .inputs = 3, .outputs = 1, .attrs = &kAttrSchema<RangeAttrs>,
                                 .infer = &InferRange};
constinit const Op ops::EyeLike = {.name = "EyeLike", .since_version = 22, .inputs = 1, .outputs = 1, .attrs = &kAttrSchema<EyeLikeAttrs>,
                                   .traits = kReadsShapeOnly, .infer = &InferEyeLike};
constinit const Op ops::HannWindow = Window("HannWindow");
constinit const Op ops::HammingWindow = Window("HammingWindow");
constinit const Op ops::BlackmanWindow = Window("BlackmanWindow");
constinit const Op ops::MelWeightMatrix = {.name = "MelWeightMatrix", .since_version = 17, .inputs = 5, .outputs = 1,
                                           .attrs = &kAttrSchema<MelWeightMatrixAttrs>, .infer = &InferMelWeightMatrix};

}  // namespace weft
