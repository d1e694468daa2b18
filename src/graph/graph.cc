#include "graph/graph.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "base/text.h"

namespace weft {

struct Graph::Names {
  absl::flat_hash_map<std::string, ValueId> taken;
  absl::flat_hash_map<std::string, int64_t> next_suffix;  // of a wanted name that was taken
};

Graph::Graph() : names_(std::make_unique<Names>()) {}
Graph::~Graph() = default;
Graph::Graph(Graph&&) noexcept = default;
Graph& Graph::operator=(Graph&&) noexcept = default;

Graph Graph::Clone() const {
  Graph copy;
  copy.name_ = name_;
  copy.values_ = values_;
  copy.inputs_ = inputs_;
  copy.captures_ = captures_;
  copy.outputs_ = outputs_;
  copy.output_slots_ = output_slots_;
  copy.head_ = head_;
  copy.tail_ = tail_;
  copy.num_nodes_ = num_nodes_;
  *copy.names_ = *names_;
  copy.nodes_.reserve(nodes_.size());
  for (const auto& from : nodes_) {
    if (from == nullptr) {
      copy.nodes_.push_back(nullptr);
      continue;
    }
    auto to = std::make_unique<GraphNode>();
    to->op = from->op;
    to->name = from->name;
    to->inputs = from->inputs;
    to->outputs = from->outputs;
    to->attrs = from->attrs;
    to->input_slots = from->input_slots;
    to->prev = from->prev;
    to->next = from->next;
    for (const Region& region : from->regions) {
      to->regions.push_back({std::make_unique<Graph>(region.graph->Clone()), region.captures, region.capture_slots});
    }
    copy.nodes_.push_back(std::move(to));
  }
  return copy;
}

// ---- Looking ----

std::vector<NodeId> Graph::Order() const {
  std::vector<NodeId> order;
  order.reserve(num_nodes_);
  for (NodeId id = head_; id != NodeId::kNone; id = node(id).next) order.push_back(id);
  return order;
}

bool Graph::IsOutput(ValueId id) const {
  const std::vector<Use>& uses = value(id).uses;
  if (outputs_.size() < uses.size()) return std::find(outputs_.begin(), outputs_.end(), id) != outputs_.end();
  return std::any_of(uses.begin(), uses.end(), [](const Use& use) { return use.node == NodeId::kNone; });
}

ValueId Graph::FindValue(std::string_view name) const {
  auto it = names_->taken.find(ToAbsl(name));
  return it == names_->taken.end() ? ValueId::kNone : it->second;
}

std::string_view Graph::Label(NodeId id) const {
  const GraphNode& n = node(id);
  if (!n.name.empty()) return n.name;
  for (ValueId output : n.outputs) {
    if (output != ValueId::kNone) return value(output).name;
  }
  return "";
}

// ---- Values ----

// Wanted names that are taken get the first free of _1, _2, ...; each wanted name goes on counting where it stopped.
std::string Graph::UniqueName(std::string_view wanted) {
  if (!wanted.empty() && !names_->taken.contains(ToAbsl(wanted))) return std::string(wanted);
  int64_t& suffix = names_->next_suffix[ToAbsl(wanted)];
  std::string name;
  do {
    ++suffix;
    name = wanted.empty() ? absl::StrCat("v", suffix) : absl::StrCat(ToAbsl(wanted), "_", suffix);
  } while (names_->taken.contains(name));
  return name;
}

ValueId Graph::AddValue(std::string_view name, Type type) {
  const ValueId id{static_cast<int32_t>(values_.size())};
  GraphValue& value = values_.emplace_back();
  value.name = UniqueName(name);
  value.type = std::move(type);
  names_->taken.emplace(value.name, id);
  return id;
}

ValueId Graph::AddConstant(std::string_view name, Tensor tensor) {
  const ValueId id = AddValue(name, Type::OfTensor(tensor));
  mutable_value(id).constant = std::move(tensor);
  return id;
}

ValueId Graph::AddInput(std::string_view name, Type type) {
  const ValueId id = AddValue(name, std::move(type));
  mutable_value(id).formal = true;
  inputs_.push_back(id);
  return id;
}

ValueId Graph::AddCapture(std::string_view name, Type type) {
  const ValueId id = AddValue(name, std::move(type));
  mutable_value(id).formal = true;
  captures_.push_back(id);
  return id;
}

void Graph::AddOutput(ValueId value) {
  outputs_.push_back(value);
  output_slots_.push_back(-1);
  AddUse(value, {.index = static_cast<int32_t>(outputs_.size() - 1)});
}

void Graph::SetName(ValueId id, std::string_view name) {
  GraphValue& value = mutable_value(id);
  if (value.name == name && !name.empty()) return;
  const std::string wanted(name);  // `name` may be the one that goes
  names_->taken.erase(value.name);
  value.name = UniqueName(wanted);
  names_->taken.emplace(value.name, id);
}

void Graph::MakeConstant(ValueId id, Tensor tensor) {
  GraphValue& value = mutable_value(id);
  if (value.producer != NodeId::kNone) {
    mutable_node(value.producer).outputs[value.producer_output] = ValueId::kNone;
    value.producer = NodeId::kNone;
    value.producer_output = 0;
  }
  value.type = Type::OfTensor(tensor);
  value.constant = std::move(tensor);
}

void Graph::RemoveValue(ValueId id) {
  GraphValue& value = mutable_value(id);
  if (value.formal) return;
  names_->taken.erase(value.name);
  value = GraphValue();
}

// ---- Uses ----

int32_t& Graph::SlotOf(Use use) {
  if (use.node == NodeId::kNone) return output_slots_[use.index];
  GraphNode& node = mutable_node(use.node);
  return use.region >= 0 ? node.regions[use.region].capture_slots[use.index] : node.input_slots[use.index];
}

ValueId& Graph::OperandOf(Use use) {
  if (use.node == NodeId::kNone) return outputs_[use.index];
  GraphNode& node = mutable_node(use.node);
  return use.region >= 0 ? node.regions[use.region].captures[use.index] : node.inputs[use.index];
}

void Graph::AddUse(ValueId id, Use use) {
  if (id == ValueId::kNone) return;
  std::vector<Use>& uses = mutable_value(id).uses;
  SlotOf(use) = static_cast<int32_t>(uses.size());
  uses.push_back(use);
}

void Graph::RemoveUse(ValueId id, Use use) {
  if (id == ValueId::kNone) return;
  std::vector<Use>& uses = mutable_value(id).uses;
  const int32_t slot = SlotOf(use);
  uses[slot] = uses.back();
  SlotOf(uses[slot]) = slot;
  uses.pop_back();
}

bool Graph::ReplaceUses(ValueId from, ValueId to) {
  if (from == to) return true;
  const bool output = IsOutput(from);
  if (output) {
    const GraphValue& target = value(to);
    if (target.formal || target.is_constant() || IsOutput(to)) return false;
    std::swap(mutable_value(from).name, mutable_value(to).name);
    names_->taken[value(from).name] = from;
    names_->taken[value(to).name] = to;
  }
  if (value(to).type == Type::Unknown()) mutable_value(to).type = value(from).type;  // made in place of it, not yet inferred
  std::vector<Use> uses;
  uses.swap(mutable_value(from).uses);
  for (const Use& use : uses) {
    OperandOf(use) = to;
    AddUse(to, use);
  }
  return true;
}

// ---- Nodes ----

NodeId Graph::AddNode(const Op* op, std::string_view name, std::vector<ValueId> inputs, std::vector<ValueId> outputs,
                      Attrs attrs, NodeId before) {
  const NodeId id{static_cast<int32_t>(nodes_.size())};
  GraphNode& node = *nodes_.emplace_back(std::make_unique<GraphNode>());
  node.op = op;
  node.name = std::string(name);
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  node.attrs = std::move(attrs);
  node.input_slots.assign(node.inputs.size(), -1);
  for (size_t i = 0; i < node.inputs.size(); ++i)
    AddUse(node.inputs[i], {.node = id, .index = static_cast<int32_t>(i)});
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == ValueId::kNone) continue;
    GraphValue& output = mutable_value(node.outputs[i]);
    output.producer = id;
    output.producer_output = static_cast<int32_t>(i);
    if (output.name.empty()) SetName(node.outputs[i], "");  // one that had been removed
  }
  Link(id, before);
  ++num_nodes_;
  return id;
}

ValueId Graph::AddOpNode(const Op* op, std::vector<ValueId> inputs, Attrs attrs, NodeId before) {
  const ValueId output = AddValue(op->name, Type::Unknown());
  AddNode(op, "", std::move(inputs), {output}, std::move(attrs), before);
  return output;
}

void Graph::AddRegion(NodeId id, Graph body, std::vector<ValueId> captures) {
  GraphNode& node = mutable_node(id);
  const int32_t k = static_cast<int32_t>(node.regions.size());
  Region& region = node.regions.emplace_back();
  region.graph = std::make_unique<Graph>(std::move(body));
  region.captures = std::move(captures);
  region.capture_slots.assign(region.captures.size(), -1);
  for (size_t i = 0; i < region.captures.size(); ++i) {
    AddUse(region.captures[i], {.node = id, .region = k, .index = static_cast<int32_t>(i)});
  }
}

ValueId Graph::AddRegionCapture(NodeId id, int k, ValueId outer, std::string_view inner_name) {
  Region& region = mutable_node(id).regions[k];
  region.captures.push_back(outer);
  region.capture_slots.push_back(-1);
  AddUse(outer, {.node = id, .region = k, .index = static_cast<int32_t>(region.captures.size() - 1)});
  return region.graph->AddCapture(inner_name, value(outer).type);
}

void Graph::RemoveRegionCapture(NodeId id, int k, int index) {
  Region& region = mutable_node(id).regions[k];
  RemoveUse(region.captures[index], {.node = id, .region = k, .index = index});
  // Later captures move down by one.
  for (size_t i = index + 1; i < region.captures.size(); ++i) {
    --mutable_value(region.captures[i]).uses[region.capture_slots[i]].index;
  }
  region.captures.erase(region.captures.begin() + index);
  region.capture_slots.erase(region.capture_slots.begin() + index);
  Graph& body = *region.graph;
  const ValueId inner = body.captures_[index];
  body.captures_.erase(body.captures_.begin() + index);
  body.mutable_value(inner).formal = false;
  body.RemoveValue(inner);
}

void Graph::SetInput(NodeId id, int i, ValueId value) {
  GraphNode& node = mutable_node(id);
  if (i >= static_cast<int>(node.inputs.size())) {
    node.inputs.resize(i + 1, ValueId::kNone);
    node.input_slots.resize(i + 1, -1);
  }
  RemoveUse(node.inputs[i], {.node = id, .index = i});
  node.inputs[i] = value;
  AddUse(value, {.node = id, .index = i});
}

void Graph::DropOutput(NodeId id, int i) {
  GraphNode& node = mutable_node(id);
  if (node.outputs[i] == ValueId::kNone) return;
  RemoveValue(node.outputs[i]);
  node.outputs[i] = ValueId::kNone;
  // The number of a variadic op's outputs has a meaning.
  const Arity& arity = node.op->outputs;
  while (arity.max != Arity::kVariadic && static_cast<int>(node.outputs.size()) > arity.min &&
         node.outputs.back() == ValueId::kNone) {
    node.outputs.pop_back();
  }
}

void Graph::RemoveNode(NodeId id) {
  GraphNode& node = mutable_node(id);
  for (size_t i = 0; i < node.inputs.size(); ++i)
    RemoveUse(node.inputs[i], {.node = id, .index = static_cast<int32_t>(i)});
  for (size_t k = 0; k < node.regions.size(); ++k) {
    for (size_t i = 0; i < node.regions[k].captures.size(); ++i) {
      RemoveUse(node.regions[k].captures[i],
                {.node = id, .region = static_cast<int32_t>(k), .index = static_cast<int32_t>(i)});
    }
  }
  for (ValueId output : node.outputs) {
    if (output != ValueId::kNone) RemoveValue(output);
  }
  Unlink(id);
  nodes_[static_cast<size_t>(id)] = nullptr;
  --num_nodes_;
}

// ---- Order ----

void Graph::Link(NodeId id, NodeId before) {
  GraphNode& node = mutable_node(id);
  node.next = before;
  node.prev = before == NodeId::kNone ? tail_ : mutable_node(before).prev;
  (node.prev == NodeId::kNone ? head_ : mutable_node(node.prev).next) = id;
  (before == NodeId::kNone ? tail_ : mutable_node(before).prev) = id;
}

void Graph::Unlink(NodeId id) {
  GraphNode& node = mutable_node(id);
  (node.prev == NodeId::kNone ? head_ : mutable_node(node.prev).next) = node.next;
  (node.next == NodeId::kNone ? tail_ : mutable_node(node.next).prev) = node.prev;
}

void Graph::MoveBefore(NodeId id, NodeId before) {
  if (id == before) return;
  Unlink(id);
  Link(id, before);
}

namespace {

// The operands of a node, captures of its regions included, one after the other.
class OperandCursor {
 public:
  explicit OperandCursor(const GraphNode& node) : node_(&node) {}
  // kNone at the end; omitted operands are passed over.
  ValueId Next() {
    while (true) {
      const std::vector<ValueId>& list = part_ == 0 ? node_->inputs : node_->regions[part_ - 1].captures;
      while (index_ < list.size()) {
        const ValueId value = list[index_++];
        if (value != ValueId::kNone) return value;
      }
      if (part_ == node_->regions.size()) return ValueId::kNone;
      ++part_;
      index_ = 0;
    }
  }

 private:
  const GraphNode* node_;
  size_t part_ = 0;
  size_t index_ = 0;
};

}  // namespace

// Depth-first over producers from each node in the present order, so a node whose producers stand before it keeps its
// place.
bool Graph::SortTopologically() {
  enum State : uint8_t { kNew, kOpen, kDone };
  std::vector<State> state(nodes_.size(), kNew);
  std::vector<NodeId> sorted;
  sorted.reserve(num_nodes_);
  std::vector<std::pair<NodeId, OperandCursor>> stack;
  for (NodeId root = head_; root != NodeId::kNone; root = node(root).next) {
    if (state[static_cast<size_t>(root)] != kNew) continue;
    state[static_cast<size_t>(root)] = kOpen;
    stack.emplace_back(root, OperandCursor(node(root)));
    while (!stack.empty()) {
      const ValueId operand = stack.back().second.Next();
      if (operand == ValueId::kNone) {
        state[static_cast<size_t>(stack.back().first)] = kDone;
        sorted.push_back(stack.back().first);
        stack.pop_back();
        continue;
      }
      const NodeId producer = value(operand).producer;
      if (producer == NodeId::kNone || state[static_cast<size_t>(producer)] == kDone) continue;
      if (state[static_cast<size_t>(producer)] == kOpen) return false;
      state[static_cast<size_t>(producer)] = kOpen;
      stack.emplace_back(producer, OperandCursor(node(producer)));
    }
  }
  head_ = tail_ = NodeId::kNone;
  for (NodeId id : sorted) Link(id, NodeId::kNone);
  return true;
}

}  // namespace weft
