// Held against the schemas of ONNX itself: every version of every operator is known, every attribute and operand it ever had is taken, and the
// records of the graph's form say what the newest schema says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/onnx/adapter.h"
#include "graph/onnx/import.h"
#include "graph/onnx/tensor_proto.h"
#include "graph/op.h"
#include "onnx/defs/schema.h"

namespace weft {
namespace {

using ::testing::IsEmpty;
using onnx::AttributeProto;
using onnx::OpSchema;
using Name = std::pair<std::string, std::string>;  // domain, operator

std::vector<OpSchema> AllSchemas() {
  std::vector<OpSchema> schemas = onnx::OpSchemaRegistry::get_all_schemas_with_history();
  std::erase_if(schemas, [](const OpSchema& s) { return !NewestOpset(s.domain()).has_value(); });
  return schemas;
}

std::string Text(const Name& name) { return name.first.empty() ? name.second : absl::StrCat(name.first, ".", name.second); }

// "13", or "-10" for a version that ends the operator.
std::string Text(int64_t version, bool gone) { return absl::StrCat(gone ? "-" : "", version); }

TEST(OpHistory, KnowsEveryVersionOfEveryOperator) {
  std::map<Name, std::set<std::string>> known;
  for (const OpHistory& history : OpHistories()) {
    for (const OpVersion& version : history.Versions()) {
      known[{std::string(history.domain), std::string(history.name)}].insert(Text(version.since, version.gone));
    }
  }
  std::vector<std::string> missing;
  const std::vector<OpSchema> schemas = AllSchemas();
  ASSERT_GT(schemas.size(), 500u);
  for (const OpSchema& schema : schemas) {
    const Name name = {schema.domain(), schema.Name()};
    const int64_t since = schema.since_version();
    // What ONNX deprecates without an end is taken all the same.
    const bool found = known[name].erase(Text(since, schema.Deprecated())) + (schema.Deprecated() ? known[name].erase(Text(since, false)) : 0) > 0;
    if (!found) missing.push_back(absl::StrCat(Text(name), " ", since, schema.Deprecated() ? " deprecated" : ""));
  }
  EXPECT_THAT(missing, IsEmpty());
  // What files have and no schema describes any more.
  std::vector<std::string> beyond;
  for (const auto& [name, versions] : known) {
    if (!versions.empty()) beyond.push_back(absl::StrCat(Text(name), " ", absl::StrJoin(versions, " ")));
  }
  EXPECT_EQ(absl::StrJoin(beyond, ", "),
            "Affine -10 1, ConstantFill -10 1, Crop -10 1, DynamicSlice -10 1, GivenTensorFill -10 1, ImageScaler -10 1, LayerNormalization 1, "
            "MeanVarianceNormalization 1, ParametricSoftplus -10 1, Scale -10 1, ScaledTanh -10 1, SimplifiedLayerNormalization 1, ThresholdedRelu 1");
}

TEST(OpHistory, KnowsTheNewestOpsets) {
  for (const auto& [domain, versions] : onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map()) {
    const std::optional<int64_t> newest = NewestOpset(domain);
    EXPECT_EQ(newest.value_or(versions.second), versions.second) << domain;
  }
}

// ---- Records ----

AttrKind KindOf(AttributeProto::AttributeType type) {
  switch (type) {
    case AttributeProto::INT: return AttrKind::kInt;
    case AttributeProto::FLOAT: return AttrKind::kFloat;
    case AttributeProto::STRING: return AttrKind::kString;
    case AttributeProto::INTS: return AttrKind::kInts;
    case AttributeProto::FLOATS: return AttrKind::kFloats;
    case AttributeProto::STRINGS: return AttrKind::kStrings;
    case AttributeProto::TENSOR: return AttrKind::kTensor;
    case AttributeProto::TENSORS: return AttrKind::kTensors;
    default: return AttrKind::kType;
  }
}

std::string ValueText(const AttrValue& value) {
  if (const auto* i = std::get_if<int64_t>(&value)) return absl::StrCat(*i);
  if (const auto* f = std::get_if<float>(&value)) return absl::StrCat(*f);
  if (const auto* s = std::get_if<std::string>(&value)) return *s;
  if (const auto* v = std::get_if<std::vector<int64_t>>(&value)) return absl::StrCat("[", absl::StrJoin(*v, ","), "]");
  if (const auto* v = std::get_if<std::vector<float>>(&value)) return absl::StrCat("[", absl::StrJoin(*v, ","), "]");
  if (const auto* v = std::get_if<std::vector<std::string>>(&value)) return absl::StrCat("[", absl::StrJoin(*v, ","), "]");
  return "a value";
}

std::string DefaultText(const AttributeProto& value) {
  switch (value.type()) {
    case AttributeProto::INT: return absl::StrCat(value.i());
    case AttributeProto::FLOAT: return absl::StrCat(value.f());
    case AttributeProto::STRING: return value.s();
    case AttributeProto::INTS: return absl::StrCat("[", absl::StrJoin(value.ints(), ","), "]");
    case AttributeProto::FLOATS: return absl::StrCat("[", absl::StrJoin(value.floats(), ","), "]");
    case AttributeProto::STRINGS: return absl::StrCat("[", absl::StrJoin(value.strings(), ","), "]");
    default: return "none";
  }
}

// One line for each way in which the record and the newest schema differ.
std::vector<std::string> Differences(const Op& op, const OpSchema& schema) {
  std::vector<std::string> found;
  auto differ = [&](const auto&... what) { found.push_back(absl::StrCat(op.QualifiedName(), ": ", what...)); };
  if (op.since_version != schema.since_version()) differ("since ", op.since_version, ", schema ", schema.since_version());
  if (op.inputs.min != schema.min_input() || op.inputs.max != schema.max_input()) {
    differ("inputs ", op.inputs.min, "..", op.inputs.max, ", schema ", schema.min_input(), "..", schema.max_input());
  }
  // Outputs that nobody asks for may be left out of more nodes than the schema says.
  if (op.outputs.min > schema.min_output() || op.outputs.max != schema.max_output()) {
    differ("outputs ", op.outputs.min, "..", op.outputs.max, ", schema ", schema.min_output(), "..", schema.max_output());
  }
  const Attrs defaults(op.attrs);
  std::set<std::string> ours(op.regions.begin(), op.regions.end());
  for (const AttrField& field : op.attrs->fields) ours.insert(std::string(field.name));
  for (const auto& [name, attribute] : schema.attributes()) {
    if (ours.erase(name) == 0) {
      differ("no attribute ", name);
      continue;
    }
    const auto field = std::find_if(op.attrs->fields.begin(), op.attrs->fields.end(), [&n = name](const AttrField& f) { return f.name == n; });
    if (field == op.attrs->fields.end()) continue;  // a region
    if (field->kind != KindOf(attribute.type)) differ("kind of ", name);
    if (field->required != attribute.required) differ(name, attribute.required ? " is required" : " is not required");
    const std::optional<AttrValue> held = defaults.Get(name);
    const bool has_default = attribute.default_value.has_name();
    if (has_default && (!held || ValueText(*held) != DefaultText(attribute.default_value))) {
      differ("default of ", name, " is ", held ? ValueText(*held) : "none", ", schema ", DefaultText(attribute.default_value));
    }
  }
  for (const std::string& name : ours) differ("attribute ", name, ", which the schema lacks");
  return found;
}

TEST(OpRecords, SayWhatTheNewestSchemaSays) {
  std::vector<std::string> found;
  for (const Op* op : AllOps()) {
    const std::optional<int64_t> newest = NewestOpset(op->domain);
    if (!newest) continue;
    const OpSchema* schema = onnx::OpSchemaRegistry::Schema(std::string(op->name), static_cast<int>(*newest), std::string(op->domain));
    if (schema == nullptr) {
      found.push_back(absl::StrCat(op->QualifiedName(), ": no schema"));
      continue;
    }
    for (std::string& line : Differences(*op, *schema)) found.push_back(std::move(line));
  }
  // The schemas of the optimisers count their variadic group as one; the last operator is ONNX Runtime's, in ONNX's domain.
  EXPECT_EQ(absl::StrJoin(found, "\n"),
            "ai.onnx.preview.training.Adagrad: inputs 5..2147483647, schema 3..2147483647\n"
            "ai.onnx.preview.training.Adam: inputs 6..2147483647, schema 3..2147483647\n"
            "ai.onnx.preview.training.Momentum: inputs 5..2147483647, schema 3..2147483647\n"
            "SimplifiedLayerNormalization: no schema");
}

// ---- Nodes of every version ----

// The type that stands for a group of types: float tensors where they are among them.
onnx::TypeProto Choose(const OpSchema::FormalParameter& formal) {
  onnx::TypeProto chosen;
  for (const onnx::DataType& type : formal.GetTypes()) {
    const onnx::TypeProto proto = onnx::Utils::DataTypeUtils::ToTypeProto(type);
    if (!TypeFromProto(proto, "x").ok()) continue;
    if (chosen.value_case() == onnx::TypeProto::VALUE_NOT_SET || *type == "tensor(float)") chosen = proto;
  }
  return chosen;
}

AttributeProto AnyValue(const OpSchema::Attribute& attribute) {
  if (attribute.default_value.has_name()) return attribute.default_value;
  AttributeProto value;
  value.set_name(attribute.name);
  value.set_type(attribute.type);
  switch (attribute.type) {
    case AttributeProto::INT: value.set_i(1); break;
    case AttributeProto::FLOAT: value.set_f(1); break;
    case AttributeProto::INTS: value.add_ints(1); break;
    case AttributeProto::FLOATS: value.add_floats(1); break;
    case AttributeProto::STRING: value.set_s("FLOAT"); break;  // an element type, for Cast
    case AttributeProto::STRINGS: value.add_strings("a"); break;
    case AttributeProto::TENSOR: *value.mutable_t() = ProtoFromTensor(Tensor::Of<float>({1}, {1}), ""); break;
    case AttributeProto::TENSORS: *value.add_tensors() = ProtoFromTensor(Tensor::Of<float>({1}, {1}), ""); break;
    case AttributeProto::TYPE_PROTO: value.mutable_tp()->mutable_tensor_type()->set_elem_type(1); break;
    case AttributeProto::SPARSE_TENSOR:
      *value.mutable_sparse_tensor()->mutable_values() = ProtoFromTensor(Tensor::Of<float>({1}, {1}), "");
      *value.mutable_sparse_tensor()->mutable_indices() = ProtoFromTensor(Tensor::Of<int64_t>({1}, {0}), "");
      value.mutable_sparse_tensor()->add_dims(2);
      break;
    default: break;
  }
  return value;
}

// Attributes that schemas call optional and no node can do without.
bool IsNeeded(const OpSchema& schema, const std::string& attribute, const OpSchema::Attribute* extra) {
  const std::pair<std::string, std::string> pair = {schema.Name(), attribute};
  if (pair == std::pair<std::string, std::string>("Constant", "value")) return extra == nullptr;
  return schema.since_version() == 1 && (pair == std::pair<std::string, std::string>("LpPool", "kernel_shape") ||
                                         pair == std::pair<std::string, std::string>("Reshape", "shape") ||
                                         pair == std::pair<std::string, std::string>("LabelEncoder", "classes_strings"));
}

// A model of one node of the schema's version, with `inputs` operands and `outputs` results, the attributes it must have and one more.
onnx::ModelProto OneNode(const OpSchema& schema, int inputs, int outputs, const OpSchema::Attribute* extra) {
  onnx::ModelProto model;
  model.set_ir_version(onnx::IR_VERSION);
  onnx::OperatorSetIdProto& opset = *model.add_opset_import();
  opset.set_domain(schema.domain());
  opset.set_version(schema.since_version());
  onnx::NodeProto& node = *model.mutable_graph()->add_node();
  node.set_op_type(schema.Name());
  node.set_domain(schema.domain());
  for (int i = 0; i < inputs; ++i) {
    onnx::ValueInfoProto& input = *model.mutable_graph()->add_input();
    input.set_name(absl::StrCat("x", i));
    *input.mutable_type() = Choose(schema.inputs()[std::min<size_t>(i, schema.inputs().size() - 1)]);
    node.add_input(input.name());
  }
  for (int i = 0; i < outputs; ++i) {
    node.add_output(absl::StrCat("y", i));
    model.mutable_graph()->add_output()->set_name(node.output(i));
  }
  for (const auto& [name, attribute] : schema.attributes()) {
    if (attribute.required || &attribute == extra || IsNeeded(schema, name, extra)) *node.add_attribute() = AnyValue(attribute);
  }
  return model;
}

// What the importer says is about values, not about what it does not know.
TEST(OpHistory, EveryVersionsOperandsAndAttributesAreTaken) {
  std::set<std::string> found;
  int imported = 0;
  for (const OpSchema& schema : AllSchemas()) {
    if (schema.Deprecated()) continue;
    const auto has_body = [](const auto& entry) { return entry.second.type == AttributeProto::GRAPH; };
    if (std::any_of(schema.attributes().begin(), schema.attributes().end(), has_body)) continue;  // import_graph_test.cc
    auto check = [&](int inputs, int outputs, const OpSchema::Attribute* extra) {
      const auto model = ImportModelFromMemory(OneNode(schema, inputs, outputs, extra).SerializeAsString(), "");
      ++imported;
      if (model.ok() || absl::StrContains(model.status().message(), "Weft has no operator")) return;
      found.insert(absl::StrCat(extra == nullptr ? "" : extra->name + ": ", model.status().message()));
    };
    constexpr int kMany = 9;
    // The schemas of the optimisers count their variadic group as one.
    const Op* op = FindOp(schema.domain(), schema.Name());
    const int inputs = schema.domain() == "ai.onnx.preview.training" && op != nullptr ? op->inputs.min : schema.min_input();
    check(inputs, schema.min_output(), nullptr);
    check(std::min(schema.max_input(), kMany), std::min(schema.max_output(), kMany), nullptr);
    for (const auto& [name, attribute] : schema.attributes()) {
      if (!attribute.required) check(inputs, schema.min_output(), &attribute);
    }
  }
  EXPECT_GT(imported, 1500);
  std::erase_if(found, [](const std::string& line) { return absl::StrContains(line, "Weft has no automatic differentiation"); });  // Gradient
  EXPECT_EQ(absl::StrJoin(found, "\n"), "");
}

}  // namespace
}  // namespace weft
