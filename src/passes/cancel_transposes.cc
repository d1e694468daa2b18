// Transpose(Transpose(x, p), q) -> Transpose(x, p[q]), and -> x where p[q] moves no axis.
#include <algorithm>

#include "graph/ops/shape.h"
#include "passes/match.h"
#include "passes/passes.h"

namespace weft {

absl::Status CancelTransposes(Graph& graph, PassContext& ctx) {
  for (NodeId id : graph.Order()) {
    if (graph.node(id).op != &ops::Transpose) continue;
    const ValueId middle = graph.node(id).inputs[0], out = graph.node(id).outputs[0];
    const NodeId inner = ProducerOf(graph, middle, ops::Transpose);
    const Shape& shape = graph.value(middle).type.shape;
    if (inner == NodeId::kNone || !shape.has_rank()) continue;
    const std::vector<int64_t> p = PermOf(graph.node(inner).attrs.As<TransposeAttrs>(), shape.rank());
    std::vector<int64_t> composed;
    for (int64_t axis : PermOf(graph.node(id).attrs.As<TransposeAttrs>(), shape.rank())) composed.push_back(p[axis]);
    const ValueId x = graph.node(inner).inputs[0];
    if (!ctx.Allow()) return absl::OkStatus();
    if (std::is_sorted(composed.begin(), composed.end()) && graph.ReplaceUses(out, x)) {
      graph.RemoveNode(id);
    } else {
      graph.SetInput(id, 0, x);
      graph.SetAttrs(id, TransposeAttrs{std::move(composed)});
    }
    if (graph.value(middle).uses.empty()) graph.RemoveNode(inner);
  }
  return absl::OkStatus();
}

}  // namespace weft
