// Graph: SSA data. Nodes and values live in vectors and are named by ids; use lists are kept by the handful of edit methods below.
//
// A body of If, Loop or Scan is a Region of its node: a Graph of its own that sees the outside only through captures:
//
//      outer:   x ──────────────┐            node.regions[0].captures       = { x }
//               cond ─▶ If ─▶ y │
//      body:              └─ x' ─▶ Relu ─▶   node.regions[0].graph.captures() = { x' }
//
// so every graph can be looked at, inferred, rewritten and run by itself.
#ifndef WEFT_GRAPH_GRAPH_H_
#define WEFT_GRAPH_GRAPH_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "graph/attributes.h"
#include "graph/op.h"
#include "graph/type.h"

namespace weft {

enum class ValueId : int32_t { kNone = -1 };
enum class NodeId : int32_t { kNone = -1 };

// One place where a value is read: an operand of a node, a capture of one of its regions, or an output of the graph.
struct Use {
  NodeId node = NodeId::kNone;  // kNone: the graph's output `index`
  int32_t region = -1;          // >= 0: capture `index` of that region of the node
  int32_t index = 0;
  friend bool operator==(const Use& a, const Use& b) = default;
};

struct GraphValue {
  std::string name;  // unique in the graph; empty only where the value was removed
  Type type;
  NodeId producer = NodeId::kNone;  // kNone: an input, a capture or a constant
  int32_t producer_output = 0;
  std::vector<Use> uses;
  Tensor constant;      // an empty handle unless this is a constant
  bool formal = false;  // an input or a capture of the graph

  bool is_constant() const { return !constant.empty_handle(); }
};

class Graph;

struct Region {
  std::unique_ptr<Graph> graph;
  std::vector<ValueId> captures;  // outer values; graph->captures() has as many
  std::vector<int32_t> capture_slots;  // of each capture, its place in the outer value's use list; kept by Graph
};

struct GraphNode {
  const Op* op = nullptr;
  std::string name;                // as in the model, may be empty or repeated; messages show Graph::Label
  std::vector<ValueId> inputs;     // kNone for an omitted optional one
  std::vector<ValueId> outputs;    // kNone for an omitted optional one
  Attrs attrs;
  std::vector<Region> regions;     // as many as op->regions
  std::vector<int32_t> input_slots;  // of each input, its place in that value's use list; kept by Graph
  // The list of nodes in topological order.
  NodeId prev = NodeId::kNone;
  NodeId next = NodeId::kNone;
};

class Graph {
 public:
  Graph();
  ~Graph();
  Graph(Graph&&) noexcept;
  Graph& operator=(Graph&&) noexcept;
  // A deep copy with the same ids; constants share their memory.
  Graph Clone() const;

  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }

  // ---- Looking ----
  // Live nodes in topological order; a snapshot, so edits during iteration are safe (check IsLive for removed ones).
  std::vector<NodeId> Order() const;
  NodeId first_node() const { return head_; }
  NodeId last_node() const { return tail_; }
  int num_nodes() const { return num_nodes_; }
  bool IsLive(NodeId id) const { return nodes_[static_cast<size_t>(id)] != nullptr; }
  const GraphNode& node(NodeId id) const { return *nodes_[static_cast<size_t>(id)]; }
  const GraphValue& value(ValueId id) const { return values_[static_cast<size_t>(id)]; }
  // Ids run from 0 to num_values() - 1; removed ones have no name, no uses and no producer.
  int num_values() const { return static_cast<int>(values_.size()); }
  const std::vector<ValueId>& inputs() const { return inputs_; }
  const std::vector<ValueId>& captures() const { return captures_; }
  const std::vector<ValueId>& outputs() const { return outputs_; }
  bool IsInput(ValueId id) const { return value(id).formal; }  // an input or a capture
  bool IsOutput(ValueId id) const;
  ValueId FindValue(std::string_view name) const;  // kNone if there is none
  // What messages call the node: its name, or its first output's where it has none.
  std::string_view Label(NodeId id) const;
  // The node's operand i, kNone where omitted or beyond the end.
  ValueId Input(NodeId id, int i) const {
    const auto& in = node(id).inputs;
    return i < static_cast<int>(in.size()) ? in[i] : ValueId::kNone;
  }
  // The constant behind a value, or null. kNone gives null.
  const Tensor* Constant(ValueId id) const {
    return id != ValueId::kNone && value(id).is_constant() ? &value(id).constant : nullptr;
  }

  // ---- Building and editing ----
  // `name` is made unique where it is taken; empty: a fresh one.
  ValueId AddValue(std::string_view name, Type type);
  ValueId AddConstant(std::string_view name, Tensor tensor);
  ValueId AddInput(std::string_view name, Type type);
  ValueId AddCapture(std::string_view name, Type type);
  void AddOutput(ValueId value);

  // Appends a node (or puts it before `before`). `outputs` are values without a producer, which it becomes.
  NodeId AddNode(const Op* op, std::string_view name, std::vector<ValueId> inputs, std::vector<ValueId> outputs, Attrs attrs,
                 NodeId before = NodeId::kNone);
  // The same with one fresh output of unknown type, named after the op; returns that value.
  ValueId AddOpNode(const Op* op, std::vector<ValueId> inputs, Attrs attrs, NodeId before = NodeId::kNone);
  // Gives the node a region: `captures` are values of this graph.
  void AddRegion(NodeId node, Graph body, std::vector<ValueId> captures);
  Graph& region_graph(NodeId node, int region) { return *mutable_node(node).regions[region].graph; }
  // Returns the new capture in the region's graph.
  ValueId AddRegionCapture(NodeId node, int region, ValueId outer, std::string_view inner_name);
  // Drops capture `index` of the region; the inner value must have no uses.
  void RemoveRegionCapture(NodeId node, int region, int index);

  // Beyond the end, the operands between are omitted ones.
  void SetInput(NodeId node, int i, ValueId value);
  void SetAttrs(NodeId node, Attrs attrs) { mutable_node(node).attrs = std::move(attrs); }
  void SetType(ValueId value, Type type) { mutable_value(value).type = std::move(type); }
  void SetName(ValueId value, std::string_view name);  // made unique where taken
  // Drops an optional output that nobody reads; at the end of the outputs it leaves no place behind, unless they are variadic.
  void DropOutput(NodeId node, int i);

  // Every reader of `from` reads `to`. A graph output keeps its name: `to` takes it over. Not possible, and then false with
  // nothing changed, where `from` is a graph output and `to` an input, a capture, a constant or itself a graph output.
  bool ReplaceUses(ValueId from, ValueId to);
  // The value, which must not be an input or a capture, becomes a constant; its readers stay, its producer loses the output.
  void MakeConstant(ValueId value, Tensor tensor);
  // Forgets a value that has no uses and no producer, so that its name is free and a constant's memory returned. Inputs and
  // captures stay.
  void RemoveValue(ValueId value);
  // The node's outputs must have no uses; they are removed too.
  void RemoveNode(NodeId node);
  // Moves the node directly before `before` in the order.
  void MoveBefore(NodeId node, NodeId before);
  // Puts the nodes into a topological order (stable where it already is one); false where there is a cycle.
  bool SortTopologically();

 private:
  friend struct GraphBreaker;  // tests of the verifier
  GraphNode& mutable_node(NodeId id) { return *nodes_[static_cast<size_t>(id)]; }
  GraphValue& mutable_value(ValueId id) { return values_[static_cast<size_t>(id)]; }
  std::string UniqueName(std::string_view wanted);
  // All in constant time: whoever reads a value remembers its place in the value's use list.
  void AddUse(ValueId value, Use use);
  void RemoveUse(ValueId value, Use use);
  int32_t& SlotOf(Use use);
  ValueId& OperandOf(Use use);
  void Link(NodeId id, NodeId before);
  void Unlink(NodeId id);

  struct Names;  // names in use
  std::string name_;
  std::vector<std::unique_ptr<GraphNode>> nodes_;  // null where removed
  std::vector<GraphValue> values_;
  std::vector<ValueId> inputs_, captures_, outputs_;
  std::vector<int32_t> output_slots_;
  NodeId head_ = NodeId::kNone, tail_ = NodeId::kNone;
  int num_nodes_ = 0;
  std::unique_ptr<Names> names_;
};

struct OpsetImport {
  std::string domain;
  int64_t version = 0;
};

// A graph and what its file says around it.
struct Model {
  Graph graph;
  std::vector<OpsetImport> opsets;  // as the file states them; the graph holds the newest forms
  int64_t ir_version = 0;
  std::string producer_name, producer_version, domain, doc_string;
  int64_t model_version = 0;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::vector<Type> declared_outputs;   // what the file says of them, right or wrong
  std::vector<std::string> overridable;  // initialisers that are graph inputs too: constants here, which a run may override
};

}  // namespace weft

#endif  // WEFT_GRAPH_GRAPH_H_
