#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "graph/onnx/adapter.h"
#include "graph/onnx/importer.h"
#include "graph/onnx/tensor_proto.h"

namespace weft {
namespace {

using onnx::AttributeProto;
using onnx::NodeProto;

// Nodes of one kind that a message names.
constexpr size_t kNodesNamed = 8;

// Files of IR version 1 give no type: the field that is set says it.
AttributeProto::AttributeType TypeOf(const AttributeProto& a) {
  if (a.type() != AttributeProto::UNDEFINED) return a.type();
  if (a.has_f()) return AttributeProto::FLOAT;
  if (a.has_i()) return AttributeProto::INT;
  if (a.has_s()) return AttributeProto::STRING;
  if (a.has_t()) return AttributeProto::TENSOR;
  if (a.has_g()) return AttributeProto::GRAPH;
  if (a.has_sparse_tensor()) return AttributeProto::SPARSE_TENSOR;
  if (a.has_tp()) return AttributeProto::TYPE_PROTO;
  if (a.floats_size() > 0) return AttributeProto::FLOATS;
  if (a.ints_size() > 0) return AttributeProto::INTS;
  if (a.strings_size() > 0) return AttributeProto::STRINGS;
  if (a.tensors_size() > 0) return AttributeProto::TENSORS;
  return AttributeProto::UNDEFINED;
}

std::string TypeName(AttributeProto::AttributeType type) { return AttributeProto::AttributeType_Name(type); }

// A field of another kind than the one that `type` names must be empty. Numbers and strings equal to 0 or "" may be left out, and so may empty lists.
absl::Status CheckFields(const AttributeProto& a, AttributeProto::AttributeType type) {
  const std::pair<AttributeProto::AttributeType, bool> fields[] = {
      {AttributeProto::FLOAT, a.has_f()},
      {AttributeProto::INT, a.has_i()},
      {AttributeProto::STRING, a.has_s()},
      {AttributeProto::TENSOR, a.has_t()},
      {AttributeProto::GRAPH, a.has_g()},
      {AttributeProto::SPARSE_TENSOR, a.has_sparse_tensor()},
      {AttributeProto::TYPE_PROTO, a.has_tp()},
      {AttributeProto::FLOATS, a.floats_size() > 0},
      {AttributeProto::INTS, a.ints_size() > 0},
      {AttributeProto::STRINGS, a.strings_size() > 0},
      {AttributeProto::TENSORS, a.tensors_size() > 0},
      {AttributeProto::GRAPHS, a.graphs_size() > 0},
      {AttributeProto::SPARSE_TENSORS, a.sparse_tensors_size() > 0},
      {AttributeProto::TYPE_PROTOS, a.type_protos_size() > 0},
  };
  for (const auto& [kind, filled] : fields) {
    if (filled && kind != type) return Invalid("is marked as ", TypeName(type), " but has a value of kind ", TypeName(kind));
    const bool message = kind == AttributeProto::TENSOR || kind == AttributeProto::GRAPH || kind == AttributeProto::SPARSE_TENSOR ||
                         kind == AttributeProto::TYPE_PROTO;
    if (message && kind == type && !filled) return Invalid("is marked as ", TypeName(type), " but has no value");
  }
  return absl::OkStatus();
}

template <class T, class List>
absl::StatusOr<Tensor> TensorOfList(const List& list) {
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(DTypeOf<T>::value, {int64_t{list.size()}}));
  std::copy(list.begin(), list.end(), tensor.data<T>());
  return tensor;
}

}  // namespace

absl::Status Importer::ReadNode(NodeProto& proto, int index, Scope& scope) {
  absl::StatusOr<Draft> draft = StartDraft(proto, scope);
  const std::string domain = MainDomain(proto.domain());
  const auto opset = scope.opsets->find(domain);
  const std::string op = absl::StrCat(domain.empty() ? "" : domain + ".", proto.op_type(),
                                      opset == scope.opsets->end() ? "" : absl::StrCat(", opset ", opset->second));
  const std::string name =
      absl::StrCat(scope.prefix, proto.name().empty() ? absl::StrCat(proto.op_type(), "_", index) : proto.name());
  const std::string where = absl::StrCat("node '", name, "' (", op, ")");
  if (!draft.ok()) return Annotate(draft.status(), where);
  draft->name = name;
  if (Function* function = FindFunction(proto)) {
    // Errors inside name the inner node, which has this one's name in front.
    return ExpandCall(proto, *draft, *function, scope);
  }
  if (opset == scope.opsets->end()) return Invalid(where, ": the model does not import domain '", domain, "'");
  draft->opset = opset->second;
  const absl::Status status = BuildNode(proto, *std::move(draft), scope);
  if (!absl::IsUnimplemented(status)) return Annotate(status, where);
  Unsupported& unsupported = unsupported_[absl::StrCat(op, ": ", status.message())];
  if (unsupported.nodes.size() < kNodesNamed) {
    unsupported.nodes.push_back(name);
  } else {
    ++unsupported.more;
  }
  return absl::OkStatus();
}

absl::StatusOr<Draft> Importer::StartDraft(const NodeProto& proto, Scope& scope) {
  Draft draft;
  draft.domain = MainDomain(proto.domain());
  draft.op_type = proto.op_type();
  for (const std::string& input : proto.input()) {
    if (input.empty()) {
      draft.inputs.push_back(ValueId::kNone);
      continue;
    }
    const std::optional<ValueId> id = Lookup(scope, input);
    if (!id) return Invalid("input '", input, "' is produced by no node, input or initialiser");
    draft.inputs.push_back(*id);
  }
  for (const std::string& output : proto.output()) {
    draft.outputs.push_back(output.empty() ? ValueId::kNone : scope.names.at(output));
  }
  return draft;
}

absl::Status Importer::BuildNode(NodeProto& proto, Draft draft, Scope& scope) {
  if (draft.domain.empty() && draft.op_type == "Constant") return ReadConstant(proto, draft, scope);
  WEFT_RETURN_IF_ERROR(ReadAttributes(proto, draft, scope));
  Lift lift(*scope.graph, *scope.types, draft.name);
  WEFT_RETURN_IF_ERROR(LiftToNewest(draft, lift));
  return lift.Append(std::move(draft));
}

// ---- Attributes ----

absl::StatusOr<Importer::Attribute> Importer::Resolve(AttributeProto& proto, Scope& scope) {
  if (proto.ref_attr_name().empty()) return Attribute{&proto, &scope};
  if (scope.attributes == nullptr) return Invalid("refers to attribute '", proto.ref_attr_name(), "' outside of a function");
  auto it = scope.attributes->find(proto.ref_attr_name());
  if (it == scope.attributes->end()) return Attribute{};
  const AttributeProto::AttributeType found = TypeOf(*it->second.proto);
  if (proto.type() != AttributeProto::UNDEFINED && proto.type() != found) {
    return Invalid("refers to attribute '", proto.ref_attr_name(), "' of kind ", TypeName(found), ", expected ", TypeName(proto.type()));
  }
  return it->second;
}

absl::Status Importer::ReadAttributes(NodeProto& proto, Draft& draft, Scope& scope) {
  absl::flat_hash_set<std::string_view> seen;
  for (AttributeProto& attribute : *proto.mutable_attribute()) {
    auto read = [&]() -> absl::Status {
      if (!seen.insert(attribute.name()).second) return Invalid("is given twice");
      WEFT_ASSIGN_OR_RETURN(const Attribute resolved, Resolve(attribute, scope));
      if (resolved.proto == nullptr) return absl::OkStatus();
      const AttributeProto::AttributeType type = TypeOf(*resolved.proto);
      WEFT_RETURN_IF_ERROR(CheckFields(*resolved.proto, type));
      if (type == AttributeProto::GRAPH) {
        WEFT_ASSIGN_OR_RETURN(DraftBody body, ReadBody(attribute.name(), resolved, scope));
        draft.bodies.push_back(std::move(body));
        return absl::OkStatus();
      }
      WEFT_ASSIGN_OR_RETURN(AttrValue value, ReadValue(*resolved.proto));
      draft.attrs.emplace(attribute.name(), std::move(value));
      return absl::OkStatus();
    };
    if (absl::Status status = read(); !status.ok()) return Annotate(status, absl::StrCat("attribute '", attribute.name(), "'"));
  }
  return absl::OkStatus();
}

absl::StatusOr<DraftBody> Importer::ReadBody(std::string_view name, Attribute attribute, const Scope& scope) {
  if (attribute.scope->graph != scope.graph) {
    return weft::Unsupported("is a graph that a function hands on to a node in a body of its own");
  }
  DraftBody body;
  body.attribute = std::string(name);
  InferredTypes types(body.graph);
  Scope inner;
  inner.graph = &body.graph;
  inner.types = &types;
  inner.outer = attribute.scope;
  inner.captures = &body.captures;
  inner.attributes = attribute.scope->attributes;
  inner.opsets = attribute.scope->opsets;
  WEFT_RETURN_IF_ERROR(ReadGraph(*attribute.proto->mutable_g(), inner, nullptr));
  return body;
}

absl::StatusOr<AttrValue> Importer::ReadValue(AttributeProto& a) {
  switch (TypeOf(a)) {
    case AttributeProto::FLOAT: return AttrValue(a.f());
    case AttributeProto::INT: return AttrValue(int64_t{a.i()});
    case AttributeProto::STRING: return AttrValue(a.s());
    case AttributeProto::FLOATS: return AttrValue(std::vector<float>(a.floats().begin(), a.floats().end()));
    case AttributeProto::INTS: return AttrValue(std::vector<int64_t>(a.ints().begin(), a.ints().end()));
    case AttributeProto::STRINGS: return AttrValue(std::vector<std::string>(a.strings().begin(), a.strings().end()));
    case AttributeProto::TENSOR: {
      WEFT_ASSIGN_OR_RETURN(Tensor tensor, ReadTensor(*a.mutable_t(), "tensor"));
      return AttrValue(std::move(tensor));
    }
    case AttributeProto::TENSORS: {
      std::vector<Tensor> tensors;
      for (onnx::TensorProto& t : *a.mutable_tensors()) {
        WEFT_ASSIGN_OR_RETURN(tensors.emplace_back(), ReadTensor(t, absl::StrCat("tensor ", tensors.size() - 1)));
      }
      return AttrValue(std::move(tensors));
    }
    case AttributeProto::TYPE_PROTO: {
      WEFT_ASSIGN_OR_RETURN(Type type, TypeFromProto(a.tp(), a.name()));
      return AttrValue(std::move(type));
    }
    case AttributeProto::UNDEFINED: return Invalid("has no value");
    default: return weft::Unsupported("is of kind ", TypeName(TypeOf(a)), ", expected a number, string, tensor or type, or a list of them");
  }
}

absl::StatusOr<Tensor> Importer::ReadTensor(onnx::TensorProto& proto, std::string_view what) {
  if (expanding_ == 0) return TensorFromProto(proto, &files_, what);
  if (auto it = kept_tensors_.find(&proto); it != kept_tensors_.end()) return it->second;
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, TensorFromProto(proto, &files_, what));
  return kept_tensors_[&proto] = std::move(tensor);
}

absl::StatusOr<Tensor> Importer::ReadSparse(onnx::SparseTensorProto& proto, std::string_view what) {
  if (expanding_ == 0) return TensorFromSparseProto(proto, &files_, what);
  if (auto it = kept_tensors_.find(&proto); it != kept_tensors_.end()) return it->second;
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, TensorFromSparseProto(proto, &files_, what));
  return kept_tensors_[&proto] = std::move(tensor);
}

// ---- Constant ----

absl::Status Importer::ReadConstant(NodeProto& proto, const Draft& draft, Scope& scope) {
  if (!draft.inputs.empty()) return Invalid("has ", draft.inputs.size(), " inputs, expected none");
  if (draft.outputs.size() != 1) return Invalid("has ", draft.outputs.size(), " outputs, expected 1");
  AttributeProto* value = nullptr;
  std::string_view name;
  for (AttributeProto& attribute : *proto.mutable_attribute()) {
    WEFT_ASSIGN_OR_RETURN(const Attribute resolved, Resolve(attribute, scope));
    if (resolved.proto == nullptr) continue;
    if (value != nullptr) return Invalid("has attributes '", name, "' and '", attribute.name(), "', expected one value");
    value = resolved.proto;
    name = attribute.name();
  }
  if (value == nullptr) return Invalid("has no value, expected an attribute 'value'");
  constexpr std::pair<std::string_view, AttributeProto::AttributeType> kKinds[] = {
      {"value", AttributeProto::TENSOR},       {"sparse_value", AttributeProto::SPARSE_TENSOR}, {"value_float", AttributeProto::FLOAT},
      {"value_floats", AttributeProto::FLOATS}, {"value_int", AttributeProto::INT},             {"value_ints", AttributeProto::INTS},
      {"value_string", AttributeProto::STRING}, {"value_strings", AttributeProto::STRINGS}};
  const auto* kind = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const auto& k) { return k.first == name; });
  if (kind == std::end(kKinds)) return Invalid("has attribute '", name, "', expected value, sparse_value, value_int, ...");
  if (TypeOf(*value) != kind->second) {
    return Invalid("attribute '", name, "' is of kind ", TypeName(TypeOf(*value)), ", expected ", TypeName(kind->second));
  }
  WEFT_RETURN_IF_ERROR(Annotate(CheckFields(*value, kind->second), absl::StrCat("attribute '", ToAbsl(name), "'")));
  auto read = [&]() -> absl::StatusOr<Tensor> {
    switch (kind->second) {
      case AttributeProto::SPARSE_TENSOR: return ReadSparse(*value->mutable_sparse_tensor(), "sparse_value");
      case AttributeProto::FLOAT: return Tensor::Scalar<float>(value->f());
      case AttributeProto::FLOATS: return TensorOfList<float>(value->floats());
      case AttributeProto::INT: return Tensor::Scalar<int64_t>(value->i());
      case AttributeProto::INTS: return TensorOfList<int64_t>(value->ints());
      case AttributeProto::STRING: return Tensor::Scalar<std::string>(value->s());
      case AttributeProto::STRINGS: return TensorOfList<std::string>(value->strings());
      default: return ReadTensor(*value->mutable_t(), "value");
    }
  };
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, read());
  if (draft.outputs[0] != ValueId::kNone) scope.graph->MakeConstant(draft.outputs[0], std::move(tensor));
  return absl::OkStatus();
}

}  // namespace weft
