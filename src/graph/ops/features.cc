#include "graph/ops/features.h"

#include <limits>

#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/ml.h"
#include "graph/ops/operands.h"

namespace weft {
namespace {

// A list for the columns of X: none, one element for all or one each.
absl::Status CheckColumns(const InferContext& ctx, std::string_view name, size_t count) {
  const Shape& x = ctx.shape(0);
  if (count <= 1 || !x.has_rank() || x.rank() == 0 || !x[x.rank() - 1].is_constant()) return absl::OkStatus();
  const int64_t columns = x[x.rank() - 1].constant();
  if (static_cast<int64_t>(count) == columns) return absl::OkStatus();
  return Invalid("attribute '", name, "' has ", count, " elements, expected 1 or ", columns, ", one for each column of X");
}

absl::Status InferArrayFeatureExtractor(InferContext& ctx) {
  constexpr DType kTypes[] = {DType::kFloat32, DType::kFloat64, DType::kInt64, DType::kInt32, DType::kString};
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(1, "Y", {DType::kInt64}));
  WEFT_RETURN_IF_ERROR(ctx.CheckRankAtLeast(0, "X", 1));
  const Shape &x = ctx.shape(0), &y = ctx.shape(1);
  Shape out;
  if (x.has_rank()) {
    Dim picks = y.has_rank() ? y.NumElements() : ctx.FreshDim();
    std::vector<Dim> dims(x.dims().begin(), x.dims().end() - 1);
    if (dims.empty()) dims.push_back(1);  // as one row
    dims.push_back(std::move(picks));
    out = Shape(std::move(dims));
  }
  ctx.SetOutput(0, ctx.dtype(0), std::move(out));
  return absl::OkStatus();
}

absl::Status InferBinarizer(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kMlTypes));
  ctx.SetOutput(0, ctx.dtype(0), ctx.shape(0));
  return absl::OkStatus();
}

absl::Status InferFeatureVectorizer(InferContext& ctx) {
  const std::vector<int64_t>& sizes = ctx.attrs<FeatureVectorizerAttrs>().inputdimensions;
  if (!sizes.empty() && static_cast<int>(sizes.size()) != ctx.num_inputs()) {
    return Invalid("inputdimensions has ", sizes.size(), " elements, expected ", ctx.num_inputs(), ", one for each input");
  }
  std::vector<Dim> columns;
  Dim rows;
  for (int i = 0; i < ctx.num_inputs(); ++i) {
    WEFT_RETURN_IF_ERROR(ctx.CheckDType(i, "X", kMlTypes));
    WEFT_ASSIGN_OR_RETURN(Rows x, RowsOf(ctx, i, "X"));
    if (i == 0) {
      rows = x.rows;
    } else {
      WEFT_ASSIGN_OR_RETURN(rows, InferContext::Unify(rows, x.rows, "the number of rows"));
    }
    if (sizes.empty()) {
      columns.push_back(std::move(x.features));
    } else {
      if (sizes[i] < 0) return Invalid("inputdimensions holds ", sizes[i], ", expected a size");
      columns.push_back(sizes[i]);
    }
  }
  WEFT_ASSIGN_OR_RETURN(Dim total, SumOf(columns));
  ctx.SetOutput(0, DType::kFloat32, Shape{std::move(rows), std::move(total)});
  return absl::OkStatus();
}

absl::Status InferImputer(InferContext& ctx) {
  const auto& attrs = ctx.attrs<ImputerAttrs>();
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kMlTypes));
  const DType dtype = ctx.dtype(0);
  if (attrs.imputed_value_floats.empty() == attrs.imputed_value_int64s.empty()) {
    return Invalid("imputed_value_floats has ", attrs.imputed_value_floats.size(), " elements and imputed_value_int64s has ",
                   attrs.imputed_value_int64s.size(), ", expected one of the two");
  }
  if (dtype != DType::kUndefined && IsFloat(dtype) != attrs.imputed_value_int64s.empty()) {
    return Invalid("the imputed values are ", attrs.imputed_value_int64s.empty() ? "floats" : "integers", ", but X is of type ", DTypeName(dtype));
  }
  for (int64_t value : attrs.imputed_value_int64s) {
    if (dtype == DType::kInt32 && (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max())) {
      return Invalid("imputed_value_int64s holds ", value, ", which does not fit int32, the type of X");
    }
  }
  WEFT_RETURN_IF_ERROR(CheckColumns(ctx, "imputed_value_floats", attrs.imputed_value_floats.size()));
  WEFT_RETURN_IF_ERROR(CheckColumns(ctx, "imputed_value_int64s", attrs.imputed_value_int64s.size()));
  ctx.SetOutput(0, dtype, ctx.shape(0));
  return absl::OkStatus();
}

absl::Status InferNormalizer(InferContext& ctx) {
  const std::string& norm = ctx.attrs<NormalizerAttrs>().norm;
  if (norm != "MAX" && norm != "L1" && norm != "L2") return Invalid("norm is '", norm, "', expected MAX, L1 or L2");
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kMlTypes));
  WEFT_RETURN_IF_ERROR(RowsOf(ctx, 0, "X").status());
  ctx.SetOutput(0, DType::kFloat32, ctx.shape(0));
  return absl::OkStatus();
}

absl::Status InferScaler(InferContext& ctx) {
  const auto& attrs = ctx.attrs<ScalerAttrs>();
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kMlTypes));
  WEFT_RETURN_IF_ERROR(CheckColumns(ctx, "offset", attrs.offset.size()));
  WEFT_RETURN_IF_ERROR(CheckColumns(ctx, "scale", attrs.scale.size()));
  ctx.SetOutput(0, DType::kFloat32, ctx.shape(0));
  return absl::OkStatus();
}

constexpr Op Ml(std::string_view name, Arity inputs, const AttrSchema* attrs, absl::Status (*infer)(InferContext&)) {
  return {.domain = "ai.onnx.ml", .name = name, .inputs = inputs, .outputs = 1, .attrs = attrs, .infer = infer};
}

}  // namespace

constinit const Op ops::ArrayFeatureExtractor = Ml("ArrayFeatureExtractor", 2, &kAttrSchema<NoAttrs>, &InferArrayFeatureExtractor);
constinit const Op ops::Binarizer = Ml("Binarizer", 1, &kAttrSchema<BinarizerAttrs>, &InferBinarizer);
constinit const Op ops::FeatureVectorizer =
    Ml("FeatureVectorizer", Arity(1, Arity::kVariadic), &kAttrSchema<FeatureVectorizerAttrs>, &InferFeatureVectorizer);
constinit const Op ops::Imputer = Ml("Imputer", 1, &kAttrSchema<ImputerAttrs>, &InferImputer);
constinit const Op ops::Normalizer = Ml("Normalizer", 1, &kAttrSchema<NormalizerAttrs>, &InferNormalizer);
constinit const Op ops::Scaler = Ml("Scaler", 1, &kAttrSchema<ScalerAttrs>, &InferScaler);

}  // namespace weft
