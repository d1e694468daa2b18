// Reductions, ArgMax and ArgMin, running sums and products, Softmax and its kin (ONNX Operators.md).
#include "graph/ops/reduce.h"

#include <algorithm>

#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/dtype_sets.h"

namespace weft {
namespace {

absl::Status InferReduce(InferContext& ctx, absl::Span<const DType> allowed) {
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "data", allowed));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(1, "axes", kIndexTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckRank(1, "axes", 1));
  const auto& attrs = ctx.attrs<ReduceAttrs>();
  const Shape& from = ctx.shape(0);
  std::optional<std::vector<int64_t>> axes = std::vector<int64_t>();
  if (ctx.HasInput(1)) axes = ctx.ints(1);
  if (!from.has_rank() || !axes) {
    ctx.SetOutput(0, ctx.dtype(0), from.has_rank() && attrs.keepdims != 0 ? ctx.FreshShape(from.rank()) : Shape());
    return absl::OkStatus();
  }
  std::vector<bool> reduced(from.rank(), axes->empty() && attrs.noop_with_empty_axes == 0);
  for (int64_t given : *axes) {
    WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(given, from.rank(), "an axis"));
    reduced[axis] = true;
  }
  std::vector<Dim> dims;
  for (int i = 0; i < from.rank(); ++i) {
    if (!reduced[i]) dims.push_back(from[i]);
    else if (attrs.keepdims != 0) dims.push_back(Dim(1));
  }
  ctx.SetOutput(0, ctx.dtype(0), Shape(std::move(dims)));
  return absl::OkStatus();
}

absl::Status InferReduceNumeric(InferContext& ctx) { return InferReduce(ctx, kNumericTypes); }

// Shape arithmetic: the product or sum of a vector of dims.
absl::Status InferReduceWith(InferContext& ctx, Dim start, Dim (*combine)(const Dim&, const Dim&)) {
  WEFT_RETURN_IF_ERROR(InferReduce(ctx, kNumericTypes));
  const auto* elements = ctx.elements(0);
  const auto out = ctx.node().HasOutput(0) && ctx.node().outputs[0].shape.has_rank() ? ctx.node().outputs[0].shape.NumElements() : Dim(0);
  if (elements != nullptr && ctx.dtype(0) == DType::kInt64 && ctx.shape(0).has_rank() && ctx.shape(0).rank() == 1 && out == Dim(1) &&
      (ctx.attrs<ReduceAttrs>().noop_with_empty_axes == 0 || ctx.HasInput(1))) {
    if (ctx.HasInput(1) && ctx.ints(1) && ctx.ints(1)->empty() && ctx.attrs<ReduceAttrs>().noop_with_empty_axes != 0) return absl::OkStatus();
    Dim total = start;
    for (const Dim& d : *elements) total = combine(total, d);
    ctx.SetElements(0, {total});
  }
  return absl::OkStatus();
}
absl::Status InferReduceProd(InferContext& ctx) {
  return InferReduceWith(ctx, Dim(1), [](const Dim& a, const Dim& b) { return a * b; });
}
absl::Status InferReduceSum(InferContext& ctx) {
  return InferReduceWith(ctx, Dim(0), [](const Dim& a, const Dim& b) { return a + b; });
}

absl::Status InferReduceMinMax(InferContext& ctx) {
  static constexpr DType kAllowed[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16, DType::kFloat64, DType::kInt64, DType::kInt32,
                                       DType::kInt16,   DType::kInt8,    DType::kUint8,    DType::kUint16,  DType::kUint32, DType::kUint64,
                                       DType::kBool};
  return InferReduce(ctx, kAllowed);
}

absl::Status InferArg(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "data", kNumericTypes));
  const auto& attrs = ctx.attrs<ArgAttrs>();
  const Shape& from = ctx.shape(0);
  if (!from.has_rank()) {
    ctx.SetOutput(0, DType::kInt64, Shape());
    return absl::OkStatus();
  }
  WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(attrs.axis, from.rank(), "attribute 'axis'"));
  if (from[axis] == Dim(0)) return Invalid("axis ", axis, " of shape ", from.ToString(), " is empty: it has no largest or smallest element");
  std::vector<Dim> dims = from.dims();
  if (attrs.keepdims != 0) dims[axis] = Dim(1);
  else dims.erase(dims.begin() + axis);
  ctx.SetOutput(0, DType::kInt64, Shape(std::move(dims)));
  return absl::OkStatus();
}

absl::Status InferCum(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "x", kNumericTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(1, "axis", kIndexTypes));
  if (const auto axis = ctx.ints(1); axis && ctx.shape(0).has_rank()) {
    if (axis->size() != 1) return Invalid("input 1 (axis) has ", axis->size(), " elements, expected 1");
    WEFT_RETURN_IF_ERROR(InferContext::NormalizeAxis((*axis)[0], ctx.shape(0).rank()).status());
  }
  ctx.SetOutput(0, ctx.input(0));
  return absl::OkStatus();
}

absl::Status InferSoftmax(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "input", kFloatTypes));
  if (ctx.shape(0).has_rank() && ctx.shape(0).rank() > 0) {
    WEFT_RETURN_IF_ERROR(InferContext::NormalizeAxis(ctx.attrs<SoftmaxAttrs>().axis, ctx.shape(0).rank(), "attribute 'axis'").status());
  }
  ctx.SetOutput(0, ctx.input(0));
  return absl::OkStatus();
}

Cost FlopsOfInput(const NodeView& node, int64_t each) {
  const auto dims = node.inputs[0].type->shape.Concrete();
  if (!dims) return {};
  return {NumElements(*dims).value_or(0) * each};
}
Cost OnePerInput(const NodeView& node) { return FlopsOfInput(node, 1); }
Cost TwentyPerInput(const NodeView& node) { return FlopsOfInput(node, 20); }

constexpr Op Reduction(std::string_view name, int version, absl::Status (*infer)(InferContext&)) {
  return {.name = name, .since_version = version, .inputs = Arity(1, 2), .outputs = 1, .attrs = &kAttrSchema<ReduceAttrs>, .infer = infer,
          .cost = &OnePerInput};
}
constexpr Op SoftmaxLike(std::string_view name) {
  return {.name = name, .since_version = 13, .inputs = 1, .outputs = 1, .attrs = &kAttrSchema<SoftmaxAttrs>, .in_place = 0b1,
          .infer = &InferSoftmax, .cost = &TwentyPerInput};
}

}  // namespace

constinit const Op ops::ReduceSum = Reduction("ReduceSum", 13, &InferReduceSum);
constinit const Op ops::ReduceMean = Reduction("ReduceMean", 18, &InferReduceNumeric);
constinit const Op ops::ReduceMax = Reduction("ReduceMax", 20, &InferReduceMinMax);
constinit const Op ops::ReduceMin = Reduction("ReduceMin", 20, &InferReduceMinMax);
constinit const Op ops::ReduceProd = Reduction("ReduceProd", 18, &InferReduceProd);
constinit const Op ops::ReduceL1 = Reduction("ReduceL1", 18, &InferReduceNumeric);
constinit const Op ops::ReduceL2 = Reduction("ReduceL2", 18, &InferReduceNumeric);
constinit const Op ops::ReduceLogSum = Reduction("ReduceLogSum", 28, &InferReduceNumeric);
constinit const Op ops::ReduceLogSumExp = Reduction("ReduceLogSumExp", 28, &InferReduceNumeric);
constinit const Op ops::ReduceSumSquare = Reduction("ReduceSumSquare", 18, &InferReduceNumeric);
constinit const Op ops::ArgMax = {.name = "ArgMax", .since_version = 13, .inputs = 1, .outputs = 1, .attrs = &kAttrSchema<ArgAttrs>, .infer = &InferArg};
constinit const Op ops::ArgMin = {.name = "ArgMin", .since_version = 13, .inputs = 1, .outputs = 1, .attrs = &kAttrSchema<ArgAttrs>, .infer = &InferArg};
constinit const Op ops::CumSum = {.name = "CumSum", .since_version = 14, .inputs = 2, .outputs = 1, .attrs = &kAttrSchema<CumAttrs>, .infer = &InferCum};
constinit const Op ops::CumProd = {.name = "CumProd", .since_version = 26, .inputs = 2, .outputs = 1, .attrs = &kAttrSchema<CumAttrs>, .infer = &InferCum};
constinit const Op ops::Softmax = SoftmaxLike("Softmax");
constinit const Op ops::LogSoftmax = SoftmaxLike("LogSoftmax");
constinit const Op ops::Hardmax = SoftmaxLike("Hardmax");

}  // namespace weft
