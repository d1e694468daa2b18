#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "graph/onnx/importer.h"
#include "graph/onnx/tensor_proto.h"

namespace weft {
namespace {

using onnx::GraphProto;
using onnx::NodeProto;
using Nodes = google::protobuf::RepeatedPtrField<NodeProto>;
using Names = absl::flat_hash_set<std::string_view>;

std::string Describe(const NodeProto& node, int index) {
  return absl::StrCat("node '", node.name().empty() ? absl::StrCat(node.op_type(), "_", index) : node.name(), "' (", node.op_type(), ")");
}

// ---- Order of nodes ----

void AddFreeNames(const GraphProto& body, Names& free);

// Names that the node's bodies take from outside. Depth is bounded by protobuf's parser.
void AddBodyReads(const NodeProto& node, Names& reads) {
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.has_g()) AddFreeNames(attribute.g(), reads);
  }
}

void AddFreeNames(const GraphProto& body, Names& free) {
  Names own, read;
  for (const auto& input : body.input()) own.insert(input.name());
  for (const auto& tensor : body.initializer()) own.insert(tensor.name());
  for (const auto& sparse : body.sparse_initializer()) own.insert(sparse.values().name());
  for (const NodeProto& node : body.node()) {
    read.insert(node.input().begin(), node.input().end());
    own.insert(node.output().begin(), node.output().end());
    AddBodyReads(node, read);
  }
  for (const auto& output : body.output()) read.insert(output.name());
  for (std::string_view name : read) {
    if (!own.contains(name)) free.insert(name);
  }
}

// The nodes' places in an order in which each reads only what stands before it: the file's, where that is one.
class Order {
 public:
  explicit Order(const Nodes& nodes) : nodes_(nodes) {
    producer_.reserve(nodes.size());
    for (int i = 0; i < nodes.size(); ++i) {
      for (const std::string& output : nodes[i].output()) {
        if (!output.empty()) producer_.emplace(output, i);
      }
    }
  }

  absl::StatusOr<std::vector<int>> Find() {
    std::vector<int> order(nodes_.size());
    bool sorted = true;
    needs_.resize(nodes_.size());
    for (int i = 0; i < nodes_.size(); ++i) {
      order[i] = i;
      needs_[i] = Needs(nodes_[i]);
      for (int need : needs_[i]) sorted &= need < i;
    }
    if (sorted) return order;
    return Sort();
  }

 private:
  std::vector<int> Needs(const NodeProto& node) const {
    std::vector<int> needs;
    auto add = [&](std::string_view name) {
      if (auto it = producer_.find(name); it != producer_.end()) needs.push_back(it->second);
    };
    Names bodies;
    AddBodyReads(node, bodies);
    for (const std::string& input : node.input()) add(input);
    for (std::string_view name : bodies) add(name);
    std::sort(needs.begin(), needs.end());
    return needs;
  }

  // Depth first, without recursion: files may hold chains of any length.
  absl::StatusOr<std::vector<int>> Sort() const {
    enum State : uint8_t { kNew, kOpen, kDone };
    std::vector<State> state(nodes_.size(), kNew);
    std::vector<std::pair<int, size_t>> stack;  // a node, and the next of its needs
    std::vector<int> order;
    for (int root = 0; root < nodes_.size(); ++root) {
      if (state[root] != kNew) continue;
      state[root] = kOpen;
      stack.emplace_back(root, 0);
      while (!stack.empty()) {
        const int node = stack.back().first;
        if (stack.back().second == needs_[node].size()) {
          state[node] = kDone;
          order.push_back(node);
          stack.pop_back();
          continue;
        }
        const int need = needs_[node][stack.back().second++];
        if (state[need] == kOpen) {
          return Invalid(Describe(nodes_[need], need), ": needs its own result: the nodes form a cycle");
        }
        if (state[need] == kDone) continue;
        state[need] = kOpen;
        stack.emplace_back(need, 0);
      }
    }
    return order;
  }

  const Nodes& nodes_;
  absl::flat_hash_map<std::string_view, int> producer_;
  std::vector<std::vector<int>> needs_;
};

// The element types hold in a body; its shapes may change from one iteration to the next.
Type WithoutShapes(const Type& type) {
  Type result = type;
  result.shape = Shape();
  if (type.elem != nullptr) result.elem = std::make_shared<const Type>(WithoutShapes(*type.elem));
  return result;
}

// An initialiser is an operand of its own type where the declared one cannot be right.
Type OverridableType(const Type& declared, const onnx::TensorProto& tensor) {
  const absl::StatusOr<DType> dtype = DTypeFromNumber(tensor.data_type());
  if (!dtype.ok()) return declared;
  if (!declared.is_tensor() || declared.dtype != *dtype) return Type::OfTensor(*dtype);
  if (!declared.shape.has_rank()) return declared;
  bool fits = declared.shape.rank() == tensor.dims_size();
  for (int axis = 0; fits && axis < tensor.dims_size(); ++axis) {
    fits = !declared.shape[axis].is_constant() || declared.shape[axis].constant() == tensor.dims(axis);
  }
  return fits ? declared : Type::OfTensor(*dtype);
}

}  // namespace

absl::Status Importer::ReadGraph(GraphProto& proto, Scope& scope, Model* model) {
  scope.graph->set_name(proto.name());
  WEFT_RETURN_IF_ERROR(ReadInputs(proto, scope, model));
  WEFT_RETURN_IF_ERROR(ReadInitializers(proto, scope));
  WEFT_RETURN_IF_ERROR(DeclareResults(proto.node(), scope));
  WEFT_RETURN_IF_ERROR(ReadNodes(*proto.mutable_node(), scope));
  for (const onnx::ValueInfoProto& output : proto.output()) {
    const std::optional<ValueId> id = Lookup(scope, output.name());
    if (!id || *id == ValueId::kNone) return Invalid("output '", output.name(), "' is produced by no node, input or initialiser");
    scope.graph->AddOutput(*id);
    if (model != nullptr) model->declared_outputs.push_back(TypeFromProto(output.type(), output.name()).value_or(Type::Unknown()));
  }
  return absl::OkStatus();
}

// Inputs of the main graph that are initialisers too are constants, unless the options say that they are fed.
absl::Status Importer::ReadInputs(const GraphProto& proto, Scope& scope, Model* model) {
  absl::flat_hash_map<std::string_view, const onnx::TensorProto*> initializers;
  if (model != nullptr) {
    for (const onnx::TensorProto& tensor : proto.initializer()) initializers.emplace(tensor.name(), &tensor);
    for (const onnx::SparseTensorProto& sparse : proto.sparse_initializer()) initializers.emplace(sparse.values().name(), nullptr);
  }
  Names seen;
  std::vector<std::pair<std::string_view, Type>> overridden;
  for (const onnx::ValueInfoProto& input : proto.input()) {
    if (input.name().empty()) return Invalid("an input has no name");
    if (!seen.insert(input.name()).second) return Invalid("input '", input.name(), "' is listed twice");
    absl::StatusOr<Type> type = TypeFromProto(input.type(), input.name());
    if (model == nullptr) {  // what the node feeds decides
      scope.names[input.name()] = scope.graph->AddInput(input.name(), type.ok() ? WithoutShapes(*type) : Type::Unknown());
      continue;
    }
    if (!type.ok()) return Annotate(type.status(), absl::StrCat("input '", input.name(), "'"));
    auto initializer = initializers.find(input.name());
    if (initializer == initializers.end()) {
      scope.names[input.name()] = scope.graph->AddInput(input.name(), *std::move(type));
      continue;
    }
    model->overridable.push_back(input.name());
    if (std::find(options_.overridden.begin(), options_.overridden.end(), input.name()) == options_.overridden.end()) continue;
    overridden.emplace_back(input.name(), initializer->second == nullptr ? *type : OverridableType(*type, *initializer->second));
  }
  for (auto& [name, type] : overridden) scope.names[name] = scope.graph->AddInput(name, std::move(type));
  return absl::OkStatus();
}

absl::Status Importer::ReadInitializers(GraphProto& proto, Scope& scope) {
  Names seen;
  for (onnx::TensorProto& tensor : *proto.mutable_initializer()) {
    if (tensor.name().empty()) return Invalid("an initialiser has no name");
    if (!seen.insert(tensor.name()).second) return Invalid("initialiser '", tensor.name(), "' is given twice");
    if (scope.names.contains(tensor.name())) continue;  // fed
    WEFT_ASSIGN_OR_RETURN(Tensor value, ReadTensor(tensor, absl::StrCat("initialiser '", tensor.name(), "'")));
    scope.names[tensor.name()] = scope.graph->AddConstant(tensor.name(), std::move(value));
  }
  for (onnx::SparseTensorProto& sparse : *proto.mutable_sparse_initializer()) {
    const std::string& name = sparse.values().name();
    if (name.empty()) return Invalid("a sparse initialiser has no name");
    if (!seen.insert(name).second) return Invalid("initialiser '", name, "' is given twice");
    if (scope.names.contains(name)) continue;
    WEFT_ASSIGN_OR_RETURN(Tensor value, ReadSparse(sparse, absl::StrCat("sparse initialiser '", name, "'")));
    scope.names[name] = scope.graph->AddConstant(name, std::move(value));
  }
  return absl::OkStatus();
}

absl::Status Importer::DeclareResults(const Nodes& nodes, Scope& scope) {
  Names own;
  for (int i = 0; i < nodes.size(); ++i) {
    for (const std::string& output : nodes[i].output()) {
      if (output.empty()) continue;
      if (!own.insert(output).second) return Invalid(Describe(nodes[i], i), ": result '", output, "' is another node's result too");
      if (scope.names.contains(output)) {
        return Invalid(Describe(nodes[i], i), ": result '", output, "' has the name of an input or initialiser");
      }
      auto result = scope.results.find(output);
      scope.names[output] = result != scope.results.end() ? result->second
                                                          : scope.graph->AddValue(absl::StrCat(scope.prefix, output), Type::Unknown());
    }
  }
  return absl::OkStatus();
}

absl::Status Importer::ReadNodes(Nodes& nodes, Scope& scope) {
  WEFT_ASSIGN_OR_RETURN(const std::vector<int> order, Order(nodes).Find());
  for (int i : order) WEFT_RETURN_IF_ERROR(ReadNode(nodes[i], i, scope));
  return absl::OkStatus();
}

std::optional<ValueId> Importer::Lookup(Scope& scope, std::string_view name) {
  if (auto it = scope.names.find(name); it != scope.names.end()) return it->second;
  if (scope.outer == nullptr) return std::nullopt;
  const std::optional<ValueId> outer = Lookup(*scope.outer, name);
  if (!outer) return std::nullopt;
  ValueId inner = ValueId::kNone;
  if (*outer != ValueId::kNone) {
    const GraphValue& value = scope.outer->graph->value(*outer);
    if (value.is_constant()) {
      inner = scope.graph->AddConstant(name, value.constant);
    } else {
      inner = scope.graph->AddCapture(name, value.type);
      scope.captures->push_back(*outer);
    }
  }
  scope.names.emplace(name, inner);
  return inner;
}

}  // namespace weft
