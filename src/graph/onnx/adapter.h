// The opset adapter: lifts a node of any opset to the newest form of its op.
//
// ONNX changes an op by giving it a new version; `op_history.cc` lists every version of every op, and beside a version the step that turns
// a node of the version before into it, where there is something to do:
//
//      {"Softmax", {{1}, {11}, {13, &FlattenToLastAxis}}}
//
//      a node of opset 9 has version 1:   1 ─▶ 11 (no change) ─▶ 13 (FlattenToLastAxis)
#ifndef WEFT_GRAPH_ONNX_ADAPTER_H_
#define WEFT_GRAPH_ONNX_ADAPTER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "graph/onnx/draft.h"

namespace weft {

// The newest opset of `domain` that is understood; nothing for a domain that is not ONNX's.
std::optional<int64_t> NewestOpset(std::string_view domain);

// What a step works with: it may put nodes and constants into the graph in front of the node that it lifts, and nodes behind it.
class Lift {
 public:
  using Attributes = std::vector<std::pair<std::string_view, AttrValue>>;

  Lift(Graph& graph, InferredTypes& types, std::string_view name) : graph_(graph), types_(types), name_(name) {}

  Graph& graph() { return graph_; }
  const Type& TypeOf(ValueId value) { return types_.Of(value); }
  // Element type and rank of a tensor: kUndefined and nothing where they are not known.
  DType DTypeOf(ValueId value) { return TypeOf(value).is_tensor() ? TypeOf(value).dtype : DType::kUndefined; }
  std::optional<int> RankOf(ValueId value);

  ValueId Constant(std::string_view what, Tensor tensor);
  ValueId Ints(std::string_view what, const std::vector<int64_t>& values);  // [n]
  ValueId Int(std::string_view what, int64_t value);                        // a scalar
  ValueId Float(std::string_view what, float value);                        // a scalar
  // A scalar of the element type that `like` has.
  absl::StatusOr<ValueId> FloatLike(std::string_view what, float value, ValueId like);

  // A node in the newest form of the op, in front of the one being lifted; its first output.
  absl::StatusOr<ValueId> Emit(std::string_view op_type, std::vector<ValueId> inputs, Attributes attrs = {});
  // A node that produces `output`, behind the one being lifted. Later ones come first.
  void EmitAfter(std::string_view op_type, std::vector<ValueId> inputs, ValueId output, Attributes attrs = {});
  // Gives output `i` of the node a fresh value, which is returned: the step must produce the value that stood there, if it is not kNone.
  ValueId Detach(Draft& node, size_t i);

  // The node, then those that stand behind it.
  absl::Status Append(Draft node);

 private:
  Draft MakeDraft(std::string_view op_type, std::vector<ValueId> inputs, ValueId output, Attributes attrs);

  Graph& graph_;
  InferredTypes& types_;
  std::string name_;
  std::vector<Draft> after_;
};

// Steps assume nothing of the node: too few operands, attributes of another kind. Errors: Invalid, Unsupported.
using LiftStep = absl::Status (*)(Draft& node, Lift& lift);

// One version of an op.
struct OpVersion {
  int64_t since = 0;        // 0: none
  LiftStep step = nullptr;  // from the version before; null: a node of that one is a node of this one
  bool gone = false;        // from `since` on there is no such op: the step makes another one of it
};

struct OpHistory {
  std::string_view domain, name;
  OpVersion versions[11];  // ascending
  LiftStep tidy = nullptr;  // runs last, whatever the version was

  absl::Span<const OpVersion> Versions() const;
};

// Every op of ONNX's domains.
absl::Span<const OpHistory> OpHistories();
// Null for an op that ONNX never had.
const OpHistory* FindHistory(std::string_view domain, std::string_view name);

// Turns the node into the newest form of its op. Nodes of domains that are not ONNX's are left alone.
// Errors: Invalid (no such op in that opset, or what the version does not allow), Unsupported (what the newest form cannot express).
absl::Status LiftToNewest(Draft& node, Lift& lift);

}  // namespace weft

#endif  // WEFT_GRAPH_ONNX_ADAPTER_H_
