// Pools (ONNX Operators.md, opset 22): MaxPool, AveragePool, LpPool, their global forms, MaxUnpool, MaxRoiPool, RoiAlign.
#include "graph/ops/pool.h"

#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/dtype_sets.h"
#include "graph/ops/spatial.h"

namespace weft {
namespace {

constexpr DType kMaxPoolTypes[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16, DType::kFloat64, DType::kInt8, DType::kUint8};

absl::StatusOr<Shape> InferPoolShape(InferContext& ctx, const WindowSpec& spec) {
  if (spec.kernel_shape.empty()) return Invalid("kernel_shape is empty, expected one size for each spatial axis");
  const std::vector<Dim> kernel(spec.kernel_shape.begin(), spec.kernel_shape.end());
  const int rank = static_cast<int>(kernel.size()) + 2;
  if (absl::Status s = ctx.CheckRank(0, "X", rank); !s.ok()) {
    return Invalid(s.message(), " by kernel_shape ", DimsToString(spec.kernel_shape));
  }
  WEFT_RETURN_IF_ERROR(CheckWindow(spec, kernel));
  const Shape x = ctx.shape(0).has_rank() ? ctx.shape(0) : ctx.FreshShape(rank);
  WEFT_ASSIGN_OR_RETURN(std::vector<Dim> out, WindowOutputs(spec, absl::MakeConstSpan(x.dims()).subspan(2), kernel));
  out.insert(out.begin(), {x[0], x[1]});
  return Shape(std::move(out));
}

absl::Status CheckPower(int64_t p) {
  if (p < 1) return Invalid("p is ", p, ", expected 1 or more");
  return absl::OkStatus();
}

absl::Status InferMaxPool(InferContext& ctx) {
  const auto& attrs = ctx.attrs<MaxPoolAttrs>();
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kMaxPoolTypes));
  if (attrs.storage_order != 0 && attrs.storage_order != 1) {
    return Invalid("storage_order is ", attrs.storage_order, ", expected 0 or 1");
  }
  WEFT_ASSIGN_OR_RETURN(Shape shape, InferPoolShape(ctx, SpecOf(attrs)));
  ctx.SetOutput(0, ctx.dtype(0), shape);
  ctx.SetOutput(1, DType::kInt64, std::move(shape));
  return absl::OkStatus();
}

absl::Status InferAveragePool(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kFloatTypes));
  WEFT_ASSIGN_OR_RETURN(Shape shape, InferPoolShape(ctx, SpecOf(ctx.attrs<AveragePoolAttrs>())));
  ctx.SetOutput(0, ctx.dtype(0), std::move(shape));
  return absl::OkStatus();
}

absl::Status InferLpPool(InferContext& ctx) {
  const auto& attrs = ctx.attrs<LpPoolAttrs>();
  WEFT_RETURN_IF_ERROR(CheckPower(attrs.p));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kFloatTypes));
  WEFT_ASSIGN_OR_RETURN(Shape shape, InferPoolShape(ctx, SpecOf(attrs)));
  ctx.SetOutput(0, ctx.dtype(0), std::move(shape));
  return absl::OkStatus();
}

absl::Status InferGlobalPool(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kFloatTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckRankAtLeast(0, "X", 2));
  Shape shape = ctx.shape(0);
  for (int axis = 2; shape.has_rank() && axis < shape.rank(); ++axis) shape[axis] = 1;
  ctx.SetOutput(0, ctx.dtype(0), std::move(shape));
  return absl::OkStatus();
}

absl::Status InferGlobalLpPool(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckPower(ctx.attrs<GlobalLpPoolAttrs>().p));
  return InferGlobalPool(ctx);
}

absl::Status InferMaxUnpool(InferContext& ctx) {
  const auto& attrs = ctx.attrs<MaxUnpoolAttrs>();
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kFloatTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(1, "I", {DType::kInt64}));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(2, "output_shape", {DType::kInt64}));
  const int rank = static_cast<int>(attrs.kernel_shape.size()) + 2;
  WEFT_RETURN_IF_ERROR(ctx.CheckRank(0, "X", rank));
  WEFT_RETURN_IF_ERROR(ctx.CheckRank(1, "I", rank));
  WEFT_RETURN_IF_ERROR(ctx.CheckRank(2, "output_shape", 1));
  Shape x = ctx.shape(0).has_rank() ? ctx.shape(0) : ctx.FreshShape(rank);
  if (ctx.shape(1).has_rank()) {
    for (int i = 0; i < rank; ++i) {
      WEFT_ASSIGN_OR_RETURN(x[i], InferContext::Unify(x[i], ctx.shape(1)[i], "a dim of X and I"));
    }
  }
  const WindowSpec spec = SpecOf(attrs);
  const std::vector<Dim> kernel(attrs.kernel_shape.begin(), attrs.kernel_shape.end());
  WEFT_RETURN_IF_ERROR(CheckWindow(spec, kernel));
  WEFT_ASSIGN_OR_RETURN(std::vector<Dim> least, TransposedOutputs(spec, absl::MakeConstSpan(x.dims()).subspan(2), kernel));
  least.insert(least.begin(), {x[0], x[1]});
  if (!ctx.HasInput(2)) {
    ctx.SetOutput(0, ctx.dtype(0), Shape(std::move(least)));
    return absl::OkStatus();
  }
  const std::vector<Dim>* out = ctx.elements(2);
  if (out == nullptr) {
    ctx.SetOutput(0, ctx.dtype(0), ctx.FreshShape(rank));
    return absl::OkStatus();
  }
  if (static_cast<int>(out->size()) != rank) return Invalid("output_shape has ", out->size(), " values, expected ", rank);
  for (int i = 0; i < rank; ++i) {
    if ((*out)[i].is_constant() && least[i].is_constant() && (*out)[i].constant() < least[i].constant()) {
      return Invalid("output_shape has ", (*out)[i].constant(), " for axis ", i, ", expected at least ", least[i].constant());
    }
  }
  ctx.SetOutput(0, ctx.dtype(0), Shape(*out));
  return absl::OkStatus();
}

// rois is [num_rois, columns]; the output is [num_rois, C, height, width].
absl::Status InferRois(InferContext& ctx, int64_t columns, int64_t height, int64_t width) {
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kFloatTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 1));
  WEFT_RETURN_IF_ERROR(ctx.CheckRank(0, "X", 4));
  WEFT_RETURN_IF_ERROR(ctx.CheckRank(1, "rois", 2));
  if (height < 1 || width < 1) return Invalid("the output size is ", height, "x", width, ", expected 1x1 or more");
  const Shape x = ctx.shape(0).has_rank() ? ctx.shape(0) : ctx.FreshShape(4);
  const Shape rois = ctx.shape(1).has_rank() ? ctx.shape(1) : ctx.FreshShape(2);
  WEFT_RETURN_IF_ERROR(InferContext::Unify(rois[1], columns, "the number of columns of rois").status());
  Dim count = rois[0];
  if (ctx.HasInput(2) && ctx.shape(2).has_rank()) {
    WEFT_ASSIGN_OR_RETURN(count, InferContext::Unify(count, ctx.shape(2)[0], "the number of rois"));
  }
  ctx.SetOutput(0, ctx.dtype(0), Shape{count, x[1], height, width});
  return absl::OkStatus();
}

absl::Status InferMaxRoiPool(InferContext& ctx) {
  const auto& shape = ctx.attrs<MaxRoiPoolAttrs>().pooled_shape;
  if (shape.size() != 2) return Invalid("pooled_shape has ", shape.size(), " values, expected 2");
  return InferRois(ctx, 5, shape[0], shape[1]);
}

absl::Status InferRoiAlign(InferContext& ctx) {
  const auto& attrs = ctx.attrs<RoiAlignAttrs>();
  const std::string& coordinates = attrs.coordinate_transformation_mode;
  if (attrs.mode != "avg" && attrs.mode != "max") return Invalid("mode is '", attrs.mode, "', expected avg or max");
  if (coordinates != "half_pixel" && coordinates != "output_half_pixel") {
    return Invalid("coordinate_transformation_mode is '", coordinates, "', expected half_pixel or output_half_pixel");
  }
  constexpr int64_t kMaxSamples = 4096;
  if (attrs.sampling_ratio < 0) return Invalid("sampling_ratio is ", attrs.sampling_ratio, ", expected 0 or more");
  if (attrs.sampling_ratio > kMaxSamples) return Unsupported("sampling_ratio is ", attrs.sampling_ratio, ", at most ", kMaxSamples, " is supported");
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(2, "batch_indices", {DType::kInt64}));
  WEFT_RETURN_IF_ERROR(ctx.CheckRank(2, "batch_indices", 1));
  return InferRois(ctx, 4, attrs.output_height, attrs.output_width);
}

// `each` operations for every element of the shape.
Cost PerElement(const Shape& shape, int64_t each) {
  auto dims = shape.Concrete();
  if (!dims) return {};
  dims->push_back(each);
  const auto count = NumElements(*dims);
  return {count.ok() ? *count : 0};
}

template <class A>
Cost PoolCost(const NodeView& node) {
  const auto kernel = NumElements(node.attrs_as<A>().kernel_shape);
  return PerElement(node.outputs[0].shape, kernel.ok() ? *kernel : 0);
}

Cost GlobalPoolCost(const NodeView& node) { return PerElement(node.inputs[0].type->shape, 1); }

}  // namespace

constinit const Op ops::MaxPool = {.name = "MaxPool", .since_version = 22, .inputs = 1, .outputs = {1, 2},
                                   .attrs = &kAttrSchema<MaxPoolAttrs>, .infer = &InferMaxPool, .cost = &PoolCost<MaxPoolAttrs>};
constinit const Op ops::AveragePool = {.name = "AveragePool", .since_version = 22, .inputs = 1, .outputs = 1,
                                       .attrs = &kAttrSchema<AveragePoolAttrs>, .infer = &InferAveragePool,
                                       .cost = &PoolCost<AveragePoolAttrs>};
constinit const Op ops::LpPool = {.name = "LpPool", .since_version = 22, .inputs = 1, .outputs = 1,
                                  .attrs = &kAttrSchema<LpPoolAttrs>, .infer = &InferLpPool, .cost = &PoolCost<LpPoolAttrs>};
constinit const Op ops::GlobalAveragePool = {.name = "GlobalAveragePool", .since_version = 22, .inputs = 1, .outputs = 1,
                                             .infer = &InferGlobalPool, .cost = &GlobalPoolCost};
constinit const Op ops::GlobalMaxPool = {.name = "GlobalMaxPool", .since_version = 22, .inputs = 1, .outputs = 1,
                                         .infer = &InferGlobalPool, .cost = &GlobalPoolCost};
constinit const Op ops::GlobalLpPool = {.name = "GlobalLpPool", .since_version = 22, .inputs = 1, .outputs = 1,
                                        .attrs = &kAttrSchema<GlobalLpPoolAttrs>, .infer = &InferGlobalLpPool,
                                        .cost = &GlobalPoolCost};
constinit const Op ops::MaxUnpool = {.name = "MaxUnpool", .since_version = 22, .inputs = {2, 3}, .outputs = 1,
                                     .attrs = &kAttrSchema<MaxUnpoolAttrs>, .infer = &InferMaxUnpool};
constinit const Op ops::MaxRoiPool = {.name = "MaxRoiPool", .since_version = 22, .inputs = 2, .outputs = 1,
                                      .attrs = &kAttrSchema<MaxRoiPoolAttrs>, .infer = &InferMaxRoiPool};
constinit const Op ops::RoiAlign = {.name = "RoiAlign", .since_version = 22, .inputs = 3, .outputs = 1,
                                    .attrs = &kAttrSchema<RoiAlignAttrs>, .infer = &InferRoiAlign};

}  // namespace weft
