// Parse(Print(g)) == g over random graphs; what Print writes for ops of ONNX, ONNX's own parser reads as the same
// graph.
#include <cmath>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/equal.h"
#include "graph/text.h"
#include "graph/text_words.h"
#include "graph/verify.h"
#include "gtest/gtest.h"
#include "onnx/defs/parser.h"
#include "random_graph.h"

namespace weft {
namespace {

TEST(TextRandom, ParseOfPrintIsTheGraph) {
  size_t printed = 0, nodes = 0;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const Graph g = RandomGraphs(seed, /*onnx_text=*/false).Next();
    // The types are random, and inference finds out; all else is in order.
    const absl::Status verified = Verify(g);
    ASSERT_TRUE(verified.ok() || absl::StartsWith(verified.message(), "check 'types'"))
        << "seed " << seed << ": " << verified;
    const std::string text = Print(g);
    auto again = ParseGraph(text, &FindTestOp);
    ASSERT_TRUE(again.ok()) << "seed " << seed << ": " << again.status() << "\n" << text;
    ASSERT_EQ(Difference(g, *again), "") << "seed " << seed << "\n" << text;
    ASSERT_EQ(Difference(*again, g), "") << "seed " << seed;
    ASSERT_EQ(Print(*again), text) << "seed " << seed;
    const Graph copy = g.Clone();
    ASSERT_EQ(Difference(g, copy), "") << "seed " << seed;
    printed += text.size();
    nodes += g.num_nodes();
  }
  EXPECT_GT(nodes, 1000u);
  EXPECT_GT(printed, 500000u);
}

TEST(TextRandom, GraphsThatDifferAreNotEqual) {
  int different = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const Graph a = RandomGraphs(seed, false).Next(), b = RandomGraphs(seed + 1, false).Next();
    EXPECT_EQ(Equal(a, b), Print(a) == Print(b));
    different += Print(a) != Print(b);
  }
  EXPECT_GT(different, 290);
}

// ---- ONNX's parser as oracle ----

Type TypeOf(const onnx::TypeProto& proto) {
  if (proto.has_sequence_type()) return Type::OfSequence(TypeOf(proto.sequence_type().elem_type()));
  if (proto.has_optional_type()) return Type::OfOptional(TypeOf(proto.optional_type().elem_type()));
  if (proto.has_map_type())
    return Type::OfMap(static_cast<DType>(proto.map_type().key_type()), TypeOf(proto.map_type().value_type()));
  if (!proto.has_tensor_type()) return Type::Unknown();
  const DType dtype = static_cast<DType>(proto.tensor_type().elem_type());
  if (!proto.tensor_type().has_shape()) return Type::OfTensor(dtype);
  std::vector<Dim> dims;
  for (const auto& dim : proto.tensor_type().shape().dim()) {
    if (dim.has_dim_value()) {
      dims.push_back(dim.dim_value());
    } else {
      dims.push_back(text_words::IsIdentifier(dim.dim_param()) ? Dim::Symbol(dim.dim_param())
                                                               : *Dim::Parse(dim.dim_param()));
    }
  }
  return Type::OfTensor(dtype, Shape(std::move(dims)));
}

template <class T, class Field>
void ExpectElements(const Tensor& t, const Field& field, int64_t parts) {
  ASSERT_EQ(field.size(), parts);
  for (int64_t i = 0; i < parts; ++i) {
    const T element = static_cast<T>(field.Get(static_cast<int>(i)));
    EXPECT_EQ(std::memcmp(&element, t.data<T>() + i, sizeof(T)), 0)
        << "element " << i << " of " << DTypeName(t.dtype());
  }
}

void ExpectTensor(const Tensor& t, const onnx::TensorProto& proto) {
  ASSERT_EQ(static_cast<int>(t.dtype()), proto.data_type());
  ASSERT_EQ(t.dims(), Dims(proto.dims().begin(), proto.dims().end()));
  const int bits = DTypeFileBits(t.dtype());
  if (bits == 2 || bits == 4) {
    const std::vector<uint8_t> packed = text_words::Pack(t);
    ASSERT_EQ(static_cast<size_t>(proto.int32_data_size()), packed.size());
    for (size_t i = 0; i < packed.size(); ++i) EXPECT_EQ(proto.int32_data(static_cast<int>(i)), packed[i]);
    return;
  }
  switch (t.dtype()) {
    case DType::kFloat32:
      return ExpectElements<float>(t, proto.float_data(), t.size());
    case DType::kComplex64:
      return ExpectElements<float>(t, proto.float_data(), 2 * t.size());
    case DType::kFloat64:
      return ExpectElements<double>(t, proto.double_data(), t.size());
    case DType::kComplex128:
      return ExpectElements<double>(t, proto.double_data(), 2 * t.size());
    case DType::kInt64:
      return ExpectElements<int64_t>(t, proto.int64_data(), t.size());
    case DType::kUint64:
      return ExpectElements<uint64_t>(t, proto.uint64_data(), t.size());
    case DType::kUint32:
      return ExpectElements<uint32_t>(t, proto.uint64_data(), t.size());
    case DType::kString:
      ASSERT_EQ(proto.string_data_size(), t.size());
      for (int i = 0; i < proto.string_data_size(); ++i) EXPECT_EQ(proto.string_data(i), t.data<std::string>()[i]);
      return;
    default:
      break;
  }
  if (DTypeSize(t.dtype()) == 4) return ExpectElements<int32_t>(t, proto.int32_data(), t.size());
  if (DTypeSize(t.dtype()) == 2) return ExpectElements<uint16_t>(t, proto.int32_data(), t.size());
  ExpectElements<uint8_t>(t, proto.int32_data(), t.size());
}

std::string NameOf(const Graph& g, ValueId id) { return id == ValueId::kNone ? "" : g.value(id).name; }

template <class Protos>
void ExpectTyped(const Graph& g, const std::vector<ValueId>& values, const Protos& protos) {
  ASSERT_EQ(static_cast<size_t>(protos.size()), values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const auto& proto = protos.Get(static_cast<int>(i));
    EXPECT_EQ(proto.name(), NameOf(g, values[i]));
    EXPECT_EQ(TypeOf(proto.type()), g.value(values[i]).type);
  }
}

void ExpectGraph(const Graph& g, const onnx::GraphProto& proto) {
  EXPECT_EQ(proto.name(), g.name());
  ExpectTyped(g, g.inputs(), proto.input());
  ExpectTyped(g, g.outputs(), proto.output());
  size_t constants = 0;
  for (int v = 0; v < g.num_values(); ++v) constants += g.value(ValueId{v}).is_constant();
  ASSERT_EQ(static_cast<size_t>(proto.initializer_size()), constants);
  for (const auto& initializer : proto.initializer()) {
    const Tensor* constant = g.Constant(g.FindValue(initializer.name()));
    ASSERT_NE(constant, nullptr) << initializer.name();
    ExpectTensor(*constant, initializer);
  }
  for (const auto& info : proto.value_info()) {
    const ValueId id = g.FindValue(info.name());
    ASSERT_NE(id, ValueId::kNone) << info.name();
    EXPECT_EQ(TypeOf(info.type()), g.value(id).type);
  }
  const std::vector<NodeId> order = g.Order();
  ASSERT_EQ(static_cast<size_t>(proto.node_size()), order.size());
  for (size_t k = 0; k < order.size(); ++k) {
    const GraphNode& node = g.node(order[k]);
    const onnx::NodeProto& node_proto = proto.node(static_cast<int>(k));
    EXPECT_EQ(node_proto.op_type(), node.op->name);
    EXPECT_EQ(node_proto.domain(), node.op->domain);
    EXPECT_EQ(node_proto.name(), node.name);
    ASSERT_EQ(static_cast<size_t>(node_proto.input_size()), node.inputs.size());
    for (size_t i = 0; i < node.inputs.size(); ++i)
      EXPECT_EQ(node_proto.input(static_cast<int>(i)), NameOf(g, node.inputs[i]));
    ASSERT_EQ(static_cast<size_t>(node_proto.output_size()), node.outputs.size());
    for (size_t i = 0; i < node.outputs.size(); ++i)
      EXPECT_EQ(node_proto.output(static_cast<int>(i)), NameOf(g, node.outputs[i]));
  }
}

TEST(TextOracle, OnnxReadsWhatPrintWrites) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const Graph g = RandomGraphs(seed, /*onnx_text=*/true).Next();
    const std::string text = Print(g);
    onnx::GraphProto proto;
    const auto status = onnx::OnnxParser::Parse(proto, text);
    ASSERT_TRUE(status.IsOK()) << "seed " << seed << ": " << status.ErrorMessage() << "\n" << text;
    ExpectGraph(g, proto);
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed << "\n" << text;
  }
}

TEST(TextOracle, OnnxReadsAttributesAndBodies) {
  const std::string text = R"(g (bool c, float[2] x) => (float[2] y)
{
   y = weft.test.If (c) <then: graph = a () => (float[2] r)
      <
         float[2] w = {1e-05, -0}
      >
      {
         r = Add (x, w)
      }, else: graph = b () => (float[2] r)
      {
         [n] r, "" = weft.test.Every <need: int = 1, f: float = -0, s: string = "a\"b", ints: ints = [1, -2], floats: floats = [inf, -nan, 1, 2.5], strings: strings = ["p", "\\"], tensor: tensor = float[1,2] {1, nan}, type: type_proto = seq(float["2*N"]), empty: ints = []> (x, "", c)
      }>
}
)";
  auto graph = ParseGraph(text, &FindTestOp);
  ASSERT_TRUE(graph.ok()) << graph.status();
  onnx::GraphProto proto;
  const auto status = onnx::OnnxParser::Parse(proto, Print(*graph));
  ASSERT_TRUE(status.IsOK()) << status.ErrorMessage();
  ASSERT_EQ(proto.node(0).attribute_size(), 2);
  EXPECT_EQ(proto.node(0).domain(), "weft.test");
  EXPECT_EQ(proto.node(0).attribute(0).g().initializer(0).float_data(0), 1e-05f);
  const onnx::NodeProto& every = proto.node(0).attribute(1).g().node(0);
  ASSERT_EQ(every.attribute_size(), 9);
  EXPECT_EQ(every.name(), "n");
  EXPECT_EQ(every.output(1), "");
  EXPECT_EQ(every.input(1), "");
  EXPECT_EQ(every.attribute(0).i(), 1);
  EXPECT_TRUE(std::signbit(every.attribute(1).f()));
  EXPECT_EQ(every.attribute(1).type(), onnx::AttributeProto::FLOAT);
  EXPECT_EQ(every.attribute(2).s(), "a\"b");
  EXPECT_EQ(every.attribute(3).ints(1), -2);
  EXPECT_EQ(every.attribute(4).floats_size(), 4);
  EXPECT_EQ(every.attribute(4).floats(2), 1.0f);
  EXPECT_EQ(every.attribute(5).strings(1), "\\");
  EXPECT_EQ(every.attribute(6).t().dims_size(), 2);
  EXPECT_EQ(every.attribute(7).tp().sequence_type().elem_type().tensor_type().shape().dim(0).dim_param(),
            (Dim::Symbol("N") * 2).ToString());
  EXPECT_EQ(every.attribute(8).type(), onnx::AttributeProto::INTS);
}

TEST(TextOracle, OnnxReadsModels) {
  auto model = ParseModel(
      R"(<ir_version: 10, opset_import: ["" : 23, "weft" : 1], producer_name: "p\"", doc_string: "d", metadata_props: ["k": "v"]>
    g (float[2] x, float[2] w = {1, 2}) => (float[2] y) { y = Add (x, w) })");
  ASSERT_TRUE(model.ok()) << model.status();
  onnx::ModelProto proto;
  const auto status = onnx::OnnxParser::Parse(proto, PrintModel(*model));
  ASSERT_TRUE(status.IsOK()) << status.ErrorMessage();
  EXPECT_EQ(proto.ir_version(), 10);
  EXPECT_EQ(proto.opset_import(1).domain(), "weft");
  EXPECT_EQ(proto.producer_name(), "p\"");
  EXPECT_EQ(proto.metadata_props(0).value(), "v");
  EXPECT_EQ(proto.graph().input_size(), 2);
  EXPECT_EQ(proto.graph().initializer(0).name(), "w");
}

}  // namespace
}  // namespace weft
