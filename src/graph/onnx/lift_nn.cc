#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "graph/onnx/lift_steps.h"

namespace weft::lift_steps {
namespace {

// The text attribute's value, or `otherwise`.
std::string Text(const Draft& node, std::string_view attr, std::string_view otherwise) {
  auto it = node.attrs.find(attr);
  if (it == node.attrs.end() || !std::holds_alternative<std::string>(it->second)) return std::string(otherwise);
  return std::get<std::string>(it->second);
}

}  // namespace

// ---- Normalisations ----

// Opsets 1 to 6 say is_test = 1 for inference, and default to 0; but a node with one output has nothing to be trained with, and files of that
// time leave is_test out: as in later opsets the outputs decide. Statistics that a test-mode node lists are those it is given.
absl::Status BatchNormTest7(Draft& node, Lift& lift) {
  WEFT_ASSIGN_OR_RETURN(const std::optional<int64_t> is_test, node.Take<int64_t>("is_test"));
  if (is_test.value_or(0) == 0 || node.outputs.size() <= 1) return absl::OkStatus();
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    const ValueId statistic = node.Input(i % 2 == 1 ? 3 : 4);
    if (node.outputs[i] != ValueId::kNone && statistic != ValueId::kNone) lift.EmitAfter("Identity", {statistic}, node.outputs[i]);
  }
  node.outputs.resize(1);
  return absl::OkStatus();
}

// Every activation is a channel: X is [N,C,D1,...], seen as [N,C*D1*...].
absl::Status BatchNormSpatial9(Draft& node, Lift& lift) {
  WEFT_ASSIGN_OR_RETURN(const std::optional<int64_t> spatial, node.Take<int64_t>("spatial"));
  if (spatial.value_or(1) != 0) return absl::OkStatus();
  for (size_t i = 0; i < 5; ++i) {
    if (node.Input(i) == ValueId::kNone) return Invalid("has too few inputs, expected 5");
  }
  WEFT_ASSIGN_OR_RETURN(const ValueId x_shape, lift.Emit("Shape", {node.inputs[0]}));
  WEFT_ASSIGN_OR_RETURN(const ValueId statistics_shape, lift.Emit("Shape", {node.inputs[3]}));
  WEFT_ASSIGN_OR_RETURN(node.inputs[0], lift.Emit("Flatten", {node.inputs[0]}, {{"axis", int64_t{1}}}));
  for (size_t i = 1; i < 5; ++i) {
    WEFT_ASSIGN_OR_RETURN(node.inputs[i], lift.Emit("Reshape", {node.inputs[i], lift.Ints("flat", {-1})}));
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const ValueId output = node.outputs[i];
    if (output == ValueId::kNone) continue;
    const ValueId flat = lift.Detach(node, i);
    lift.EmitAfter("Reshape", {flat, i == 0 ? x_shape : statistics_shape}, output, {{"allowzero", int64_t{1}}});
  }
  return absl::OkStatus();
}

// More outputs than one meant training. The saved statistics are those of the batch: what the running ones become with momentum 0.
absl::Status BatchNormOutputs14(Draft& node, Lift& lift) {
  const bool training = std::any_of(node.outputs.begin() + std::min<size_t>(1, node.outputs.size()), node.outputs.end(),
                                    [](ValueId output) { return output != ValueId::kNone; });
  if (!training) return absl::OkStatus();
  node.attrs.emplace("training_mode", int64_t{1});
  if (node.Output(3) != ValueId::kNone || node.Output(4) != ValueId::kNone) {
    Draft batch;
    batch.op_type = node.op_type;
    batch.name = node.name + "/batch";
    batch.inputs = node.inputs;
    batch.attrs = node.attrs;
    batch.attrs["momentum"] = 0.0f;
    batch.outputs = {lift.graph().AddValue(batch.name, Type::Unknown()), node.Output(3), node.Output(4)};
    WEFT_RETURN_IF_ERROR(AppendNode(lift.graph(), std::move(batch)));
  }
  if (node.outputs.size() > 3) node.outputs.resize(3);
  return absl::OkStatus();
}

absl::Status GroupNormChannels21(Draft& node, Lift& lift) {
  auto attr = node.attrs.find("num_groups");
  if (attr == node.attrs.end() || !std::holds_alternative<int64_t>(attr->second)) return Invalid("attribute 'num_groups' is missing");
  const int64_t groups = std::get<int64_t>(attr->second);
  if (groups <= 0) return Invalid("attribute 'num_groups' is ", groups, ", expected a positive number");
  if (node.Input(0) == ValueId::kNone) return absl::OkStatus();
  WEFT_ASSIGN_OR_RETURN(const ValueId channels, lift.Emit("Shape", {node.inputs[0]}, {{"start", int64_t{1}}, {"end", int64_t{2}}}));
  WEFT_ASSIGN_OR_RETURN(const ValueId each, lift.Emit("Div", {channels, lift.Ints("groups", {groups})}));
  WEFT_ASSIGN_OR_RETURN(const ValueId shape, lift.Emit("Concat", {lift.Ints("groups", {groups}), each}, {{"axis", int64_t{0}}}));
  for (size_t i = 1; i <= 2; ++i) {
    if (node.Input(i) == ValueId::kNone) continue;
    WEFT_ASSIGN_OR_RETURN(const ValueId column, lift.Emit("Unsqueeze", {node.inputs[i], lift.Ints("axes", {1})}));
    WEFT_ASSIGN_OR_RETURN(const ValueId wide, lift.Emit("Expand", {column, shape}));
    WEFT_ASSIGN_OR_RETURN(node.inputs[i], lift.Emit("Reshape", {wide, lift.Ints("flat", {-1})}));
  }
  return absl::OkStatus();
}

absl::Status FlattenToLastAxis13(Draft& node, Lift& lift) {
  WEFT_ASSIGN_OR_RETURN(const std::optional<int64_t> given, node.Take<int64_t>("axis"));
  node.attrs["axis"] = int64_t{-1};
  const int64_t axis = given.value_or(1);
  const ValueId x = node.Input(0), y = node.Output(0);
  if (axis == -1 || x == ValueId::kNone || y == ValueId::kNone) return absl::OkStatus();
  if (const std::optional<int> rank = lift.RankOf(x); rank && axis == *rank - 1) return absl::OkStatus();
  WEFT_ASSIGN_OR_RETURN(const ValueId shape, lift.Emit("Shape", {x}));
  WEFT_ASSIGN_OR_RETURN(node.inputs[0], lift.Emit("Flatten", {x}, {{"axis", axis}}));
  const ValueId flat = lift.Detach(node, 0);
  lift.EmitAfter("Reshape", {flat, shape}, y, {{"allowzero", int64_t{1}}});
  return absl::OkStatus();
}

absl::Status GemmBroadcast7(Draft& node, Lift&) {
  node.attrs.erase("broadcast");
  return absl::OkStatus();
}

// ---- Windows ----

// Given an output_shape, opset 1 put the smaller half of the padding first unless auto_pad was SAME_UPPER; from 11 on SAME_UPPER does so alone.
absl::Status ConvTransposePads11(Draft& node, Lift&) {
  if (!node.HasAttr("output_shape")) return absl::OkStatus();
  WEFT_ASSIGN_OR_RETURN(const std::optional<std::string> auto_pad, node.Take<std::string>("auto_pad"));
  node.attrs["auto_pad"] = std::string(auto_pad == "SAME_UPPER" ? "SAME_LOWER" : "SAME_UPPER");
  return absl::OkStatus();
}

absl::Status IntegralP2(Draft& node, Lift&) {
  auto p = node.attrs.find("p");
  if (p == node.attrs.end() || !std::holds_alternative<float>(p->second)) return absl::OkStatus();
  const float value = std::get<float>(p->second);
  if (!(value >= 1 && value <= 1 << 24) || value != std::floor(value)) {
    return Unsupported("attribute 'p' is ", value, ", expected a positive integer");
  }
  p->second = static_cast<int64_t>(value);
  return absl::OkStatus();
}

// ---- Sampling ----

absl::Status UpsampleScales7(Draft& node, Lift&) {
  WEFT_ASSIGN_OR_RETURN(const std::optional<float> height, node.Take<float>("height_scale"));
  WEFT_ASSIGN_OR_RETURN(const std::optional<float> width, node.Take<float>("width_scale"));
  if (!height || !width) return Invalid("attribute '", height ? "width_scale" : "height_scale", "' is missing");
  node.attrs["scales"] = std::vector<float>{1, 1, *height, *width};
  return absl::OkStatus();
}

absl::Status UpsampleInput9(Draft& node, Lift& lift) {
  WEFT_ASSIGN_OR_RETURN(const std::optional<std::vector<float>> scales, node.Take<std::vector<float>>("scales"));
  if (!scales) return Invalid("attribute 'scales' is missing");
  node.SetInput(1, lift.Constant("scales", Tensor::Of<float>({static_cast<int64_t>(scales->size())}, *scales)));
  return absl::OkStatus();
}

// Output pixel i came from i / scale, and nearest took the floor of it. Scales are 1 or larger.
absl::Status UpsampleToResize10(Draft& node, Lift&) {
  node.op_type = "Resize";
  node.attrs["coordinate_transformation_mode"] = std::string("asymmetric");
  node.attrs["nearest_mode"] = std::string("floor");
  return absl::OkStatus();
}

namespace {

// "bilinear" and "trilinear" are what some exporters call it.
absl::Status UseModeLinear(Draft& node) {
  WEFT_ASSIGN_OR_RETURN(std::optional<std::string> mode, node.Take<std::string>("mode"));
  if (mode == "bilinear" || mode == "trilinear") mode = "linear";
  if (mode) node.attrs["mode"] = *mode;
  return absl::OkStatus();
}

// The scales, each held to `bound` on one side.
absl::StatusOr<ValueId> Bounded(Lift& lift, ValueId scales, std::string_view op_type) {
  return lift.Emit(op_type, {scales, lift.Constant("one", Tensor::Of<float>({1}, {1.0f}))});
}

}  // namespace

// Resize-10 is an Upsample that also takes scales below 1. There nearest rounded up. Where both kinds may occur the axes that grow go
// first: nearest works on each axis by itself, so two resizes give the same.
absl::Status ResizeCoordinates11(Draft& node, Lift& lift) {
  WEFT_RETURN_IF_ERROR(UseModeLinear(node));
  if (node.Input(0) == ValueId::kNone || node.Input(1) == ValueId::kNone) return Invalid("has too few inputs, expected 2");
  const ValueId x = node.inputs[0];
  ValueId scales = node.inputs[1];
  const bool was_upsample = node.HasAttr("coordinate_transformation_mode");
  node.attrs["coordinate_transformation_mode"] = std::string("asymmetric");
  node.attrs["nearest_mode"] = std::string("floor");
  node.inputs = {x, ValueId::kNone, scales};
  if (was_upsample || Text(node, "mode", "nearest") != "nearest") return absl::OkStatus();
  const Tensor* constant = lift.graph().Constant(scales);
  bool grows = true, shrinks = true;
  if (constant != nullptr && constant->dtype() == DType::kFloat32) {
    const auto values = constant->span<float>();
    grows = std::any_of(values.begin(), values.end(), [](float s) { return s > 1; });
    shrinks = std::any_of(values.begin(), values.end(), [](float s) { return s < 1; });
  }
  if (!shrinks) return absl::OkStatus();
  if (grows) {
    WEFT_ASSIGN_OR_RETURN(const ValueId up, Bounded(lift, scales, "Max"));
    WEFT_ASSIGN_OR_RETURN(scales, Bounded(lift, scales, "Min"));
    WEFT_ASSIGN_OR_RETURN(const ValueId large, lift.Emit("Resize", {x, ValueId::kNone, up},
                                                         {{"mode", std::string("nearest")},
                                                          {"coordinate_transformation_mode", std::string("asymmetric")},
                                                          {"nearest_mode", std::string("floor")}}));
    node.inputs = {large, ValueId::kNone, scales};
  }
  node.attrs["nearest_mode"] = std::string("ceil");
  return absl::OkStatus();
}

// Resize-11 wanted empty scales where there are sizes. Its tf_half_pixel_for_nn, which 13 no longer has, is half_pixel moved by 0.5:
// floor(h + 0.5) is rounding with ties up, and ceil(h) is rounding of h + 0.5 with ties down.
absl::Status ResizeInputs13(Draft& node, Lift&) {
  if (node.Input(3) != ValueId::kNone) node.inputs[2] = ValueId::kNone;
  if (Text(node, "coordinate_transformation_mode", "") != "tf_half_pixel_for_nn") return absl::OkStatus();
  const std::string mode = Text(node, "mode", "nearest"), nearest = Text(node, "nearest_mode", "round_prefer_floor");
  if (mode != "nearest" || (nearest != "floor" && nearest != "round_prefer_floor")) {
    return Unsupported("coordinate_transformation_mode tf_half_pixel_for_nn with mode ", mode, ", nearest_mode ", nearest,
                       ", expected nearest with floor or round_prefer_floor");
  }
  node.attrs["coordinate_transformation_mode"] = std::string("half_pixel");
  node.attrs["nearest_mode"] = std::string(nearest == "floor" ? "round_prefer_ceil" : "ceil");
  return absl::OkStatus();
}

// Files of every opset give empty tensors for operands they leave out.
absl::Status ResizeTidy(Draft& node, Lift& lift) {
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    const Tensor* constant = lift.graph().Constant(node.inputs[i]);
    if (constant != nullptr && constant->size() == 0) node.inputs[i] = ValueId::kNone;
  }
  return absl::OkStatus();
}

absl::Status GridSampleModes20(Draft& node, Lift&) {
  WEFT_ASSIGN_OR_RETURN(std::optional<std::string> mode, node.Take<std::string>("mode"));
  if (mode == "bilinear") mode = "linear";
  if (mode == "bicubic") mode = "cubic";
  if (mode) node.attrs["mode"] = *mode;
  return absl::OkStatus();
}

absl::Status RoiAlignShift16(Draft& node, Lift&) {
  node.attrs["coordinate_transformation_mode"] = std::string("output_half_pixel");
  return absl::OkStatus();
}

// ---- Recurrent layers, signal ----

// The default was misspelt.
absl::Status GruDirection3(Draft& node, Lift&) {
  WEFT_ASSIGN_OR_RETURN(const std::optional<std::string> direction, node.Take<std::string>("direction"));
  if (direction) node.attrs["direction"] = direction == "foward" ? std::string("forward") : *direction;
  return absl::OkStatus();
}

// output_sequence said whether Y may be left out; its name says so too.
absl::Status RecurrentOutputs7(Draft& node, Lift&) {
  node.attrs.erase("output_sequence");
  return absl::OkStatus();
}

absl::Status DftAxis20(Draft& node, Lift& lift) {
  WEFT_ASSIGN_OR_RETURN(const std::optional<int64_t> axis, node.Take<int64_t>("axis"));
  node.SetInput(2, lift.Int("axis", axis.value_or(1)));
  return absl::OkStatus();
}

}  // namespace weft::lift_steps
