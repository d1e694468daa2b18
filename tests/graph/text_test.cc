#include "graph/text.h"

#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/equal.h"
#include "graph/verify.h"
#include "gtest/gtest.h"
#include "test_op.h"

namespace weft {
namespace {

// What the text reads as, printed again.
std::string Reprint(std::string_view text) {
  auto graph = ParseGraph(text, &FindTestOp);
  return graph.ok() ? Print(*graph) : absl::StrCat("ERROR ", graph.status().message());
}

std::string ErrorOf(std::string_view text) {
  auto graph = ParseGraph(text, &FindTestOp);
  return graph.ok() ? "no error" : std::string(graph.status().message());
}

TEST(Text, PrintsAsInTheHeader) {
  const std::string text = R"(g (float[N,64] x) => (float[N,64] y)
<
   float[64] w = {0.5, -1, 0},
   float[N,64] t
>
{
   t = Add (x, w)
   [last] y = Mul (t, t)
}
)";
  std::string with_elements = text;
  std::string zeros;
  for (int i = 3; i < 64; ++i) zeros += ", 0";
  with_elements.insert(with_elements.find("0},") + 1, zeros);
  EXPECT_EQ(Reprint(with_elements), with_elements);
  auto graph = ParseGraph(with_elements);
  ASSERT_TRUE(graph.ok());
  const std::string brief = Print(*graph, {.intermediate_types = false, .max_elements = 8});
  EXPECT_TRUE(absl::StrContains(brief, "float[64] w = {...}"));
  EXPECT_FALSE(absl::StrContains(brief, "float[N,64] t"));
}

TEST(Text, ReadsFreely) {
  EXPECT_EQ(Reprint(R"(g # a comment
    (x, "float" , float[?,"a b"] "y z")=>(float z) < float[] t, float[0] e={} , int64 k = {-7}>
    { t = Add(x, "float") [] z = Sub("y z",t,) })"),
            absl::StrCat("g (x, \"float\", float[", "\"", Dim::Symbol("?1").ToString(), "\",\"",
                         Dim::Symbol("a b").ToString(),
                         "\"] \"y z\") => (float z)\n<\n   float[0] e = {},\n   int64 k = {-7},\n   float[] t\n>\n"
                         "{\n   t = Add (x, \"float\")\n   z = Sub (\"y z\", t)\n}\n"));
}

TEST(Text, TypesRoundTrip) {
  for (const char* type :
       {"float", "float[]", "float[1]", "string[0,N]", "undefined[]", "undefined", "seq(float[N])", "seq(unknown)",
        "optional(seq(int4[2]))", "map(int64, seq(map(string, double)))", "float8e4m3fnuz[3]"}) {
    const std::string text = absl::StrCat("g (", type, " x) => (", type, " x)\n{\n}\n");
    EXPECT_EQ(Reprint(text), text);
  }
}

TEST(Text, FloatsKeepTheirBits) {
  const std::string text =
      "g () => ()\n<\n   float[10] a = {nan, -nan, 0x7f800001, 0xffffffff, -0, 1e-45, 3.4028235e+38, -inf, inf, 0.1},\n"
      "   double[3] b = {0x7ff0000000000001, 5e-324, -0},\n   complex64[2] c = {1, -0, nan, 2},\n   float16[2] d = "
      "{31745, 15360}\n"
      ">\n{\n}\n";
  EXPECT_EQ(Reprint(text), text);
  auto graph = ParseGraph(text);
  ASSERT_TRUE(graph.ok());
  uint32_t bits[10];
  std::memcpy(bits, graph->Constant(graph->FindValue("a"))->data(), sizeof bits);
  EXPECT_EQ(bits[0], 0x7fc00000u);
  EXPECT_EQ(bits[1], 0xffc00000u);
  EXPECT_EQ(bits[2], 0x7f800001u);
  EXPECT_EQ(bits[4], 0x80000000u);
  EXPECT_EQ(bits[5], 1u);
}

TEST(Text, FloatsOutOfRange) {
  EXPECT_EQ(Reprint("g () => () <float[4] a = {1e-99, -1e-99, NaN, -Infinity}> {}"),
            "g () => ()\n<\n   float[4] a = {0, -0, nan, -inf}\n>\n{\n}\n");
  EXPECT_EQ(ErrorOf("g () => () <float a = {1e99}> {}"), "1:24: found '1e99', expected an element that fits 32 bits");
  EXPECT_EQ(ErrorOf("g () => () <float a = {0x123456789}> {}"),
            "1:24: found '0x123456789', expected the 32 bits of a number behind 0x");
}

TEST(Text, SubByteElementsArePacked) {
  auto graph = ParseGraph("g () => () <int4[3] a = {225, 7}, uint2[5] b = {27, 2}> {}");
  ASSERT_TRUE(graph.ok()) << graph.status();
  const int8_t* a = graph->Constant(graph->FindValue("a"))->data<int8_t>();
  EXPECT_EQ((std::vector<int>(a, a + 3)), (std::vector<int>{1, -2, 7}));
  const uint8_t* b = graph->Constant(graph->FindValue("b"))->data<uint8_t>();
  EXPECT_EQ((std::vector<int>(b, b + 5)), (std::vector<int>{3, 2, 1, 0, 2}));
}

TEST(Text, AttributesOfEveryKind) {
  const std::string text = R"(g () => ()
{
   y = weft.test.Every <need: int = 0, i: int = -3, f: float = -0, s: string = "a\"\\
", ints: ints = [1, -9223372036854775808], floats: floats = [inf, 0xffc00001], strings: strings = ["", "b"], tensor: tensor = float[1,2] {1, 2}, tensors: tensors = [string {"x"}, int64[0] {}], type: type_proto = seq(float[N]), maybe: float = 1.5, empty: ints = []> ()
}
)";
  EXPECT_EQ(Reprint(text), text);
  // Kinds may be left out, and integers stand for floats.
  EXPECT_EQ(Reprint("g () => () { y = weft.test.Every () <need = 0, f = 2, tensor = int32 t = {4}> }"),
            "g () => ()\n{\n   y = weft.test.Every <need: int = 0, f: float = 2, tensor: tensor = int32 {4}> ()\n}\n");
}

TEST(Text, OmittedOperands) {
  const std::string text = "g (a) => ()\n{\n   \"\", y = weft.test.Every <need: int = 1> (\"\", a, \"\")\n}\n";
  EXPECT_EQ(Reprint(text), text);
  EXPECT_EQ(Reprint("g (a) => () { , y = weft.test.Every <need = 1> (, a, \"\",) }"), text);
}

TEST(Text, BodiesReadOuterNames) {
  const std::string text = R"(g (float x, bool c) => (y)
{
   y = weft.test.If (c) <then: graph = a () => (float r)
      {
         r = Add (x, x)
      }, else: graph = "" (int64 i) => (float x)
      <
         float k = {2}
      >
      {
         m = weft.test.If (i) <then: graph = inner () => (q)
            {
               q = Mul (x, k)
            }, else: graph = inner () => (bool c)
            {
            }>
      }>
}
)";
  EXPECT_EQ(Reprint(text), text);
  auto graph = ParseGraph(text, &FindTestOp);
  ASSERT_TRUE(graph.ok());
  const GraphNode& node = graph->node(graph->first_node());
  ASSERT_EQ(node.regions.size(), 2u);
  EXPECT_EQ(node.regions[0].captures, std::vector<ValueId>{graph->inputs()[0]});
  EXPECT_EQ(node.regions[1].captures, (std::vector<ValueId>{graph->inputs()[0], graph->inputs()[1]}));
}

TEST(Text, CaretsReachShadowedNames) {
  const std::string text = R"(g (x, c) => (^x)
{
}
)";
  EXPECT_EQ(Reprint(text), "ERROR 1:14: found 'x', which nothing above defines, expected a value");
  const std::string nested = R"(g (x, c) => (y)
{
   y = weft.test.If (c) <then: graph = a (x) => (^x)
      {
         z = weft.test.If (x) <then: graph = b () => (^x, ^^x, x)
            {
               x = Add (^x, ^^x)
            }, else: graph = b () => ()
            {
            }>
      }, else: graph = b () => (c_1)
      {
         c_1 = Add (c, c)
         x_1 = Add (x, x)
         v1 = Add (x, c)
      }>
}
)";
  EXPECT_EQ(Reprint(nested), nested);
}

TEST(Text, CapturesOfABodyAlone) {
  Graph body;
  const ValueId i = body.AddInput("i", Type::OfTensor(DType::kInt64, Shape(std::vector<Dim>{})));
  const ValueId x = body.AddCapture("x", Type::OfTensor(DType::kFloat32, Shape({Dim(2)})));
  body.AddCapture("unread", Type());
  body.AddOutput(body.AddOpNode(&ops::Add, {i, x}, {}));
  const std::string text = Print(body);
  EXPECT_EQ(text, "\"\" (int64 i) [float[2] x, unread] => (Add)\n{\n   Add = Add (i, x)\n}\n");
  auto again = ParseGraph(text);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(Difference(body, *again), "");
}

TEST(Text, ModelsRoundTrip) {
  const std::string text = R"(<
   ir_version: 10,
   opset_import: ["" : 23, "ai.onnx.ml" : 5],
   producer_name: "p \"q\"",
   producer_version: "1",
   domain: "d",
   model_version: -4,
   doc_string: "two
lines",
   metadata_props: ["k": "v", "k": ""]
>
g (float[2] x, float[2] w = {1, 2}) => (float[2] y)
<
   float b = {1}
>
{
   t = Add (x, w)
   y = Add (t, b)
}
)";
  auto model = ParseModel(text);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(PrintModel(*model), text);
  EXPECT_EQ(model->overridable, std::vector<std::string>{"w"});
  EXPECT_EQ(model->metadata.size(), 2u);
  // An initialiser with an input's name is a default too.
  auto old = ParseModel("g (float[1] w, float x) => (x) <float[1] w = {3}> {}");
  ASSERT_TRUE(old.ok()) << old.status();
  EXPECT_EQ(old->overridable, std::vector<std::string>{"w"});
  EXPECT_EQ(old->graph.inputs().size(), 1u);
}

TEST(Text, ErrorsSayWhere) {
  EXPECT_EQ(ErrorOf(""), "1:1: found the end of the text, expected a graph's name");
  EXPECT_EQ(ErrorOf("g (x) -> (y)"), "1:7: found '-', expected '=>' before the outputs");
  EXPECT_EQ(ErrorOf("g (x)\n  => (y) {\n y = Relux(x) }"), "3:6: operator Relux is not supported");
  EXPECT_EQ(ErrorOf("g (x) => (y) { y = Add(x, z) }"),
            "1:27: found 'z', which nothing above defines, expected a value");
  EXPECT_EQ(ErrorOf("g (x) => (y) { }"), "1:11: found 'y', which nothing above defines, expected a value");
  EXPECT_EQ(ErrorOf("g (x) => (y) { y = Add(x) }"), "1:16: node 'y' (Add): has 1 inputs, expected 2");
  EXPECT_EQ(ErrorOf("g (x) => (y) { x = Add(x, x) }"), "1:16: found 'x' defined again, expected a new name");
  EXPECT_EQ(ErrorOf("g (x, x) => () { }"), "1:7: found input 'x' again, expected each once");
  EXPECT_EQ(ErrorOf("g (x) => () { y = Add <axis: int = 1> (x, x) }"), "1:24: unknown attribute 'axis', expected none");
  EXPECT_EQ(ErrorOf("g () => () { y = weft.test.Every () }"),
            "1:14: found no attribute 'need' of weft.test.Every, expected it, for it has no default");
  EXPECT_EQ(ErrorOf("g () => () { y = weft.test.Every <need: float = 1> () }"),
            "1:41: found 'float', expected 'int', the kind of attribute 'need'");
  EXPECT_EQ(ErrorOf("g () => () { y = weft.test.Every <need = 1, need = 2> () }"),
            "1:45: found attribute 'need' again, expected each once");
  EXPECT_EQ(ErrorOf("g () => () { y = weft.test.Every <need = 1.5> () }"), "1:42: found '1.5', expected an integer");
  EXPECT_EQ(ErrorOf("g () => () { y = weft.test.Every <need = @n> () }"),
            "1:42: a reference to an attribute of a function is not supported");
  EXPECT_EQ(ErrorOf("g () => () { y = weft.test.Every <need = 9223372036854775808> () }"),
            "1:42: found '9223372036854775808', expected an integer from -9223372036854775808 to 9223372036854775807");
  EXPECT_EQ(ErrorOf("g (c) => () { y = weft.test.If (c) <then = a () => () {}> }"),
            "1:15: found no body 'else', expected it");
  EXPECT_EQ(ErrorOf("g (float[-1] x) => () {}"), "1:10: found '-1', expected a dim that is not negative");
  EXPECT_EQ(ErrorOf("g (float[\"\"] x) => () {}"), "1:10: found an empty dim, expected a name or an expression");
  EXPECT_EQ(ErrorOf("g (sparse_tensor(float) x) => () {}"), "1:4: type sparse_tensor is not supported");
  EXPECT_EQ(ErrorOf("g (x) => () <uint8[2] w = {1, 256}> {}"), "1:31: found '256', expected an element from 0 to 255");
  EXPECT_EQ(ErrorOf("g (x) => () <uint64 w = {-1}> {}"),
            "1:26: found '-1', expected an element from 0 to 18446744073709551615");
  EXPECT_EQ(ErrorOf("g (x) => () <bool w = {2}> {}"), "1:24: found the bool 2, expected 0 or 1");
  EXPECT_EQ(ErrorOf("g (x) => () <float[2] w = {1}> {}"),
            "1:28: found 1 elements, expected those of 2 elements of float[2]");
  EXPECT_EQ(ErrorOf("g (x) => () <float[N] w = {1}> {}"),
            "1:14: found float[N], expected a tensor type with integers as dims, as float[2,3]");
  EXPECT_EQ(ErrorOf("g (x) => () <w = {1}> {}"),
            "1:14: found no type, expected a tensor type with integers as dims, as float[2,3]");
  EXPECT_EQ(ErrorOf("g (x) => () <float w = [\"location\": \"x\"]> {}"), "1:24: external data is not supported");
  EXPECT_EQ(ErrorOf("g (x) => () {} f (a) => (b) {}"), "1:16: found 'f', expected the end of the text");
  EXPECT_EQ(ErrorOf("g (\"a) => () {}"), "1:4: found a string without an end, expected '\"' behind it");
  EXPECT_EQ(ErrorOf("g (x\x01) => () {}"), "1:5: found byte 0x1, expected ',' or ')' behind a name");
}

TEST(Text, HostileTextsEndInErrors) {
  // Sizes that no memory holds, and products that no integer does.
  EXPECT_EQ(ErrorOf("g () => () <float[4611686018427387904,4] w = {1}> {}"),
            "1:13: found float[4611686018427387904,4], expected a shape whose number of elements fits 64 bits");
  EXPECT_EQ(ErrorOf("g () => () <complex64[4611686018427387904] w = {1, 2}> {}"),
            "1:49: found 2 parts, expected those of 4611686018427387904 elements of complex64[4611686018427387904]");
  // Depth.
  std::string type;
  for (int i = 0; i < 100000; ++i) type += "seq(";
  EXPECT_TRUE(absl::StrContains(ErrorOf("g (" + type), "expected at most 64"));
  std::string body;
  for (int i = 0; i < 100000; ++i) body += "g () => () { y = weft.test.If () <then = ";
  EXPECT_TRUE(absl::StrContains(ErrorOf(body), "expected at most 64"));
  // Every prefix of a text, and every text with one byte changed, gives a graph or an error.
  const std::string text =
      "g (float[N,\"2*N\"] x) => (y) <float[2] w = {1, 0x7fc00001}, \"a b\"> { [n] y = weft.test.If <then: graph = a "
      "() "
      "=> (x) {}, else = b () => (float z) { z, \"\" = weft.test.Every <need = 1, strings = [\"\\\"\"]> (^x) }> (x) }";
  for (size_t i = 0; i <= text.size(); ++i) (void)ParseGraph(text.substr(0, i), &FindTestOp);
  for (size_t i = 0; i < text.size(); ++i) {
    for (char c : std::string_view("\0\"(){}[]<>=,.:^-9x \xff", 20)) {
      std::string changed = text;
      changed[i] = c;
      auto graph = ParseGraph(changed, &FindTestOp);
      if (graph.ok()) {
        EXPECT_EQ(Reprint(Print(*graph)), Print(*graph));
      }
    }
  }
}

TEST(Text, LongTextsTakeLinearTime) {
  constexpr int kCount = 50000;
  std::string text = "g (x) => () {";
  for (int i = 0; i < kCount; ++i)
    text += absl::StrCat("v", i, " = Add(x, ", i == 0 ? "x" : absl::StrCat("v", i - 1), ")\n");
  auto graph = ParseGraph(text + "}");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->num_nodes(), kCount);
  EXPECT_TRUE(Equal(*graph, *ParseGraph(Print(*graph))));
  // Names that captures were given and bodies then define.
  text = "g (x, c) => () { y = weft.test.If <else = b () => () {}, then = a () => () {";
  for (int i = 0; i < kCount / 10; ++i)
    text += absl::StrCat("x", i == 0 ? "" : absl::StrCat("_", i), " = Add(^x, c)\n");
  auto body = ParseGraph(text + "}> (c) }", &FindTestOp);
  ASSERT_TRUE(body.ok()) << body.status();
}

}  // namespace
}  // namespace weft
