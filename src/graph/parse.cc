#include <algorithm>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "graph/text.h"
#include "graph/text_values.h"
#include "graph/text_words.h"
#include "graph/verify.h"

namespace weft {
namespace {

constexpr int kMaxBodyDepth = 64;

// A graph that is being read, inside the one that its node belongs to.
struct Scope {
  Graph graph;
  Scope* parent = nullptr;
  int depth = 0;
  std::vector<ValueId> captured;                     // of the parent's graph, in the order of graph.captures()
  absl::flat_hash_map<ValueId, ValueId> capture_of;  // the parent's value -> the capture that stands for it
  absl::flat_hash_set<ValueId> captures;
  absl::flat_hash_map<std::string, Type> types;  // given ahead of the nodes that produce the values
  std::vector<std::string> defaults;             // constants that stand among the inputs

  // The value of the scope itself that has this name.
  ValueId Own(std::string_view name) const {
    const ValueId id = graph.FindValue(name);
    return id != ValueId::kNone && !captures.contains(id) ? id : ValueId::kNone;
  }
};

// A name as the text has it, with the scopes it leaves out and its place.
struct Reference {
  std::string name;
  size_t carets = 0;
  size_t pos = 0;
};

// `type name`, as inputs and constants are declared.
struct Formal {
  Type type;
  std::string name;
  size_t pos = 0;
};

// A node on its way into the graph.
struct NodeParts {
  std::string name;
  const Op* op = nullptr;
  Attrs attrs;
  std::vector<std::unique_ptr<Scope>> bodies;  // in the order of op->regions
  absl::flat_hash_set<std::string> given;      // names of attributes in the text
};

class Parser : public ValueParser {
 public:
  Parser(std::string_view text, OpLookup find_op) : ValueParser(text), find_op_(find_op) {}

  absl::StatusOr<Graph> ParseGraphText();
  absl::StatusOr<Model> ParseModelText();

 private:
  // ---- attributes ----
  absl::Status ParseAttributes(Scope& scope, NodeParts& node);
  absl::Status ParseAttribute(Scope& scope, NodeParts& node);
  absl::StatusOr<std::unique_ptr<Scope>> ParseBody(Scope& scope);
  // ---- names ----
  absl::StatusOr<ValueId> Define(Scope& scope, const std::string& name, size_t pos, Type type);
  ValueId Through(Scope& scope, const Scope* found, ValueId id);
  absl::StatusOr<Reference> ParseReference();
  absl::StatusOr<ValueId> Resolve(Scope& scope, const Reference& reference);
  // ---- nodes ----
  absl::StatusOr<const Op*> ParseOpName();
  absl::StatusOr<std::vector<Reference>> ParseReferences(char end);
  absl::Status ParseNode(Scope& scope);
  absl::Status AddNode(Scope& scope, size_t pos, NodeParts node, absl::Span<const Reference> inputs,
                       absl::Span<const Reference> outputs);
  // ---- graphs ----
  absl::StatusOr<std::vector<Formal>> ParseFormals(Scope& scope, char open, char close);
  absl::Status ParseTypedName(Formal& formal);
  absl::Status ParseConstant(Scope& scope, const Formal& constant);
  absl::Status ParseBlock(Scope& scope);
  absl::Status AddFormals(Scope& scope, std::vector<Formal> inputs, std::vector<Formal> captures);
  absl::StatusOr<std::vector<Reference>> ParseOutputs(Scope& scope);
  absl::Status ParseGraph(Scope& scope);
  // ---- models ----
  absl::Status ParseModelField(Model& model);

  OpLookup find_op_;
};

// ---- Attributes ----

// `<name: kind = value, ...>`, or nothing.
absl::Status Parser::ParseAttributes(Scope& scope, NodeParts& node) {
  if (!node.given.empty() || !Matches('<')) return absl::OkStatus();
  do {
    WEFT_RETURN_IF_ERROR(ParseAttribute(scope, node));
  } while (Matches(','));
  return Expect('>', "',' or '>' behind an attribute");
}

absl::Status Parser::ParseAttribute(Scope& scope, NodeParts& node) {
  const size_t pos = Here();
  WEFT_ASSIGN_OR_RETURN(std::string name, Identifier("an attribute's name"));
  if (!node.given.insert(name).second) return ErrorAt(pos, absl::StrCat("attribute '", name, "' again"), "each once");
  const auto region = std::find(node.op->regions.begin(), node.op->regions.end(), name);
  const auto& fields = node.op->attrs->fields;
  const auto field = std::find_if(fields.begin(), fields.end(), [&](const AttrField& f) { return f.name == name; });
  const bool is_region = region != node.op->regions.end();
  if (!is_region && field == fields.end()) return At(pos, node.attrs.Set(name, int64_t{0}));  // says what there is
  if (Matches(':')) {
    const std::string_view kind = is_region ? "graph" : text_words::AttrWord(field->kind);
    const size_t kind_pos = Here();
    if (Word() != kind)
      return ErrorAt(kind_pos, absl::StrCat("'", ToAbsl(kind), "', the kind of attribute '", name, "'"));
  }
  WEFT_RETURN_IF_ERROR(Expect('='));
  if (is_region) {
    WEFT_ASSIGN_OR_RETURN(node.bodies[region - node.op->regions.begin()], ParseBody(scope));
    return absl::OkStatus();
  }
  WEFT_ASSIGN_OR_RETURN(AttrValue value, ParseAttrValue(field->kind));
  return At(pos, node.attrs.Set(name, std::move(value)));
}

absl::StatusOr<std::unique_ptr<Scope>> Parser::ParseBody(Scope& scope) {
  if (scope.depth == kMaxBodyDepth) {
    return ErrorAt(Here(), absl::StrCat("a body ", kMaxBodyDepth + 1, " deep"),
                   absl::StrCat("at most ", kMaxBodyDepth));
  }
  auto body = std::make_unique<Scope>();
  body->parent = &scope;
  body->depth = scope.depth + 1;
  WEFT_RETURN_IF_ERROR(ParseGraph(*body));
  return body;
}

// ---- Names ----

// A new value of the scope. A capture that was given the name makes way, for text never names captures.
absl::StatusOr<ValueId> Parser::Define(Scope& scope, const std::string& name, size_t pos, Type type) {
  if (const ValueId taken = scope.graph.FindValue(name); taken != ValueId::kNone) {
    if (!scope.captures.contains(taken)) return ErrorAt(pos, absl::StrCat("'", name, "' defined again"), "a new name");
    scope.graph.SetName(taken, absl::StrCat(name, "_outer"));
  }
  return scope.graph.AddValue(name, std::move(type));
}

// The capture of `scope` that stands for value `id` of scope `found`, made through all scopes between.
ValueId Parser::Through(Scope& scope, const Scope* found, ValueId id) {
  std::vector<Scope*> path;
  for (Scope* s = &scope; s != found; s = s->parent) path.push_back(s);
  for (auto s = path.rbegin(); s != path.rend(); ++s) {
    auto [it, is_new] = (*s)->capture_of.try_emplace(id, ValueId::kNone);
    if (is_new) {
      const GraphValue& outer = (*s)->parent->graph.value(id);
      it->second = (*s)->graph.AddCapture(outer.name, outer.type);
      (*s)->captures.insert(it->second);
      (*s)->captured.push_back(id);
    }
    id = it->second;
  }
  return id;
}

absl::StatusOr<Reference> Parser::ParseReference() {
  Reference reference;
  reference.pos = Here();
  while (Matches('^')) ++reference.carets;
  WEFT_ASSIGN_OR_RETURN(reference.name, Name("a value's name"));
  return reference;
}

absl::StatusOr<ValueId> Parser::Resolve(Scope& scope, const Reference& reference) {
  Scope* from = &scope;
  for (size_t i = 0; i < reference.carets && from != nullptr; ++i) from = from->parent;
  for (; from != nullptr; from = from->parent) {
    if (const ValueId id = from->Own(reference.name); id != ValueId::kNone) return Through(scope, from, id);
  }
  return ErrorAt(reference.pos, absl::StrCat("'", reference.name, "', which nothing above defines"), "a value");
}

// ---- Nodes ----

absl::StatusOr<const Op*> Parser::ParseOpName() {
  const size_t pos = Here();
  WEFT_ASSIGN_OR_RETURN(std::string name, Identifier("an operator's name"));
  std::string domain;
  while (Matches('.')) {
    absl::StrAppend(&domain, domain.empty() ? "" : ".", name);
    WEFT_ASSIGN_OR_RETURN(name, Identifier("an operator's name behind the domain"));
  }
  if (Peek() == ':') return UnsupportedAt(Here(), "an overload");
  const Op* op = find_op_(domain, name);
  if (op == nullptr) return UnsupportedAt(pos, absl::StrCat("operator ", domain, domain.empty() ? "" : ".", name));
  return op;
}

// Names up to `end`, which stays; "" and nothing before a comma are omitted operands.
absl::StatusOr<std::vector<Reference>> Parser::ParseReferences(char end) {
  std::vector<Reference> list;
  while (Peek() != end) {
    if (Peek() == ',') {
      list.push_back({.pos = Here()});
    } else {
      WEFT_ASSIGN_OR_RETURN(Reference reference, ParseReference());
      list.push_back(std::move(reference));
    }
    if (!Matches(',')) break;
  }
  return list;
}

// [name] outputs = domain.Op <attributes> (inputs), the attributes there or behind the inputs.
absl::Status Parser::ParseNode(Scope& scope) {
  const size_t pos = Here();
  NodeParts node;
  if (Matches('[')) {
    if (Peek() != ']') {
      WEFT_ASSIGN_OR_RETURN(node.name, Name("a node's name"));
    }
    WEFT_RETURN_IF_ERROR(Expect(']'));
  }
  WEFT_ASSIGN_OR_RETURN(const std::vector<Reference> outputs, ParseReferences('='));
  WEFT_RETURN_IF_ERROR(Expect('=', "',' or '=' behind an output"));
  WEFT_ASSIGN_OR_RETURN(node.op, ParseOpName());
  node.attrs = Attrs(node.op->attrs);
  node.bodies.resize(node.op->regions.size());
  WEFT_RETURN_IF_ERROR(ParseAttributes(scope, node));
  WEFT_RETURN_IF_ERROR(Expect('('));
  WEFT_ASSIGN_OR_RETURN(const std::vector<Reference> inputs, ParseReferences(')'));
  WEFT_RETURN_IF_ERROR(Expect(')', "',' or ')' behind an input"));
  WEFT_RETURN_IF_ERROR(ParseAttributes(scope, node));
  return AddNode(scope, pos, std::move(node), inputs, outputs);
}

absl::Status Parser::AddNode(Scope& scope, size_t pos, NodeParts node, absl::Span<const Reference> inputs,
                             absl::Span<const Reference> outputs) {
  for (const AttrField& field : node.op->attrs->fields) {
    if (!field.required || node.given.contains(ToAbsl(field.name))) continue;
    return ErrorAt(pos, absl::StrCat("no attribute '", ToAbsl(field.name), "' of ", node.op->QualifiedName()),
                   "it, for it has no default");
  }
  std::vector<ValueId> input_ids, output_ids;
  for (const Reference& input : inputs) {
    ValueId& id = input_ids.emplace_back(ValueId::kNone);
    if (input.name.empty()) continue;
    WEFT_ASSIGN_OR_RETURN(id, Resolve(scope, input));
  }
  for (const Reference& output : outputs) {
    ValueId& id = output_ids.emplace_back(ValueId::kNone);
    if (output.carets > 0) return ErrorAt(output.pos, "a name of an outer scope");
    if (output.name.empty()) continue;
    const auto type = scope.types.find(output.name);
    WEFT_ASSIGN_OR_RETURN(id,
                          Define(scope, output.name, output.pos, type == scope.types.end() ? Type() : type->second));
  }
  const NodeId id =
      scope.graph.AddNode(node.op, node.name, std::move(input_ids), std::move(output_ids), std::move(node.attrs));
  for (size_t k = 0; k < node.bodies.size(); ++k) {
    if (node.bodies[k] == nullptr)
      return ErrorAt(pos, absl::StrCat("no body '", ToAbsl(node.op->regions[k]), "'"), "it");
    scope.graph.AddRegion(id, std::move(node.bodies[k]->graph), std::move(node.bodies[k]->captured));
  }
  return At(pos, VerifyNode(scope.graph, id));
}

// ---- Graphs ----

// `name`, or `type name`; the type is unknown where it is left out.
absl::Status Parser::ParseTypedName(Formal& formal) {
  formal.pos = Here();
  if (text_words::StartsType(PeekWord())) {
    WEFT_ASSIGN_OR_RETURN(formal.type, ParseType());
  }
  const size_t pos = Here();
  WEFT_ASSIGN_OR_RETURN(formal.name, Name("a value's name"));
  return formal.name.empty() ? ErrorAt(pos, "an empty name", "a value's name") : absl::OkStatus();
}

// `(type name, type name = {...})`: those without a default are defined behind the block, which may give them one.
absl::StatusOr<std::vector<Formal>> Parser::ParseFormals(Scope& scope, char open, char close) {
  std::vector<Formal> formals;
  if (!Matches(open)) return formals;
  if (Matches(close)) return formals;
  do {
    Formal& formal = formals.emplace_back();
    WEFT_RETURN_IF_ERROR(ParseTypedName(formal));
    if (Matches('=')) WEFT_RETURN_IF_ERROR(ParseConstant(scope, formal));
  } while (Matches(','));
  WEFT_RETURN_IF_ERROR(Expect(close, absl::StrCat("',' or '", std::string(1, close), "' behind a name")));
  return formals;
}

// The elements of a constant, behind its `type name =`.
absl::Status Parser::ParseConstant(Scope& scope, const Formal& constant) {
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, ParseTensorData(constant.type, constant.pos));
  WEFT_ASSIGN_OR_RETURN(const ValueId id, Define(scope, constant.name, constant.pos, Type()));
  scope.graph.MakeConstant(id, std::move(tensor));
  return absl::OkStatus();
}

// `<type name = {...}, type name>`: constants, and types of values to come.
absl::Status Parser::ParseBlock(Scope& scope) {
  if (!Matches('<') || Matches('>')) return absl::OkStatus();
  do {
    Formal entry;
    WEFT_RETURN_IF_ERROR(ParseTypedName(entry));
    if (Matches('=')) {
      WEFT_RETURN_IF_ERROR(ParseConstant(scope, entry));
    } else {
      scope.types.try_emplace(entry.name, std::move(entry.type));
    }
  } while (Matches(','));
  return Expect('>', "',' or '>' behind a value");
}

absl::Status Parser::AddFormals(Scope& scope, std::vector<Formal> inputs, std::vector<Formal> captures) {
  absl::flat_hash_set<std::string> seen;
  for (Formal& input : inputs) {
    if (!seen.insert(input.name).second)
      return ErrorAt(input.pos, absl::StrCat("input '", input.name, "' again"), "each once");
    if (scope.graph.Constant(scope.graph.FindValue(input.name)) != nullptr) {
      scope.defaults.push_back(input.name);
    } else {
      scope.graph.AddInput(input.name, std::move(input.type));
    }
  }
  for (Formal& capture : captures) {
    if (scope.graph.FindValue(capture.name) != ValueId::kNone) {
      return ErrorAt(capture.pos, absl::StrCat("'", capture.name, "' defined again"), "a new name");
    }
    scope.graph.AddCapture(capture.name, std::move(capture.type));
  }
  return absl::OkStatus();
}

// The outputs come before what defines them.
absl::StatusOr<std::vector<Reference>> Parser::ParseOutputs(Scope& scope) {
  std::vector<Reference> outputs;
  WEFT_RETURN_IF_ERROR(Expect('('));
  if (Matches(')')) return outputs;
  do {
    Type type;
    if (text_words::StartsType(PeekWord())) {
      WEFT_ASSIGN_OR_RETURN(type, ParseType());
    }
    WEFT_ASSIGN_OR_RETURN(Reference output, ParseReference());
    if (output.carets == 0 && type.kind != Type::Kind::kUnknown) scope.types.try_emplace(output.name, std::move(type));
    outputs.push_back(std::move(output));
  } while (Matches(','));
  WEFT_RETURN_IF_ERROR(Expect(')', "',' or ')' behind an output"));
  return outputs;
}

absl::Status Parser::ParseGraph(Scope& scope) {
  WEFT_ASSIGN_OR_RETURN(std::string name, Name("a graph's name"));
  scope.graph.set_name(std::move(name));
  WEFT_ASSIGN_OR_RETURN(std::vector<Formal> inputs, ParseFormals(scope, '(', ')'));
  std::vector<Formal> captures;
  if (scope.parent == nullptr) {
    WEFT_ASSIGN_OR_RETURN(captures, ParseFormals(scope, '[', ']'));
  }
  if (!Matches('=', '>')) return ErrorAt(Here(), "'=>' before the outputs");
  WEFT_ASSIGN_OR_RETURN(const std::vector<Reference> outputs, ParseOutputs(scope));
  WEFT_RETURN_IF_ERROR(ParseBlock(scope));
  WEFT_RETURN_IF_ERROR(AddFormals(scope, std::move(inputs), std::move(captures)));
  WEFT_RETURN_IF_ERROR(Expect('{', "'{' before the nodes"));
  while (!Matches('}')) {
    if (AtEnd()) return ErrorAt(Here(), "a node or '}'");
    WEFT_RETURN_IF_ERROR(ParseNode(scope));
  }
  for (const Reference& output : outputs) {
    WEFT_ASSIGN_OR_RETURN(const ValueId id, Resolve(scope, output));
    scope.graph.AddOutput(id);
  }
  return absl::OkStatus();
}

absl::StatusOr<Graph> Parser::ParseGraphText() {
  Scope scope;
  WEFT_RETURN_IF_ERROR(ParseGraph(scope));
  if (!AtEnd()) return ErrorAt(Here(), "the end of the text");
  return std::move(scope.graph);
}

// ---- Models ----

absl::Status Parser::ParseModelField(Model& model) {
  const size_t pos = Here();
  const std::string_view key = Word();
  WEFT_RETURN_IF_ERROR(Expect(':', "a field of the model, as ir_version:"));
  auto text = [&](std::string& field) -> absl::Status {
    WEFT_ASSIGN_OR_RETURN(field, String("a string in quotes"));
    return absl::OkStatus();
  };
  auto integer = [&](int64_t& field) -> absl::Status {
    WEFT_ASSIGN_OR_RETURN(field, Integer<int64_t>("an integer"));
    return absl::OkStatus();
  };
  // [key: value, ...]
  auto list = [&](auto& entries, auto key_of, auto value_of) -> absl::Status {
    WEFT_RETURN_IF_ERROR(Expect('['));
    if (Matches(']')) return absl::OkStatus();
    do {
      auto& entry = entries.emplace_back();
      WEFT_RETURN_IF_ERROR(text(key_of(entry)));
      WEFT_RETURN_IF_ERROR(Expect(':'));
      WEFT_RETURN_IF_ERROR(value_of(entry));
    } while (Matches(','));
    return Expect(']', "',' or ']' in a list");
  };
  if (key == "ir_version") return integer(model.ir_version);
  if (key == "model_version") return integer(model.model_version);
  if (key == "producer_name") return text(model.producer_name);
  if (key == "producer_version") return text(model.producer_version);
  if (key == "domain") return text(model.domain);
  if (key == "doc_string") return text(model.doc_string);
  if (key == "opset_import") {
    return list(
        model.opsets, [](OpsetImport& o) -> std::string& { return o.domain; },
        [&](OpsetImport& o) { return integer(o.version); });
  }
  if (key == "metadata_props") {
    return list(
        model.metadata, [](auto& entry) -> std::string& { return entry.first; },
        [&](auto& entry) { return text(entry.second); });
  }
  return ErrorAt(
      pos,
      "a field of the model: ir_version, opset_import, producer_name, producer_version, domain, model_version, "
      "doc_string or metadata_props");
}

absl::StatusOr<Model> Parser::ParseModelText() {
  Model model;
  if (Matches('<')) {
    do {
      WEFT_RETURN_IF_ERROR(ParseModelField(model));
    } while (Matches(','));
    WEFT_RETURN_IF_ERROR(Expect('>', "',' or '>' behind a field of the model"));
  }
  Scope scope;
  WEFT_RETURN_IF_ERROR(ParseGraph(scope));
  if (!AtEnd()) return UnsupportedAt(Here(), "a function, or anything else behind the graph,");
  model.graph = std::move(scope.graph);
  model.overridable = std::move(scope.defaults);
  return model;
}

}  // namespace

absl::StatusOr<Graph> ParseGraph(std::string_view text, OpLookup find_op) {
  return Parser(text, find_op).ParseGraphText();
}

absl::StatusOr<Model> ParseModel(std::string_view text, OpLookup find_op) {
  return Parser(text, find_op).ParseModelText();
}

}  // namespace weft
