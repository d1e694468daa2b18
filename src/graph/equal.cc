#include "graph/equal.h"

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "base/text.h"

namespace weft {
namespace {

// A value by the graph that defines it: how many scopes from the outermost, and its id there.
struct Origin {
  size_t level = 0;
  ValueId id = ValueId::kNone;
};

// One of the two graphs, down to the body that is being compared.
class Side {
 public:
  void Enter(const Graph& graph, const Region* region) {
    Scope& scope = scopes_.emplace_back(Scope{&graph, {}});
    if (region == nullptr) return;
    for (size_t i = 0; i < region->captures.size(); ++i) scope.outer.emplace(graph.captures()[i], region->captures[i]);
  }
  void Leave() { scopes_.pop_back(); }

  Origin OriginOf(ValueId id) const {
    size_t level = scopes_.size() - 1;
    for (auto it = scopes_[level].outer.find(id); it != scopes_[level].outer.end();
         it = scopes_[level].outer.find(id)) {
      id = it->second;
      --level;
    }
    return {level, id};
  }
  std::string Describe(ValueId id) const {
    if (id == ValueId::kNone) return "omitted";
    const Origin origin = OriginOf(id);
    return absl::StrCat("'", scopes_[origin.level].graph->value(origin.id).name, "'",
                        origin.level + 1 == scopes_.size() ? "" : absl::StrCat(" of scope ", origin.level));
  }
  const std::string& Name(const Origin& origin) const { return scopes_[origin.level].graph->value(origin.id).name; }

 private:
  struct Scope {
    const Graph* graph;
    absl::flat_hash_map<ValueId, ValueId> outer;  // what captures stand for
  };
  std::vector<Scope> scopes_;
};

template <class... Args>
std::string Text(const Args&... args) {
  return absl::StrCat(ToAbsl(args)...);
}

// Each gives "" or the difference.
class Comparison {
 public:
  std::string Graphs(const Graph& a, const Region* region_a, const Graph& b, const Region* region_b) {
    a_.Enter(a, region_a);
    b_.Enter(b, region_b);
    std::string difference = InScope(a, b, region_a == nullptr);
    a_.Leave();
    b_.Leave();
    return difference;
  }

 private:
  bool SameValue(ValueId a, ValueId b) const {
    if (a == ValueId::kNone || b == ValueId::kNone) return a == b;
    const Origin x = a_.OriginOf(a), y = b_.OriginOf(b);
    return x.level == y.level && a_.Name(x) == b_.Name(y);
  }

  std::string Operands(const std::vector<ValueId>& a, const std::vector<ValueId>& b, std::string_view what) const {
    if (a.size() != b.size()) return Text(a.size(), " ", what, "s, ", b.size(), " in the other");
    for (size_t i = 0; i < a.size(); ++i) {
      if (!SameValue(a[i], b[i]))
        return Text(what, " ", i, " is ", a_.Describe(a[i]), ", ", b_.Describe(b[i]), " in the other");
    }
    return "";
  }

  // Values that this graph defines: names and types.
  static std::string Defined(const Graph& ga, const std::vector<ValueId>& a, const Graph& gb,
                             const std::vector<ValueId>& b, std::string_view what) {
    if (a.size() != b.size()) return Text(a.size(), " ", what, "s, ", b.size(), " in the other");
    for (size_t i = 0; i < a.size(); ++i) {
      if (a[i] == ValueId::kNone && b[i] == ValueId::kNone) continue;
      if (a[i] == ValueId::kNone || b[i] == ValueId::kNone) return Text(what, " ", i, " is omitted in one of the two");
      const GraphValue &x = ga.value(a[i]), &y = gb.value(b[i]);
      if (x.name != y.name) return Text(what, " ", i, " is '", x.name, "', '", y.name, "' in the other");
      if (x.type != y.type) {
        return Text(what, " '", x.name, "' has type ", x.type.ToString(), ", ", y.type.ToString(), " in the other");
      }
    }
    return "";
  }

  static std::string Constants(const Graph& a, const Graph& b) {
    int count_a = 0, count_b = 0;
    for (int v = 0; v < b.num_values(); ++v) count_b += b.value(ValueId{v}).is_constant();
    for (int v = 0; v < a.num_values(); ++v) {
      const GraphValue& x = a.value(ValueId{v});
      if (!x.is_constant()) continue;
      ++count_a;
      const Tensor* y = b.Constant(b.FindValue(x.name));
      if (y == nullptr) return Text("constant '", x.name, "' is missing in the other");
      if (!BitwiseEqual(x.constant, *y)) return Text("constant '", x.name, "' has other elements, or another type");
    }
    return count_a == count_b ? "" : Text(count_a, " constants, ", count_b, " in the other");
  }

  std::string Nodes(const Graph& ga, const GraphNode& a, const Graph& gb, const GraphNode& b) {
    if (a.op != b.op) return Text("op ", a.op->QualifiedName(), ", ", b.op->QualifiedName(), " in the other");
    if (a.name != b.name) return Text("name '", a.name, "', '", b.name, "' in the other");
    if (std::string d = Operands(a.inputs, b.inputs, "input"); !d.empty()) return d;
    if (std::string d = Defined(ga, a.outputs, gb, b.outputs, "output"); !d.empty()) return d;
    if (a.attrs != b.attrs) return Attributes(a, b);
    if (a.regions.size() != b.regions.size())
      return Text(a.regions.size(), " regions, ", b.regions.size(), " in the other");
    for (size_t k = 0; k < a.regions.size(); ++k) {
      std::string d = Graphs(*a.regions[k].graph, &a.regions[k], *b.regions[k].graph, &b.regions[k]);
      if (!d.empty()) return Text("region ", k, ": ", d);
    }
    return "";
  }

  static std::string Attributes(const GraphNode& a, const GraphNode& b) {
    for (const AttrField& field : a.attrs.schema().fields) {
      const auto x = a.attrs.Get(field.name), y = b.attrs.Get(field.name);
      if (x.has_value() != y.has_value() || (x && !AttrValueEqual(*x, *y)))
        return Text("attribute '", field.name, "' differs");
    }
    return "attributes of different ops";
  }

  std::string InScope(const Graph& a, const Graph& b, bool outermost) {
    if (a.name() != b.name()) return Text("graph name '", a.name(), "', '", b.name(), "' in the other");
    if (std::string d = Defined(a, a.inputs(), b, b.inputs(), "input"); !d.empty()) return d;
    if (outermost) {
      if (std::string d = Defined(a, a.captures(), b, b.captures(), "capture"); !d.empty()) return d;
    }
    if (std::string d = Constants(a, b); !d.empty()) return d;
    NodeId i = a.first_node(), j = b.first_node();
    for (; i != NodeId::kNone && j != NodeId::kNone; i = a.node(i).next, j = b.node(j).next) {
      if (std::string d = Nodes(a, a.node(i), b, b.node(j)); !d.empty()) {
        return Text("node '", a.Label(i), "' (", a.node(i).op->QualifiedName(), "): ", d);
      }
    }
    if (a.num_nodes() != b.num_nodes()) return Text(a.num_nodes(), " nodes, ", b.num_nodes(), " in the other");
    return Operands(a.outputs(), b.outputs(), "graph output");
  }

  Side a_, b_;
};

}  // namespace

std::string Difference(const Graph& a, const Graph& b) { return Comparison().Graphs(a, nullptr, b, nullptr); }

}  // namespace weft
