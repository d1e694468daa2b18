// A text read here, and the same text read by ONNX's parser and then imported, give the same graph.
#include "absl/strings/str_cat.h"
#include "graph/equal.h"
#include "graph/infer.h"
#include "graph/onnx/import.h"
#include "graph/text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "onnx/defs/parser.h"
#include "random_graph.h"

namespace weft {
namespace {

absl::StatusOr<Model> ImportText(const std::string& text) {
  onnx::ModelProto proto;
  const auto status = onnx::OnnxParser::Parse(proto, text);
  if (!status.IsOK()) return absl::InvalidArgumentError(status.ErrorMessage());
  return ImportModelFromMemory(proto.SerializeAsString(), "");
}

TEST(TextImport, ConstantsOfEveryElementType) {
  Model model;
  model.ir_version = 13;
  model.opsets = {{"", 26}};
  for (uint64_t seed = 0; seed < 200; ++seed) {
    // Each graph of the generator has a few constants; names that repeat are made unique.
    const Graph random = RandomGraphs(seed, /*onnx_text=*/true).Next();
    for (int v = 0; v < random.num_values(); ++v) {
      const GraphValue& value = random.value(ValueId{v});
      if (value.is_constant()) model.graph.AddConstant(value.name, value.constant);
    }
  }
  const std::string text = PrintModel(model);
  auto imported = ImportText(text);
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_EQ(Difference(model.graph, imported->graph), "");
  EXPECT_GT(model.graph.num_values(), 200);
}

TEST(TextImport, NodesAttributesAndTypes) {
  const std::string text = R"(<ir_version: 10, opset_import: ["" : 22], producer_name: "p">
main (float[N,3,8] x, int64[1] k) => (float[N,2,4] y, int64[1] z)
<
   float[2,3,3] w = {0, 1, 2, 3, 4, 5, 6, 7, 8, -0, 1e-05, inf, 12, 13, 14, 15, 16, 17},
   int64[1] two = {2}
>
{
   [conv] c = Conv <pads: ints = [1, 1], strides: ints = [2]> (x, w)
   [relu] y = LeakyRelu <alpha: float = 0.25> (c)
   ["the shape"] s = Shape <end: int = 1> (x)
   [mul] z = Mul (s, two)
})";
  auto parsed = ParseModel(text);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  auto imported = ImportText(text);
  ASSERT_TRUE(imported.ok()) << imported.status();
  // The importer takes no types of intermediate values from the file.
  ASSERT_TRUE(InferTypes(parsed->graph).ok());
  ASSERT_TRUE(InferTypes(imported->graph).ok());
  EXPECT_EQ(Print(parsed->graph), Print(imported->graph));
  EXPECT_EQ(Difference(parsed->graph, imported->graph), "");
  EXPECT_EQ(parsed->producer_name, imported->producer_name);
}

TEST(TextImport, AnOpOfOnnxRuntimeComesBeforeAFunctionOfItsName) {
  const auto model = [](const std::string& op) {
    return absl::StrCat(R"(<ir_version: 10, opset_import: ["" : 22, "com.microsoft" : 1]>
main (float[2,3] x) => (float[2,3] y) { y = com.microsoft.)", op, R"( (x) }
<domain: "com.microsoft", opset_import: ["" : 22]>
)", op, " (x) => (y) { y = Neg (x) }");
  };
  auto known = ImportText(model("QuickGelu"));
  ASSERT_TRUE(known.ok()) << known.status();
  EXPECT_THAT(Print(known->graph), testing::HasSubstr("com.microsoft.QuickGelu (x)"));
  auto unknown = ImportText(model("NoSuchOp"));
  ASSERT_TRUE(unknown.ok()) << unknown.status();
  EXPECT_THAT(Print(unknown->graph), testing::HasSubstr("Neg (x)"));
}

TEST(TextImport, RequiredOutputsAreThereWithoutNames) {
  onnx::ModelProto proto;
  const auto status = onnx::OnnxParser::Parse(proto, R"(<ir_version: 10, opset_import: ["" : 22]>
main (float[2,3] x, int64[1] k) => (int64[2,K] i) { v, i = TopK (x, k) })");
  ASSERT_TRUE(status.IsOK()) << status.ErrorMessage();
  proto.mutable_graph()->mutable_node(0)->set_output(0, "");
  auto imported = ImportModelFromMemory(proto.SerializeAsString(), "");
  ASSERT_TRUE(imported.ok()) << imported.status();
  const Graph& graph = imported->graph;
  EXPECT_NE(graph.node(graph.first_node()).outputs[0], ValueId::kNone);
}

TEST(TextImport, OnnxRuntimeWritesLayerNormalizationIntoAnyOpset) {
  auto imported = ImportText(R"(<ir_version: 7, opset_import: ["" : 12]>
main (float[2,3] x, float[3] scale) => (float[2,3] y, float[2,3] z) {
  y = LayerNormalization <epsilon: float = 0.5> (x, scale)
  z = SimplifiedLayerNormalization (x, scale)
})");
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_THAT(Print(imported->graph), testing::HasSubstr("y = LayerNormalization <epsilon: float = 0.5> (x, scale)"));
}

}  // namespace
}  // namespace weft
