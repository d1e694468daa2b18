// A node between file and graph.
#ifndef WEFT_GRAPH_ONNX_DRAFT_H_
#define WEFT_GRAPH_ONNX_DRAFT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/infer.h"

namespace weft {

// A body of a drafted node: what becomes one of its regions.
struct DraftBody {
  std::string attribute;  // the graph attribute's name
  Graph graph;
  std::vector<ValueId> captures;  // values of the node's graph, as many as graph.captures()
};

// A node whose operands and results are values of a graph already, and which may have the form of any opset. Results have no producer yet.
struct Draft {
  std::string domain, op_type, name;
  int64_t opset = 0;  // of the domain, as the file imports it
  std::vector<ValueId> inputs, outputs;  // kNone for an omitted one
  std::map<std::string, AttrValue, std::less<>> attrs;
  std::vector<DraftBody> bodies;

  ValueId Input(size_t i) const { return i < inputs.size() ? inputs[i] : ValueId::kNone; }
  ValueId Output(size_t i) const { return i < outputs.size() ? outputs[i] : ValueId::kNone; }
  // Omitted operands come before it where need be.
  void SetInput(size_t i, ValueId value) {
    if (inputs.size() <= i) inputs.resize(i + 1, ValueId::kNone);
    inputs[i] = value;
  }
  bool HasAttr(std::string_view attr) const { return attrs.find(attr) != attrs.end(); }
  // Takes the attribute out of the node: nothing where it is absent, an error where it is of another kind.
  template <class T>
  absl::StatusOr<std::optional<T>> Take(std::string_view attr) {
    auto it = attrs.find(attr);
    if (it == attrs.end()) return std::optional<T>();
    if (!std::holds_alternative<T>(it->second)) {
      return absl::InvalidArgumentError(absl::StrCat("attribute '", ToAbsl(attr), "' is of kind ",
                                                     ToAbsl(AttrKindName(static_cast<AttrKind>(it->second.index()))), ", expected ",
                                                     ToAbsl(AttrKindName(static_cast<AttrKind>(AttrValue(T()).index())))));
    }
    std::optional<T> value = std::get<T>(std::move(it->second));
    attrs.erase(it);
    return value;
  }
  // "Conv", "ai.onnx.ml.ZipMap".
  std::string QualifiedOp() const { return domain.empty() ? op_type : absl::StrCat(domain, ".", op_type); }
};

// Appends the node, which has the newest form, to the graph. Errors: Unsupported where there is no record of the op, Invalid where operands or
// attributes are not those of the op; then the graph is as before.
absl::Status AppendNode(Graph& graph, Draft draft);

// Types of values of a graph under construction, found by inference as far as they are asked for. What inference refuses has unknown type:
// the inference of the whole graph reports it.
class InferredTypes {
 public:
  explicit InferredTypes(Graph& graph) : graph_(graph) {}
  // kNone has unknown type. Valid until the next call.
  const Type& Of(ValueId value);

 private:
  void InferNode(NodeId node);

  Graph& graph_;
  NodeId last_ = NodeId::kNone;  // inferred up to this node
  KnownElements known_;
  int64_t fresh_ = 0;
};

}  // namespace weft

#endif  // WEFT_GRAPH_ONNX_DRAFT_H_
