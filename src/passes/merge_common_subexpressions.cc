// y1 = Op<a>(x), y2 = Op<a>(x) -> y1 for both: same op, operands, attributes and outputs asked for; no regions, not random.
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "passes/passes.h"

namespace weft {
namespace {

// A node as far as its results go.
struct Key {
  const GraphNode* node;
  std::vector<bool> present;

  friend bool operator==(const Key& a, const Key& b) {
    return a.node->op == b.node->op && a.node->inputs == b.node->inputs && a.present == b.present && a.node->attrs == b.node->attrs;
  }
  template <class H>
  friend H AbslHashValue(H h, const Key& key) {
    return H::combine(std::move(h), key.node->op, key.node->inputs, key.node->attrs.Hash());
  }
};

}  // namespace

absl::Status MergeCommonSubexpressions(Graph& graph, PassContext& ctx) {
  absl::flat_hash_map<Key, NodeId> first;
  for (NodeId id : graph.Order()) {
    const GraphNode& node = graph.node(id);
    if (node.op->Has(kRandom) || !node.regions.empty()) continue;
    Key key{&node, {}};
    for (ValueId v : node.outputs) key.present.push_back(v != ValueId::kNone);
    const auto [it, inserted] = first.emplace(std::move(key), id);
    if (inserted) continue;
    const std::vector<ValueId> kept = graph.node(it->second).outputs;
    const std::vector<ValueId> merged = node.outputs;
    if (!ctx.Allow()) return absl::OkStatus();
    bool all = true;
    for (size_t i = 0; i < kept.size(); ++i) {
      // Two graph outputs keep their two nodes: each needs its own name.
      if (kept[i] != ValueId::kNone) all &= graph.ReplaceUses(merged[i], kept[i]);
    }
    if (all) {
      graph.RemoveNode(id);
    } else {
      ctx.TakeBack();
    }
  }
  return absl::OkStatus();
}

}  // namespace weft
