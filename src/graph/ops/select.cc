// Picking elements by what they are: NonZero (13), Compress, Unique (28); ONNX Operators.md. How many there are, only the kernel knows, unless the
// deciding elements are those of a small integer tensor.
#include "graph/ops/select.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/dtype_sets.h"
#include "graph/ops/operands.h"

namespace weft {
namespace {

absl::Status InferNonZero(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kOpset13Types));
  const Shape& x = ctx.shape(0);
  if (!x.has_rank()) {
    ctx.SetOutput(0, DType::kInt64, ctx.FreshShape(2));
    return absl::OkStatus();
  }
  const int rank = x.rank();
  const std::optional<std::vector<int64_t>> elements = ctx.ints(0);
  const std::optional<Dims> dims = x.Concrete();
  if (!elements || !dims) {
    ctx.SetOutput(0, DType::kInt64, Shape({rank, ctx.FreshDim()}));
    return absl::OkStatus();
  }
  std::vector<int64_t> places;
  for (size_t i = 0; i < elements->size(); ++i) {
    if ((*elements)[i] != 0) places.push_back(static_cast<int64_t>(i));
  }
  const auto count = static_cast<int64_t>(places.size());
  ctx.SetOutput(0, DType::kInt64, Shape({rank, count}));
  if (rank * places.size() <= InferContext::kMaxElements) {
    std::vector<Dim> coordinates(rank * places.size());
    for (int axis = rank - 1; axis >= 0; --axis) {
      for (int64_t i = 0; i < count; ++i) {
        coordinates[axis * count + i] = places[i] % (*dims)[axis];
        places[i] /= (*dims)[axis];
      }
    }
    ctx.SetElements(0, std::move(coordinates));
  }
  return absl::OkStatus();
}

absl::Status InferCompress(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckTensor(ctx, 0, "input"));
  WEFT_RETURN_IF_ERROR(ctx.CheckRankAtLeast(0, "input", 1));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(1, "condition", kBoolType));
  WEFT_RETURN_IF_ERROR(ctx.CheckRank(1, "condition", 1));
  Dim count = ctx.FreshDim();
  if (const std::optional<std::vector<int64_t>> condition = ctx.ints(1)) {
    count = std::count_if(condition->begin(), condition->end(), [](int64_t c) { return c != 0; });
  }
  Shape out = ctx.shape(0);
  if (!ctx.attrs<CompressAttrs>().axis) {
    out = Shape({count});
  } else if (out.has_rank()) {
    WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(*ctx.attrs<CompressAttrs>().axis, out.rank()));
    out[axis] = count;
  }
  ctx.SetOutput(0, ctx.dtype(0), std::move(out));
  return absl::OkStatus();
}

absl::Status InferUnique(InferContext& ctx) {
  const auto& attrs = ctx.attrs<UniqueAttrs>();
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kOpset13Types));
  if (attrs.sorted != 0 && attrs.sorted != 1) return Invalid("sorted is ", attrs.sorted, ", expected 0 or 1");
  const Dim count = ctx.FreshDim();
  Shape out = ctx.shape(0);
  Dim items = ctx.FreshDim();
  if (!attrs.axis) {
    if (out.has_rank()) {
      WEFT_ASSIGN_OR_RETURN(items, ProductOf(out.dims()));
    }
    out = Shape({count});
  } else if (out.has_rank()) {
    WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(*attrs.axis, out.rank()));
    items = out[axis];
    out[axis] = count;
  }
  ctx.SetOutput(0, ctx.dtype(0), std::move(out));
  ctx.SetOutput(1, DType::kInt64, Shape({count}));
  ctx.SetOutput(2, DType::kInt64, Shape({items}));
  ctx.SetOutput(3, DType::kInt64, Shape({count}));
  return absl::OkStatus();
}

}  // namespace

constinit const Op ops::Compress = {.name = "Compress", .since_version = 28, .inputs = 2, .outputs = 1, .attrs = &kAttrSchema<CompressAttrs>,
                                    .traits = kDataDependent, .infer = &InferCompress};
constinit const Op ops::NonZero = {.name = "NonZero", .since_version = 13, .inputs = 1, .outputs = 1, .traits = kDataDependent,
                                   .infer = &InferNonZero};
constinit const Op ops::Unique = {.name = "Unique", .since_version = 28, .inputs = 1, .outputs = Arity(1, 4), .attrs = &kAttrSchema<UniqueAttrs>,
                                  .traits = kDataDependent, .infer = &InferUnique};

}  // namespace weft
