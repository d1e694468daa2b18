// Op(constants) -> constant, unless that would swell the model; a small integer value that shapes alone decide -> constant.
#include <algorithm>
#include <optional>

#include "base/status_macros.h"
#include "passes/passes.h"

namespace weft {
namespace {

// A result larger than its operands (Expand, ConstantOfShape, Tile ...) is folded up to this size only.
constexpr int64_t kGrowthBudgetBytes = int64_t{1} << 16;

bool AllConstant(const Graph& graph, const GraphNode& node) {
  return std::all_of(node.inputs.begin(), node.inputs.end(),
                     [&](ValueId v) { return v == ValueId::kNone || graph.value(v).is_constant(); });
}

// Inferred before it is computed: a hostile Expand must not get its memory.
bool WithinBudget(const Graph& graph, const GraphNode& node) {
  int64_t in = 0, out = 0;
  for (ValueId v : node.inputs) {
    if (v != ValueId::kNone) in += static_cast<int64_t>(graph.value(v).constant.bytes());
  }
  for (ValueId v : node.outputs) {
    if (v == ValueId::kNone) continue;
    const Type& type = graph.value(v).type;
    if (!type.is_tensor()) return false;
    const std::optional<Dims> dims = type.shape.Concrete();
    if (!dims) {
      if (node.op->Has(kDataDependent)) continue;  // no larger than what it picks from
      return false;
    }
    const auto count = NumElements(*dims);
    const int64_t size = static_cast<int64_t>(DTypeSize(type.dtype));
    if (!count.ok() || *count > (int64_t{1} << 40) / size) return false;
    out += *count * size;
  }
  return out <= std::max(in, kGrowthBudgetBytes);
}

}  // namespace

absl::Status FoldConstants(Graph& graph, PassContext& ctx) {
  for (NodeId id : graph.Order()) {
    const GraphNode& node = graph.node(id);
    if (node.op->Has(kRandom) || !node.regions.empty()) continue;
    // Shapes: no operand need be constant.
    if (node.outputs.size() == 1 && node.outputs[0] != ValueId::kNone && static_cast<size_t>(node.outputs[0]) < ctx.known.size()) {
      const ValueId out = node.outputs[0];
      const auto& elements = ctx.known[static_cast<size_t>(out)];
      if (std::optional<Tensor> tensor = elements ? TensorOfElements(graph.value(out).type, *elements) : std::nullopt) {
        if (!ctx.Allow()) return absl::OkStatus();
        graph.MakeConstant(out, *std::move(tensor));
        graph.RemoveNode(id);
        continue;
      }
    }
    if (!AllConstant(graph, node) || !WithinBudget(graph, node)) continue;
    std::vector<Value> inputs;
    for (ValueId v : node.inputs) inputs.push_back(v == ValueId::kNone ? Value() : Value(graph.value(v).constant));
    // What cannot be computed now fails, with its message, if the run gets there.
    absl::StatusOr<std::vector<Value>> results =
        ctx.evaluate(*node.op, node.attrs, inputs, static_cast<int>(node.outputs.size()));
    if (!results.ok()) continue;
    if (!std::all_of(results->begin(), results->end(), [](const Value& v) { return v.is_tensor(); })) continue;
    if (!ctx.Allow()) return absl::OkStatus();
    const std::vector<ValueId> outputs = node.outputs;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i] != ValueId::kNone) graph.MakeConstant(outputs[i], (*results)[i].tensor());
    }
    graph.RemoveNode(id);
  }
  return absl::OkStatus();
}

}  // namespace weft
