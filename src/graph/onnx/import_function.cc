#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "graph/onnx/importer.h"
#include "graph/op.h"

namespace weft {
namespace {

// A few calls of functions that call functions may stand for any number of nodes.
constexpr int64_t kMaxExpandedNodes = 500'000;
constexpr int kMaxCallDepth = 100;

}  // namespace

Importer::Function* Importer::FindFunction(const onnx::NodeProto& proto) {
  if (functions_.empty()) return nullptr;
  // Exporters add functions for ops of ONNX Runtime, for those who lack them; these stand for the cases at hand at best.
  if (proto.domain() == "com.microsoft" && FindOp(proto.domain(), proto.op_type()) != nullptr) return nullptr;
  auto it = functions_.find({MainDomain(proto.domain()), proto.op_type(), proto.overload()});
  return it == functions_.end() ? nullptr : &it->second;
}

absl::Status Importer::BindAttributes(onnx::NodeProto& call, Function& function, Scope& scope, Attributes& attributes) {
  absl::flat_hash_set<std::string_view> seen;
  for (onnx::AttributeProto& attribute : *call.mutable_attribute()) {
    if (!seen.insert(attribute.name()).second) return Invalid("attribute '", attribute.name(), "' is given twice");
    absl::StatusOr<Attribute> resolved = Resolve(attribute, scope);
    if (!resolved.ok()) return Annotate(resolved.status(), absl::StrCat("attribute '", attribute.name(), "'"));
    if (resolved->proto != nullptr) attributes[attribute.name()] = *resolved;
  }
  // Defaults hold where the call says nothing. What has neither is left out of the nodes that refer to it.
  for (onnx::AttributeProto& attribute : *function.proto->mutable_attribute_proto()) {
    attributes.emplace(attribute.name(), Attribute{&attribute, &scope});
  }
  return absl::OkStatus();
}

absl::Status Importer::ExpandCall(onnx::NodeProto& call, const Draft& draft, Function& function, Scope& scope) {
  onnx::FunctionProto& proto = *function.proto;
  const std::string where = absl::StrCat("node '", draft.name, "' (function ", proto.domain(), ".", proto.name(), ")");
  if (function.active) return Invalid(where, ": the function calls itself");
  if (expanding_ >= kMaxCallDepth) return Exhausted(where, ": functions call each other more than ", kMaxCallDepth, " levels deep");
  expanded_nodes_ += proto.node_size() + 1;
  if (expanded_nodes_ > kMaxExpandedNodes) return Exhausted(where, ": functions stand for more than ", kMaxExpandedNodes, " nodes");
  if (draft.inputs.size() > static_cast<size_t>(proto.input_size())) {
    return Invalid(where, ": has ", draft.inputs.size(), " inputs, expected at most ", proto.input_size());
  }
  if (draft.outputs.size() > static_cast<size_t>(proto.output_size())) {
    return Invalid(where, ": has ", draft.outputs.size(), " outputs, expected at most ", proto.output_size());
  }
  Attributes attributes;
  WEFT_RETURN_IF_ERROR(Annotate(BindAttributes(call, function, scope, attributes), where));
  Scope inner;
  inner.graph = scope.graph;
  inner.types = scope.types;
  inner.attributes = &attributes;
  inner.opsets = &function.opsets;
  inner.prefix = draft.name + "/";
  for (int i = 0; i < proto.input_size(); ++i) {
    if (!inner.names.emplace(proto.input(i), draft.Input(i)).second) return Invalid(where, ": lists input '", proto.input(i), "' twice");
  }
  for (int i = 0; i < proto.output_size(); ++i) {
    if (draft.Output(i) != ValueId::kNone) inner.results.emplace(proto.output(i), draft.Output(i));
  }
  function.active = true;
  ++expanding_;
  absl::Status status = DeclareResults(proto.node(), inner);
  if (status.ok()) status = ReadNodes(*proto.mutable_node(), inner);
  --expanding_;
  function.active = false;
  WEFT_RETURN_IF_ERROR(status);
  // A result that is no node's, or stands in the list twice.
  for (int i = 0; i < proto.output_size(); ++i) {
    if (draft.Output(i) == ValueId::kNone) continue;
    const std::optional<ValueId> result = Lookup(inner, proto.output(i));
    if (!result || *result == ValueId::kNone) return Invalid(where, ": output '", proto.output(i), "' is produced by no node or input");
    if (*result == draft.Output(i)) continue;
    Draft copy;
    copy.op_type = "Identity";
    copy.name = absl::StrCat(draft.name, "/", proto.output(i));
    copy.inputs = {*result};
    copy.outputs = {draft.Output(i)};
    WEFT_RETURN_IF_ERROR(Annotate(AppendNode(*scope.graph, std::move(copy)), where));
  }
  return absl::OkStatus();
}

}  // namespace weft
