#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/status_macros.h"
#include "graph/onnx/lift_steps.h"

namespace weft::lift_steps {
namespace {

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;

absl::StatusOr<float> TakeFloat(Draft& node, std::string_view attr, float otherwise) {
  WEFT_ASSIGN_OR_RETURN(const std::optional<float> value, node.Take<float>(attr));
  return value.value_or(otherwise);
}

// The node becomes factor * x.
absl::Status BecomeProduct(Draft& node, Lift& lift, std::string_view what, float factor) {
  WEFT_ASSIGN_OR_RETURN(const ValueId value, lift.FloatLike(what, factor, node.Input(0)));
  node.op_type = "Mul";
  node.inputs = {node.Input(0), value};
  return absl::OkStatus();
}

// The node becomes alpha * op(beta * x).
absl::Status BecomeScaled(Draft& node, Lift& lift, std::string_view op_type) {
  WEFT_ASSIGN_OR_RETURN(const std::optional<float> alpha, node.Take<float>("alpha"));
  WEFT_ASSIGN_OR_RETURN(const std::optional<float> beta, node.Take<float>("beta"));
  if (!alpha || !beta) return Invalid("attribute '", alpha ? "beta" : "alpha", "' is missing");
  if (node.Input(0) == ValueId::kNone || node.Output(0) == ValueId::kNone) return Invalid("has no operand or no result");
  WEFT_ASSIGN_OR_RETURN(const ValueId inside, lift.FloatLike("beta", *beta, node.Input(0)));
  WEFT_ASSIGN_OR_RETURN(const ValueId outside, lift.FloatLike("alpha", *alpha, node.Input(0)));
  WEFT_ASSIGN_OR_RETURN(node.inputs[0], lift.Emit("Mul", {node.Input(0), inside}));
  node.op_type = std::string(op_type);
  const ValueId y = node.Output(0), inner = lift.Detach(node, 0);
  lift.EmitAfter("Mul", {inner, outside}, y);
  return absl::OkStatus();
}

// The shape that a fill op has from its attribute `shape`, from its operand's elements or from its operand's shape; `extra_shape` behind it.
absl::StatusOr<ValueId> FillShape(Draft& node, Lift& lift) {
  WEFT_ASSIGN_OR_RETURN(const std::optional<Ints> shape, node.Take<Ints>("shape"));
  WEFT_ASSIGN_OR_RETURN(const std::optional<Ints> extra, node.Take<Ints>("extra_shape"));
  WEFT_ASSIGN_OR_RETURN(const std::optional<int64_t> as_shape, node.Take<int64_t>("input_as_shape"));
  ValueId result = node.Input(0);
  if (result == ValueId::kNone) {
    result = lift.Ints("shape", shape.value_or(Ints()));
  } else if (as_shape.value_or(0) != 0) {
    WEFT_ASSIGN_OR_RETURN(result, lift.Emit("Cast", {result}, {{"to", static_cast<int64_t>(DType::kInt64)}}));
  } else {
    WEFT_ASSIGN_OR_RETURN(result, lift.Emit("Shape", {result}));
  }
  if (!extra || extra->empty()) return result;
  return lift.Emit("Concat", {result, lift.Ints("extra_shape", *extra)}, {{"axis", int64_t{0}}});
}

absl::Status NeedsOperand(const Draft& node) {
  return node.Input(0) == ValueId::kNone ? Invalid("has no inputs, expected 1") : absl::OkStatus();
}

}  // namespace

absl::Status Affine10(Draft& node, Lift& lift) {
  WEFT_RETURN_IF_ERROR(NeedsOperand(node));
  WEFT_ASSIGN_OR_RETURN(const float alpha, TakeFloat(node, "alpha", 1));
  WEFT_ASSIGN_OR_RETURN(const float beta, TakeFloat(node, "beta", 0));
  WEFT_ASSIGN_OR_RETURN(const ValueId factor, lift.FloatLike("alpha", alpha, node.Input(0)));
  WEFT_ASSIGN_OR_RETURN(const ValueId offset, lift.FloatLike("beta", beta, node.Input(0)));
  WEFT_ASSIGN_OR_RETURN(const ValueId product, lift.Emit("Mul", {node.Input(0), factor}));
  node.op_type = "Add";
  node.inputs = {product, offset};
  return absl::OkStatus();
}

absl::Status ConstantFill10(Draft& node, Lift& lift) {
  WEFT_ASSIGN_OR_RETURN(const ValueId shape, FillShape(node, lift));
  WEFT_ASSIGN_OR_RETURN(const float value, TakeFloat(node, "value", 0));
  WEFT_ASSIGN_OR_RETURN(const std::optional<int64_t> dtype, node.Take<int64_t>("dtype"));
  WEFT_ASSIGN_OR_RETURN(const ValueId element, lift.Emit("Cast", {lift.Float("value", value)}, {{"to", dtype.value_or(1)}}));
  node.op_type = "Expand";
  node.inputs = {element, shape};
  return absl::OkStatus();
}

absl::Status GivenTensorFill10(Draft& node, Lift& lift) {
  WEFT_ASSIGN_OR_RETURN(const ValueId shape, FillShape(node, lift));
  WEFT_ASSIGN_OR_RETURN(const std::optional<Floats> values, node.Take<Floats>("values"));
  if (!values) return Invalid("attribute 'values' is missing");
  node.op_type = "Reshape";
  node.inputs = {lift.Constant("values", Tensor::Of<float>({static_cast<int64_t>(values->size())}, *values)), shape};
  return absl::OkStatus();
}

// X is [N,C,H,W], border {left, top, right, bottom}; scale, where given, is the height and width of what is kept.
absl::Status Crop10(Draft& node, Lift& lift) {
  WEFT_RETURN_IF_ERROR(NeedsOperand(node));
  WEFT_ASSIGN_OR_RETURN(const std::optional<Ints> border, node.Take<Ints>("border"));
  WEFT_ASSIGN_OR_RETURN(const std::optional<Ints> size, node.Take<Ints>("scale"));
  if (!border || border->size() != 4) return Invalid("attribute 'border' must have 4 values");
  if (size && !size->empty() && size->size() != 2) return Invalid("attribute 'scale' has ", size->size(), " values, expected 2");
  const int64_t left = (*border)[0], top = (*border)[1], right = (*border)[2], bottom = (*border)[3];
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  for (int64_t b : *border) {
    if (b < 0 || b > kMost) return Invalid("attribute 'border' holds ", b, ", expected 0 to ", kMost);
  }
  auto end = [](int64_t from_end) { return from_end == 0 ? std::numeric_limits<int64_t>::max() : -from_end; };
  Ints ends = {end(bottom), end(right)};
  if (size && !size->empty()) {
    if ((*size)[0] < 0 || (*size)[0] > kMost || (*size)[1] < 0 || (*size)[1] > kMost) return Invalid("attribute 'scale' is out of range");
    ends = {top + (*size)[0], left + (*size)[1]};
  }
  node.op_type = "Slice";
  node.inputs = {node.Input(0), lift.Ints("starts", {top, left}), lift.Ints("ends", ends), lift.Ints("axes", {2, 3})};
  return absl::OkStatus();
}

absl::Status DynamicSlice10(Draft& node, Lift&) {
  node.op_type = "Slice";
  return absl::OkStatus();
}

// X is [N,C,H,W], bias [C].
absl::Status ImageScaler10(Draft& node, Lift& lift) {
  WEFT_RETURN_IF_ERROR(NeedsOperand(node));
  WEFT_ASSIGN_OR_RETURN(const float scale, TakeFloat(node, "scale", 1));
  WEFT_ASSIGN_OR_RETURN(const std::optional<Floats> bias, node.Take<Floats>("bias"));
  if (!bias) return BecomeProduct(node, lift, "scale", scale);
  const int64_t channels = static_cast<int64_t>(bias->size());
  WEFT_ASSIGN_OR_RETURN(const ValueId factor, lift.FloatLike("scale", scale, node.Input(0)));
  WEFT_ASSIGN_OR_RETURN(const ValueId product, lift.Emit("Mul", {node.Input(0), factor}));
  ValueId offset = lift.Constant("bias", Tensor::Of<float>({channels, 1, 1}, *bias));
  if (lift.DTypeOf(node.Input(0)) != DType::kFloat32) {
    WEFT_ASSIGN_OR_RETURN(offset, lift.Emit("CastLike", {offset, node.Input(0)}));
  }
  node.op_type = "Add";
  node.inputs = {product, offset};
  return absl::OkStatus();
}

// X is [N,C,H,W]; each image by itself, over its channels too if across_channels is set.
absl::Status MeanVarianceAxes9(Draft& node, Lift& lift) {
  WEFT_RETURN_IF_ERROR(NeedsOperand(node));
  WEFT_ASSIGN_OR_RETURN(const std::optional<int64_t> across, node.Take<int64_t>("across_channels"));
  WEFT_ASSIGN_OR_RETURN(const std::optional<int64_t> variance, node.Take<int64_t>("normalize_variance"));
  const Ints axes = across.value_or(0) != 0 ? Ints{1, 2, 3} : Ints{2, 3};
  if (variance.value_or(1) != 0) {
    node.attrs["axes"] = axes;
    return absl::OkStatus();
  }
  WEFT_ASSIGN_OR_RETURN(const ValueId mean, lift.Emit("ReduceMean", {node.Input(0), lift.Ints("axes", axes)}));
  node.op_type = "Sub";
  node.inputs = {node.Input(0), mean};
  return absl::OkStatus();
}

absl::Status ParametricSoftplus10(Draft& node, Lift& lift) { return BecomeScaled(node, lift, "Softplus"); }

absl::Status Scale10(Draft& node, Lift& lift) {
  WEFT_RETURN_IF_ERROR(NeedsOperand(node));
  WEFT_ASSIGN_OR_RETURN(const float scale, TakeFloat(node, "scale", 1));
  return BecomeProduct(node, lift, "scale", scale);
}

absl::Status ScaledTanh10(Draft& node, Lift& lift) { return BecomeScaled(node, lift, "Tanh"); }

}  // namespace weft::lift_steps
