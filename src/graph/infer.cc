#include "graph/infer.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace weft {

std::string NodeView::Where() const {
  return absl::StrCat("node '", ToAbsl(name), "' (", op->QualifiedName(), ")");
}

const Type& InferContext::input(int i) const {
  static const Type* const unknown = new Type;
  return HasInput(i) ? *node_.inputs[i].type : *unknown;
}

std::optional<std::vector<int64_t>> InferContext::ints(int i) const {
  if (const std::vector<Dim>* known = elements(i)) {
    std::vector<int64_t> values;
    values.reserve(known->size());
    for (const Dim& d : *known) {
      if (!d.is_constant()) return std::nullopt;
      values.push_back(d.constant());
    }
    return values;
  }
  // More elements than are carried symbolically, but known all the same.
  const Tensor* known = tensor(i);
  if (known == nullptr) return std::nullopt;
  if (known->dtype() == DType::kInt64) return std::vector<int64_t>(known->data<int64_t>(), known->data<int64_t>() + known->size());
  if (known->dtype() == DType::kInt32) return std::vector<int64_t>(known->data<int32_t>(), known->data<int32_t>() + known->size());
  return std::nullopt;
}

void InferContext::SetOutput(int i, Type type) {
  if (HasOutput(i)) node_.outputs[i] = std::move(type);
}

void InferContext::SetElements(int i, std::vector<Dim> elements) {
  if (HasOutput(i) && elements.size() <= kMaxElements) elements_[i] = std::move(elements);
}

namespace {

constexpr std::string_view kFreshPrefix = "unk__";

}  // namespace

Dim InferContext::FreshDim() { return Dim::Symbol(absl::StrCat(ToAbsl(kFreshPrefix), fresh_++)); }

Shape InferContext::FreshShape(int rank) {
  std::vector<Dim> dims(rank);
  for (Dim& d : dims) d = FreshDim();
  return Shape(std::move(dims));
}

absl::Status InferContext::CheckRank(int i, std::string_view operand, int rank) const {
  if (!HasInput(i) || !shape(i).has_rank() || shape(i).rank() == rank) return absl::OkStatus();
  return Invalid("input ", i, " (", operand, ") has rank ", shape(i).rank(), ", shape ", shape(i).ToString(), ", expected rank ",
                 rank);
}

absl::Status InferContext::CheckRankAtLeast(int i, std::string_view operand, int rank) const {
  if (!HasInput(i) || !shape(i).has_rank() || shape(i).rank() >= rank) return absl::OkStatus();
  return Invalid("input ", i, " (", operand, ") has rank ", shape(i).rank(), ", shape ", shape(i).ToString(),
                 ", expected a rank of at least ", rank);
}

absl::Status InferContext::CheckDType(int i, std::string_view operand, absl::Span<const DType> allowed) const {
  if (!HasInput(i)) return absl::OkStatus();
  const Type& type = input(i);
  if (type.kind == Type::Kind::kUnknown) return absl::OkStatus();
  if (!type.is_tensor()) return Invalid("input ", i, " (", operand, ") is a ", type.ToString(), ", expected a tensor");
  if (type.dtype == DType::kUndefined || std::find(allowed.begin(), allowed.end(), type.dtype) != allowed.end()) {
    return absl::OkStatus();
  }
  return Invalid("input ", i, " (", operand, ") has element type ", DTypeName(type.dtype), ", expected ",
                 absl::StrJoin(allowed, " or ", [](std::string* out, DType t) { out->append(DTypeName(t)); }));
}

absl::Status InferContext::CheckSameDType(int i, int j) const {
  if (!HasInput(i) || !HasInput(j)) return absl::OkStatus();
  const DType a = dtype(i), b = dtype(j);
  if (a == b || a == DType::kUndefined || b == DType::kUndefined) return absl::OkStatus();
  return Invalid("input ", j, " has element type ", DTypeName(b), ", expected that of input ", i, ", ", DTypeName(a));
}

absl::StatusOr<int> InferContext::NormalizeAxis(int64_t axis, int rank, std::string_view what) {
  if (axis < -rank || axis >= rank) {
    return Invalid(what, " is ", axis, ", expected a value in [", -rank, ", ", rank - 1, "] for rank ", rank);
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

absl::StatusOr<Dim> InferContext::BroadcastDim(const Dim& a, const Dim& b) {
  if (a == b || b == Dim(1)) return a;
  if (a == Dim(1)) return b;
  if (a.is_constant() && b.is_constant()) {
    return Invalid("dims ", a.constant(), " and ", b.constant(), " cannot be broadcast: expected equal dims, or one of them 1");
  }
  if (a.is_constant()) return a;  // not 1: the symbol is 1 or equal to it
  if (b.is_constant()) return b;
  return FreshDim();
}

absl::StatusOr<Shape> InferContext::Broadcast(absl::Span<const int> inputs) {
  std::vector<int> which(inputs.begin(), inputs.end());
  if (inputs.empty()) {
    for (int i = 0; i < num_inputs(); ++i) {
      if (HasInput(i)) which.push_back(i);
    }
  }
  std::vector<Dim> out;
  for (int i : which) {
    const Shape& s = shape(i);
    if (!s.has_rank()) return Shape();
    if (s.rank() > static_cast<int>(out.size())) out.insert(out.begin(), s.rank() - out.size(), Dim(1));
    const size_t offset = out.size() - s.rank();
    for (int axis = 0; axis < s.rank(); ++axis) {
      auto dim = BroadcastDim(out[offset + axis], s[axis]);
      if (!dim.ok()) {
        return Invalid("shapes ",
                       absl::StrJoin(which, ", ", [this](std::string* text, int k) { text->append(shape(k).ToString()); }),
                       " do not broadcast: ", dim.status().message());
      }
      out[offset + axis] = *std::move(dim);
    }
  }
  return Shape(std::move(out));
}

absl::StatusOr<Dim> InferContext::Unify(const Dim& a, const Dim& b, std::string_view what) {
  if (a.is_constant() && b.is_constant() && a != b) {
    return Invalid(what, " is ", a.constant(), " in one place and ", b.constant(), " in another, expected equal");
  }
  return a.is_constant() ? a : b;
}

std::optional<std::vector<Dim>> ElementsOf(const Tensor& tensor) {
  if (tensor.size() > static_cast<int64_t>(InferContext::kMaxElements)) return std::nullopt;
  auto read = [&]<class T>(const T* data) { return std::vector<Dim>(data, data + tensor.size()); };
  switch (tensor.dtype()) {
    case DType::kInt64: return read(tensor.data<int64_t>());
    case DType::kInt32: return read(tensor.data<int32_t>());
    case DType::kInt16: return read(tensor.data<int16_t>());
    case DType::kInt8: return read(tensor.data<int8_t>());
    case DType::kUint32: return read(tensor.data<uint32_t>());
    case DType::kUint16: return read(tensor.data<uint16_t>());
    case DType::kUint8: return read(tensor.data<uint8_t>());
    case DType::kBool: return read(tensor.data<bool>());
    default: return std::nullopt;  // uint64 does not fit Dim
  }
}

std::optional<Tensor> TensorOfElements(const Type& type, const std::vector<Dim>& elements) {
  if (!type.is_tensor()) return std::nullopt;
  const std::optional<Dims> dims = type.shape.Concrete();
  if (!dims) return std::nullopt;
  const absl::StatusOr<int64_t> count = NumElements(*dims);
  if (!count.ok() || *count != static_cast<int64_t>(elements.size())) return std::nullopt;
  for (const Dim& d : elements) {
    if (!d.is_constant()) return std::nullopt;
  }
  const DType dtype = type.dtype;
  if (dtype != DType::kInt64 && dtype != DType::kInt32 && dtype != DType::kBool) return std::nullopt;
  absl::StatusOr<Tensor> tensor = Tensor::Allocate(dtype, *dims);
  if (!tensor.ok()) return std::nullopt;
  auto fill = [&]<class T>(T* data) {
    for (size_t i = 0; i < elements.size(); ++i) data[i] = static_cast<T>(elements[i].constant());
  };
  if (dtype == DType::kInt64) fill(tensor->data<int64_t>());
  if (dtype == DType::kInt32) fill(tensor->data<int32_t>());
  if (dtype == DType::kBool) fill(tensor->data<bool>());
  return *std::move(tensor);
}

namespace {

// Errors that name the node once, innermost first.
absl::Status AtNode(const absl::Status& status, const NodeView& node) { return Annotate(status, node.Where()); }

// The first number whose fresh symbol no formal value's type has: other tools' models, and our own once printed, have such names.
int64_t FirstFresh(const Graph& graph) {
  int64_t first = 0;
  for (const auto* formals : {&graph.inputs(), &graph.captures()}) {
    for (ValueId id : *formals) {
      for (const Type* type = &graph.value(id).type; type != nullptr; type = type->elem.get()) {
        for (const Dim& dim : type->shape.dims()) {
          for (const std::string& symbol : dim.Symbols()) {
            int64_t number = 0;
            if (symbol.rfind(kFreshPrefix, 0) != 0) continue;
            if (absl::SimpleAtoi(symbol.substr(kFreshPrefix.size()), &number) && number < (int64_t{1} << 62)) {
              first = std::max(first, number + 1);
            }
          }
        }
      }
    }
  }
  return first;
}

// One region's inference may run many times (a Loop widens its carried types): symbols come from one counter for all.
class Driver {
 public:
  explicit Driver(int64_t first_fresh) : fresh_(first_fresh) {}

  // `known[v]` on entry: elements of captures and inputs that the caller knows.
  absl::Status Run(Graph& graph, KnownElements& known) {
    known.resize(graph.num_values());
    for (int v = 0; v < graph.num_values(); ++v) {
      const GraphValue& value = graph.value(ValueId{v});
      if (!value.is_constant()) continue;
      graph.SetType(ValueId{v}, Type::OfTensor(value.constant));
      known[v] = ElementsOf(value.constant);
    }
    for (NodeId id = graph.first_node(); id != NodeId::kNone; id = graph.node(id).next) {
      WEFT_RETURN_IF_ERROR(Node(graph, id, known));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Node(Graph& graph, NodeId id, KnownElements& known) {
    const GraphNode& node = graph.node(id);
    NodeView view = ViewOf(graph, id, &known);
    auto infer_region = [&](int k, absl::Span<const Type> inputs) { return InferRegion(graph, id, k, inputs, known); };
    InferContext ctx(view, infer_region, fresh_);
    WEFT_RETURN_IF_ERROR(AtNode(node.op->infer(ctx), view));
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == ValueId::kNone) continue;
      graph.SetType(node.outputs[i], std::move(view.outputs[i]));
      known[static_cast<size_t>(node.outputs[i])] = std::move(ctx.output_elements(static_cast<int>(i)));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<Type>> InferRegion(Graph& outer, NodeId id, int k, absl::Span<const Type> inputs,
                                                const KnownElements& known) {
    const GraphNode& node = outer.node(id);
    Graph& body = *node.regions[k].graph;
    if (inputs.size() != body.inputs().size()) {
      return Invalid("region '", node.op->regions[k], "' takes ", body.inputs().size(), " inputs, expected ", inputs.size());
    }
    KnownElements inner(body.num_values());
    for (size_t i = 0; i < inputs.size(); ++i) {
      body.SetType(body.inputs()[i], inputs[i]);
    }
    for (size_t i = 0; i < node.regions[k].captures.size(); ++i) {
      const ValueId from = node.regions[k].captures[i], to = body.captures()[i];
      body.SetType(to, outer.value(from).type);
      inner[static_cast<size_t>(to)] = known[static_cast<size_t>(from)];
    }
    WEFT_RETURN_IF_ERROR(Annotate(Run(body, inner), node.op->regions[k]));
    std::vector<Type> outputs;
    for (ValueId v : body.outputs()) outputs.push_back(body.value(v).type);
    return outputs;
  }

  int64_t fresh_;
};

}  // namespace

NodeView ViewOf(const Graph& graph, NodeId id, const KnownElements* known) {
  const GraphNode& node = graph.node(id);
  NodeView view;
  view.op = node.op;
  view.name = graph.Label(id);
  view.attrs = &node.attrs;
  view.inputs.resize(node.inputs.size());
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == ValueId::kNone) continue;
    const GraphValue& value = graph.value(node.inputs[i]);
    view.inputs[i].type = &value.type;
    if (value.is_constant()) view.inputs[i].tensor = &value.constant;
    if (known != nullptr && (*known)[static_cast<size_t>(node.inputs[i])]) {
      view.inputs[i].elements = &*(*known)[static_cast<size_t>(node.inputs[i])];
    }
  }
  view.outputs.resize(node.outputs.size());
  view.output_present.resize(node.outputs.size());
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    view.output_present[i] = node.outputs[i] != ValueId::kNone;
    if (view.output_present[i]) view.outputs[i] = graph.value(node.outputs[i]).type;
  }
  return view;
}

absl::StatusOr<KnownElements> InferTypes(Graph& graph) {
  KnownElements known;
  WEFT_RETURN_IF_ERROR(Driver(FirstFresh(graph)).Run(graph, known));
  return known;
}

}  // namespace weft
