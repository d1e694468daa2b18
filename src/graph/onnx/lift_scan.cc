#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "graph/onnx/lift_steps.h"

namespace weft::lift_steps {
namespace {

// The batch's elements of the operands inside the outer body, and how long its sequences are.
struct BatchElement {
  std::vector<ValueId> states, scans;
  ValueId length = ValueId::kNone;  // int64 [1]
};

absl::Status CutToLength(Lift& lift, BatchElement& element) {
  for (ValueId& scan : element.scans) {
    WEFT_ASSIGN_OR_RETURN(scan, lift.Emit("Slice", {scan, lift.Ints("start", {0}), element.length, lift.Ints("axes", {0})}));
  }
  return absl::OkStatus();
}

// Zeros behind the sequence, up to the length of `full`.
absl::StatusOr<ValueId> PadToLength(Lift& lift, ValueId value, ValueId length, ValueId full) {
  WEFT_ASSIGN_OR_RETURN(const ValueId longest, lift.Emit("Shape", {full}, {{"start", int64_t{0}}, {"end", int64_t{1}}}));
  WEFT_ASSIGN_OR_RETURN(const ValueId missing, lift.Emit("Sub", {longest, length}));
  WEFT_ASSIGN_OR_RETURN(const ValueId pads, lift.Emit("Concat", {lift.Ints("none", {0}), missing}, {{"axis", int64_t{0}}}));
  return lift.Emit("Pad", {value, pads, ValueId::kNone, lift.Ints("axes", {0})});
}

// The body of the outer Scan: the inner one, over one element of the batch.
absl::StatusOr<Graph> OuterBody(const Draft& node, DraftBody body, size_t num_scans, std::vector<int64_t> directions) {
  Graph graph;
  InferredTypes types(graph);
  Lift lift(graph, types, node.name);
  const bool has_lengths = node.inputs[0] != ValueId::kNone;
  const size_t num_states = node.inputs.size() - 1 - num_scans;
  BatchElement element;
  for (size_t i = 0; i < num_states; ++i) element.states.push_back(graph.AddInput(absl::StrCat("state_", i), Type::Unknown()));
  for (size_t i = 0; i < num_scans; ++i) element.scans.push_back(graph.AddInput(absl::StrCat("scan_", i), Type::Unknown()));
  const ValueId full = element.scans[0];
  if (has_lengths) {
    const ValueId length = graph.AddInput("length", Type::Unknown());
    WEFT_ASSIGN_OR_RETURN(const ValueId integer, lift.Emit("Cast", {length}, {{"to", static_cast<int64_t>(DType::kInt64)}}));
    WEFT_ASSIGN_OR_RETURN(element.length, lift.Emit("Reshape", {integer, lift.Ints("one", {1})}));
    WEFT_RETURN_IF_ERROR(CutToLength(lift, element));
  }

  Draft inner;
  inner.op_type = "Scan";
  inner.name = node.name;
  inner.attrs["num_scan_inputs"] = static_cast<int64_t>(num_scans);
  if (!directions.empty()) inner.attrs["scan_input_directions"] = std::move(directions);
  inner.inputs = element.states;
  inner.inputs.insert(inner.inputs.end(), element.scans.begin(), element.scans.end());
  for (ValueId& capture : body.captures) {
    const GraphValue& value = body.graph.value(body.graph.captures()[&capture - body.captures.data()]);
    capture = graph.AddCapture(value.name, value.type);
  }
  const size_t num_outputs = body.graph.outputs().size();
  for (size_t i = 0; i < num_outputs; ++i) inner.outputs.push_back(graph.AddValue(absl::StrCat("result_", i), Type::Unknown()));
  const std::vector<ValueId> results = inner.outputs;
  inner.bodies.push_back(std::move(body));
  WEFT_RETURN_IF_ERROR(AppendNode(graph, std::move(inner)));

  for (size_t i = 0; i < num_outputs; ++i) {
    ValueId result = results[i];
    if (has_lengths && i >= num_states) {
      WEFT_ASSIGN_OR_RETURN(result, PadToLength(lift, result, element.length, full));
    }
    graph.AddOutput(result);
  }
  return graph;
}

}  // namespace

// Scan-8 (sequence_lens, states..., scans...) ran each element of the batch by itself: a Scan over the batch around a Scan over the sequence.
absl::Status ScanBatch9(Draft& node, Lift&) {
  WEFT_ASSIGN_OR_RETURN(const std::optional<int64_t> num_scans, node.Take<int64_t>("num_scan_inputs"));
  WEFT_ASSIGN_OR_RETURN(const auto directions, node.Take<std::vector<int64_t>>("directions"));
  if (!num_scans) return Invalid("attribute 'num_scan_inputs' is missing");
  if (*num_scans < 1 || static_cast<uint64_t>(*num_scans) + 1 > node.inputs.size()) {
    return Invalid("attribute 'num_scan_inputs' is ", *num_scans, " with ", node.inputs.size(), " inputs");
  }
  if (node.bodies.size() != 1) return Invalid("graph attribute 'body' is missing");
  DraftBody outer;
  outer.attribute = node.bodies[0].attribute;
  outer.captures = node.bodies[0].captures;
  WEFT_ASSIGN_OR_RETURN(outer.graph, OuterBody(node, std::move(node.bodies[0]), static_cast<size_t>(*num_scans),
                                               directions.value_or(std::vector<int64_t>())));
  node.bodies[0] = std::move(outer);
  // Every operand is scanned along the batch, the lengths behind the others.
  if (node.inputs[0] != ValueId::kNone) node.inputs.push_back(node.inputs[0]);
  node.inputs.erase(node.inputs.begin());
  node.attrs["num_scan_inputs"] = static_cast<int64_t>(node.inputs.size());
  return absl::OkStatus();
}

}  // namespace weft::lift_steps
