#include "graph/verify.h"

#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/status_macros.h"
#include "graph/infer.h"

namespace weft {
namespace {

size_t Index(ValueId id) { return static_cast<size_t>(id); }

std::string NodeName(const Graph& g, NodeId id) {
  return absl::StrCat("node '", ToAbsl(g.Label(id)), "' (", g.node(id).op->QualifiedName(), ")");
}

std::string ValueName(const Graph& g, ValueId id) {
  if (id == ValueId::kNone) return "no value";
  return absl::StrCat("value '", g.value(id).name, "' (id ", static_cast<int>(id), ")");
}

std::string UseName(const Graph& g, const Use& use) {
  if (use.node == NodeId::kNone) return absl::StrCat("output ", use.index, " of the graph");
  if (use.region < 0) return absl::StrCat("input ", use.index, " of ", NodeName(g, use.node));
  return absl::StrCat("capture ", use.index, " of region ", use.region, " of ", NodeName(g, use.node));
}

// Calls fn(value, use, slot) for every place of the graph where a value is read; a slot of -1: not looked at.
template <class Fn>
absl::Status ForEachRead(const Graph& g, Fn fn) {
  for (NodeId id = g.first_node(); id != NodeId::kNone; id = g.node(id).next) {
    const GraphNode& n = g.node(id);
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      if (n.inputs[i] == ValueId::kNone) continue;
      const int32_t slot = i < n.input_slots.size() ? n.input_slots[i] : -1;
      WEFT_RETURN_IF_ERROR(fn(n.inputs[i], Use{.node = id, .index = static_cast<int32_t>(i)}, slot));
    }
    for (size_t k = 0; k < n.regions.size(); ++k) {
      const Region& region = n.regions[k];
      for (size_t i = 0; i < region.captures.size(); ++i) {
        const int32_t slot = i < region.capture_slots.size() ? region.capture_slots[i] : -1;
        const Use use = {.node = id, .region = static_cast<int32_t>(k), .index = static_cast<int32_t>(i)};
        WEFT_RETURN_IF_ERROR(fn(region.captures[i], use, slot));
      }
    }
  }
  return absl::OkStatus();
}

// Defined without a node: an input, a capture or a constant.
bool IsSource(const GraphValue& value) { return value.formal || value.is_constant(); }

// ---- The checks. Each relies on those before it. ----

absl::Status CheckIds(const Graph& g) {
  auto in_range = [&](ValueId id) { return static_cast<int>(id) >= 0 && static_cast<int>(id) < g.num_values(); };
  auto check_list = [&](const std::vector<ValueId>& list, std::string_view what) {
    for (size_t i = 0; i < list.size(); ++i) {
      if (!in_range(list[i])) {
        return Internal(what, " ", i, " is value id ", static_cast<int>(list[i]), ", expected one below ",
                        g.num_values());
      }
    }
    return absl::OkStatus();
  };
  WEFT_RETURN_IF_ERROR(check_list(g.inputs(), "input"));
  WEFT_RETURN_IF_ERROR(check_list(g.captures(), "capture"));
  WEFT_RETURN_IF_ERROR(check_list(g.outputs(), "output"));
  int count = 0;
  for (NodeId id = g.first_node(), prev = NodeId::kNone; id != NodeId::kNone; prev = id, id = g.node(id).next) {
    if (!g.IsLive(id))
      return Internal("the list of nodes leads to node id ", static_cast<int>(id), ", which was removed");
    if (++count > g.num_nodes())
      return Internal("the list of nodes has more than the ", g.num_nodes(), " nodes of the graph");
    const GraphNode& n = g.node(id);
    if (n.op == nullptr) return Internal("node id ", static_cast<int>(id), " has no op");
    if (n.prev != prev) {
      return Internal(NodeName(g, id), " stands behind node id ", static_cast<int>(prev), ", but names ",
                      static_cast<int>(n.prev), " as the one before it");
    }
    for (const auto* list : {&n.inputs, &n.outputs}) {
      for (ValueId v : *list) {
        if (v != ValueId::kNone && !in_range(v)) {
          return Internal(NodeName(g, id), " has an operand of value id ", static_cast<int>(v), ", expected one below ",
                          g.num_values());
        }
      }
    }
    for (const Region& region : n.regions) {
      if (region.graph == nullptr) return Internal(NodeName(g, id), " has a region without a graph");
      WEFT_RETURN_IF_ERROR(Annotate(check_list(region.captures, "capture"), NodeName(g, id)));
    }
  }
  if (count != g.num_nodes())
    return Internal("the list of nodes has ", count, " of the graph's ", g.num_nodes(), " nodes");
  return absl::OkStatus();
}

absl::Status CheckOrder(const Graph& g) {
  std::vector<bool> defined(g.num_values());
  for (int v = 0; v < g.num_values(); ++v) defined[v] = IsSource(g.value(ValueId{v}));
  NodeId current = NodeId::kNone;
  return ForEachRead(g, [&](ValueId v, const Use& use, int32_t) {
    // Nodes before this one have been passed: their outputs are defined.
    if (use.node != current) {
      for (NodeId id = current == NodeId::kNone ? g.first_node() : current; id != use.node; id = g.node(id).next) {
        for (ValueId output : g.node(id).outputs) {
          if (output != ValueId::kNone) defined[Index(output)] = true;
        }
      }
      current = use.node;
    }
    if (defined[Index(v)]) return absl::OkStatus();
    const NodeId producer = g.value(v).producer;
    return Internal(UseName(g, use), " reads ", ValueName(g, v), ", which ",
                    producer == NodeId::kNone ? "nothing defines" : "is defined later, by ",
                    producer == NodeId::kNone ? "" : NodeName(g, producer), ", expected a value defined before it");
  });
}

absl::Status CheckProducers(const Graph& g) {
  std::vector<bool> produced(g.num_values());
  for (NodeId id = g.first_node(); id != NodeId::kNone; id = g.node(id).next) {
    const std::vector<ValueId>& outputs = g.node(id).outputs;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i] == ValueId::kNone) continue;
      const GraphValue& value = g.value(outputs[i]);
      if (value.producer != id || value.producer_output != static_cast<int>(i)) {
        return Internal(
            NodeName(g, id), " has ", ValueName(g, outputs[i]), " as output ", i, ", but that value's producer is ",
            value.producer == NodeId::kNone
                ? "none"
                : absl::StrCat("output ", value.producer_output, " of node id ", static_cast<int>(value.producer)));
      }
      produced[Index(outputs[i])] = true;
    }
  }
  std::vector<bool> formal(g.num_values());
  for (const auto* list : {&g.inputs(), &g.captures()}) {
    for (ValueId v : *list) {
      if (formal[Index(v)]) return Internal(ValueName(g, v), " is an input or capture twice");
      formal[Index(v)] = true;
    }
  }
  for (int v = 0; v < g.num_values(); ++v) {
    const GraphValue& value = g.value(ValueId{v});
    if (value.formal != formal[v]) {
      return Internal(ValueName(g, ValueId{v}), value.formal
                                                    ? " says it is an input or a capture, but is in neither list"
                                                    : " is in the list of inputs or captures, but does not say so");
    }
    if (value.producer != NodeId::kNone && !produced[v]) {
      return Internal(ValueName(g, ValueId{v}), " names node id ", static_cast<int>(value.producer),
                      " as its producer, which does not have it as output ", value.producer_output);
    }
    if ((value.producer != NodeId::kNone) + value.formal + value.is_constant() > 1) {
      return Internal(ValueName(g, ValueId{v}), " is more than one of node output, constant, and input or capture");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckUses(const Graph& g) {
  std::vector<size_t> reads(g.num_values());
  WEFT_RETURN_IF_ERROR(ForEachRead(g, [&](ValueId v, const Use& use, int32_t slot) {
    const std::vector<Use>& uses = g.value(v).uses;
    if (slot < 0 || slot >= static_cast<int>(uses.size()) || uses[slot] != use) {
      return Internal(UseName(g, use), " reads ", ValueName(g, v), ", whose use list does not have it at ", slot);
    }
    ++reads[Index(v)];
    return absl::OkStatus();
  }));
  for (ValueId v : g.outputs()) ++reads[Index(v)];
  for (int v = 0; v < g.num_values(); ++v) {
    const std::vector<Use>& uses = g.value(ValueId{v}).uses;
    if (uses.size() != reads[v]) {
      return Internal(ValueName(g, ValueId{v}), " has ", uses.size(), " uses, but is read in ", reads[v], " places");
    }
    for (const Use& use : uses) {
      if (use.node != NodeId::kNone) continue;  // found from the operand's side
      if (use.index < 0 || use.index >= static_cast<int>(g.outputs().size()) || g.outputs()[use.index] != ValueId{v}) {
        return Internal(ValueName(g, ValueId{v}), " has output ", use.index,
                        " of the graph as a use, which is another value");
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckNames(const Graph& g) {
  for (int v = 0; v < g.num_values(); ++v) {
    const GraphValue& value = g.value(ValueId{v});
    if (value.name.empty()) {
      if (!IsSource(value) && value.producer == NodeId::kNone && value.uses.empty()) continue;  // removed
      return Internal("the value of id ", v, " has no name");
    }
    const ValueId named = g.FindValue(value.name);
    if (named != ValueId{v}) return Internal(ValueName(g, ValueId{v}), " shares its name with ", ValueName(g, named));
  }
  return absl::OkStatus();
}

absl::Status CheckNodes(const Graph& g) {
  for (NodeId id = g.first_node(); id != NodeId::kNone; id = g.node(id).next) WEFT_RETURN_IF_ERROR(VerifyNode(g, id));
  return absl::OkStatus();
}

absl::Status CheckOutputs(const Graph& g) {
  for (size_t i = 0; i < g.outputs().size(); ++i) {
    const GraphValue& value = g.value(g.outputs()[i]);
    if (!IsSource(value) && value.producer == NodeId::kNone) {
      return Internal("output ", i, " of the graph is ", ValueName(g, g.outputs()[i]),
                      ", which nothing defines, expected an input, a constant or a node's output");
    }
  }
  return absl::OkStatus();
}

bool HasNegativeDim(const Type& type) {
  for (const Type* t = &type; t != nullptr; t = t->elem.get()) {
    for (const Dim& d : t->shape.dims()) {
      if (d.is_constant() && d.constant() < 0) return true;
    }
  }
  return false;
}

// False only where the two cannot both be true of one value.
bool Compatible(const Type& a, const Type& b) {
  if (a.kind == Type::Kind::kUnknown || b.kind == Type::Kind::kUnknown) return true;
  if (a.kind != b.kind) return false;
  if (a.dtype != b.dtype && a.dtype != DType::kUndefined && b.dtype != DType::kUndefined) return false;
  if (a.elem != nullptr && b.elem != nullptr && !Compatible(*a.elem, *b.elem)) return false;
  if (!a.shape.has_rank() || !b.shape.has_rank()) return true;
  if (a.shape.rank() != b.shape.rank()) return false;
  for (int axis = 0; axis < a.shape.rank(); ++axis) {
    const Dim &x = a.shape[axis], &y = b.shape[axis];
    if (x.is_constant() && y.is_constant() && x != y) return false;
  }
  return true;
}

// The types of `g`, and of its regions, against those of a copy that was inferred afresh.
absl::Status CompareTypes(const Graph& g, const Graph& inferred) {
  for (int v = 0; v < g.num_values(); ++v) {
    const Type &type = g.value(ValueId{v}).type, &expected = inferred.value(ValueId{v}).type;
    if (HasNegativeDim(type)) {
      return Internal(ValueName(g, ValueId{v}), " has type ", type.ToString(), ", expected no negative dim");
    }
    if (Compatible(type, expected)) continue;
    const NodeId producer = g.value(ValueId{v}).producer;
    return Internal(ValueName(g, ValueId{v}),
                    producer == NodeId::kNone ? std::string() : absl::StrCat(" of ", NodeName(g, producer)),
                    " has type ", type.ToString(), ", inference gives ", expected.ToString());
  }
  for (NodeId id = g.first_node(); id != NodeId::kNone; id = g.node(id).next) {
    for (size_t k = 0; k < g.node(id).regions.size(); ++k) {
      WEFT_RETURN_IF_ERROR(
          Annotate(CompareTypes(*g.node(id).regions[k].graph, *inferred.node(id).regions[k].graph), NodeName(g, id)));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckTypes(const Graph& g) {
  Graph copy = g.Clone();
  auto known = InferTypes(copy);
  if (!known.ok()) return known.status();
  return CompareTypes(g, copy);
}

struct Check {
  std::string_view name;
  absl::Status (*run)(const Graph& graph);
};

constexpr Check kStructure[] = {
    {"ids", CheckIds},     {"producers", CheckProducers}, {"order", CheckOrder},     {"uses", CheckUses},
    {"names", CheckNames}, {"nodes", CheckNodes},         {"outputs", CheckOutputs},
};
constexpr Check kTypes = {"types", CheckTypes};

absl::Status Run(const Check& check, const Graph& g) {
  const absl::Status status = check.run(g);
  return status.ok() ? status : Internal("check '", check.name, "': ", status.message());
}

absl::Status VerifyStructure(const Graph& g) {
  for (const Check& check : kStructure) WEFT_RETURN_IF_ERROR(Run(check, g));
  for (NodeId id = g.first_node(); id != NodeId::kNone; id = g.node(id).next) {
    for (const Region& region : g.node(id).regions) {
      WEFT_RETURN_IF_ERROR(Annotate(VerifyStructure(*region.graph), NodeName(g, id)));
    }
  }
  return absl::OkStatus();
}

std::string ArityText(const Arity& arity) {
  if (arity.max == Arity::kVariadic) return absl::StrCat("at least ", arity.min);
  return arity.min == arity.max ? absl::StrCat(arity.min) : absl::StrCat(arity.min, " to ", arity.max);
}

absl::Status CheckAttributes(const GraphNode& n) {
  if (&n.attrs.schema() != n.op->attrs) return Invalid("has the attributes of another op");
  for (const AttrField& field : n.op->attrs->fields) {
    if (field.required && !n.attrs.Get(field.name)) return Invalid("attribute '", field.name, "' is missing");
  }
  return absl::OkStatus();
}

absl::Status CheckRegions(const GraphNode& n) {
  if (n.regions.size() != n.op->regions.size()) {
    return Invalid("has ", n.regions.size(), " regions, expected ", n.op->regions.size());
  }
  for (size_t k = 0; k < n.regions.size(); ++k) {
    const Region& region = n.regions[k];
    if (region.captures.size() != region.graph->captures().size()) {
      return Invalid("region '", n.op->regions[k], "' is given ", region.captures.size(), " captures, expected ",
                     region.graph->captures().size());
    }
    for (ValueId outer : region.captures) {
      if (outer == ValueId::kNone) return Invalid("region '", n.op->regions[k], "' captures no value");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckOperands(const Op& op, absl::Span<const ValueId> inputs, absl::Span<const ValueId> outputs) {
  auto count = [](size_t found, const Arity& arity, std::string_view what) {
    if (static_cast<int64_t>(found) >= arity.min && static_cast<int64_t>(found) <= arity.max) return absl::OkStatus();
    return Invalid("has ", found, " ", what, ", expected ", ArityText(arity));
  };
  WEFT_RETURN_IF_ERROR(count(inputs.size(), op.inputs, "inputs"));
  WEFT_RETURN_IF_ERROR(count(outputs.size(), op.outputs, "outputs"));
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] != ValueId::kNone || (i < 32 && (op.optional_inputs >> i & 1) != 0)) continue;
    const bool optional = static_cast<int>(i) >= op.inputs.min && op.inputs.max != Arity::kVariadic;
    if (!optional) return Invalid("input ", i, " is omitted, expected a value");
  }
  return absl::OkStatus();
}

absl::Status VerifyNode(const Graph& graph, NodeId id) {
  const GraphNode& n = graph.node(id);
  absl::Status status = CheckOperands(*n.op, n.inputs, n.outputs);
  if (status.ok()) status = CheckAttributes(n);
  if (status.ok()) status = CheckRegions(n);
  return status.ok() ? status : Annotate(status, NodeName(graph, id));
}

absl::Status Verify(const Graph& graph) {
  WEFT_RETURN_IF_ERROR(VerifyStructure(graph));
  return Run(kTypes, graph);
}

}  // namespace weft
