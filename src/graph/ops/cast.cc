// Conversions between element types: Cast, CastLike, BitCast (ONNX Operators.md).
#include "graph/ops/cast.h"

#include "graph/infer.h"
#include "graph/op.h"

namespace weft {
namespace {

absl::Status CheckTarget(int64_t to) {
  if (to > 0 && to < kNumDTypes) return absl::OkStatus();
  return Invalid("attribute 'to' is ", to, ", expected the number of an element type, 1 to ", kNumDTypes - 1);
}

absl::Status InferConversion(InferContext& ctx, DType to, const std::string& round_mode) {
  if (round_mode != "up" && round_mode != "down" && round_mode != "nearest") {
    return Invalid("attribute 'round_mode' is '", round_mode, "', expected 'up', 'down' or 'nearest'");
  }
  if (IsComplex(ctx.dtype(0)) != IsComplex(to) && ctx.dtype(0) != DType::kUndefined && to != DType::kUndefined) {
    return Unsupported("casts between ", DTypeName(ctx.dtype(0)), " and ", DTypeName(to));
  }
  // Between the types that dims have; a bool keeps a 0 or 1 only.
  const bool dims = to == DType::kInt64 || to == DType::kInt32;
  const bool from_ints = ctx.dtype(0) == DType::kInt64 || ctx.dtype(0) == DType::kInt32 || ctx.dtype(0) == DType::kBool;
  if (ctx.elements(0) != nullptr && dims && from_ints) {
    bool fits = true;
    for (const Dim& d : *ctx.elements(0)) fits &= !d.is_constant() || to == DType::kInt64 || (d.constant() >= INT32_MIN && d.constant() <= INT32_MAX);
    if (fits) ctx.SetElements(0, *ctx.elements(0));
  }
  if (to == DType::kBool && from_ints) {
    if (const auto values = ctx.ints(0)) {
      std::vector<Dim> truth;
      for (int64_t v : *values) truth.push_back(Dim(v != 0));
      ctx.SetElements(0, std::move(truth));
    }
  }
  ctx.SetOutput(0, to, ctx.shape(0));
  return absl::OkStatus();
}

absl::Status InferCast(InferContext& ctx) {
  const auto& attrs = ctx.attrs<CastAttrs>();
  WEFT_RETURN_IF_ERROR(CheckTarget(attrs.to));
  return InferConversion(ctx, static_cast<DType>(attrs.to), attrs.round_mode);
}

absl::Status InferCastLike(InferContext& ctx) { return InferConversion(ctx, ctx.dtype(1), ctx.attrs<CastLikeAttrs>().round_mode); }

absl::Status InferBitCast(InferContext& ctx) {
  const int64_t to = ctx.attrs<BitCastAttrs>().to;
  WEFT_RETURN_IF_ERROR(CheckTarget(to));
  const auto target = static_cast<DType>(to);
  const DType from = ctx.dtype(0);
  if (from == DType::kString || target == DType::kString) return Invalid("strings have no bits to reinterpret");
  if (from != DType::kUndefined && DTypeFileBits(from) != DTypeFileBits(target)) {
    return Invalid("element types ", DTypeName(from), " and ", DTypeName(target), " have different sizes, expected equal ones");
  }
  ctx.SetOutput(0, target, ctx.shape(0));
  return absl::OkStatus();
}

}  // namespace

constinit const Op ops::Cast = {.name = "Cast", .since_version = 28, .inputs = 1, .outputs = 1, .attrs = &kAttrSchema<CastAttrs>,
                                .traits = kElementwise, .infer = &InferCast};
constinit const Op ops::CastLike = {.name = "CastLike", .since_version = 25, .inputs = 2, .outputs = 1, .attrs = &kAttrSchema<CastLikeAttrs>,
                                    .traits = kElementwise, .infer = &InferCastLike};
constinit const Op ops::BitCast = {.name = "BitCast", .since_version = 26, .inputs = 1, .outputs = 1, .attrs = &kAttrSchema<BitCastAttrs>,
                                   .traits = kElementwise, .infer = &InferBitCast};

}  // namespace weft
