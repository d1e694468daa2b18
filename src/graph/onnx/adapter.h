// The opset adapter: lifts a node of any opset to the newest form of its op.
#ifndef WEFT_GRAPH_ONNX_ADAPTER_H_
#define WEFT_GRAPH_ONNX_ADAPTER_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/graph.h"

namespace weft {

// A node between file and graph: operands are values already, results still have their names.
struct RawNode {
  std::string domain, op_type, name;
  int64_t version = 0;  // of the domain, as the file imports it
  std::vector<ValueId> inputs;
  std::vector<std::string> outputs;  // "" for an omitted one
  std::map<std::string, AttrValue, std::less<>> attrs;
  // Set by a step that works on the results (a Reshape back): from the value the op yields as output 0 to the one that takes its name.
  std::function<absl::StatusOr<ValueId>(ValueId)> finish;

  bool HasInput(size_t i) const { return i < inputs.size() && inputs[i] != ValueId::kNone; }
  // Sets input i, with omitted ones in front of it where need be.
  void SetInput(size_t i, ValueId value) {
    if (inputs.size() <= i) inputs.resize(i + 1, ValueId::kNone);
    inputs[i] = value;
  }
  // Takes the attribute out of the node; nothing where it is absent or of another kind.
  template <class T>
  std::optional<T> Take(std::string_view attr) {
    auto it = attrs.find(attr);
    if (it == attrs.end() || !std::holds_alternative<T>(it->second)) return std::nullopt;
    T value = std::get<T>(std::move(it->second));
    attrs.erase(it);
    return value;
  }
};

// Rewrites `node` into the newest form; extra nodes and constants go into `graph`, in front of the node's place (its end).
// Errors: Invalid (an attribute that this version does not allow), Unsupported (what the newest form cannot express).
absl::Status LiftToNewest(RawNode& node, Graph& graph);

// The version of `domain` that the forms in the graph belong to.
inline constexpr int64_t kNewestOpset = 28;

}  // namespace weft

#endif  // WEFT_GRAPH_ONNX_ADAPTER_H_
