// Writing by index: ScatterElements, ScatterND (ONNX Operators.md, opset 18), TensorScatter (24).
#include "graph/ops/scatter.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/dtype_sets.h"
#include "graph/ops/expect_shape.h"
#include "graph/ops/operands.h"

namespace weft {
namespace {

absl::Status CheckReduction(const InferContext& ctx, std::string_view reduction) {
  constexpr DType kSummable[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16, DType::kFloat64, DType::kInt64,
                                 DType::kInt32,   DType::kInt16,   DType::kInt8,     DType::kUint8,   DType::kUint16,
                                 DType::kUint32,  DType::kUint64,  DType::kBool,     DType::kComplex64, DType::kComplex128};
  if (reduction == "none") return absl::OkStatus();
  if (reduction == "add" || reduction == "mul") return ctx.CheckDType(0, "data", kSummable);
  if (reduction == "max" || reduction == "min") return ctx.CheckDType(0, "data", absl::MakeConstSpan(kSummable).first(13));
  return Invalid("reduction is '", reduction, "', expected 'none', 'add', 'mul', 'max' or 'min'");
}

// The elements of a known list with some of them replaced; left open where an index is not known, or wrong: the run says so.
void ReplaceElements(InferContext& ctx) {
  const std::vector<Dim>*data = ctx.elements(0), *updates = ctx.elements(2);
  const std::optional<std::vector<int64_t>> indices = ctx.ints(1);
  if (data == nullptr || updates == nullptr || !indices || indices->size() != updates->size()) return;
  const auto size = static_cast<int64_t>(data->size());
  std::vector<Dim> elements = *data;
  for (size_t i = 0; i < indices->size(); ++i) {
    const int64_t index = (*indices)[i];
    if (index < -size || index >= size) return;
    elements[index < 0 ? index + size : index] = (*updates)[i];
  }
  ctx.SetElements(0, std::move(elements));
}

absl::Status InferScatterElements(InferContext& ctx) {
  const auto& attrs = ctx.attrs<ScatterElementsAttrs>();
  WEFT_RETURN_IF_ERROR(CheckTensor(ctx, 0, "data"));
  WEFT_RETURN_IF_ERROR(CheckReduction(ctx, attrs.reduction));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(1, "indices", kIndexTypes));
  WEFT_RETURN_IF_ERROR(CheckTensor(ctx, 2, "updates"));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 2));
  WEFT_RETURN_IF_ERROR(ctx.CheckRankAtLeast(0, "data", 1));
  const Shape &data = ctx.shape(0), &indices = ctx.shape(1);
  if (data.has_rank()) {
    WEFT_RETURN_IF_ERROR(ctx.CheckRank(1, "indices", data.rank()));
    WEFT_RETURN_IF_ERROR(ctx.CheckRank(2, "updates", data.rank()));
    WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(attrs.axis, data.rank()));
    for (int i = 0; indices.has_rank() && i < data.rank(); ++i) {
      if (i != axis && data[i].is_constant() && indices[i].is_constant() && indices[i].constant() > data[i].constant()) {
        return Invalid("indices have shape ", indices.ToString(), ", expected no axis but ", axis, " to exceed the data's, shape ",
                       data.ToString());
      }
    }
    if (data.rank() == 1 && attrs.reduction == "none") ReplaceElements(ctx);
  }
  if (indices.has_rank()) WEFT_RETURN_IF_ERROR(ExpectShape(ctx, 2, "updates", indices.dims()));
  ctx.SetOutput(0, ctx.dtype(0), data);
  return absl::OkStatus();
}

absl::Status InferScatterND(InferContext& ctx) {
  constexpr DType kInt64Only[] = {DType::kInt64};
  const auto& attrs = ctx.attrs<ScatterNDAttrs>();
  WEFT_RETURN_IF_ERROR(CheckTensor(ctx, 0, "data"));
  WEFT_RETURN_IF_ERROR(CheckReduction(ctx, attrs.reduction));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(1, "indices", kInt64Only));
  WEFT_RETURN_IF_ERROR(CheckTensor(ctx, 2, "updates"));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 2));
  WEFT_RETURN_IF_ERROR(ctx.CheckRankAtLeast(0, "data", 1));
  WEFT_RETURN_IF_ERROR(ctx.CheckRankAtLeast(1, "indices", 1));
  const Shape &data = ctx.shape(0), &indices = ctx.shape(1);
  if (data.has_rank() && indices.has_rank() && indices.dims().back().is_constant()) {
    const int64_t k = indices.dims().back().constant();
    if (k < 1 || k > data.rank()) {
      return Invalid("indices have shape ", indices.ToString(), ": tuples of ", k, ", expected 1 to ", data.rank(), " for data of shape ",
                     data.ToString());
    }
    // updates: indices.shape[:-1] + data.shape[k:]
    std::vector<Dim> dims(indices.dims().begin(), indices.dims().end() - 1);
    dims.insert(dims.end(), data.dims().begin() + k, data.dims().end());
    WEFT_RETURN_IF_ERROR(ExpectShape(ctx, 2, "updates", dims));
    if (data.rank() == 1 && attrs.reduction == "none") ReplaceElements(ctx);
  }
  ctx.SetOutput(0, ctx.dtype(0), data);
  return absl::OkStatus();
}

absl::Status InferTensorScatter(InferContext& ctx) {
  constexpr DType kInt64Only[] = {DType::kInt64};
  const auto& attrs = ctx.attrs<TensorScatterAttrs>();
  if (attrs.mode != "linear" && attrs.mode != "circular") {
    return Invalid("mode is '", attrs.mode, "', expected 'linear' or 'circular'");
  }
  WEFT_RETURN_IF_ERROR(CheckTensor(ctx, 0, "past_cache"));
  WEFT_RETURN_IF_ERROR(CheckTensor(ctx, 1, "update"));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 1));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(2, "write_indices", kInt64Only));
  WEFT_RETURN_IF_ERROR(ctx.CheckRankAtLeast(0, "past_cache", 2));
  const Shape &cache = ctx.shape(0), &update = ctx.shape(1);
  if (cache.has_rank()) {
    WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(attrs.axis, cache.rank()));
    if (axis == 0) return Invalid("axis is ", attrs.axis, ": axis 0 is the batch, expected another one");
    std::vector<Dim> dims = cache.dims();
    if (update.has_rank() && update.rank() > axis) dims[axis] = update[axis];
    WEFT_RETURN_IF_ERROR(ExpectShape(ctx, 1, "update", dims));
    if (dims[axis].is_constant() && cache[axis].is_constant() && dims[axis].constant() > cache[axis].constant()) {
      return Invalid("update has ", dims[axis].constant(), " elements on axis ", axis, ", expected at most the cache's ",
                     cache[axis].constant());
    }
    WEFT_RETURN_IF_ERROR(ExpectShape(ctx, 2, "write_indices", {cache[0]}));
  }
  ctx.SetOutput(0, ctx.dtype(0), cache);
  return absl::OkStatus();
}

}  // namespace

constinit const Op ops::ScatterElements = {.name = "ScatterElements", .since_version = 18, .inputs = 3, .outputs = 1,
                                           .attrs = &kAttrSchema<ScatterElementsAttrs>, .in_place = 0b1, .infer = &InferScatterElements};
constinit const Op ops::ScatterND = {.name = "ScatterND", .since_version = 18, .inputs = 3, .outputs = 1,
                                     .attrs = &kAttrSchema<ScatterNDAttrs>, .in_place = 0b1, .infer = &InferScatterND};
constinit const Op ops::TensorScatter = {.name = "TensorScatter", .since_version = 24, .inputs = Arity(2, 3), .outputs = 1,
                                         .attrs = &kAttrSchema<TensorScatterAttrs>, .in_place = 0b1, .infer = &InferTensorScatter};

}  // namespace weft
