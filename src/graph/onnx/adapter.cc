#include "graph/onnx/adapter.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/status_macros.h"
#include "graph/op.h"

namespace weft {
namespace {

using Ints = std::vector<int64_t>;

ValueId IntsConstant(Graph& graph, std::string_view name, const Ints& values) {
  return graph.AddConstant(name, Tensor::Of<int64_t>({static_cast<int64_t>(values.size())}, values));
}
ValueId FloatConstant(Graph& graph, std::string_view name, float value) {
  return graph.AddConstant(name, Tensor::Scalar<float>(value));
}

absl::StatusOr<ValueId> Emit(Graph& graph, std::string_view op_name, std::vector<ValueId> inputs,
                             std::map<std::string, AttrValue> attrs = {}) {
  const Op* op = FindOp("", op_name);
  if (op == nullptr) return Unsupported("needs op ", op_name);
  Attrs held(op->attrs);
  for (auto& [name, value] : attrs) WEFT_RETURN_IF_ERROR(held.Set(name, std::move(value)));
  return graph.AddOpNode(op, std::move(inputs), std::move(held));
}

// ---- Attributes that became inputs ----

absl::Status IntsToInput(RawNode& node, Graph& graph, std::string_view attr, size_t input) {
  if (std::optional<Ints> values = node.Take<Ints>(attr)) node.SetInput(input, IntsConstant(graph, attr, *values));
  return absl::OkStatus();
}

absl::Status AxesToInput(RawNode& node, Graph& graph) { return IntsToInput(node, graph, "axes", 1); }

absl::Status SplitSizesToInput(RawNode& node, Graph& graph) { return IntsToInput(node, graph, "split", 1); }

absl::Status ShapeToInput(RawNode& node, Graph& graph) { return IntsToInput(node, graph, "shape", 1); }

// A bound of another element type than float is cast when the op runs: CastLike takes the operand's.
absl::Status ClipBoundsToInputs(RawNode& node, Graph& graph) {
  for (const auto& [attr, input] : {std::pair("min", size_t{1}), std::pair("max", size_t{2})}) {
    const std::optional<float> bound = node.Take<float>(attr);
    if (!bound) continue;
    WEFT_ASSIGN_OR_RETURN(const ValueId cast, Emit(graph, "CastLike", {FloatConstant(graph, attr, *bound), node.inputs.at(0)}));
    node.SetInput(input, cast);
  }
  return absl::OkStatus();
}

absl::Status PadsToInputs(RawNode& node, Graph& graph) {
  std::optional<Ints> pads = node.Take<Ints>("pads");
  if (!pads) pads = node.Take<Ints>("paddings");  // opset 1
  if (!pads) return Invalid("has no attribute 'pads'");
  node.SetInput(1, IntsConstant(graph, "pads", *pads));
  const float value = node.Take<float>("value").value_or(0);
  WEFT_ASSIGN_OR_RETURN(const ValueId cast, Emit(graph, "CastLike", {FloatConstant(graph, "value", value), node.inputs.at(0)}));
  node.SetInput(2, cast);
  return absl::OkStatus();
}

absl::Status SliceBoundsToInputs(RawNode& node, Graph& graph) {
  if (!node.attrs.contains("starts") || !node.attrs.contains("ends")) return Invalid("needs the attributes 'starts' and 'ends'");
  WEFT_RETURN_IF_ERROR(IntsToInput(node, graph, "starts", 1));
  WEFT_RETURN_IF_ERROR(IntsToInput(node, graph, "ends", 2));
  return IntsToInput(node, graph, "axes", 3);
}

absl::Status TopKCountToInput(RawNode& node, Graph& graph) {
  const std::optional<int64_t> k = node.Take<int64_t>("k");
  if (!k) return Invalid("has no attribute 'k'");
  node.SetInput(1, IntsConstant(graph, "k", {*k}));
  return absl::OkStatus();
}

// Inference is the newest form's mode without training_mode.
absl::Status DropoutRatioToInput(RawNode& node, Graph& graph) {
  node.Take<int64_t>("is_test");
  if (const std::optional<float> ratio = node.Take<float>("ratio")) node.SetInput(1, FloatConstant(graph, "ratio", *ratio));
  return absl::OkStatus();
}

// Tile-1: `tiles` copies along `axis`. The rank is not known here, so the axis must stand in a constant.
absl::Status TileToRepeats(RawNode&, Graph&) { return Unsupported("Tile of opset 1 (tiles and axis as inputs)"); }

// ---- Changed meanings ----

absl::Status CastTargetToNumber(RawNode& node, Graph&) {
  const std::optional<std::string> to = node.Take<std::string>("to");
  if (!to) return absl::OkStatus();
  std::string lower = *to;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  const std::optional<DType> dtype = DTypeFromName(lower);
  if (!dtype) return Invalid("attribute 'to' is '", *to, "', expected an element type");
  node.attrs["to"] = static_cast<int64_t>(*dtype);
  return absl::OkStatus();
}

// Softmax, LogSoftmax, Hardmax before 13: axes from `axis` on are one. Flatten to two dims, the op on the last, back to the shape.
absl::Status FlattenThenLastAxis(RawNode& node, Graph& graph) {
  const int64_t axis = node.Take<int64_t>("axis").value_or(1);
  const ValueId x = node.inputs.at(0);
  node.attrs["axis"] = int64_t{-1};
  if (axis == -1) return absl::OkStatus();
  const Type& type = graph.value(x).type;
  if (type.is_tensor() && type.shape.has_rank() && axis == type.shape.rank() - 1) return absl::OkStatus();
  WEFT_ASSIGN_OR_RETURN(const ValueId shape, Emit(graph, "Shape", {x}));
  WEFT_ASSIGN_OR_RETURN(node.inputs[0], Emit(graph, "Flatten", {x}, {{"axis", axis}}));
  node.finish = [&graph, shape](ValueId y) { return Emit(graph, "Reshape", {y, shape}); };
  return absl::OkStatus();
}

// Add, Sub, Mul, Div, Pow, And, Or, Xor, Equal, Greater, Less before 7: `broadcast` with `axis` says where B's axes begin in A's.
absl::Status AlignSecondOperand(RawNode& node, Graph& graph) {
  const bool broadcast = node.Take<int64_t>("broadcast").value_or(0) != 0;
  const std::optional<int64_t> axis = node.Take<int64_t>("axis");
  if (!broadcast || !axis || node.inputs.size() < 2) return absl::OkStatus();
  const Type &a = graph.value(node.inputs[0]).type, &b = graph.value(node.inputs[1]).type;
  if (!b.is_tensor() || !b.shape.has_rank()) return Unsupported("broadcast at axis ", *axis, " of a second operand of unknown rank");
  Ints trailing;
  if (a.is_tensor() && a.shape.has_rank()) {
    const int64_t from = *axis < 0 ? *axis + a.shape.rank() : *axis;
    for (int64_t i = from + b.shape.rank(); i < a.shape.rank(); ++i) trailing.push_back(i - from);
  } else {
    return Unsupported("broadcast at axis ", *axis, " of a first operand of unknown rank");
  }
  if (trailing.empty()) return absl::OkStatus();
  WEFT_ASSIGN_OR_RETURN(node.inputs[1], Emit(graph, "Unsqueeze", {node.inputs[1], IntsConstant(graph, "axes", trailing)}));
  return absl::OkStatus();
}

absl::Status GemmBroadcasts(RawNode& node, Graph&) {
  node.Take<int64_t>("broadcast");
  return absl::OkStatus();
}

// BatchNormalization before 14: four optional outputs of training are gone; 1 to 8 say `is_test` and `spatial`.
absl::Status BatchNormInference(RawNode& node, Graph&) {
  node.Take<int64_t>("is_test");
  if (node.Take<int64_t>("spatial").value_or(1) == 0) return Unsupported("BatchNormalization with spatial = 0");
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    if (!node.outputs[i].empty()) return Unsupported("training outputs of BatchNormalization before opset 14");
  }
  node.outputs.resize(1);
  return absl::OkStatus();
}

// Upsample and Resize-10 take an output index times 1/scale (asymmetric), nearest rounds down.
absl::Status ToResize(RawNode& node, Graph& graph) {
  if (std::optional<std::vector<float>> scales = node.Take<std::vector<float>>("scales")) {
    node.SetInput(1, graph.AddConstant("scales", Tensor::Of<float>({static_cast<int64_t>(scales->size())}, *scales)));
  } else if (node.attrs.contains("height_scale")) {  // Upsample-1
    const float h = node.Take<float>("height_scale").value_or(1), w = node.Take<float>("width_scale").value_or(1);
    node.SetInput(1, graph.AddConstant("scales", Tensor::Of<float>({4}, {1, 1, h, w})));
  }
  if (!node.HasInput(1)) return Invalid("has no scales");
  const ValueId scales = node.inputs[1];
  node.inputs = {node.inputs[0], ValueId::kNone, scales};
  std::string mode = node.Take<std::string>("mode").value_or("nearest");
  if (mode == "bilinear") mode = "linear";
  node.op_type = "Resize";
  node.attrs["mode"] = mode;
  node.attrs["coordinate_transformation_mode"] = std::string("asymmetric");
  node.attrs["nearest_mode"] = std::string("floor");
  return absl::OkStatus();
}

absl::Status ToScatterElements(RawNode& node, Graph&) {
  node.op_type = "ScatterElements";
  return absl::OkStatus();
}

// Split before 18 takes its number of parts from its outputs.
absl::Status CountSplitOutputs(RawNode& node, Graph&) {
  if (!node.HasInput(1) && !node.attrs.contains("num_outputs")) node.attrs["num_outputs"] = static_cast<int64_t>(node.outputs.size());
  return absl::OkStatus();
}

absl::Status DropOutputSequence(RawNode& node, Graph&) {
  node.Take<int64_t>("output_sequence");
  return absl::OkStatus();
}

// GroupNormalization-18 scales and shifts groups, 21 channels: each group's numbers are repeated for its channels.
absl::Status GroupsToChannels(RawNode& node, Graph& graph) {
  const auto groups = node.attrs.find("num_groups");
  if (groups == node.attrs.end() || !std::holds_alternative<int64_t>(groups->second)) return Invalid("has no attribute 'num_groups'");
  const int64_t count = std::get<int64_t>(groups->second);
  if (count <= 0) return Invalid("attribute 'num_groups' is ", count, ", expected a positive number");
  WEFT_ASSIGN_OR_RETURN(const ValueId channels, Emit(graph, "Shape", {node.inputs.at(0)}, {{"start", int64_t{1}}, {"end", int64_t{2}}}));
  WEFT_ASSIGN_OR_RETURN(const ValueId each, Emit(graph, "Div", {channels, IntsConstant(graph, "groups", {count})}));
  WEFT_ASSIGN_OR_RETURN(const ValueId shape,
                        Emit(graph, "Concat", {IntsConstant(graph, "groups", {count}), each}, {{"axis", int64_t{0}}}));
  for (size_t i = 1; i < 3 && i < node.inputs.size(); ++i) {
    WEFT_ASSIGN_OR_RETURN(const ValueId column, Emit(graph, "Unsqueeze", {node.inputs[i], IntsConstant(graph, "axes", {1})}));
    WEFT_ASSIGN_OR_RETURN(const ValueId wide, Emit(graph, "Expand", {column, shape}));
    WEFT_ASSIGN_OR_RETURN(node.inputs[i], Emit(graph, "Reshape", {wide, IntsConstant(graph, "flat", {-1})}));
  }
  return absl::OkStatus();
}

// Gone from an opset on: a file of that opset that names the op is wrong.
struct Removal {
  std::string_view op;
  int64_t since;
};
constexpr Removal kRemoved[] = {{"Upsample", 10}, {"Scatter", 11}};

// In the order in which they apply: a node of opset v runs every step of its op with v < below.
struct LiftStep {
  std::string_view op;
  int64_t below;
  absl::Status (*run)(RawNode& node, Graph& graph);
};
constexpr LiftStep kSteps[] = {
    {"Add", 7, AlignSecondOperand},
    {"And", 7, AlignSecondOperand},
    {"BatchNormalization", 14, BatchNormInference},
    {"Cast", 6, CastTargetToNumber},
    {"Clip", 11, ClipBoundsToInputs},
    {"Div", 7, AlignSecondOperand},
    {"Dropout", 12, DropoutRatioToInput},
    {"Equal", 7, AlignSecondOperand},
    {"GRU", 7, DropOutputSequence},
    {"Gemm", 7, GemmBroadcasts},
    {"Greater", 7, AlignSecondOperand},
    {"GroupNormalization", 21, GroupsToChannels},
    {"Hardmax", 13, FlattenThenLastAxis},
    {"LSTM", 7, DropOutputSequence},
    {"Less", 7, AlignSecondOperand},
    {"LogSoftmax", 13, FlattenThenLastAxis},
    {"Mul", 7, AlignSecondOperand},
    {"Or", 7, AlignSecondOperand},
    {"Pad", 11, PadsToInputs},
    {"Pow", 7, AlignSecondOperand},
    {"RNN", 7, DropOutputSequence},
    {"ReduceL1", 18, AxesToInput},
    {"ReduceL2", 18, AxesToInput},
    {"ReduceLogSum", 18, AxesToInput},
    {"ReduceLogSumExp", 18, AxesToInput},
    {"ReduceMax", 18, AxesToInput},
    {"ReduceMean", 18, AxesToInput},
    {"ReduceMin", 18, AxesToInput},
    {"ReduceProd", 18, AxesToInput},
    {"ReduceSum", 13, AxesToInput},
    {"ReduceSumSquare", 18, AxesToInput},
    {"Reshape", 5, ShapeToInput},
    {"Resize", 11, ToResize},
    {"Scatter", 11, ToScatterElements},
    {"Slice", 10, SliceBoundsToInputs},
    {"Softmax", 13, FlattenThenLastAxis},
    {"Split", 13, SplitSizesToInput},
    {"Split", 18, CountSplitOutputs},
    {"Squeeze", 13, AxesToInput},
    {"Sub", 7, AlignSecondOperand},
    {"Tile", 6, TileToRepeats},
    {"TopK", 10, TopKCountToInput},
    {"Unsqueeze", 13, AxesToInput},
    {"Upsample", 10, ToResize},
    {"Xor", 7, AlignSecondOperand},
};

}  // namespace

absl::Status LiftToNewest(RawNode& node, Graph& graph) {
  if (!node.domain.empty()) return absl::OkStatus();
  if (node.version > kNewestOpset) return Unsupported("opset ", node.version, ", expected at most ", kNewestOpset);
  for (const Removal& removal : kRemoved) {
    if (node.op_type == removal.op && node.version >= removal.since) {
      return Invalid(removal.op, " is no operator of opset ", node.version, ": it ended with opset ", removal.since - 1);
    }
  }
  // A hint about memory reuse that opset 1 nodes carry.
  if (node.version < 6) node.attrs.erase("consumed_inputs");
  const std::string op = node.op_type;  // a step may rename the node
  for (const LiftStep& step : kSteps) {
    if (step.op == op && node.version < step.below) WEFT_RETURN_IF_ERROR(step.run(node, graph));
  }
  return absl::OkStatus();
}

}  // namespace weft
