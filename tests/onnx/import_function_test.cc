// Calls of model-local functions, expanded where they stand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "import_text.h"

namespace weft {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kHeader[] = "<ir_version: 10, opset_import: [\"\" : 21, \"own\" : 1]>\n";

std::string WithFunctions(const std::string& graph, const std::string& functions) { return Imported(absl::StrCat(kHeader, graph, "\n", functions)); }

TEST(ImportFunction, ExpandsWithNamesOfItsOwn) {
  EXPECT_EQ(WithFunctions("g (float[N] x) => (float[N] y) { [one] a = own.f(x) [two] y = own.f(a) }",
                          R"(<domain: "own", opset_import: ["" : 21]> f (a) => (b) { t = Neg(a) b = Relu(t) })"),
            R"(g (float[N] x) => (float[N] y)
{
   ["one/Neg_0"] "one/t" = Neg (x)
   ["one/Relu_1"] a = Relu ("one/t")
   ["two/Neg_0"] "two/t" = Neg (a)
   ["two/Relu_1"] y = Relu ("two/t")
}
)");
}

TEST(ImportFunction, AttributesAreGivenOrDefaultOrLeftOut) {
  const std::string f = R"(<domain: "own", opset_import: ["" : 21]> f <alpha: float = 0.25, axis> (a) => (b) {
    t = LeakyRelu<alpha: float = @alpha>(a)
    b = Softmax<axis: int = @axis>(t)
  })";
  EXPECT_THAT(WithFunctions("g (float[N] x) => (float[N] y) { y = own.f<alpha = 0.5, axis = 0>(x) }", f),
              AllOf(HasSubstr("LeakyRelu <alpha: float = 0.5>"), HasSubstr("Softmax <axis: int = 0>")));
  EXPECT_THAT(WithFunctions("g (float[N] x) => (float[N] y) { y = own.f(x) }", f),
              AllOf(HasSubstr("LeakyRelu <alpha: float = 0.25>"), HasSubstr("y = Softmax (\"f_0/t\")")));
  EXPECT_THAT(WithFunctions("g (float[N] x) => (float[N] y) { y = own.f<axis = 1.5>(x) }", f), HasSubstr("of kind FLOAT, expected INT"));
}

TEST(ImportFunction, CallsFunctionsWithItsOwnAttributes) {
  const std::string functions = R"(
  <domain: "own", opset_import: ["" : 21, "own" : 1]> f <k> (a) => (b) { b = own.h<alpha: float = @k>(a) }
  <domain: "own", opset_import: ["" : 21]> h <alpha> (a) => (b) { b = LeakyRelu<alpha: float = @alpha>(a) })";
  EXPECT_THAT(WithFunctions("g (float[N] x) => (float[N] y) { y = own.f<k = 0.5>(x) }", functions), HasSubstr("LeakyRelu <alpha: float = 0.5>"));
}

// Each node has the form of the opset that its function imports.
TEST(ImportFunction, HasOpsetsOfItsOwn) {
  const std::string text = WithFunctions("g (float[2,3] x) => (float[2,3] y) { y = own.f(x) }",
                                         R"(<domain: "own", opset_import: ["" : 11]> f (a) => (b) { b = Softmax<axis = 0>(a) })");
  EXPECT_THAT(text, HasSubstr("Flatten <axis: int = 0>"));
}

TEST(ImportFunction, OmittedOperandsAndResults) {
  const std::string f = R"(<domain: "own", opset_import: ["" : 21]> f (a, low, high) => (b, c) { b = Clip(a, low, high) c = Neg(a) })";
  EXPECT_THAT(WithFunctions("g (float[N] x, float h) => (float[N] y) { y = own.f(x, \"\", h) }", f),
              HasSubstr("y = Clip (x, \"\", h)"));
  EXPECT_THAT(WithFunctions("g (float[N] x) => (float[N] y) { \"\", y = own.f(x) }", f), HasSubstr("y = Neg (x)"));
}

// A result that is an operand, or the same as another one.
TEST(ImportFunction, ResultsThatAreNoNodes) {
  EXPECT_THAT(WithFunctions("g (float[N] x) => (float[N] y, float[N] z) { y, z = own.f(x) }",
                            R"(<domain: "own", opset_import: ["" : 21]> f (a) => (a, b) { b = Neg(a) })"),
              AllOf(HasSubstr("y = Identity (x)"), HasSubstr("z = Neg (x)")));
}

TEST(ImportFunction, BodiesSeeTheFunctionsValuesAndAttributes) {
  EXPECT_THAT(WithFunctions("g (float[N] x, bool c) => (float[N] y) { y = own.f<k = 0.5>(x, c) }",
                            R"(<domain: "own", opset_import: ["" : 21]> f <k> (a, c) => (b) {
    t = Neg(a)
    b = If (c) <then_branch = tb () => (r) { r = LeakyRelu<alpha: float = @k>(t) }, else_branch = eb () => (r2) { r2 = Abs(a) }>
  })"),
              AllOf(HasSubstr("LeakyRelu <alpha: float = 0.5>"), HasSubstr("Abs (x)")));
}

TEST(ImportFunction, CalledFromABody) {
  EXPECT_THAT(WithFunctions(R"(g (float[N] x, bool c) => (float[N] y) {
    y = If (c) <then_branch = tb () => (float[N] r) { r = own.f(x) }, else_branch = eb () => (float[N] r2) { r2 = Abs(x) }>
  })",
                            R"(<domain: "own", opset_import: ["" : 21]> f (a) => (b) { b = Neg(a) })"),
              HasSubstr("r = Neg (x)"));
}

// Constants of a function are read as often as it is called.
TEST(ImportFunction, ConstantsAreReadAgain) {
  EXPECT_THAT(WithFunctions("g (float[2] x) => (float[2] y) { a = own.f(x) y = own.f(a) }",
                            R"(<domain: "own", opset_import: ["" : 21]> f (a) => (b) { c = Constant<value = float[2] {1, 2}>() b = Add(a, c) })"),
              AllOf(HasSubstr("f_0/c\" = {1, 2}"), HasSubstr("f_1/c\" = {1, 2}")));
}

TEST(ImportFunction, DoesNotSeeTheCallersNames) {
  EXPECT_THAT(WithFunctions("g (float[N] x) => (float[N] y) { y = own.f(x) }", R"(<domain: "own", opset_import: ["" : 21]> f (a) => (b) { b = Neg(x) })"),
              AllOf(HasSubstr("f_0/Neg_0"), HasSubstr("input 'x' is produced by no node")));
}

TEST(ImportFunction, Refusals) {
  const std::string graph = "g (float[N] x) => (float[N] y) { y = own.f(x) }";
  EXPECT_THAT(WithFunctions(graph, R"(<domain: "own", opset_import: ["" : 21, "own" : 1]> f (a) => (b) { b = own.f(a) })"),
              HasSubstr("the function calls itself"));
  EXPECT_THAT(WithFunctions(graph, R"(
  <domain: "own", opset_import: ["" : 21, "own" : 1]> f (a) => (b) { b = own.h(a) }
  <domain: "own", opset_import: ["" : 21, "own" : 1]> h (a) => (b) { b = own.f(a) })"),
              HasSubstr("the function calls itself"));
  EXPECT_THAT(WithFunctions(graph, R"(<domain: "own", opset_import: ["" : 21]> f () => (b) { b = Constant<value_int = 1>() })"),
              HasSubstr("has 1 inputs, expected at most 0"));
  EXPECT_THAT(WithFunctions(graph, R"(<domain: "own", opset_import: ["" : 21]> f (a) => () { b = Neg(a) })"), HasSubstr("has 1 outputs, expected at most 0"));
  EXPECT_THAT(WithFunctions(graph, R"(<domain: "own", opset_import: ["" : 21]> f (a, a) => (b) { b = Neg(a) })"), HasSubstr("lists input 'a' twice"));
  EXPECT_THAT(WithFunctions(graph, R"(<domain: "own", opset_import: ["" : 21]> f (a) => (c) { b = Neg(a) })"), HasSubstr("output 'c' is produced by no node or input"));
  EXPECT_THAT(WithFunctions(graph, R"(
  <domain: "own", opset_import: ["" : 21]> f (a) => (b) { b = Neg(a) }
  <domain: "own", opset_import: ["" : 21]> f (a) => (b) { b = Abs(a) })"),
              HasSubstr("is defined twice"));
  EXPECT_THAT(WithFunctions(graph, R"(<domain: "own", opset_import: ["" : 99]> f (a) => (b) { b = Neg(a) })"), HasSubstr("imports opset 99"));
  EXPECT_THAT(WithFunctions(graph, R"(<domain: "own", opset_import: ["" : 21]> f (a) => (b) { b = Frobnicate(a) })"), HasSubstr("f_0/Frobnicate_0"));
}

// Twenty functions that call the next one ten times each stand for more nodes than any file could hold.
TEST(ImportFunction, ExpansionIsBounded) {
  std::string functions;
  for (int i = 0; i < 20; ++i) {
    absl::StrAppend(&functions, "<domain: \"own\", opset_import: [\"\" : 21, \"own\" : 1]> ", i == 0 ? "f" : absl::StrCat("f", i), " (x0) => (x10) {");
    for (int k = 0; k < 10; ++k) absl::StrAppend(&functions, " x", k + 1, " = ", i == 19 ? "Neg" : absl::StrCat("own.f", i + 1), "(x", k, ")");
    absl::StrAppend(&functions, " }\n");
  }
  EXPECT_THAT(WithFunctions("g (float[N] x) => (float[N] y) { y = own.f(x) }", functions), HasSubstr("functions stand for more than"));
}

// The overload tells functions of one name apart.
TEST(ImportFunction, Overloads) {
  onnx::ModelProto proto = ProtoOf(absl::StrCat(kHeader, "g (float[N] x) => (float[N] y) { y = own.f(x) }\n",
                                                R"(<domain: "own", opset_import: ["" : 21]> f (a) => (b) { b = Neg(a) })"));
  proto.mutable_functions(0)->set_overload("negative");
  EXPECT_THAT(Imported(proto), HasSubstr("Weft has no operator own.f"));
  proto.mutable_graph()->mutable_node(0)->set_overload("negative");
  EXPECT_THAT(Imported(proto), HasSubstr("y = Neg (x)"));
}

}  // namespace
}  // namespace weft
