#include "graph/ops/map.h"

#include <algorithm>

#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/ml.h"

namespace weft {
namespace {

// Input 0 is a map with keys of type `key` and values of one of the types; passes where its type is unknown.
absl::Status CheckMap(const InferContext& ctx, DType key, absl::Span<const DType> values) {
  const Type& type = ctx.input(0);
  if (type.kind == Type::Kind::kUnknown) return absl::OkStatus();
  if (type.kind != Type::Kind::kMap) return Invalid("input 0 (X) is of type ", type.ToString(), ", expected a map");
  if (type.dtype != key) return Invalid("input 0 (X) is of type ", type.ToString(), ", expected keys of type ", DTypeName(key));
  if (std::find(values.begin(), values.end(), type.elem->dtype) == values.end()) {
    return Invalid("input 0 (X) is of type ", type.ToString(), ", which has values of a type that ", ctx.node().op->name, " does not take");
  }
  return absl::OkStatus();
}

absl::Status InferZipMap(InferContext& ctx) {
  const auto& attrs = ctx.attrs<ZipMapAttrs>();
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", {DType::kFloat32}));
  WEFT_ASSIGN_OR_RETURN(const ClassLabels keys, ClassLabelsOf(attrs.classlabels_int64s, attrs.classlabels_strings));
  WEFT_ASSIGN_OR_RETURN(const Rows x, RowsOf(ctx, 0, "X"));
  WEFT_RETURN_IF_ERROR(InferContext::Unify(x.features, keys.count, "the number of columns of X and of keys").status());
  ctx.SetOutput(0, Type::OfSequence(Type::OfMap(keys.dtype, Type::OfTensor(DType::kFloat32, Shape(std::vector<Dim>())))));
  return absl::OkStatus();
}

absl::Status InferCastMap(InferContext& ctx) {
  const auto& attrs = ctx.attrs<CastMapAttrs>();
  WEFT_RETURN_IF_ERROR(CheckMap(ctx, DType::kInt64, {DType::kFloat32, DType::kString}));
  DType to;
  if (attrs.cast_to == "TO_FLOAT") {
    to = DType::kFloat32;
  } else if (attrs.cast_to == "TO_INT64") {
    to = DType::kInt64;
  } else if (attrs.cast_to == "TO_STRING") {
    to = DType::kString;
  } else {
    return Invalid("cast_to is '", attrs.cast_to, "', expected TO_FLOAT, TO_INT64 or TO_STRING");
  }
  if (attrs.map_form == "SPARSE") {
    if (attrs.max_map < 1) return Invalid("max_map is ", attrs.max_map, ", expected at least 1");
    ctx.SetOutput(0, to, Shape{1, attrs.max_map});
    return absl::OkStatus();
  }
  if (attrs.map_form != "DENSE") return Invalid("map_form is '", attrs.map_form, "', expected DENSE or SPARSE");
  ctx.SetOutput(0, to, Shape{1, ctx.FreshDim()});
  return absl::OkStatus();
}

absl::Status InferDictVectorizer(InferContext& ctx) {
  const auto& attrs = ctx.attrs<DictVectorizerAttrs>();
  if (attrs.int64_vocabulary.empty() == attrs.string_vocabulary.empty()) {
    return Invalid("int64_vocabulary has ", attrs.int64_vocabulary.size(), " elements and string_vocabulary has ",
                   attrs.string_vocabulary.size(), ", expected one of the two");
  }
  const bool strings = attrs.int64_vocabulary.empty();
  WEFT_RETURN_IF_ERROR(CheckMap(ctx, strings ? DType::kString : DType::kInt64,
                                {DType::kFloat32, DType::kFloat64, strings ? DType::kInt64 : DType::kString}));
  const Type& x = ctx.input(0);
  ctx.SetOutput(0, x.elem == nullptr ? DType::kUndefined : x.elem->dtype,
                Shape{1, static_cast<int64_t>(std::max(attrs.int64_vocabulary.size(), attrs.string_vocabulary.size()))});
  return absl::OkStatus();
}

}  // namespace

constinit const Op ops::ZipMap = {.domain = "ai.onnx.ml", .name = "ZipMap", .inputs = 1, .outputs = 1, .attrs = &kAttrSchema<ZipMapAttrs>,
                                  .infer = &InferZipMap};
constinit const Op ops::CastMap = {.domain = "ai.onnx.ml", .name = "CastMap", .inputs = 1, .outputs = 1, .attrs = &kAttrSchema<CastMapAttrs>,
                                   .traits = kDataDependent, .infer = &InferCastMap};
constinit const Op ops::DictVectorizer = {.domain = "ai.onnx.ml", .name = "DictVectorizer", .inputs = 1, .outputs = 1,
                                          .attrs = &kAttrSchema<DictVectorizerAttrs>, .infer = &InferDictVectorizer};

}  // namespace weft
