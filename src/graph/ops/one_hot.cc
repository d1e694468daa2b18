// OneHot (ONNX Operators.md, opset 28).
#include "graph/ops/one_hot.h"

#include <cmath>
#include <utility>
#include <vector>

#include "base/float_types.h"
#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/expect_shape.h"
#include "graph/ops/operands.h"

namespace weft {
namespace {

double DepthOf(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::kUint64: return static_cast<double>(*tensor.data<const uint64_t>());
    case DType::kFloat64: return *tensor.data<const double>();
    case DType::kFloat16: return HalfToFloat(*tensor.data<const uint16_t>());
    default: return *tensor.data<const float>();
  }
}

// The depth where it is known: an integer, or a float cut to one.
absl::StatusOr<Dim> Depth(InferContext& ctx) {
  Dim depth = ctx.FreshDim();
  if (const std::vector<Dim>* elements = ctx.elements(1); elements != nullptr && elements->size() == 1) {
    depth = elements->front();
  } else if (const Tensor* tensor = ctx.tensor(1);
             tensor != nullptr && tensor->size() == 1 && (IsFloat(tensor->dtype()) || tensor->dtype() == DType::kUint64)) {
    const double value = DepthOf(*tensor);  // beyond 2^53 no tensor has room
    if (!(std::abs(value) < 0x1p62)) return Invalid("input 1 (depth) is ", value, ", expected a size");
    depth = static_cast<int64_t>(value);
  }
  if (depth.is_constant() && depth.constant() < 0) return Invalid("input 1 (depth) is ", depth.constant(), ", expected a size");
  return depth;
}

absl::Status InferOneHot(InferContext& ctx) {
  constexpr DType kNumbers[] = {DType::kInt64, DType::kInt32,  DType::kFloat32, DType::kInt16,   DType::kInt8,   DType::kUint8,
                                DType::kUint16, DType::kUint32, DType::kUint64, DType::kFloat16, DType::kFloat64};
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "indices", kNumbers));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(1, "depth", kNumbers));
  WEFT_RETURN_IF_ERROR(CheckScalar(ctx, 1, "depth"));
  WEFT_RETURN_IF_ERROR(CheckTensor(ctx, 2, "values"));
  WEFT_RETURN_IF_ERROR(ExpectShape(ctx, 2, "values", {2}));
  WEFT_ASSIGN_OR_RETURN(const Dim depth, Depth(ctx));
  Shape out = ctx.shape(0);
  if (out.has_rank()) {
    WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(ctx.attrs<OneHotAttrs>().axis, out.rank() + 1));
    out.dims().insert(out.dims().begin() + axis, depth);
  }
  ctx.SetOutput(0, ctx.dtype(2), std::move(out));
  return absl::OkStatus();
}

}  // namespace

constinit const Op ops::OneHot = {.name = "OneHot", .since_version = 28, .inputs = 3, .outputs = 1, .attrs = &kAttrSchema<OneHotAttrs>,
                                  .infer = &InferOneHot};

}  // namespace weft
