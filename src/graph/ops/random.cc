// Random numbers (ONNX Operators.md, opset 22): RandomNormal, RandomUniform, both Like another tensor, Bernoulli, Multinomial.
#include "graph/ops/random.h"

#include <cmath>
#include <string>
#include <vector>

#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/dtype_attr.h"
#include "graph/ops/dtype_sets.h"
#include "graph/ops/operands.h"

namespace weft {
namespace {

absl::Status CheckDistribution(float mean, float scale) {
  if (std::isfinite(mean) && std::isfinite(scale) && scale >= 0) return absl::OkStatus();
  return Invalid("mean is ", mean, " and scale ", scale, ", expected numbers, the scale not negative");
}
absl::Status CheckRange(float low, float high) {
  if (std::isfinite(low) && std::isfinite(high) && low <= high) return absl::OkStatus();
  return Invalid("low is ", low, " and high ", high, ", expected numbers, high not below low");
}

absl::Status SetOfShape(InferContext& ctx, int64_t number, const std::vector<int64_t>& shape) {
  WEFT_ASSIGN_OR_RETURN(const DType dtype, DTypeAttr("dtype", number, kFloatTypes));
  for (int64_t d : shape) {
    if (d < 0) return Invalid("attribute 'shape' holds ", d, ", expected sizes");
  }
  ctx.SetOutput(0, dtype, Shape(std::vector<Dim>(shape.begin(), shape.end())));
  return absl::OkStatus();
}

// The shape of input 0, and its element type where there is no `number`.
absl::Status SetLikeInput(InferContext& ctx, std::optional<int64_t> number, absl::Span<const DType> allowed) {
  WEFT_RETURN_IF_ERROR(CheckTensor(ctx, 0, "input"));
  DType dtype = ctx.dtype(0);
  if (number) {
    WEFT_ASSIGN_OR_RETURN(dtype, DTypeAttr("dtype", *number, allowed));
  } else {
    WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "input", allowed));
  }
  ctx.SetOutput(0, dtype, ctx.shape(0));
  return absl::OkStatus();
}

absl::Status InferRandomNormal(InferContext& ctx) {
  const auto& attrs = ctx.attrs<RandomNormalAttrs>();
  WEFT_RETURN_IF_ERROR(CheckDistribution(attrs.mean, attrs.scale));
  return SetOfShape(ctx, attrs.dtype, attrs.shape);
}
absl::Status InferRandomNormalLike(InferContext& ctx) {
  const auto& attrs = ctx.attrs<RandomNormalLikeAttrs>();
  WEFT_RETURN_IF_ERROR(CheckDistribution(attrs.mean, attrs.scale));
  return SetLikeInput(ctx, attrs.dtype, kFloatTypes);
}
absl::Status InferRandomUniform(InferContext& ctx) {
  const auto& attrs = ctx.attrs<RandomUniformAttrs>();
  WEFT_RETURN_IF_ERROR(CheckRange(attrs.low, attrs.high));
  return SetOfShape(ctx, attrs.dtype, attrs.shape);
}
absl::Status InferRandomUniformLike(InferContext& ctx) {
  const auto& attrs = ctx.attrs<RandomUniformLikeAttrs>();
  WEFT_RETURN_IF_ERROR(CheckRange(attrs.low, attrs.high));
  return SetLikeInput(ctx, attrs.dtype, kFloatTypes);
}

absl::Status InferBernoulli(InferContext& ctx) {
  static constexpr DType kAllowed[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16, DType::kFloat64, DType::kInt64,
                                       DType::kInt32,   DType::kInt16,   DType::kInt8,     DType::kUint8,   DType::kUint16,
                                       DType::kUint32,  DType::kUint64,  DType::kBool};
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "input", kFloatTypes));
  return SetLikeInput(ctx, ctx.attrs<BernoulliAttrs>().dtype, kAllowed);
}

absl::Status InferMultinomial(InferContext& ctx) {
  const auto& attrs = ctx.attrs<MultinomialAttrs>();
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "input", kFloatTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckRank(0, "input", 2));
  WEFT_ASSIGN_OR_RETURN(const DType dtype, DTypeAttr("dtype", attrs.dtype, kIndexTypes));
  if (attrs.sample_size < 1) return Invalid("attribute 'sample_size' is ", attrs.sample_size, ", expected 1 or more");
  ctx.SetOutput(0, dtype, Shape({ctx.shape(0).has_rank() ? ctx.shape(0)[0] : ctx.FreshDim(), Dim(attrs.sample_size)}));
  return absl::OkStatus();
}

}  // namespace

constinit const Op ops::RandomNormal = {.name = "RandomNormal", .since_version = 22, .inputs = 0, .outputs = 1,
                                        .attrs = &kAttrSchema<RandomNormalAttrs>, .traits = kRandom, .infer = &InferRandomNormal};
constinit const Op ops::RandomNormalLike = {.name = "RandomNormalLike", .since_version = 22, .inputs = 1, .outputs = 1,
                                            .attrs = &kAttrSchema<RandomNormalLikeAttrs>, .traits = kRandom | kReadsShapeOnly,
                                            .infer = &InferRandomNormalLike};
constinit const Op ops::RandomUniform = {.name = "RandomUniform", .since_version = 22, .inputs = 0, .outputs = 1,
                                         .attrs = &kAttrSchema<RandomUniformAttrs>, .traits = kRandom, .infer = &InferRandomUniform};
constinit const Op ops::RandomUniformLike = {.name = "RandomUniformLike", .since_version = 22, .inputs = 1, .outputs = 1,
                                             .attrs = &kAttrSchema<RandomUniformLikeAttrs>, .traits = kRandom | kReadsShapeOnly,
                                             .infer = &InferRandomUniformLike};
constinit const Op ops::Bernoulli = {.name = "Bernoulli", .since_version = 22, .inputs = 1, .outputs = 1,
                                     .attrs = &kAttrSchema<BernoulliAttrs>, .traits = kRandom, .infer = &InferBernoulli};
constinit const Op ops::Multinomial = {.name = "Multinomial", .since_version = 22, .inputs = 1, .outputs = 1,
                                       .attrs = &kAttrSchema<MultinomialAttrs>, .traits = kRandom, .infer = &InferMultinomial};

}  // namespace weft
