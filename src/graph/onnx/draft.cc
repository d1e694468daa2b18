#include "graph/onnx/draft.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "graph/verify.h"

namespace weft {
namespace {

absl::Status CheckBodies(const Op& op, const Draft& draft) {
  for (const DraftBody& body : draft.bodies) {
    if (std::find(op.regions.begin(), op.regions.end(), body.attribute) == op.regions.end()) {
      return Invalid("graph attribute '", body.attribute, "' is none of this operator's");
    }
  }
  for (std::string_view region : op.regions) {
    const auto count = std::count_if(draft.bodies.begin(), draft.bodies.end(), [&](const DraftBody& b) { return b.attribute == region; });
    if (count != 1) return Invalid("graph attribute '", region, "' is missing");
  }
  return absl::OkStatus();
}

absl::StatusOr<Attrs> MakeAttrs(const Op& op, Draft& draft) {
  Attrs attrs(op.attrs);
  for (const AttrField& field : op.attrs->fields) {
    if (field.required && !draft.HasAttr(field.name)) return Invalid("attribute '", field.name, "' is missing");
  }
  for (auto& [name, value] : draft.attrs) WEFT_RETURN_IF_ERROR(attrs.Set(name, std::move(value)));
  return attrs;
}

}  // namespace

absl::Status AppendNode(Graph& graph, Draft draft) {
  const Op* op = FindOp(draft.domain, draft.op_type);
  if (op == nullptr) return Unsupported("Weft has no operator ", draft.QualifiedOp());
  // Omitted operands at the end are no operands.
  auto trim = [](std::vector<ValueId>& operands, int min) {
    while (static_cast<int>(operands.size()) > min && operands.back() == ValueId::kNone) operands.pop_back();
  };
  trim(draft.inputs, op->inputs.min);
  trim(draft.outputs, op->outputs.min);
  WEFT_RETURN_IF_ERROR(CheckOperands(*op, draft.inputs, draft.outputs));
  WEFT_RETURN_IF_ERROR(CheckBodies(*op, draft));
  WEFT_ASSIGN_OR_RETURN(Attrs attrs, MakeAttrs(*op, draft));
  // Kernels write the outputs that every node has, whether the file names them or not.
  for (size_t i = 0; i < draft.outputs.size() && static_cast<int>(i) < op->outputs.min; ++i) {
    if (draft.outputs[i] == ValueId::kNone) draft.outputs[i] = graph.AddValue(absl::StrCat(draft.name, "/", draft.op_type), Type::Unknown());
  }
  const NodeId id = graph.AddNode(op, draft.name, std::move(draft.inputs), std::move(draft.outputs), std::move(attrs));
  for (std::string_view region : op->regions) {
    const auto body = std::find_if(draft.bodies.begin(), draft.bodies.end(), [&](const DraftBody& b) { return b.attribute == region; });
    graph.AddRegion(id, std::move(body->graph), std::move(body->captures));
  }
  return absl::OkStatus();
}

const Type& InferredTypes::Of(ValueId value) {
  static const Type* const unknown = new Type();
  if (value == ValueId::kNone) return *unknown;
  if (graph_.value(value).type.kind != Type::Kind::kUnknown) return graph_.value(value).type;
  NodeId node = last_ == NodeId::kNone ? graph_.first_node() : graph_.node(last_).next;
  for (; node != NodeId::kNone; node = graph_.node(node).next) {
    InferNode(node);
    last_ = node;
  }
  return graph_.value(value).type;
}

void InferredTypes::InferNode(NodeId id) {
  const GraphNode& node = graph_.node(id);
  known_.resize(graph_.num_values());
  for (ValueId input : node.inputs) {
    if (input == ValueId::kNone || known_[static_cast<size_t>(input)]) continue;
    if (const Tensor* constant = graph_.Constant(input)) known_[static_cast<size_t>(input)] = ElementsOf(*constant);
  }
  NodeView view = ViewOf(graph_, id, &known_);
  auto no_regions = [](int, absl::Span<const Type>) -> absl::StatusOr<std::vector<Type>> { return Unsupported("not looked into"); };
  InferContext ctx(view, no_regions, fresh_);
  if (!node.op->infer(ctx).ok()) return;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == ValueId::kNone) continue;
    known_[static_cast<size_t>(node.outputs[i])] = std::move(ctx.output_elements(static_cast<int>(i)));
    graph_.SetType(node.outputs[i], std::move(view.outputs[i]));
  }
}

}  // namespace weft
