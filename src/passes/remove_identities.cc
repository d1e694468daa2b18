// Identity(x) -> x, and every op that gives back its operand as it is: a Cast to the type it has, a Transpose that moves no axis, a
// Reshape, Flatten, Squeeze, Unsqueeze or Expand to the shape it has, a Slice of everything, a Pad by nothing, a Concat, Sum, Max,
// Min or Mean of one operand, a Dropout that does not train, an OptionalGetElement of what is no optional.
#include <algorithm>

#include "graph/ops/shape.h"
#include "passes/passes.h"

namespace weft {
namespace {

bool AllEqual(const Tensor* tensor, int64_t wanted) {
  if (tensor == nullptr) return false;
  const auto elements = ElementsOf(*tensor);
  return elements && std::all_of(elements->begin(), elements->end(), [&](const Dim& d) { return d == Dim(wanted); });
}

// Both types are known to be one tensor type for every binding of their symbols.
bool SameTensorType(const Type& a, const Type& b) { return a.is_tensor() && a.shape.has_rank() && a == b; }

bool GivesBackOperand(const Graph& graph, const GraphNode& node, const KnownElements& known) {
  const Op* op = node.op;
  if (op == &ops::Identity) return true;
  if (node.inputs.size() == 1 && (op == &ops::Concat || op == &ops::Sum || op == &ops::Max || op == &ops::Min || op == &ops::Mean)) return true;
  if (op == &ops::Dropout) {
    return node.inputs.size() < 3 || node.inputs[2] == ValueId::kNone || AllEqual(graph.Constant(node.inputs[2]), 0);
  }
  const Type &in = graph.value(node.inputs[0]).type, &out = graph.value(node.outputs[0]).type;
  if (op == &ops::OptionalGetElement) return in.is_tensor() || in.kind == Type::Kind::kSequence;
  if (op == &ops::Cast || op == &ops::CastLike) return in.is_tensor() && in.dtype != DType::kUndefined && in.dtype == out.dtype;
  if (op == &ops::Transpose) {
    if (!in.is_tensor() || !in.shape.has_rank()) return false;
    const std::vector<int64_t> perm = PermOf(node.attrs.As<TransposeAttrs>(), in.shape.rank());
    return std::is_sorted(perm.begin(), perm.end());
  }
  if (!SameTensorType(in, out)) return false;
  if (op == &ops::Reshape || op == &ops::Flatten || op == &ops::Squeeze || op == &ops::Unsqueeze) return true;
  // Of sizes that nobody has seen inference takes for granted that they fit; the run has to look.
  if (op == &ops::Expand) return known[static_cast<int>(node.inputs[1])].has_value();
  // The same size can also come of a reversal, or of as many elements cut as added.
  if (op == &ops::Slice) return node.inputs.size() < 5 || node.inputs[4] == ValueId::kNone || AllEqual(graph.Constant(node.inputs[4]), 1);
  if (op == &ops::Pad) return AllEqual(graph.Constant(node.inputs[1]), 0);
  return false;
}

}  // namespace

absl::Status RemoveIdentities(Graph& graph, PassContext& ctx) {
  for (NodeId id : graph.Order()) {
    const GraphNode& node = graph.node(id);
    if (node.outputs.size() != 1 || node.outputs[0] == ValueId::kNone || node.inputs.empty() || node.inputs[0] == ValueId::kNone) continue;
    if (!GivesBackOperand(graph, node, ctx.known)) continue;
    if (!ctx.Allow()) return absl::OkStatus();
    if (graph.ReplaceUses(node.outputs[0], node.inputs[0])) {
      graph.RemoveNode(id);
    } else {
      ctx.TakeBack();  // an output of the graph that is an input too keeps the node between its names
    }
  }
  return absl::OkStatus();
}

}  // namespace weft
