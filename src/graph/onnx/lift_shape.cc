#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/status_macros.h"
#include "graph/onnx/lift_steps.h"

namespace weft::lift_steps {
namespace {

using Ints = std::vector<int64_t>;

absl::Status IntsToInput(Draft& node, Lift& lift, std::string_view attr, size_t input) {
  WEFT_ASSIGN_OR_RETURN(const std::optional<Ints> values, node.Take<Ints>(attr));
  if (!values) return absl::OkStatus();
  if (node.Input(input) != ValueId::kNone) {
    return Invalid("has attribute '", attr, "' and input ", input, ", expected the attribute alone in opset ", node.opset);
  }
  node.SetInput(input, lift.Ints(attr, *values));
  return absl::OkStatus();
}

absl::Status RequiredIntsToInput(Draft& node, Lift& lift, std::string_view attr, size_t input) {
  if (!node.HasAttr(attr)) return Invalid("attribute '", attr, "' is missing");
  return IntsToInput(node, lift, attr, input);
}

}  // namespace

absl::Status AxesToInput(Draft& node, Lift& lift) { return IntsToInput(node, lift, "axes", 1); }

absl::Status ConcatAxis4(Draft& node, Lift&) {
  node.attrs.emplace("axis", int64_t{1});
  return absl::OkStatus();
}

absl::Status OneHotNegative11(Draft& node, Lift& lift) {
  const ValueId indices = node.Input(0);
  if (indices == ValueId::kNone) return absl::OkStatus();
  if (const Tensor* constant = lift.graph().Constant(indices); constant != nullptr && constant->dtype() == DType::kInt64) {
    const auto values = constant->span<int64_t>();
    if (std::all_of(values.begin(), values.end(), [](int64_t i) { return i >= 0; })) return absl::OkStatus();
  }
  WEFT_ASSIGN_OR_RETURN(const ValueId integers, lift.Emit("Cast", {indices}, {{"to", static_cast<int64_t>(DType::kInt64)}}));
  WEFT_ASSIGN_OR_RETURN(const ValueId negative, lift.Emit("Less", {integers, lift.Int("zero", 0)}));
  const ValueId outside = lift.Int("outside", std::numeric_limits<int64_t>::max());
  WEFT_ASSIGN_OR_RETURN(node.inputs[0], lift.Emit("Where", {negative, outside, integers}));
  return absl::OkStatus();
}

absl::Status PadNames2(Draft& node, Lift&) {
  WEFT_ASSIGN_OR_RETURN(std::optional<Ints> paddings, node.Take<Ints>("paddings"));
  if (paddings) node.attrs.emplace("pads", *std::move(paddings));
  return absl::OkStatus();
}

absl::Status PadInputs11(Draft& node, Lift& lift) {
  WEFT_RETURN_IF_ERROR(RequiredIntsToInput(node, lift, "pads", 1));
  WEFT_ASSIGN_OR_RETURN(const std::optional<float> value, node.Take<float>("value"));
  if (value.value_or(0) == 0 || node.Input(0) == ValueId::kNone) return absl::OkStatus();
  WEFT_ASSIGN_OR_RETURN(const ValueId like, lift.FloatLike("value", *value, node.Input(0)));
  node.SetInput(2, like);
  return absl::OkStatus();
}

absl::Status ReduceLogIntegers28(Draft& node, Lift& lift) {
  const ValueId x = node.Input(0);
  if (!IsInteger(lift.DTypeOf(x))) return absl::OkStatus();
  const DType dtype = lift.DTypeOf(x);
  WEFT_ASSIGN_OR_RETURN(node.inputs[0], lift.Emit("Cast", {x}, {{"to", static_cast<int64_t>(DType::kFloat64)}}));
  const ValueId y = node.Output(0);
  if (y == ValueId::kNone) return absl::OkStatus();
  const ValueId wide = lift.Detach(node, 0);
  lift.EmitAfter("Cast", {wide}, y, {{"to", static_cast<int64_t>(dtype)}});
  return absl::OkStatus();
}

absl::Status ReshapeInput5(Draft& node, Lift& lift) {
  node.attrs.erase("consumed_inputs");
  return IntsToInput(node, lift, "shape", 1);
}

absl::Status ScatterElements11(Draft& node, Lift&) {
  node.op_type = "ScatterElements";
  return absl::OkStatus();
}

absl::Status SliceInputs10(Draft& node, Lift& lift) {
  WEFT_RETURN_IF_ERROR(RequiredIntsToInput(node, lift, "starts", 1));
  WEFT_RETURN_IF_ERROR(RequiredIntsToInput(node, lift, "ends", 2));
  return IntsToInput(node, lift, "axes", 3);
}

absl::Status SplitSizes2(Draft& node, Lift& lift) {
  if (node.Input(1) == ValueId::kNone) return absl::OkStatus();
  WEFT_ASSIGN_OR_RETURN(node.inputs[1], lift.Emit("Cast", {node.inputs[1]}, {{"to", static_cast<int64_t>(DType::kInt64)}}));
  return absl::OkStatus();
}

absl::Status SplitInput13(Draft& node, Lift& lift) { return IntsToInput(node, lift, "split", 1); }

absl::Status SplitCount18(Draft& node, Lift&) {
  if (node.Input(1) == ValueId::kNone) node.attrs["num_outputs"] = static_cast<int64_t>(node.outputs.size());
  return absl::OkStatus();
}

// repeats = OneHot(axis, rank, {1, tiles})
absl::Status TileRepeats6(Draft& node, Lift& lift) {
  const ValueId x = node.Input(0), tiles = node.Input(1), axis = node.Input(2);
  if (x == ValueId::kNone || tiles == ValueId::kNone || axis == ValueId::kNone) return Invalid("has too few inputs, expected 3");
  auto scalar = [&lift](ValueId value) -> absl::StatusOr<ValueId> {
    WEFT_ASSIGN_OR_RETURN(const ValueId integer, lift.Emit("Cast", {value}, {{"to", static_cast<int64_t>(DType::kInt64)}}));
    return lift.Emit("Reshape", {integer, lift.Ints("one", {1})});
  };
  WEFT_ASSIGN_OR_RETURN(const ValueId shape, lift.Emit("Shape", {x}));
  WEFT_ASSIGN_OR_RETURN(const ValueId rank, lift.Emit("Shape", {shape}));
  WEFT_ASSIGN_OR_RETURN(const ValueId count, scalar(tiles));
  WEFT_ASSIGN_OR_RETURN(const ValueId at, scalar(axis));
  WEFT_ASSIGN_OR_RETURN(const ValueId values, lift.Emit("Concat", {lift.Ints("once", {1}), count}, {{"axis", int64_t{0}}}));
  WEFT_ASSIGN_OR_RETURN(const ValueId row, lift.Emit("OneHot", {at, rank, values}));
  WEFT_ASSIGN_OR_RETURN(const ValueId repeats, lift.Emit("Reshape", {row, lift.Ints("flat", {-1})}));
  node.inputs = {x, repeats};
  return absl::OkStatus();
}

absl::Status TopKInput10(Draft& node, Lift& lift) {
  WEFT_ASSIGN_OR_RETURN(const std::optional<int64_t> k, node.Take<int64_t>("k"));
  if (!k) return Invalid("attribute 'k' is missing");
  node.SetInput(1, lift.Ints("k", {*k}));
  return absl::OkStatus();
}

}  // namespace weft::lift_steps
