#include "graph/onnx/adapter.h"

#include <algorithm>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "base/float_types.h"
#include "base/status_macros.h"

namespace weft {

std::optional<int64_t> NewestOpset(std::string_view domain) {
  if (domain.empty()) return 28;
  if (domain == "ai.onnx.ml") return 5;
  if (domain == "ai.onnx.preview" || domain == "ai.onnx.preview.training") return 1;
  return std::nullopt;
}

// ---- Lift ----

std::optional<int> Lift::RankOf(ValueId value) {
  const Type& type = TypeOf(value);
  if (!type.is_tensor() || !type.shape.has_rank()) return std::nullopt;
  return type.shape.rank();
}

ValueId Lift::Constant(std::string_view what, Tensor tensor) {
  return graph_.AddConstant(absl::StrCat(name_, "/", ToAbsl(what)), std::move(tensor));
}

ValueId Lift::Ints(std::string_view what, const std::vector<int64_t>& values) {
  return Constant(what, Tensor::Of<int64_t>({static_cast<int64_t>(values.size())}, values));
}

ValueId Lift::Int(std::string_view what, int64_t value) { return Constant(what, Tensor::Scalar<int64_t>(value)); }

ValueId Lift::Float(std::string_view what, float value) { return Constant(what, Tensor::Scalar<float>(value)); }

absl::StatusOr<ValueId> Lift::FloatLike(std::string_view what, float value, ValueId like) {
  switch (DTypeOf(like)) {
    case DType::kFloat32: return Float(what, value);
    case DType::kFloat64: return Constant(what, Tensor::Scalar<double>(value));
    case DType::kFloat16: return Constant(what, Tensor::Scalar<Float16>(Float16(value)));
    default: return Emit("CastLike", {Float(what, value), like});
  }
}

Draft Lift::MakeDraft(std::string_view op_type, std::vector<ValueId> inputs, ValueId output, Attributes attrs) {
  Draft draft;
  draft.op_type = std::string(op_type);
  draft.inputs = std::move(inputs);
  draft.outputs = {output};
  for (auto& [name, value] : attrs) draft.attrs.emplace(name, std::move(value));
  return draft;
}

absl::StatusOr<ValueId> Lift::Emit(std::string_view op_type, std::vector<ValueId> inputs, Attributes attrs) {
  const ValueId output = graph_.AddValue(absl::StrCat(name_, "/", ToAbsl(op_type)), Type::Unknown());
  WEFT_RETURN_IF_ERROR(AppendNode(graph_, MakeDraft(op_type, std::move(inputs), output, std::move(attrs))));
  return output;
}

void Lift::EmitAfter(std::string_view op_type, std::vector<ValueId> inputs, ValueId output, Attributes attrs) {
  after_.push_back(MakeDraft(op_type, std::move(inputs), output, std::move(attrs)));
}

ValueId Lift::Detach(Draft& node, size_t i) {
  if (node.outputs.size() <= i) node.outputs.resize(i + 1, ValueId::kNone);
  node.outputs[i] = graph_.AddValue(absl::StrCat(name_, "/", node.op_type), Type::Unknown());
  return node.outputs[i];
}

absl::Status Lift::Append(Draft node) {
  WEFT_RETURN_IF_ERROR(AppendNode(graph_, std::move(node)));
  while (!after_.empty()) {
    Draft next = std::move(after_.back());
    after_.pop_back();
    WEFT_RETURN_IF_ERROR(AppendNode(graph_, std::move(next)));
  }
  return absl::OkStatus();
}

// ---- Histories ----

absl::Span<const OpVersion> OpHistory::Versions() const {
  const OpVersion* end = std::find_if(std::begin(versions), std::end(versions), [](const OpVersion& v) { return v.since == 0; });
  return absl::MakeConstSpan(versions, end - versions);
}

const OpHistory* FindHistory(std::string_view domain, std::string_view name) {
  using Key = std::pair<std::string_view, std::string_view>;
  static const auto* const index = [] {
    auto* map = new absl::flat_hash_map<Key, const OpHistory*>;
    for (const OpHistory& history : OpHistories()) map->emplace(Key(history.domain, history.name), &history);
    return map;
  }();
  auto it = index->find(Key(domain, name));
  return it == index->end() ? nullptr : it->second;
}

absl::Status LiftToNewest(Draft& node, Lift& lift) {
  if (!NewestOpset(node.domain)) return absl::OkStatus();
  const OpHistory* history = FindHistory(node.domain, node.op_type);
  if (history == nullptr) return Unsupported("ONNX has no operator ", node.QualifiedOp());
  if (history->Versions().front().since > node.opset) {
    return Invalid("is no operator of opset ", node.opset, ", expected opset ", history->Versions().front().since, " or later");
  }
  for (const OpVersion& version : history->Versions()) {
    if (version.gone && version.since <= node.opset) {
      return Invalid("is no operator of opset ", node.opset, ", it ended with opset ", version.since - 1);
    }
  }
  // A step that renames the node sends it on into the history of its new op.
  int64_t version = node.opset;
  for (bool renamed = true; renamed;) {
    renamed = false;
    for (const OpVersion& next : history->Versions()) {
      if (next.since <= version) continue;
      if (next.step != nullptr) WEFT_RETURN_IF_ERROR(next.step(node, lift));
      version = next.since;
      if (!next.gone) continue;
      history = FindHistory(node.domain, node.op_type);
      renamed = true;
      break;
    }
  }
  return history->tidy == nullptr ? absl::OkStatus() : history->tidy(node, lift);
}

}  // namespace weft
