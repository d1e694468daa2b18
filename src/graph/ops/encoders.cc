#include "graph/ops/encoders.h"

#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/ml.h"

namespace weft {
namespace {

// The one list of the four that holds something.
absl::StatusOr<Tensor> TheList(std::string_view what, const std::vector<float>& floats, const std::vector<int64_t>& ints,
                               const std::vector<std::string>& strings, const Tensor& tensor) {
  const int given = !floats.empty() + !ints.empty() + !strings.empty() + !tensor.empty_handle();
  if (given != 1) return Invalid(given, " of the attributes '", what, "_*' are given, expected one");
  if (!floats.empty()) return Tensor::Of<float>({static_cast<int64_t>(floats.size())}, floats);
  if (!ints.empty()) return Tensor::Of<int64_t>({static_cast<int64_t>(ints.size())}, ints);
  if (!strings.empty()) return Tensor::Of<std::string>({static_cast<int64_t>(strings.size())}, strings);
  switch (tensor.dtype()) {
    case DType::kFloat32: case DType::kFloat64: case DType::kInt16: case DType::kInt32: case DType::kInt64: case DType::kString: break;
    default:
      return Invalid("attribute '", what, "_tensor' is of type ", DTypeName(tensor.dtype()), ", expected float, double, int16, int32, int64 or string");
  }
  return tensor.Reshaped({tensor.size()});
}

absl::StatusOr<Tensor> Fallback(const LabelEncoderAttrs& attrs, DType dtype) {
  if (!attrs.default_tensor.empty_handle()) {
    if (attrs.default_tensor.dtype() != dtype || attrs.default_tensor.size() != 1) {
      return Invalid("attribute 'default_tensor' is ", Type::OfTensor(attrs.default_tensor).ToString(), ", expected one element of type ",
                     DTypeName(dtype), ", which the values have");
    }
    return attrs.default_tensor;
  }
  switch (dtype) {
    case DType::kFloat32: return Tensor::Scalar<float>(attrs.default_float);
    case DType::kFloat64: return Tensor::Scalar<double>(attrs.default_float);
    case DType::kInt16: return Tensor::Scalar<int16_t>(static_cast<int16_t>(attrs.default_int64));
    case DType::kInt32: return Tensor::Scalar<int32_t>(static_cast<int32_t>(attrs.default_int64));
    case DType::kInt64: return Tensor::Scalar<int64_t>(attrs.default_int64);
    default: return Tensor::Scalar<std::string>(attrs.default_string);
  }
}

absl::Status InferLabelEncoder(InferContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const LabelTable table, LabelTableOf(ctx.attrs<LabelEncoderAttrs>()));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", {table.keys.dtype()}));
  ctx.SetOutput(0, table.values.dtype(), ctx.shape(0));
  return absl::OkStatus();
}

absl::Status InferCategoryMapper(InferContext& ctx) {
  const auto& attrs = ctx.attrs<CategoryMapperAttrs>();
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", {DType::kString, DType::kInt64}));
  if (attrs.cats_int64s.size() != attrs.cats_strings.size()) {
    return Invalid("cats_int64s has ", attrs.cats_int64s.size(), " elements and cats_strings has ", attrs.cats_strings.size(), ", expected as many");
  }
  const DType x = ctx.dtype(0);
  ctx.SetOutput(0, x == DType::kUndefined ? x : x == DType::kString ? DType::kInt64 : DType::kString, ctx.shape(0));
  return absl::OkStatus();
}

absl::Status InferOneHotEncoder(InferContext& ctx) {
  const auto& attrs = ctx.attrs<OneHotEncoderAttrs>();
  WEFT_ASSIGN_OR_RETURN(const ClassLabels categories, ClassLabelsOf(attrs.cats_int64s, attrs.cats_strings));
  if (categories.dtype == DType::kString) {
    WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", {DType::kString}));
  } else {
    WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kMlTypes));
  }
  Shape shape = ctx.shape(0);
  if (shape.has_rank()) shape.dims().push_back(categories.count);
  ctx.SetOutput(0, DType::kFloat32, std::move(shape));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<LabelTable> LabelTableOf(const LabelEncoderAttrs& attrs) {
  LabelTable table;
  WEFT_ASSIGN_OR_RETURN(table.keys, TheList("keys", attrs.keys_floats, attrs.keys_int64s, attrs.keys_strings, attrs.keys_tensor));
  WEFT_ASSIGN_OR_RETURN(table.values, TheList("values", attrs.values_floats, attrs.values_int64s, attrs.values_strings, attrs.values_tensor));
  if (table.keys.size() != table.values.size()) {
    return Invalid("there are ", table.keys.size(), " keys and ", table.values.size(), " values, expected as many");
  }
  WEFT_ASSIGN_OR_RETURN(table.fallback, Fallback(attrs, table.values.dtype()));
  return table;
}

constinit const Op ops::LabelEncoder = {.domain = "ai.onnx.ml", .name = "LabelEncoder", .since_version = 4, .inputs = 1, .outputs = 1,
                                        .attrs = &kAttrSchema<LabelEncoderAttrs>, .infer = &InferLabelEncoder};
constinit const Op ops::CategoryMapper = {.domain = "ai.onnx.ml", .name = "CategoryMapper", .inputs = 1, .outputs = 1,
                                          .attrs = &kAttrSchema<CategoryMapperAttrs>, .infer = &InferCategoryMapper};
constinit const Op ops::OneHotEncoder = {.domain = "ai.onnx.ml", .name = "OneHotEncoder", .inputs = 1, .outputs = 1,
                                         .attrs = &kAttrSchema<OneHotEncoderAttrs>, .infer = &InferOneHotEncoder};

}  // namespace weft
