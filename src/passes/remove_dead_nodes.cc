// A node none of whose outputs is read -> nothing; an optional output that nobody reads -> omitted;
// a capture that its region does not read -> dropped; a constant that nobody reads -> gone, with its memory.
#include "passes/passes.h"

namespace weft {

absl::Status RemoveDeadNodes(Graph& graph, PassContext& ctx) {
  std::vector<NodeId> order = graph.Order();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const GraphNode& node = graph.node(*it);
    bool read = false;
    for (ValueId v : node.outputs) read |= v != ValueId::kNone && !graph.value(v).uses.empty();
    if (!read) {
      if (!ctx.Allow()) return absl::OkStatus();
      graph.RemoveNode(*it);
      continue;
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const bool optional = static_cast<int>(i) >= node.op->outputs.min && node.op->outputs.max != Arity::kVariadic;
      if (!optional || node.outputs[i] == ValueId::kNone || !graph.value(node.outputs[i]).uses.empty()) continue;
      if (!ctx.Allow()) return absl::OkStatus();
      graph.DropOutput(*it, static_cast<int>(i));
    }
    for (size_t k = 0; k < node.regions.size(); ++k) {
      const Graph& body = *node.regions[k].graph;
      for (int c = static_cast<int>(body.captures().size()) - 1; c >= 0; --c) {
        if (!body.value(body.captures()[c]).uses.empty()) continue;
        if (!ctx.Allow()) return absl::OkStatus();
        graph.RemoveRegionCapture(*it, static_cast<int>(k), c);
      }
    }
  }
  for (int v = 0; v < graph.num_values(); ++v) {
    const GraphValue& value = graph.value(ValueId{v});
    if (!value.is_constant() || !value.uses.empty()) continue;
    if (!ctx.Allow()) return absl::OkStatus();
    graph.RemoveValue(ValueId{v});
  }
  return absl::OkStatus();
}

}  // namespace weft
