#include "graph/onnx/import.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "graph/onnx/adapter.h"
#include "graph/onnx/tensor_proto.h"
#include "onnx/onnx-ml.pb.h"

namespace weft {
namespace {

using onnx::AttributeProto;
using onnx::FunctionProto;
using onnx::GraphProto;
using onnx::ModelProto;
using onnx::NodeProto;

using AttributeMap = absl::flat_hash_map<std::string, const AttributeProto*>;
using OpsetMap = absl::flat_hash_map<std::string, int64_t>;

std::string MainDomain(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

// Where names mean values: one for each graph and each function call. A body looks names up outwards; what it finds there becomes a capture.
struct Scope {
  Graph* graph = nullptr;
  Scope* parent = nullptr;                 // of a body: the scope its node stands in
  std::vector<ValueId>* captures = nullptr;  // of a body: outer values, as many as graph->captures()
  absl::flat_hash_map<std::string, ValueId> values;
  const AttributeMap* attributes = nullptr;  // of a function: what attribute references mean
  const OpsetMap* opsets = nullptr;
  std::string prefix;  // of node names in a function
};

class Importer {
 public:
  Importer(std::shared_ptr<const ModelProto> proto, std::string base_dir, const ImportOptions& options)
      : proto_(std::move(proto)), external_(std::move(base_dir)), options_(options) {}

  absl::StatusOr<Model> Run() {
    if (!proto_->has_graph()) return Invalid("is not an ONNX model: it has no graph");
    Model model;
    WEFT_RETURN_IF_ERROR(ReadHeader(model));
    Scope scope;
    scope.graph = &model.graph;
    scope.opsets = &opsets_;
    WEFT_RETURN_IF_ERROR(ReadGraph(proto_->graph(), scope, &model));
    if (!unsupported_.empty()) {
      return Unsupported(unsupported_.size(), unsupported_.size() == 1 ? " node is" : " nodes are", " not supported: ",
                         absl::StrJoin(unsupported_, "; "));
    }
    NameOutputs(model.graph);
    return model;
  }

 private:
  // ---- The model ----

  absl::Status ReadHeader(Model& model) {
    model.ir_version = proto_->ir_version();
    model.producer_name = proto_->producer_name();
    model.producer_version = proto_->producer_version();
    model.domain = proto_->domain();
    model.model_version = proto_->model_version();
    model.doc_string = proto_->doc_string();
    for (const auto& entry : proto_->metadata_props()) model.metadata.emplace_back(entry.key(), entry.value());
    if (proto_->opset_import_size() == 0) return Invalid("imports no opset: opset_import is missing");
    WEFT_RETURN_IF_ERROR(ReadOpsets(proto_->opset_import(), opsets_));
    for (const auto& [domain, version] : opsets_) model.opsets.push_back({domain, version});
    std::sort(model.opsets.begin(), model.opsets.end(), [](const auto& a, const auto& b) { return a.domain < b.domain; });
    for (const FunctionProto& function : proto_->functions()) {
      const auto key = std::tuple(MainDomain(function.domain()), function.name(), function.overload());
      if (!functions_.emplace(key, &function).second) return Invalid("defines function '", function.domain(), ".", function.name(), "' twice");
    }
    return absl::OkStatus();
  }

  // One domain may stand several times, with one version.
  template <class Imports>
  absl::Status ReadOpsets(const Imports& imports, OpsetMap& opsets) {
    for (const auto& import : imports) {
      const auto [it, inserted] = opsets.emplace(MainDomain(import.domain()), import.version());
      if (!inserted && it->second != import.version()) {
        return Invalid("imports domain '", import.domain(), "' in versions ", it->second, " and ", import.version());
      }
      if (import.version() < 1) return Invalid("imports version ", import.version(), " of domain '", import.domain(), "', expected at least 1");
      if (MainDomain(import.domain()).empty() && import.version() > kNewestOpset) {
        return Unsupported("imports opset ", import.version(), ", expected at most ", kNewestOpset);
      }
    }
    return absl::OkStatus();
  }

  // An output's name is part of the interface: an inner value that took it gives way.
  void NameOutputs(Graph& graph) {
    for (int i = 0; i < proto_->graph().output_size(); ++i) {
      const std::string& wanted = proto_->graph().output(i).name();
      const ValueId id = graph.outputs()[i];
      if (graph.value(id).name == wanted) continue;
      const ValueId holder = graph.FindValue(wanted);
      if (holder != ValueId::kNone) graph.SetName(holder, wanted + "_inner");
      graph.SetName(id, wanted);
    }
  }

  // ---- Graphs ----

  absl::StatusOr<Type> ReadType(const onnx::TypeProto& proto) {
    switch (proto.value_case()) {
      case onnx::TypeProto::kTensorType: {
        const auto& tensor = proto.tensor_type();
        DType dtype = DType::kUndefined;
        if (tensor.elem_type() != 0) {
          WEFT_ASSIGN_OR_RETURN(dtype, DTypeFromProto(tensor.elem_type()));
        }
        if (!tensor.has_shape()) return Type::OfTensor(dtype);
        std::vector<Dim> dims;
        for (const auto& d : tensor.shape().dim()) {
          if (d.has_dim_value() && d.dim_value() >= 0) {
            dims.push_back(Dim(d.dim_value()));
          } else if (!d.dim_param().empty()) {
            const absl::StatusOr<Dim> expression = Dim::Parse(d.dim_param());
            dims.push_back(expression.ok() ? *expression : Dim::Symbol(d.dim_param()));
          } else {
            dims.push_back(Dim::Symbol(absl::StrCat("dim__", unnamed_dims_++)));  // unnamed, or negative as some exporters write it
          }
        }
        return Type::OfTensor(dtype, Shape(std::move(dims)));
      }
      case onnx::TypeProto::kSequenceType: {
        WEFT_ASSIGN_OR_RETURN(Type elem, ReadType(proto.sequence_type().elem_type()));
        return Type::OfSequence(std::move(elem));
      }
      case onnx::TypeProto::kOptionalType: {
        WEFT_ASSIGN_OR_RETURN(Type elem, ReadType(proto.optional_type().elem_type()));
        return Type::OfOptional(std::move(elem));
      }
      case onnx::TypeProto::kMapType: {
        WEFT_ASSIGN_OR_RETURN(const DType key, DTypeFromProto(proto.map_type().key_type()));
        WEFT_ASSIGN_OR_RETURN(Type value, ReadType(proto.map_type().value_type()));
        return Type::OfMap(key, std::move(value));
      }
      case onnx::TypeProto::VALUE_NOT_SET: return Type::Unknown();
      default: return Unsupported("a value of a sparse tensor or opaque type");
    }
  }

  absl::Status Define(Scope& scope, const std::string& name, ValueId id, std::string_view what) {
    if (scope.values.emplace(name, id).second) return absl::OkStatus();
    return Invalid(what, " '", name, "' has the name of another value, expected each name once");
  }

  // The value of a name; a body takes what it finds outside as a capture, constants as constants.
  ValueId Lookup(Scope& scope, const std::string& name) {
    if (auto it = scope.values.find(name); it != scope.values.end()) return it->second;
    if (scope.parent == nullptr) return ValueId::kNone;
    const ValueId outer = Lookup(*scope.parent, name);
    if (outer == ValueId::kNone) return ValueId::kNone;
    const GraphValue& value = scope.parent->graph->value(outer);
    ValueId inner;
    if (value.is_constant()) {
      inner = scope.graph->AddConstant(name, value.constant);
    } else {
      inner = scope.graph->AddCapture(name, value.type);
      scope.captures->push_back(outer);
    }
    scope.values[name] = inner;
    return inner;
  }

  absl::Status ReadGraph(const GraphProto& proto, Scope& scope, Model* model) {
    Graph& graph = *scope.graph;
    graph.set_name(proto.name());
    absl::flat_hash_map<std::string, const onnx::TensorProto*> initializers;
    for (const onnx::TensorProto& tensor : proto.initializer()) {
      if (tensor.name().empty()) return Invalid("has an initialiser without a name");
      if (!initializers.emplace(tensor.name(), &tensor).second) return Invalid("initialiser '", tensor.name(), "' is given twice");
    }
    std::vector<std::pair<std::string, Type>> overridden;
    for (const onnx::ValueInfoProto& input : proto.input()) {
      if (input.name().empty()) return Invalid("has an input without a name");
      absl::StatusOr<Type> type = ReadType(input.type());
      if (!type.ok()) return Annotate(type.status(), absl::StrCat("input '", input.name(), "'"));
      const auto initializer = initializers.find(input.name());
      if (initializer != initializers.end() && model != nullptr) {
        if (!std::count(options_.overridden.begin(), options_.overridden.end(), input.name())) {
          model->overridable.push_back(input.name());
          continue;
        }
        overridden.emplace_back(input.name(), *std::move(type));
        initializers.erase(initializer);
        continue;
      }
      WEFT_RETURN_IF_ERROR(Define(scope, input.name(), graph.AddInput(input.name(), *std::move(type)), "input"));
    }
    for (auto& [name, type] : overridden) WEFT_RETURN_IF_ERROR(Define(scope, name, graph.AddInput(name, std::move(type)), "input"));
    for (const onnx::TensorProto& proto_tensor : proto.initializer()) {
      if (!initializers.contains(proto_tensor.name())) continue;
      WEFT_ASSIGN_OR_RETURN(Tensor tensor, TensorFromProto(proto_tensor, &external_, proto_));
      WEFT_RETURN_IF_ERROR(Define(scope, proto_tensor.name(), graph.AddConstant(proto_tensor.name(), std::move(tensor)), "initialiser"));
    }
    for (const onnx::SparseTensorProto& sparse : proto.sparse_initializer()) {
      WEFT_ASSIGN_OR_RETURN(Tensor tensor, Densify(sparse));
      WEFT_RETURN_IF_ERROR(Define(scope, sparse.values().name(), graph.AddConstant(sparse.values().name(), std::move(tensor)), "initialiser"));
    }
    WEFT_RETURN_IF_ERROR(ReadNodes(proto.node(), scope));
    for (const onnx::ValueInfoProto& output : proto.output()) {
      const ValueId id = output.name().empty() ? ValueId::kNone : Lookup(scope, output.name());
      if (id == ValueId::kNone) return Invalid("output '", output.name(), "' is produced by no node, input or initialiser");
      graph.AddOutput(id);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Tensor> Densify(const onnx::SparseTensorProto& sparse) {
    const std::string where = absl::StrCat("sparse initialiser '", sparse.values().name(), "'");
    WEFT_ASSIGN_OR_RETURN(const Tensor values, TensorFromProto(sparse.values(), &external_, proto_));
    WEFT_ASSIGN_OR_RETURN(const Tensor indices, TensorFromProto(sparse.indices(), &external_, proto_));
    const Dims dims(sparse.dims().begin(), sparse.dims().end());
    if (values.dtype() == DType::kString) return Unsupported(where, " holds strings");
    if (indices.dtype() != DType::kInt64 || values.rank() != 1) return Invalid(where, " has indices that are not int64, or values that are not rank 1");
    const bool linear = indices.rank() == 1;
    const int64_t count = values.size(), rank = static_cast<int64_t>(dims.size());
    if (indices.size() != (linear ? count : count * rank) || (!linear && (indices.rank() != 2 || indices.dim(1) != rank))) {
      return Invalid(where, " has indices of shape ", DimsToString(indices.dims()), ", expected [", count, "] or [", count, ",", rank, "]");
    }
    absl::StatusOr<Tensor> dense = Tensor::Allocate(values.dtype(), dims);
    if (!dense.ok()) return Annotate(dense.status(), where);
    const size_t size = DTypeSize(values.dtype());
    for (int64_t i = 0; i < count; ++i) {
      int64_t at = 0;
      if (linear) {
        at = indices.data<int64_t>()[i];
        if (at < 0 || at >= dense->size()) return Invalid(where, " has the index ", at, ", expected 0 to ", dense->size() - 1);
      } else {
        for (int64_t axis = 0; axis < rank; ++axis) {
          const int64_t k = indices.data<int64_t>()[i * rank + axis];
          if (k < 0 || k >= dims[axis]) return Invalid(where, " has the index ", k, " on axis ", axis, ", expected 0 to ", dims[axis] - 1);
          at = at * dims[axis] + k;
        }
      }
      std::memcpy(dense->data<char>() + at * size, values.data<char>() + i * size, size);
    }
    return dense;
  }

  // ---- Nodes ----

  // Names that a node reads: its operands, and what its bodies take from outside.
  void CollectReads(const NodeProto& node, std::vector<const std::string*>& reads) {
    for (const std::string& input : node.input()) reads.push_back(&input);
    for (const AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) CollectBodyReads(attribute.g(), reads);
      for (const GraphProto& graph : attribute.graphs()) CollectBodyReads(graph, reads);
    }
  }
  // More than is free in it does no harm: names that the body defines mean nothing outside, or the graph is not SSA.
  void CollectBodyReads(const GraphProto& graph, std::vector<const std::string*>& reads) {
    for (const NodeProto& node : graph.node()) CollectReads(node, reads);
    for (const auto& output : graph.output()) reads.push_back(&output.name());
  }

  // The nodes in an order in which each comes behind what it reads; the file's own where that is one.
  template <class Nodes>
  absl::StatusOr<std::vector<const NodeProto*>> Sorted(const Nodes& nodes) {
    absl::flat_hash_map<std::string_view, int> producer;
    for (int i = 0; i < nodes.size(); ++i) {
      for (const std::string& output : nodes[i].output()) {
        if (!output.empty()) producer.emplace(output, i);
      }
    }
    std::vector<const NodeProto*> order;
    std::vector<uint8_t> state(nodes.size(), 0);  // 0 not seen, 1 being visited, 2 placed
    struct Frame { int node; std::vector<int> needs; size_t next; };
    std::vector<Frame> stack;
    auto enter = [&](int i) {
      state[i] = 1;
      std::vector<const std::string*> reads;
      CollectReads(nodes[i], reads);
      Frame frame{i, {}, 0};
      for (const std::string* name : reads) {
        if (auto it = producer.find(*name); it != producer.end() && it->second != i) frame.needs.push_back(it->second);
      }
      stack.push_back(std::move(frame));
    };
    for (int i = 0; i < nodes.size(); ++i) {
      if (state[i] != 0) continue;
      enter(i);
      while (!stack.empty()) {
        Frame& top = stack.back();
        if (top.next == top.needs.size()) {
          state[top.node] = 2;
          order.push_back(&nodes[top.node]);
          stack.pop_back();
          continue;
        }
        const int need = top.needs[top.next++];
        if (state[need] == 1) return Invalid(Where(nodes[need]), ": is part of a cycle, it needs its own result");
        if (state[need] == 0) enter(need);
      }
    }
    return order;
  }

  static std::string Where(const NodeProto& node) {
    const std::string domain = MainDomain(node.domain());
    const std::string op = domain.empty() ? node.op_type() : absl::StrCat(domain, ".", node.op_type());
    return absl::StrCat("node '", node.name().empty() && node.output_size() > 0 ? node.output(0) : node.name(), "' (", op, ")");
  }

  template <class Nodes>
  absl::Status ReadNodes(const Nodes& nodes, Scope& scope) {
    WEFT_ASSIGN_OR_RETURN(const std::vector<const NodeProto*> order, Sorted(nodes));
    for (const NodeProto* node : order) {
      const absl::Status status = ReadNode(*node, scope);
      if (absl::IsUnimplemented(status)) {
        unsupported_.push_back(absl::StrCat(Where(*node), ": ", status.message()));
        WEFT_RETURN_IF_ERROR(DefineUnknown(*node, scope));
      } else if (!status.ok()) {
        return Annotate(status, Where(*node));
      }
    }
    return absl::OkStatus();
  }

  // Stands in for the results of a node that is not supported, so that the rest of the model is looked at too.
  absl::Status DefineUnknown(const NodeProto& node, Scope& scope) {
    for (const std::string& output : node.output()) {
      if (!output.empty() && !scope.values.contains(output)) scope.values[output] = scope.graph->AddInput(output, Type::Unknown());
    }
    return absl::OkStatus();
  }

  absl::Status ReadNode(const NodeProto& proto, Scope& scope) {
    std::vector<ValueId> inputs;
    for (const std::string& input : proto.input()) {
      if (input.empty()) {
        inputs.push_back(ValueId::kNone);
        continue;
      }
      const ValueId id = Lookup(scope, input);
      if (id == ValueId::kNone) return Invalid("input '", input, "' is produced by no node, input or initialiser");
      inputs.push_back(id);
    }
    const std::string domain = MainDomain(proto.domain());
    if (domain.empty() && proto.op_type() == "Constant") return ReadConstant(proto, scope);
    if (auto it = functions_.find(std::tuple(domain, proto.op_type(), proto.overload())); it != functions_.end()) {
      return ExpandFunction(proto, *it->second, std::move(inputs), scope);
    }
    const auto opset = scope.opsets->find(domain);
    if (opset == scope.opsets->end()) return Invalid("is of domain '", domain, "', which the model does not import");

    RawNode node;
    node.domain = domain;
    node.op_type = proto.op_type();
    node.name = absl::StrCat(scope.prefix, proto.name().empty() ? absl::StrCat(proto.op_type(), "_", node_count_) : proto.name());
    ++node_count_;
    node.version = opset->second;
    node.inputs = std::move(inputs);
    node.outputs.assign(proto.output().begin(), proto.output().end());
    std::vector<std::pair<std::string, const GraphProto*>> bodies;
    absl::flat_hash_set<std::string> seen;
    for (const AttributeProto& attribute : proto.attribute()) {
      if (!seen.insert(attribute.name()).second) return Invalid("attribute '", attribute.name(), "' is given twice");
      WEFT_RETURN_IF_ERROR(ReadAttribute(attribute, scope, node, bodies));
    }
    WEFT_RETURN_IF_ERROR(LiftToNewest(node, *scope.graph));
    return AddNode(node, bodies, scope);
  }

  // Omitted operands at the end are no operands.
  static void TrimOmitted(std::vector<ValueId>& inputs, const Op& op) {
    while (!inputs.empty() && inputs.back() == ValueId::kNone && static_cast<int>(inputs.size()) > op.inputs.min) inputs.pop_back();
  }

  absl::Status CheckArity(std::string_view what, size_t found, const Arity& arity) {
    const auto count = static_cast<int>(found);
    if (count >= arity.min && count <= arity.max) return absl::OkStatus();
    const std::string expected = arity.max == Arity::kVariadic ? absl::StrCat("at least ", arity.min)
                                 : arity.min == arity.max      ? absl::StrCat(arity.min)
                                                               : absl::StrCat(arity.min, " to ", arity.max);
    return Invalid("has ", found, " ", what, ", expected ", expected);
  }

  absl::Status AddNode(RawNode& node, const std::vector<std::pair<std::string, const GraphProto*>>& bodies, Scope& scope) {
    const Op* op = FindOp(node.domain, node.op_type);
    if (op == nullptr) {
      return Unsupported("opset ", node.version, node.domain.empty() ? "" : " of domain " + node.domain, " is read, but Weft has no such operator");
    }
    TrimOmitted(node.inputs, *op);
    WEFT_RETURN_IF_ERROR(CheckArity("inputs", node.inputs.size(), op->inputs));
    for (int i = 0; i < op->inputs.min && op->inputs.max != Arity::kVariadic; ++i) {
      if (node.inputs[i] == ValueId::kNone) return Invalid("input ", i, " is left out, but required");
    }
    while (!node.outputs.empty() && node.outputs.back().empty() && static_cast<int>(node.outputs.size()) > op->outputs.min) node.outputs.pop_back();
    WEFT_RETURN_IF_ERROR(CheckArity("outputs", node.outputs.size(), op->outputs));
    Attrs attrs(op->attrs);
    for (auto& [name, value] : node.attrs) WEFT_RETURN_IF_ERROR(attrs.Set(name, std::move(value)));
    for (const AttrField& field : op->attrs->fields) {
      if (field.required && !node.attrs.contains(field.name)) return Invalid("has no attribute '", field.name, "', which is required");
    }
    if (bodies.size() != op->regions.size()) return Invalid("has ", bodies.size(), " graph attributes, expected ", op->regions.size());

    std::vector<ValueId> outputs;
    for (const std::string& output : node.outputs) {
      outputs.push_back(output.empty() ? ValueId::kNone : scope.graph->AddValue(output, Type::Unknown()));
    }
    // Bodies are read before the node's results have names: they may not see them.
    std::vector<std::pair<Graph, std::vector<ValueId>>> regions(op->regions.size());
    for (size_t k = 0; k < op->regions.size(); ++k) {
      const auto body = std::find_if(bodies.begin(), bodies.end(), [&](const auto& b) { return b.first == op->regions[k]; });
      if (body == bodies.end()) return Invalid("has no graph attribute '", op->regions[k], "'");
      Scope inner;
      inner.graph = &regions[k].first;
      inner.parent = &scope;
      inner.captures = &regions[k].second;
      inner.attributes = scope.attributes;
      inner.opsets = scope.opsets;
      inner.prefix = scope.prefix;
      absl::Status status = ReadGraph(*body->second, inner, nullptr);
      if (!status.ok()) return Annotate(status, op->regions[k]);
    }
    const NodeId id = scope.graph->AddNode(op, node.name, node.inputs, outputs, std::move(attrs));
    for (auto& [body, captures] : regions) scope.graph->AddRegion(id, std::move(body), std::move(captures));
    if (node.finish != nullptr && !outputs.empty() && outputs[0] != ValueId::kNone) {
      WEFT_ASSIGN_OR_RETURN(outputs[0], node.finish(outputs[0]));
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i] != ValueId::kNone) WEFT_RETURN_IF_ERROR(Define(scope, node.outputs[i], outputs[i], "output"));
    }
    return absl::OkStatus();
  }

  // ---- Attributes ----

  // What a reference inside a function means; null where the call leaves it out and the function has no default.
  absl::StatusOr<const AttributeProto*> Resolve(const AttributeProto& attribute, const Scope& scope) {
    if (attribute.ref_attr_name().empty()) return &attribute;
    if (scope.attributes == nullptr) {
      return Invalid("attribute '", attribute.name(), "' refers to '", attribute.ref_attr_name(), "' outside of a function");
    }
    auto it = scope.attributes->find(attribute.ref_attr_name());
    return it == scope.attributes->end() ? nullptr : it->second;
  }

  absl::Status ReadAttribute(const AttributeProto& attribute, Scope& scope, RawNode& node,
                             std::vector<std::pair<std::string, const GraphProto*>>& bodies) {
    WEFT_ASSIGN_OR_RETURN(const AttributeProto* held, Resolve(attribute, scope));
    if (held == nullptr) return absl::OkStatus();
    if (held->has_g() || held->type() == AttributeProto::GRAPH) {
      if (!held->has_g()) return Invalid("attribute '", attribute.name(), "' is a graph without one");
      bodies.emplace_back(attribute.name(), &held->g());
      return absl::OkStatus();
    }
    absl::StatusOr<AttrValue> value = ReadAttributeValue(*held);
    if (!value.ok()) return Annotate(value.status(), absl::StrCat("attribute '", attribute.name(), "'"));
    node.attrs.emplace(attribute.name(), *std::move(value));
    return absl::OkStatus();
  }

  // Files of IR version 1 give no type: the field that is set says it.
  static AttributeProto::AttributeType TypeOf(const AttributeProto& a) {
    if (a.type() != AttributeProto::UNDEFINED) return a.type();
    if (a.has_f()) return AttributeProto::FLOAT;
    if (a.has_i()) return AttributeProto::INT;
    if (a.has_s()) return AttributeProto::STRING;
    if (a.has_t()) return AttributeProto::TENSOR;
    if (a.floats_size() > 0) return AttributeProto::FLOATS;
    if (a.ints_size() > 0) return AttributeProto::INTS;
    if (a.strings_size() > 0) return AttributeProto::STRINGS;
    if (a.tensors_size() > 0) return AttributeProto::TENSORS;
    if (a.has_tp()) return AttributeProto::TYPE_PROTO;
    return AttributeProto::UNDEFINED;
  }

  absl::StatusOr<AttrValue> ReadAttributeValue(const AttributeProto& a) {
    switch (TypeOf(a)) {
      case AttributeProto::FLOAT: return AttrValue(a.f());
      case AttributeProto::INT: return AttrValue(static_cast<int64_t>(a.i()));
      case AttributeProto::STRING: return AttrValue(a.s());
      case AttributeProto::FLOATS: return AttrValue(std::vector<float>(a.floats().begin(), a.floats().end()));
      case AttributeProto::INTS: return AttrValue(std::vector<int64_t>(a.ints().begin(), a.ints().end()));
      case AttributeProto::STRINGS: return AttrValue(std::vector<std::string>(a.strings().begin(), a.strings().end()));
      case AttributeProto::TENSOR: {
        if (!a.has_t()) return Invalid("is a tensor without one");
        WEFT_ASSIGN_OR_RETURN(Tensor tensor, TensorFromProto(a.t(), &external_, proto_));
        return AttrValue(std::move(tensor));
      }
      case AttributeProto::TENSORS: {
        std::vector<Tensor> tensors;
        for (const auto& t : a.tensors()) {
          WEFT_ASSIGN_OR_RETURN(tensors.emplace_back(), TensorFromProto(t, &external_, proto_));
        }
        return AttrValue(std::move(tensors));
      }
      case AttributeProto::TYPE_PROTO: {
        if (!a.has_tp()) return Invalid("is a type without one");
        WEFT_ASSIGN_OR_RETURN(Type type, ReadType(a.tp()));
        return AttrValue(std::move(type));
      }
      case AttributeProto::UNDEFINED: return Invalid("has no value");
      default: return Unsupported("is of kind ", static_cast<int>(a.type()), ", expected a number, string, tensor, type or graph");
    }
  }

  absl::Status ReadConstant(const NodeProto& proto, Scope& scope) {
    if (proto.output_size() != 1 || proto.output(0).empty()) return Invalid("has ", proto.output_size(), " outputs, expected 1");
    if (proto.input_size() != 0) return Invalid("has ", proto.input_size(), " inputs, expected none");
    const AttributeProto* held = nullptr;
    for (const AttributeProto& attribute : proto.attribute()) {
      WEFT_ASSIGN_OR_RETURN(const AttributeProto* resolved, Resolve(attribute, scope));
      if (resolved == nullptr) continue;
      if (held != nullptr) return Invalid("has more than one value");
      held = resolved;
      if (attribute.name() == "sparse_value") {
        WEFT_ASSIGN_OR_RETURN(Tensor tensor, Densify(resolved->sparse_tensor()));
        return Define(scope, proto.output(0), scope.graph->AddConstant(proto.output(0), std::move(tensor)), "output");
      }
      if (attribute.name().rfind("value", 0) != 0) return Invalid("has the attribute '", attribute.name(), "', expected value, value_int, ...");
    }
    if (held == nullptr) return Invalid("has no value");
    WEFT_ASSIGN_OR_RETURN(AttrValue value, ReadAttributeValue(*held));
    absl::StatusOr<Tensor> tensor = std::visit(
        []<class T>(T& v) -> absl::StatusOr<Tensor> {
          if constexpr (std::is_same_v<T, Tensor>) return v;
          else if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, float> || std::is_same_v<T, std::string>) return Tensor::Scalar<T>(v);
          else if constexpr (std::is_same_v<T, std::vector<int64_t>> || std::is_same_v<T, std::vector<float>> || std::is_same_v<T, std::vector<std::string>>)
            return Tensor::Of<typename T::value_type>({static_cast<int64_t>(v.size())}, v);
          else return Invalid("has a value that is no tensor, number or string");
        },
        value);
    if (!tensor.ok()) return tensor.status();
    return Define(scope, proto.output(0), scope.graph->AddConstant(proto.output(0), *std::move(tensor)), "output");
  }

  // ---- Functions ----

  absl::Status ExpandFunction(const NodeProto& call, const FunctionProto& function, std::vector<ValueId> inputs, Scope& scope) {
    if (!active_.insert(&function).second) return Invalid("function '", function.name(), "' calls itself");
    const absl::Status status = ExpandBody(call, function, std::move(inputs), scope);
    active_.erase(&function);
    return status;
  }

  absl::Status ExpandBody(const NodeProto& call, const FunctionProto& function, std::vector<ValueId> inputs, Scope& scope) {
    if (++expanded_ > kMaxExpansions) return Exhausted("functions expand to more than ", kMaxExpansions, " calls");
    if (call.input_size() > function.input_size()) return Invalid("has ", call.input_size(), " inputs, expected at most ", function.input_size());
    if (call.output_size() > function.output_size()) return Invalid("has ", call.output_size(), " outputs, expected at most ", function.output_size());
    OpsetMap opsets;
    WEFT_RETURN_IF_ERROR(ReadOpsets(function.opset_import(), opsets));
    AttributeMap attributes;
    for (const AttributeProto& attribute : function.attribute_proto()) attributes[attribute.name()] = &attribute;
    for (const AttributeProto& attribute : call.attribute()) {
      WEFT_ASSIGN_OR_RETURN(const AttributeProto* held, Resolve(attribute, scope));
      if (held != nullptr) attributes[attribute.name()] = held;
    }
    for (const std::string& name : function.attribute()) {
      if (!attributes.contains(name)) return Invalid("has no attribute '", name, "', which function '", function.name(), "' requires");
    }
    Scope inner;
    inner.graph = scope.graph;
    inner.attributes = &attributes;
    inner.opsets = opsets.empty() ? scope.opsets : &opsets;
    inner.prefix = absl::StrCat(scope.prefix, call.name().empty() ? function.name() : call.name(), "/");
    for (int i = 0; i < function.input_size(); ++i) {
      if (i < static_cast<int>(inputs.size()) && inputs[i] != ValueId::kNone) inner.values[function.input(i)] = inputs[i];
    }
    WEFT_RETURN_IF_ERROR(ReadFunctionNodes(function, inner));
    for (int i = 0; i < call.output_size(); ++i) {
      if (call.output(i).empty()) continue;
      const ValueId id = Lookup(inner, function.output(i));
      if (id == ValueId::kNone) return Invalid("function '", function.name(), "' does not produce its output '", function.output(i), "'");
      WEFT_RETURN_IF_ERROR(Define(scope, call.output(i), id, "output"));
    }
    return absl::OkStatus();
  }

  // An input that the call omits is omitted where the body reads it.
  absl::Status ReadFunctionNodes(const FunctionProto& function, Scope& inner) {
    std::set<std::string> omitted;
    for (const std::string& input : function.input()) {
      if (!inner.values.contains(input)) omitted.insert(input);
    }
    if (omitted.empty()) return ReadNodes(function.node(), inner);
    auto edited = std::make_shared<FunctionProto>(function);
    for (NodeProto& node : *edited->mutable_node()) {
      for (std::string& input : *node.mutable_input()) {
        if (omitted.contains(input)) input.clear();
      }
    }
    edited_.push_back(edited);  // attributes of its nodes may be referred to until the import ends
    return ReadNodes(edited->node(), inner);
  }

  static constexpr int kMaxExpansions = 100000;

  std::shared_ptr<const ModelProto> proto_;
  ExternalData external_;
  const ImportOptions& options_;
  OpsetMap opsets_;
  std::map<std::tuple<std::string, std::string, std::string>, const FunctionProto*> functions_;
  absl::flat_hash_set<const FunctionProto*> active_;
  std::vector<std::shared_ptr<FunctionProto>> edited_;
  std::vector<std::string> unsupported_;
  int expanded_ = 0;
  int64_t node_count_ = 0;
  int64_t unnamed_dims_ = 0;
};

absl::StatusOr<Model> Import(std::string_view bytes, const std::string& base_dir, const ImportOptions& options) {
  if (bytes.empty()) return Invalid("is empty, expected an ONNX model");
  if (bytes.size() > INT32_MAX) return Exhausted("has ", bytes.size(), " bytes: one protobuf message holds at most 2 GiB, keep the weights as external data");
  auto proto = std::make_shared<ModelProto>();
  if (!proto->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return Invalid("is not an ONNX model: it is cut off, nested beyond 100 levels, or no protobuf message");
  }
  return Importer(std::move(proto), base_dir, options).Run();
}

}  // namespace

absl::StatusOr<Model> ImportModel(const std::string& path, const ImportOptions& options) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return absl::NotFoundError(absl::StrCat(path, ": ", std::strerror(errno)));
  struct stat status {};
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(fd);
    return Invalid(path, ": is no regular file");
  }
  const size_t size = status.st_size;
  void* data = size == 0 ? nullptr : mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  if (data == MAP_FAILED) return Exhausted(path, ": cannot be mapped: ", std::strerror(errno));
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  absl::StatusOr<Model> model =
      Import(std::string_view(static_cast<const char*>(data), size), parent.empty() ? "." : parent.string(), options);
  if (data != nullptr) munmap(data, size);
  if (!model.ok()) return Annotate(model.status(), path);
  return model;
}

absl::StatusOr<Model> ImportModelFromMemory(std::string_view bytes, const std::string& base_dir, const ImportOptions& options) {
  absl::StatusOr<Model> model = Import(bytes, base_dir, options);
  if (!model.ok()) return Annotate(model.status(), "model");
  return model;
}

}  // namespace weft
