#include <algorithm>
#include <cctype>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "base/status_macros.h"
#include "graph/onnx/lift_steps.h"

namespace weft::lift_steps {
namespace {

// The value with `count` axes of size 1 behind its own; `count` is an int64 [1].
absl::StatusOr<ValueId> WithTrailingOnes(Lift& lift, ValueId shape, ValueId value, ValueId count) {
  WEFT_ASSIGN_OR_RETURN(const ValueId ones, lift.Emit("Expand", {lift.Ints("one", {1}), count}));
  WEFT_ASSIGN_OR_RETURN(const ValueId target, lift.Emit("Concat", {shape, ones}, {{"axis", int64_t{0}}}));
  return lift.Emit("Reshape", {value, target}, {{"allowzero", int64_t{1}}});
}

// The rank as an int64 [1]: the shape of the shape.
absl::StatusOr<ValueId> RankVector(Lift& lift, ValueId shape) { return lift.Emit("Shape", {shape}); }

absl::StatusOr<ValueId> UnsqueezeBehind(Lift& lift, ValueId value, int rank, int count) {
  std::vector<int64_t> axes(count);
  std::iota(axes.begin(), axes.end(), rank);
  return lift.Emit("Unsqueeze", {value, lift.Ints("axes", axes)});
}

}  // namespace

absl::Status DropConsumedInputs(Draft& node, Lift&) {
  node.attrs.erase("consumed_inputs");
  return absl::OkStatus();
}

absl::Status AlignOperands7(Draft& node, Lift& lift) {
  WEFT_ASSIGN_OR_RETURN(const std::optional<int64_t> broadcast, node.Take<int64_t>("broadcast"));
  WEFT_ASSIGN_OR_RETURN(const std::optional<int64_t> axis, node.Take<int64_t>("axis"));
  const ValueId a = node.Input(0), b = node.Input(1);
  if (broadcast.value_or(0) == 0 || !axis || a == ValueId::kNone || b == ValueId::kNone) return absl::OkStatus();
  const std::optional<int> rank_a = lift.RankOf(a), rank_b = lift.RankOf(b);
  if (rank_a && rank_b) {
    const int64_t from = *axis < 0 ? *axis + *rank_a : *axis;
    if (from < 0 || from > *rank_a - *rank_b) {
      return Invalid("attribute 'axis' is ", *axis, ", expected one at which an operand of rank ", *rank_b, " fits into rank ", *rank_a);
    }
    const int count = static_cast<int>(*rank_a - *rank_b - from);
    if (count == 0) return absl::OkStatus();
    WEFT_ASSIGN_OR_RETURN(node.inputs[1], UnsqueezeBehind(lift, b, *rank_b, count));
    return absl::OkStatus();
  }
  WEFT_ASSIGN_OR_RETURN(const ValueId shape_b, lift.Emit("Shape", {b}));
  WEFT_ASSIGN_OR_RETURN(const ValueId b_axes, RankVector(lift, shape_b));
  ValueId behind = lift.Ints("axis", {-*axis});  // A's axes from `axis` on
  if (*axis >= 0) {
    WEFT_ASSIGN_OR_RETURN(const ValueId shape_a, lift.Emit("Shape", {a}));
    WEFT_ASSIGN_OR_RETURN(const ValueId a_axes, RankVector(lift, shape_a));
    WEFT_ASSIGN_OR_RETURN(behind, lift.Emit("Add", {a_axes, behind}));
  }
  WEFT_ASSIGN_OR_RETURN(const ValueId count, lift.Emit("Sub", {behind, b_axes}));
  WEFT_ASSIGN_OR_RETURN(node.inputs[1], WithTrailingOnes(lift, shape_b, b, count));
  return absl::OkStatus();
}

absl::Status PReluSlope7(Draft& node, Lift& lift) {
  const ValueId x = node.Input(0), slope = node.Input(1);
  const Type& type = lift.TypeOf(slope);
  if (!type.is_tensor() || !type.shape.has_rank() || type.shape.rank() != 1 || type.shape[0] == Dim(1)) return absl::OkStatus();
  if (const std::optional<int> rank = lift.RankOf(x)) {
    if (*rank <= 2) return absl::OkStatus();
    WEFT_ASSIGN_OR_RETURN(node.inputs[1], UnsqueezeBehind(lift, slope, 1, *rank - 2));
    return absl::OkStatus();
  }
  WEFT_ASSIGN_OR_RETURN(const ValueId shape, lift.Emit("Shape", {x}));
  WEFT_ASSIGN_OR_RETURN(const ValueId axes, RankVector(lift, shape));
  WEFT_ASSIGN_OR_RETURN(const ValueId behind, lift.Emit("Sub", {axes, lift.Ints("two", {2})}));
  WEFT_ASSIGN_OR_RETURN(const ValueId count, lift.Emit("Max", {behind, lift.Ints("zero", {0})}));
  WEFT_ASSIGN_OR_RETURN(const ValueId own, lift.Emit("Shape", {slope}));
  WEFT_ASSIGN_OR_RETURN(node.inputs[1], WithTrailingOnes(lift, own, slope, count));
  return absl::OkStatus();
}

absl::Status ClipBounds6(Draft& node, Lift& lift) {
  node.attrs.emplace("min", -std::numeric_limits<float>::infinity());
  node.attrs.emplace("max", std::numeric_limits<float>::infinity());
  return DropConsumedInputs(node, lift);
}

absl::Status ClipInputs11(Draft& node, Lift& lift) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  const ValueId x = node.Input(0);
  for (const auto& [attr, input, none] : {std::tuple("min", size_t{1}, -kLargest), std::tuple("max", size_t{2}, kLargest)}) {
    WEFT_ASSIGN_OR_RETURN(const std::optional<float> bound, node.Take<float>(attr));
    if (x == ValueId::kNone || (bound.value_or(none) == none && lift.DTypeOf(x) == DType::kFloat32)) continue;
    WEFT_ASSIGN_OR_RETURN(const ValueId value, lift.FloatLike(attr, bound.value_or(none), x));
    node.SetInput(input, value);
  }
  return absl::OkStatus();
}

absl::Status CastTarget6(Draft& node, Lift&) {
  auto to = node.attrs.find("to");
  if (to == node.attrs.end() || !std::holds_alternative<std::string>(to->second)) return absl::OkStatus();
  std::string name = std::get<std::string>(to->second);
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::optional<DType> dtype = DTypeFromName(name);
  if (!dtype || *dtype == DType::kUndefined) return Invalid("attribute 'to' is '", name, "', expected the name of an element type");
  to->second = static_cast<int64_t>(*dtype);
  return absl::OkStatus();
}

absl::Status SeluConstants6(Draft& node, Lift& lift) {
  node.attrs.emplace("alpha", 1.6732f);
  node.attrs.emplace("gamma", 1.0507f);
  return DropConsumedInputs(node, lift);
}

absl::Status DropoutTest7(Draft& node, Lift&) {
  node.attrs.erase("is_test");
  return absl::OkStatus();
}

absl::Status DropoutMask10(Draft& node, Lift& lift) {
  const ValueId mask = node.Output(1);
  if (mask == ValueId::kNone || node.Input(0) == ValueId::kNone) return absl::OkStatus();
  const ValueId bools = lift.Detach(node, 1);
  lift.EmitAfter("CastLike", {bools, node.Input(0)}, mask);
  return absl::OkStatus();
}

absl::Status DropoutRatio12(Draft& node, Lift& lift) {
  WEFT_ASSIGN_OR_RETURN(const std::optional<float> ratio, node.Take<float>("ratio"));
  if (ratio) node.SetInput(1, lift.Float("ratio", *ratio));
  return absl::OkStatus();
}

}  // namespace weft::lift_steps
