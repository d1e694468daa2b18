// Reading by index: Gather, GatherElements, GatherND (ONNX Operators.md, opset 13).
#include "graph/ops/shape.h"

#include <algorithm>
#include <utility>

#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/dtype_sets.h"
#include "graph/ops/operands.h"

namespace weft {
namespace {

// Output elements of a lookup in a known list; left open where an index is not known, or wrong: the run says so.
void LookUpElements(InferContext& ctx) {
  const std::vector<Dim>* data = ctx.elements(0);
  if (data == nullptr) return;
  const std::optional<std::vector<int64_t>> indices = ctx.ints(1);
  if (!indices || indices->size() > InferContext::kMaxElements) return;
  const auto size = static_cast<int64_t>(data->size());
  std::vector<Dim> elements;
  for (int64_t index : *indices) {
    if (index < -size || index >= size) return;
    elements.push_back((*data)[index < 0 ? index + size : index]);
  }
  ctx.SetElements(0, std::move(elements));
}

absl::Status InferGather(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckTensor(ctx, 0, "data"));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(1, "indices", kIndexTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckRankAtLeast(0, "data", 1));
  const Shape &data = ctx.shape(0), &indices = ctx.shape(1);
  Shape out;
  if (data.has_rank()) {
    WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(ctx.attrs<GatherAttrs>().axis, data.rank()));
    if (indices.has_rank()) {
      std::vector<Dim> dims(data.dims().begin(), data.dims().begin() + axis);
      dims.insert(dims.end(), indices.dims().begin(), indices.dims().end());
      dims.insert(dims.end(), data.dims().begin() + axis + 1, data.dims().end());
      out = Shape(std::move(dims));
    }
    if (data.rank() == 1) LookUpElements(ctx);
  }
  ctx.SetOutput(0, ctx.dtype(0), std::move(out));
  return absl::OkStatus();
}

absl::Status InferGatherElements(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckTensor(ctx, 0, "data"));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(1, "indices", kIndexTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckRankAtLeast(0, "data", 1));
  const Shape &data = ctx.shape(0), &indices = ctx.shape(1);
  Shape out = indices;
  if (data.has_rank()) {
    WEFT_RETURN_IF_ERROR(ctx.CheckRank(1, "indices", data.rank()));
    WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(ctx.attrs<GatherElementsAttrs>().axis, data.rank()));
    if (!indices.has_rank()) out = ctx.FreshShape(data.rank());
    for (int i = 0; indices.has_rank() && i < data.rank(); ++i) {
      if (i != axis && data[i].is_constant() && indices[i].is_constant() && indices[i].constant() > data[i].constant()) {
        return Invalid("indices have shape ", indices.ToString(), ", expected no axis but ", axis, " to exceed the data's, shape ",
                       data.ToString());
      }
    }
    if (data.rank() == 1) LookUpElements(ctx);
  }
  ctx.SetOutput(0, ctx.dtype(0), std::move(out));
  return absl::OkStatus();
}

// indices.shape[:-1] + data.shape[batch + k:], where the last axis of the indices holds tuples of k.
absl::StatusOr<Shape> GatherNDShape(InferContext& ctx, const Shape& data, const Shape& indices, int64_t batch) {
  const int last = indices.rank() - 1;
  for (int i = 0; i < batch; ++i) {
    WEFT_RETURN_IF_ERROR(InferContext::Unify(data[i], indices[i], absl::StrCat("batch axis ", i)).status());
  }
  if (!indices[last].is_constant()) return Shape();
  const int64_t k = indices[last].constant();
  if (k < 1 || k > data.rank() - batch) {
    return Invalid("indices have shape ", indices.ToString(), ": tuples of ", k, ", expected 1 to ", data.rank() - batch,
                   " for data of shape ", data.ToString(), " and batch_dims ", batch);
  }
  std::vector<Dim> dims(indices.dims().begin(), indices.dims().end() - 1);
  dims.insert(dims.end(), data.dims().begin() + batch + k, data.dims().end());
  if (data.rank() == 1) LookUpElements(ctx);
  return Shape(std::move(dims));
}

absl::Status InferGatherND(InferContext& ctx) {
  constexpr DType kInt64Only[] = {DType::kInt64};
  WEFT_RETURN_IF_ERROR(CheckTensor(ctx, 0, "data"));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(1, "indices", kInt64Only));
  WEFT_RETURN_IF_ERROR(ctx.CheckRankAtLeast(0, "data", 1));
  WEFT_RETURN_IF_ERROR(ctx.CheckRankAtLeast(1, "indices", 1));
  const Shape &data = ctx.shape(0), &indices = ctx.shape(1);
  const int64_t batch = ctx.attrs<GatherNDAttrs>().batch_dims;
  Shape out;
  if (data.has_rank() && indices.has_rank()) {
    if (batch < 0 || batch >= std::min(data.rank(), indices.rank())) {
      return Invalid("batch_dims is ", batch, ", expected at least 0 and less than the ranks, ", data.rank(), " and ", indices.rank());
    }
    WEFT_ASSIGN_OR_RETURN(out, GatherNDShape(ctx, data, indices, batch));
  }
  ctx.SetOutput(0, ctx.dtype(0), std::move(out));
  return absl::OkStatus();
}

}  // namespace

constinit const Op ops::Gather = {.name = "Gather", .since_version = 13, .inputs = 2, .outputs = 1,
                                  .attrs = &kAttrSchema<GatherAttrs>, .infer = &InferGather};
constinit const Op ops::GatherElements = {.name = "GatherElements", .since_version = 13, .inputs = 2, .outputs = 1,
                                          .attrs = &kAttrSchema<GatherElementsAttrs>, .infer = &InferGatherElements};
constinit const Op ops::GatherND = {.name = "GatherND", .since_version = 13, .inputs = 2, .outputs = 1,
                                    .attrs = &kAttrSchema<GatherNDAttrs>, .infer = &InferGatherND};

}  // namespace weft
