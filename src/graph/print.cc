#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "graph/text.h"
#include "graph/text_words.h"

namespace weft {
namespace {

class Printer {
 public:
  explicit Printer(const PrintOptions& options) : options_(options) {}

  void WriteModel(const Model& model);
  // `defaults`: constants that stand among the inputs.
  void WriteGraph(const Graph& g, const Region* region, absl::Span<const std::string> defaults = {});
  std::string Take() { return std::move(out_); }

 private:
  // A graph that is being written, with what its captures stand for one scope further out.
  struct Scope {
    const Graph* graph;
    absl::flat_hash_map<ValueId, ValueId> outer;
  };

  template <class... Args>
  void Put(const Args&... args) {
    absl::StrAppend(&out_, ToAbsl(args)...);
  }
  // write(item) for each, with `separator` between.
  template <class List, class Write>
  void PutList(const List& list, std::string_view separator, Write write) {
    std::string_view before = "";
    for (const auto& item : list) {
      Put(before);
      write(item);
      before = separator;
    }
  }
  void NewLine() { out_.append(1, '\n').append(3 * depth_, ' '); }

  void WriteQuoted(std::string_view text);
  void WriteName(std::string_view name);
  size_t Resolve(ValueId& id) const;
  void WriteValue(ValueId id);
  void WriteTyped(const Type& type, std::string_view name);
  bool WriteType(const Type& type, bool inner);
  void WriteShape(const Shape& shape);
  template <class T>
  void WriteNumber(T value);
  template <class T>
  void WriteElements(const T* data, int64_t count);
  void WriteTensorData(const Tensor& tensor);
  void WriteTensor(const Tensor& tensor);
  void WriteAttr(const AttrValue& value);
  void WriteAttrs(const GraphNode& node);
  void WriteNode(const GraphNode& node);
  void WriteBlock(const Graph& g, absl::Span<const std::string> defaults);
  bool Defines(const Scope& scope, std::string_view name) const;

  const PrintOptions& options_;
  std::string out_;
  std::vector<Scope> scopes_;
  int depth_ = 0;
};

void Printer::WriteQuoted(std::string_view text) {
  out_ += '"';
  for (char c : text) {
    if (c == '"' || c == '\\') out_ += '\\';
    out_ += c;
  }
  out_ += '"';
}

void Printer::WriteName(std::string_view name) {
  if (text_words::IsIdentifier(name) && !text_words::StartsType(name)) {
    out_ += name;
  } else {
    WriteQuoted(name);
  }
}

// True where the graph has a value of its own of that name.
bool Printer::Defines(const Scope& scope, std::string_view name) const {
  const ValueId id = scope.graph->FindValue(name);
  if (id == ValueId::kNone || scope.outer.contains(id)) return false;
  const GraphValue& value = scope.graph->value(id);
  return value.formal || value.is_constant() || value.producer != NodeId::kNone;
}

// Follows captures from the innermost scope to the value they stand for; gives the level of the scope that defines it.
size_t Printer::Resolve(ValueId& id) const {
  size_t level = scopes_.size() - 1;
  for (auto it = scopes_[level].outer.find(id); it != scopes_[level].outer.end(); it = scopes_[level].outer.find(id)) {
    id = it->second;
    --level;
  }
  return level;
}

// The name of a value of the innermost scope; of a capture, that of the value it stands for.
void Printer::WriteValue(ValueId id) {
  if (id == ValueId::kNone) {
    out_ += "\"\"";
    return;
  }
  const size_t level = Resolve(id);
  const std::string& name = scopes_[level].graph->value(id).name;
  for (size_t taken = level + 1; taken < scopes_.size(); ++taken) {
    if (!Defines(scopes_[taken], name)) continue;
    out_.append(scopes_.size() - taken, '^');  // looked for from scope taken - 1 on
    break;
  }
  WriteName(name);
}

void Printer::WriteShape(const Shape& shape) {
  out_ += '[';
  PutList(shape.dims(), ",", [this](const Dim& dim) {
    const std::string text = dim.ToString();
    const std::optional<std::string> symbol = dim.symbol();
    if (dim.is_constant() || (symbol == text && text_words::IsIdentifier(text))) {
      out_ += text;
    } else {
      WriteQuoted(text);
    }
  });
  out_ += ']';
}

// False, and nothing written, for an unknown type that stands alone.
bool Printer::WriteType(const Type& type, bool inner) {
  switch (type.kind) {
    case Type::Kind::kUnknown:
      if (inner) Put("unknown");
      return inner;
    case Type::Kind::kTensor:
      Put(DTypeName(type.dtype));
      if (!type.shape.has_rank()) {
        Put("[]");
      } else if (type.shape.rank() > 0) {
        WriteShape(type.shape);
      }
      return true;
    case Type::Kind::kSequence:
    case Type::Kind::kOptional:
      Put(type.kind == Type::Kind::kSequence ? "seq(" : "optional(");
      break;
    case Type::Kind::kMap:
      Put("map(", DTypeName(type.dtype), ", ");
      break;
  }
  WriteType(*type.elem, true);
  Put(")");
  return true;
}

void Printer::WriteTyped(const Type& type, std::string_view name) {
  if (WriteType(type, false)) Put(" ");
  WriteName(name);
}

template <class T>
void Printer::WriteNumber(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) {
      using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
      Bits bits;
      std::memcpy(&bits, &value, sizeof bits);
      if (bits == text_words::NaNBits<T>(false) || bits == text_words::NaNBits<T>(true)) {
        Put(std::signbit(value) ? "-nan" : "nan");
      } else {
        Put("0x", absl::Hex(bits));
      }
      return;
    }
  }
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  out_.append(buffer, end);
}

template <class T>
void Printer::WriteElements(const T* data, int64_t count) {
  PutList(absl::MakeConstSpan(data, count), ", ", [this](const T& element) {
    if constexpr (std::is_same_v<T, std::string>) {
      WriteQuoted(element);
    } else {
      WriteNumber(element);
    }
  });
}

void Printer::WriteTensorData(const Tensor& t) {
  if (t.size() > options_.max_elements) {
    Put("{...}");
    return;
  }
  Put("{");
  const int64_t n = t.size();
  switch (t.dtype()) {
    case DType::kFloat32:
      WriteElements(t.data<float>(), n);
      break;
    case DType::kFloat64:
      WriteElements(t.data<double>(), n);
      break;
    case DType::kComplex64:
      WriteElements(t.data<float>(), 2 * n);
      break;
    case DType::kComplex128:
      WriteElements(t.data<double>(), 2 * n);
      break;
    case DType::kInt8:
      WriteElements(t.data<int8_t>(), n);
      break;
    case DType::kInt16:
      WriteElements(t.data<int16_t>(), n);
      break;
    case DType::kInt32:
      WriteElements(t.data<int32_t>(), n);
      break;
    case DType::kInt64:
      WriteElements(t.data<int64_t>(), n);
      break;
    case DType::kUint32:
      WriteElements(t.data<uint32_t>(), n);
      break;
    case DType::kUint64:
      WriteElements(t.data<uint64_t>(), n);
      break;
    case DType::kUint16:
    case DType::kFloat16:
    case DType::kBFloat16:
      WriteElements(t.data<uint16_t>(), n);
      break;
    case DType::kUint8:
    case DType::kBool:
    case DType::kFloat8E4M3FN:
    case DType::kFloat8E4M3FNUZ:
    case DType::kFloat8E5M2:
    case DType::kFloat8E5M2FNUZ:
    case DType::kFloat8E8M0:
      WriteElements(t.data<uint8_t>(), n);
      break;
    case DType::kString:
      WriteElements(t.data<std::string>(), n);
      break;
    case DType::kUint4:
    case DType::kInt4:
    case DType::kFloat4E2M1:
    case DType::kUint2:
    case DType::kInt2: {
      const std::vector<uint8_t> packed = text_words::Pack(t);
      WriteElements(packed.data(), static_cast<int64_t>(packed.size()));
      break;
    }
    case DType::kUndefined:
      break;
  }
  Put("}");
}

void Printer::WriteTensor(const Tensor& tensor) {
  WriteType(Type::OfTensor(tensor), true);
  Put(" ");
  WriteTensorData(tensor);
}

void Printer::WriteAttr(const AttrValue& value) {
  auto bracketed = [this](const auto& list, auto write) {
    Put("[");
    PutList(list, ", ", write);
    Put("]");
  };
  std::visit(
      [&]<class T>(const T& v) {
        if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, float>) {
          WriteNumber(v);
        } else if constexpr (std::is_same_v<T, std::string>) {
          WriteQuoted(v);
        } else if constexpr (std::is_same_v<T, std::vector<int64_t>> || std::is_same_v<T, std::vector<float>>) {
          bracketed(v, [&](auto number) { this->WriteNumber(number); });
        } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
          bracketed(v, [this](const std::string& s) { WriteQuoted(s); });
        } else if constexpr (std::is_same_v<T, Tensor>) {
          WriteTensor(v);
        } else if constexpr (std::is_same_v<T, std::vector<Tensor>>) {
          bracketed(v, [this](const Tensor& t) { WriteTensor(t); });
        } else {
          WriteType(v, true);
        }
      },
      value);
}

// Attributes that differ from their defaults, required ones, and the regions.
void Printer::WriteAttrs(const GraphNode& node) {
  std::string_view before = " <";
  for (const AttrField& field : node.op->attrs->fields) {
    const std::optional<AttrValue> value = node.attrs.Get(field.name);
    if (!value || (!field.required && node.attrs.IsDefault(field))) continue;
    Put(before, field.name, ": ", text_words::AttrWord(field.kind), " = ");
    WriteAttr(*value);
    before = ", ";
  }
  ++depth_;
  for (size_t k = 0; k < node.regions.size(); ++k) {
    Put(before, node.op->regions[k], ": graph = ");
    WriteGraph(*node.regions[k].graph, &node.regions[k]);
    before = ", ";
  }
  --depth_;
  if (before == ", ") Put(">");
}

void Printer::WriteNode(const GraphNode& node) {
  if (!node.name.empty()) {
    Put("[");
    WriteName(node.name);
    Put("] ");
  }
  PutList(node.outputs, ", ", [this](ValueId id) { WriteValue(id); });
  Put(node.outputs.empty() ? "= " : " = ", node.op->QualifiedName());
  if (node.regions.empty()) WriteAttrs(node);
  Put(" (");
  PutList(node.inputs, ", ", [this](ValueId id) { WriteValue(id); });
  Put(")");
  if (!node.regions.empty()) WriteAttrs(node);
}

// Constants, and types of values that the graph's header does not show.
void Printer::WriteBlock(const Graph& g, absl::Span<const std::string> defaults) {
  std::string_view before = "<";
  auto start = [&] {
    if (before == "<") NewLine();
    Put(before);
    before = ",";
    ++depth_;
    NewLine();
    --depth_;
  };
  for (int v = 0; v < g.num_values(); ++v) {
    const GraphValue& value = g.value(ValueId{v});
    if (!value.is_constant() || std::find(defaults.begin(), defaults.end(), value.name) != defaults.end()) continue;
    start();
    WriteTyped(Type::OfTensor(value.constant), value.name);
    Put(" = ");
    WriteTensorData(value.constant);
  }
  for (NodeId id = g.first_node(); options_.intermediate_types && id != NodeId::kNone; id = g.node(id).next) {
    for (ValueId output : g.node(id).outputs) {
      if (output == ValueId::kNone || g.value(output).type.kind == Type::Kind::kUnknown || g.IsOutput(output)) continue;
      start();
      WriteTyped(g.value(output).type, g.value(output).name);
    }
  }
  if (before == "<") return;
  NewLine();
  Put(">");
}

void Printer::WriteGraph(const Graph& g, const Region* region, absl::Span<const std::string> defaults) {
  Scope& scope = scopes_.emplace_back(Scope{&g, {}});
  if (region != nullptr) {
    for (size_t i = 0; i < g.captures().size(); ++i) scope.outer.emplace(g.captures()[i], region->captures[i]);
  }
  WriteName(g.name());
  Put(" (");
  auto write_typed = [&](ValueId id) { WriteTyped(g.value(id).type, g.value(id).name); };
  PutList(g.inputs(), ", ", write_typed);
  std::string_view before = g.inputs().empty() ? "" : ", ";
  for (const std::string& name : defaults) {
    const Tensor* constant = g.Constant(g.FindValue(name));
    if (constant == nullptr) continue;
    Put(before);
    before = ", ";
    WriteTyped(Type::OfTensor(*constant), name);
    Put(" = ");
    WriteTensorData(*constant);
  }
  Put(")");
  if (region == nullptr && !g.captures().empty()) {
    Put(" [");
    PutList(g.captures(), ", ", write_typed);
    Put("]");
  }
  Put(" => (");
  PutList(g.outputs(), ", ", [&](ValueId id) {
    ValueId origin = id;
    const size_t level = Resolve(origin);
    if (WriteType(scopes_[level].graph->value(origin).type, false)) Put(" ");
    WriteValue(id);
  });
  Put(")");
  WriteBlock(g, defaults);
  NewLine();
  Put("{");
  ++depth_;
  for (NodeId id = g.first_node(); id != NodeId::kNone; id = g.node(id).next) {
    NewLine();
    WriteNode(g.node(id));
  }
  --depth_;
  NewLine();
  Put("}");
  scopes_.pop_back();
}

void Printer::WriteModel(const Model& model) {
  Put("<\n   ir_version: ", model.ir_version, ",\n   opset_import: [");
  PutList(model.opsets, ", ", [this](const OpsetImport& opset) {
    WriteQuoted(opset.domain);
    Put(" : ", opset.version);
  });
  Put("]");
  auto write_text = [this](std::string_view key, const std::string& text) {
    if (text.empty()) return;
    Put(",\n   ", key, ": ");
    WriteQuoted(text);
  };
  write_text("producer_name", model.producer_name);
  write_text("producer_version", model.producer_version);
  write_text("domain", model.domain);
  if (model.model_version != 0) Put(",\n   model_version: ", model.model_version);
  write_text("doc_string", model.doc_string);
  if (!model.metadata.empty()) {
    Put(",\n   metadata_props: [");
    PutList(model.metadata, ", ", [this](const auto& entry) {
      WriteQuoted(entry.first);
      Put(": ");
      WriteQuoted(entry.second);
    });
    Put("]");
  }
  Put("\n>\n");
  WriteGraph(model.graph, nullptr, model.overridable);
}

}  // namespace

std::string Print(const Graph& graph, const PrintOptions& options) {
  Printer printer(options);
  printer.WriteGraph(graph, nullptr);
  return printer.Take() + "\n";
}

std::string PrintModel(const Model& model, const PrintOptions& options) {
  Printer printer(options);
  printer.WriteModel(model);
  return printer.Take() + "\n";
}

}  // namespace weft
