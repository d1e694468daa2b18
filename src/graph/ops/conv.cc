// Convolutions: Conv, ConvTranspose, DeformConv (ONNX Operators.md, opset 22), ConvInteger, QLinearConv (opset 10).
#include "graph/ops/conv.h"

#include "graph/op.h"
#include "graph/ops/dtype_sets.h"
#include "graph/ops/quantized.h"
#include "graph/ops/spatial.h"

namespace weft {
namespace {

// Shapes of input and weight where both are known to have rank n + 2: what is not known is fresh.
struct Operands {
  Shape x, w;
  bool known = false;
  absl::Span<const Dim> in() const { return absl::MakeConstSpan(x.dims()).subspan(2); }
  absl::Span<const Dim> kernel() const { return absl::MakeConstSpan(w.dims()).subspan(2); }
};

absl::StatusOr<Operands> ConvOperands(InferContext& ctx, int x, int w, absl::Span<const int64_t> kernel_shape) {
  WEFT_RETURN_IF_ERROR(ctx.CheckRankAtLeast(x, "X", 3));
  WEFT_RETURN_IF_ERROR(ctx.CheckRankAtLeast(w, "W", 3));
  Operands o{ctx.shape(x), ctx.shape(w)};
  if (o.x.has_rank()) WEFT_RETURN_IF_ERROR(ctx.CheckRank(w, "W", o.x.rank()));
  int rank = o.x.has_rank() ? o.x.rank() : o.w.has_rank() ? o.w.rank() : 0;
  if (rank == 0 && !kernel_shape.empty()) rank = static_cast<int>(kernel_shape.size()) + 2;
  if (rank == 0) return o;
  o.known = true;
  if (!o.x.has_rank()) o.x = ctx.FreshShape(rank);
  if (!o.w.has_rank()) o.w = ctx.FreshShape(rank);
  for (int i = 2; i < rank && static_cast<int>(kernel_shape.size()) == rank - 2; ++i) {
    if (!o.w[i].is_constant()) o.w[i] = kernel_shape[i - 2];
  }
  return o;
}

absl::Status CheckGroup(int64_t group, std::string_view name = "group") {
  if (group < 1) return Invalid(name, " is ", group, ", expected 1 or more");
  return absl::OkStatus();
}

absl::Status CheckDivides(int64_t group, const Dim& channels, std::string_view what, std::string_view name = "group") {
  if (channels.is_constant() && channels.constant() % group != 0) {
    return Invalid(what, " has ", channels.constant(), " channels, expected a multiple of ", name, " ", group);
  }
  return absl::OkStatus();
}

absl::Status CheckBias(const InferContext& ctx, int b, const Dim& channels) {
  if (b < 0 || !ctx.HasInput(b)) return absl::OkStatus();
  WEFT_RETURN_IF_ERROR(ctx.CheckRank(b, "B", 1));
  if (!ctx.shape(b).has_rank()) return absl::OkStatus();
  return InferContext::Unify(ctx.shape(b)[0], channels, "the number of output channels in the bias and the weight").status();
}

Shape OutputShape(const Dim& n, const Dim& c, std::vector<Dim> spatial) {
  spatial.insert(spatial.begin(), {n, c});
  return Shape(std::move(spatial));
}

DType FirstKnown(const InferContext& ctx, int i, int j) { return ctx.dtype(i) != DType::kUndefined ? ctx.dtype(i) : ctx.dtype(j); }

absl::Status InferConv(InferContext& ctx) {
  const auto& attrs = ctx.attrs<ConvAttrs>();
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kFloatTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 1));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 2));
  WEFT_ASSIGN_OR_RETURN(Shape shape, InferConvShape(ctx, 0, 1, 2, SpecOf(attrs), attrs.group));
  ctx.SetOutput(0, FirstKnown(ctx, 0, 1), std::move(shape));
  return absl::OkStatus();
}

absl::Status InferConvInteger(InferContext& ctx) {
  const auto& attrs = ctx.attrs<ConvAttrs>();
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "x", kBytes));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(1, "w", kBytes));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 2));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(1, 3));
  WEFT_ASSIGN_OR_RETURN(Shape shape, InferConvShape(ctx, 0, 1, -1, SpecOf(attrs), attrs.group));
  WEFT_RETURN_IF_ERROR(CheckPerTensor(ctx, 2, "x_zero_point"));
  WEFT_RETURN_IF_ERROR(CheckPerTensorOrChannel(ctx, 3, "w_zero_point", ctx.shape(1), 0));
  ctx.SetOutput(0, DType::kInt32, std::move(shape));
  return absl::OkStatus();
}

absl::Status InferQLinearConv(InferContext& ctx) {
  const auto& attrs = ctx.attrs<ConvAttrs>();
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "x", kBytes));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(3, "w", kBytes));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(7, "y_zero_point", kBytes));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(8, "B", {DType::kInt32}));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 2));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(3, 5));
  for (int scale : {1, 4, 6}) WEFT_RETURN_IF_ERROR(ctx.CheckDType(scale, "a scale", {DType::kFloat32}));
  WEFT_ASSIGN_OR_RETURN(Shape shape, InferConvShape(ctx, 0, 3, 8, SpecOf(attrs), attrs.group));
  WEFT_RETURN_IF_ERROR(CheckPerTensor(ctx, 1, "x_scale"));
  WEFT_RETURN_IF_ERROR(CheckPerTensor(ctx, 2, "x_zero_point"));
  WEFT_RETURN_IF_ERROR(CheckPerTensorOrChannel(ctx, 4, "w_scale", ctx.shape(3), 0));
  WEFT_RETURN_IF_ERROR(CheckPerTensorOrChannel(ctx, 5, "w_zero_point", ctx.shape(3), 0));
  WEFT_RETURN_IF_ERROR(CheckPerTensor(ctx, 6, "y_scale"));
  WEFT_RETURN_IF_ERROR(CheckPerTensor(ctx, 7, "y_zero_point"));
  ctx.SetOutput(0, ctx.dtype(7), std::move(shape));
  return absl::OkStatus();
}

absl::Status InferConvTranspose(InferContext& ctx) {
  const auto& attrs = ctx.attrs<ConvTransposeAttrs>();
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kFloatTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 1));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 2));
  WEFT_RETURN_IF_ERROR(CheckGroup(attrs.group));
  WEFT_ASSIGN_OR_RETURN(const Operands o, ConvOperands(ctx, 0, 1, attrs.kernel_shape));
  const DType dtype = FirstKnown(ctx, 0, 1);
  if (!o.known) {
    ctx.SetOutput(0, dtype, Shape());
    return absl::OkStatus();
  }
  WEFT_RETURN_IF_ERROR(CheckDivides(attrs.group, o.x[1], "input 0 (X)"));
  WEFT_RETURN_IF_ERROR(InferContext::Unify(o.x[1], o.w[0], "the number of input channels of X and W").status());
  const Dim channels = o.w[1] * attrs.group;
  WEFT_RETURN_IF_ERROR(CheckBias(ctx, 2, channels));
  const WindowSpec spec = SpecOf(attrs);
  WEFT_RETURN_IF_ERROR(CheckWindow(spec, o.kernel()));
  WEFT_ASSIGN_OR_RETURN(std::vector<Dim> spatial, TransposedOutputs(spec, o.in(), o.kernel()));
  ctx.SetOutput(0, dtype, OutputShape(o.x[0], channels, std::move(spatial)));
  return absl::OkStatus();
}

absl::Status InferDeformConv(InferContext& ctx) {
  const auto& attrs = ctx.attrs<DeformConvAttrs>();
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kFloatTypes));
  for (int i = 1; i < 5; ++i) WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, i));
  WEFT_RETURN_IF_ERROR(CheckGroup(attrs.offset_group, "offset_group"));
  WEFT_ASSIGN_OR_RETURN(Shape shape, InferConvShape(ctx, 0, 1, 3, SpecOf(attrs), attrs.group));
  ctx.SetOutput(0, FirstKnown(ctx, 0, 1), shape);
  if (!shape.has_rank()) return absl::OkStatus();
  WEFT_RETURN_IF_ERROR(ctx.CheckRank(2, "offset", shape.rank()));
  WEFT_RETURN_IF_ERROR(ctx.CheckRank(4, "mask", shape.rank()));
  const Shape& x = ctx.shape(0);
  const Shape& w = ctx.shape(1);
  if (x.has_rank()) WEFT_RETURN_IF_ERROR(CheckDivides(attrs.offset_group, x[1], "input 0 (X)", "offset_group"));
  Dim taps = attrs.offset_group;
  for (int i = 2; i < shape.rank(); ++i) {
    taps = taps * (w.has_rank() ? w[i] : attrs.kernel_shape.empty() ? ctx.FreshDim() : Dim(attrs.kernel_shape[i - 2]));
  }
  for (int i : {2, 4}) {
    if (!ctx.HasInput(i) || !ctx.shape(i).has_rank()) continue;
    const std::string_view name = i == 2 ? "dims of input 2 (offset) against those it must have" : "dims of input 4 (mask) against those it must have";
    WEFT_RETURN_IF_ERROR(InferContext::Unify(ctx.shape(i)[0], shape[0], name).status());
    WEFT_RETURN_IF_ERROR(InferContext::Unify(ctx.shape(i)[1], i == 2 ? taps * (shape.rank() - 2) : taps, name).status());
    for (int axis = 2; axis < shape.rank(); ++axis) {
      WEFT_RETURN_IF_ERROR(InferContext::Unify(ctx.shape(i)[axis], shape[axis], name).status());
    }
  }
  return absl::OkStatus();
}

Cost ConvTransposeCost(const NodeView& node) {
  // Every input element meets the weights of its channel: [M/group, k1..kn].
  const auto x = node.inputs[0].type->shape.Concrete(), w = node.inputs[1].type->shape.Concrete();
  if (!x || !w) return {};
  Dims met = *x;
  met.insert(met.end(), w->begin() + 1, w->end());
  const auto count = NumElements(met);
  return {count.ok() && *count < (int64_t{1} << 62) ? 2 * *count : 0};
}

}  // namespace

absl::StatusOr<Shape> InferConvShape(InferContext& ctx, int x, int w, int b, const WindowSpec& spec, int64_t group) {
  WEFT_RETURN_IF_ERROR(CheckGroup(group));
  WEFT_ASSIGN_OR_RETURN(const Operands o, ConvOperands(ctx, x, w, spec.kernel_shape));
  if (!o.known) return Shape();
  WEFT_RETURN_IF_ERROR(CheckDivides(group, o.w[0], "the weight"));
  WEFT_RETURN_IF_ERROR(CheckDivides(group, o.x[1], "the input"));
  WEFT_RETURN_IF_ERROR(InferContext::Unify(o.x[1], o.w[1] * group, "the number of input channels (dim 1 of X, group times dim 1 of W)")
                           .status());
  WEFT_RETURN_IF_ERROR(CheckBias(ctx, b, o.w[0]));
  WEFT_RETURN_IF_ERROR(CheckWindow(spec, o.kernel()));
  WEFT_ASSIGN_OR_RETURN(std::vector<Dim> spatial, WindowOutputs(spec, o.in(), o.kernel()));
  return OutputShape(o.x[0], o.w[0], std::move(spatial));
}

Cost ConvCost(const NodeView& node, int w) {
  const auto y = node.outputs[0].shape.Concrete(), weight = node.inputs[w].type->shape.Concrete();
  if (!y || !weight) return {};
  Dims met = *y;
  met.insert(met.end(), weight->begin() + 1, weight->end());
  const auto count = NumElements(met);
  return {count.ok() && *count < (int64_t{1} << 62) ? 2 * *count : 0};
}

constinit const Op ops::Conv = {.name = "Conv", .since_version = 22, .inputs = {2, 3}, .outputs = 1,
                                .attrs = &kAttrSchema<ConvAttrs>, .infer = &InferConv,
                                .cost = [](const NodeView& node) { return ConvCost(node, 1); }};
constinit const Op ops::ConvInteger = {.name = "ConvInteger", .since_version = 10, .inputs = {2, 4}, .outputs = 1,
                                       .attrs = &kAttrSchema<ConvAttrs>, .infer = &InferConvInteger,
                                       .cost = [](const NodeView& node) { return ConvCost(node, 1); }};
constinit const Op ops::QLinearConv = {.name = "QLinearConv", .since_version = 10, .inputs = {8, 9}, .outputs = 1,
                                       .attrs = &kAttrSchema<ConvAttrs>, .infer = &InferQLinearConv,
                                       .cost = [](const NodeView& node) { return ConvCost(node, 3); }};
constinit const Op ops::ConvTranspose = {.name = "ConvTranspose", .since_version = 22, .inputs = {2, 3}, .outputs = 1,
                                         .attrs = &kAttrSchema<ConvTransposeAttrs>, .infer = &InferConvTranspose,
                                         .cost = &ConvTransposeCost};
constinit const Op ops::DeformConv = {.name = "DeformConv", .since_version = 22, .inputs = {3, 5}, .outputs = 1,
                                      .attrs = &kAttrSchema<DeformConvAttrs>, .infer = &InferDeformConv,
                                      .cost = [](const NodeView& node) { return ConvCost(node, 1); }};

}  // namespace weft
