#include "graph/ops/strings.h"

#include <algorithm>
#include <limits>

#include "graph/infer.h"
#include "graph/op.h"

namespace weft {
namespace {

constexpr DType kStringOnly[] = {DType::kString};

absl::Status InferStringConcat(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kStringOnly));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(1, "Y", kStringOnly));
  WEFT_ASSIGN_OR_RETURN(Shape shape, ctx.Broadcast());
  ctx.SetOutput(0, DType::kString, std::move(shape));
  return absl::OkStatus();
}

absl::Status InferStringNormalizer(InferContext& ctx) {
  const std::string& action = ctx.attrs<StringNormalizerAttrs>().case_change_action;
  if (action != "NONE" && action != "LOWER" && action != "UPPER") {
    return Invalid("case_change_action is '", action, "', expected NONE, LOWER or UPPER");
  }
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kStringOnly));
  const Shape& x = ctx.shape(0);
  Shape out;
  if (x.has_rank()) {
    if (x.rank() != 1 && !(x.rank() == 2 && (!x[0].is_constant() || x[0].constant() == 1))) {
      return Invalid("input 0 (X) has shape ", x.ToString(), ", expected [C] or [1,C]");
    }
    out = x.rank() == 1 ? Shape{ctx.FreshDim()} : Shape{1, ctx.FreshDim()};
  }
  ctx.SetOutput(0, DType::kString, std::move(out));
  return absl::OkStatus();
}

absl::Status InferStringSplit(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kStringOnly));
  Shape parts = ctx.shape(0);
  if (parts.has_rank()) parts.dims().push_back(ctx.FreshDim());
  ctx.SetOutput(0, DType::kString, std::move(parts));
  ctx.SetOutput(1, DType::kInt64, ctx.shape(0));
  return absl::OkStatus();
}

absl::Status InferRegexFullMatch(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kStringOnly));
  ctx.SetOutput(0, DType::kBool, ctx.shape(0));
  return absl::OkStatus();
}

absl::Status InferTfIdfVectorizer(InferContext& ctx) {
  constexpr DType kIntegers[] = {DType::kInt32, DType::kInt64};
  const auto& attrs = ctx.attrs<TfIdfVectorizerAttrs>();
  if (attrs.mode != "TF" && attrs.mode != "IDF" && attrs.mode != "TFIDF") return Invalid("mode is '", attrs.mode, "', expected TF, IDF or TFIDF");
  if (attrs.pool_int64s.empty() == attrs.pool_strings.empty()) {
    return Invalid("pool_int64s has ", attrs.pool_int64s.size(), " elements and pool_strings has ", attrs.pool_strings.size(), ", expected one of the two");
  }
  if (attrs.pool_strings.empty()) {
    WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kIntegers));
  } else {
    WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kStringOnly));
  }
  if (attrs.ngram_indexes.empty()) return Invalid("ngram_indexes is empty");
  const auto [least, most] = std::minmax_element(attrs.ngram_indexes.begin(), attrs.ngram_indexes.end());
  if (*least < 0 || *most == std::numeric_limits<int64_t>::max()) {
    return Invalid("ngram_indexes holds ", *least < 0 ? *least : *most, ", expected the index of an output");
  }
  const Shape& x = ctx.shape(0);
  Shape out;
  if (x.has_rank()) {
    if (x.rank() != 1 && x.rank() != 2) return Invalid("input 0 (X) has rank ", x.rank(), ", expected 1 or 2");
    out = x.rank() == 1 ? Shape{*most + 1} : Shape{x[0], *most + 1};
  }
  ctx.SetOutput(0, DType::kFloat32, std::move(out));
  return absl::OkStatus();
}

}  // namespace

constinit const Op ops::StringConcat = {.name = "StringConcat", .since_version = 20, .inputs = 2, .outputs = 1, .traits = kElementwise,
                                        .infer = &InferStringConcat};
constinit const Op ops::StringNormalizer = {.name = "StringNormalizer", .since_version = 10, .inputs = 1, .outputs = 1,
                                            .attrs = &kAttrSchema<StringNormalizerAttrs>, .traits = kDataDependent,
                                            .infer = &InferStringNormalizer};
constinit const Op ops::StringSplit = {.name = "StringSplit", .since_version = 20, .inputs = 1, .outputs = Arity(1, 2),
                                       .attrs = &kAttrSchema<StringSplitAttrs>, .traits = kDataDependent, .infer = &InferStringSplit};
constinit const Op ops::RegexFullMatch = {.name = "RegexFullMatch", .since_version = 20, .inputs = 1, .outputs = 1,
                                          .attrs = &kAttrSchema<RegexFullMatchAttrs>, .traits = kElementwise, .infer = &InferRegexFullMatch};
constinit const Op ops::TfIdfVectorizer = {.name = "TfIdfVectorizer", .since_version = 9, .inputs = 1, .outputs = 1,
                                           .attrs = &kAttrSchema<TfIdfVectorizerAttrs>, .infer = &InferTfIdfVectorizer};

}  // namespace weft
