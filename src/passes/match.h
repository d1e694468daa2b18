// Questions that rewrites ask of a graph.
#ifndef WEFT_PASSES_MATCH_H_
#define WEFT_PASSES_MATCH_H_

#include <optional>

#include "graph/graph.h"

namespace weft {

// The node that is the only reader of `value`, as operand `*input`; kNone where there is another reader, a region's capture or an output of
// the graph among them.
inline NodeId SoleReader(const Graph& graph, ValueId value, int* input = nullptr) {
  const auto& uses = graph.value(value).uses;
  if (uses.size() != 1 || uses[0].node == NodeId::kNone || uses[0].region >= 0) return NodeId::kNone;
  if (input != nullptr) *input = uses[0].index;
  return uses[0].node;
}

// The node that makes `value`, where it is of `op`; kNone otherwise.
inline NodeId ProducerOf(const Graph& graph, ValueId value, const Op& op) {
  if (value == ValueId::kNone) return NodeId::kNone;
  const NodeId producer = graph.value(value).producer;
  return producer != NodeId::kNone && graph.node(producer).op == &op ? producer : NodeId::kNone;
}

// The one float that a constant holds, whatever its rank.
inline std::optional<float> ScalarFloat(const Graph& graph, ValueId value) {
  const Tensor* tensor = graph.Constant(value);
  if (tensor == nullptr || tensor->dtype() != DType::kFloat32 || tensor->size() != 1) return std::nullopt;
  return *tensor->data<float>();
}

}  // namespace weft

#endif  // WEFT_PASSES_MATCH_H_
