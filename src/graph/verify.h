// The invariants of a graph, as a list of named checks.
#ifndef WEFT_GRAPH_VERIFY_H_
#define WEFT_GRAPH_VERIFY_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "graph/graph.h"

namespace weft {

// Every check over the graph and its regions; the first that fails gives the error: Internal, with the check's name,
// the node, what was found and what was expected. A graph from outside fails here only if the code that built it was
// wrong, for that calls VerifyNode and InferTypes.
//
//   ids        every id names a value or a node of this graph
//   order      the list of nodes is whole, and every value is defined before it is read
//   producers  nodes and their outputs name each other; inputs, captures and constants have no producer
//   uses       use lists and operands name each other, exactly once each
//   names      every value has a name of its own
//   nodes      VerifyNode
//   outputs    every output of the graph is defined
//   types      no dim is negative; every value has the type that inference gives, as far as both are known
absl::Status Verify(const Graph& graph);

// What the op's record asks of one node: number of operands, attributes of its schema, required attributes, regions and
// the number of their captures. Errors: Invalid, naming the node.
absl::Status VerifyNode(const Graph& graph, NodeId id);

// The operands alone, before there is a node; the error does not name it.
absl::Status CheckOperands(const Op& op, absl::Span<const ValueId> inputs, absl::Span<const ValueId> outputs);

}  // namespace weft

#endif  // WEFT_GRAPH_VERIFY_H_
