// Graphs and bodies: order, names, initialisers, types, outer values; what is refused, and how.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "graph/onnx/tensor_proto.h"
#include "import_text.h"

namespace weft {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// ---- Order and names ----

TEST(ImportOrder, NodesInAnyOrder) {
  EXPECT_EQ(Imported("g (float[N] x) => (float[N] y) { y = Neg(b) b = Relu(a) a = Abs(x) }"), R"(g (float[N] x) => (float[N] y)
{
   [Abs_2] a = Abs (x)
   [Relu_1] b = Relu (a)
   [Neg_0] y = Neg (b)
}
)");
}

// What a body reads counts as an operand.
TEST(ImportOrder, BodiesNeedWhatTheyRead) {
  const std::string text = Imported(R"(g (float[N] x, bool c) => (float[N] y) {
    y = If (c) <then_branch = t () => (float[N] z) { z = Identity(a) }, else_branch = e () => (float[N] z2) { z2 = Neg(x) }>
    a = Abs(x)
  })");
  EXPECT_LT(text.find("a = Abs (x)"), text.find("If (c)")) << text;
}

TEST(ImportOrder, CyclesAreRefused) {
  EXPECT_THAT(Imported("g (float[N] x) => (float[N] y) { a = Add(x, b) b = Relu(a) y = Neg(b) }"),
              AllOf(HasSubstr("needs its own result"), HasSubstr("cycle")));
  EXPECT_THAT(Imported("g (float[N] x) => (float[N] y) { y = Relu(y) }"), HasSubstr("cycle"));
  EXPECT_THAT(Imported(R"(g (float[N] x, bool c) => (float[N] y) {
    a = Abs(y)
    y = If (c) <then_branch = t () => (float[N] z) { z = Identity(a) }, else_branch = e () => (float[N] z2) { z2 = Neg(x) }>
  })"),
              HasSubstr("cycle"));
}

TEST(ImportOrder, LongChains) {
  onnx::ModelProto proto = ProtoOf("g (float[N] x) => (float[N] y) { y = Relu(n0) }");
  constexpr int kNodes = 100000;
  for (int i = 0; i < kNodes; ++i) {  // from the last one to the first
    onnx::NodeProto& node = *proto.mutable_graph()->add_node();
    node.set_op_type("Neg");
    node.add_input(i + 1 < kNodes ? absl::StrCat("n", i + 1) : "x");
    node.add_output(absl::StrCat("n", i));
  }
  const absl::StatusOr<Model> model = Import(proto);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->graph.num_nodes(), kNodes + 1);
}

TEST(ImportNames, EachIsDefinedOnce) {
  EXPECT_THAT(Imported("g (float[N] x) => (float[N] y) { y = Relu(x) y = Neg(x) }"), HasSubstr("result 'y' is another node's result too"));
  EXPECT_THAT(Imported("g (float[N] x) => (float[N] x) { x = Relu(x) }"), HasSubstr("result 'x' has the name of an input or initialiser"));
  EXPECT_THAT(Imported("g (float[N] x) => (float[N] w) <float[1] w = {1}> { w = Relu(x) }"), HasSubstr("result 'w' has the name of an input or initialiser"));
  EXPECT_THAT(Imported("g (float[N] x, float[N] x) => (float[N] y) { y = Relu(x) }"), HasSubstr("input 'x' is listed twice"));
  EXPECT_THAT(Imported("g (float[N] x) => (float[N] y) <float[1] w = {1}, float[1] w = {2}> { y = Add(x, w) }"), HasSubstr("initialiser 'w' is given twice"));
  EXPECT_THAT(Imported("g (float[N] x) => (float[N] y, float[N] z) { y, y = TopK(x) }"), HasSubstr("result 'y'"));
}

TEST(ImportNames, EachIsDefinedSomewhere) {
  EXPECT_THAT(Imported("g (float[N] x) => (float[N] y) { y = Relu(z) }"), HasSubstr("input 'z' is produced by no node, input or initialiser"));
  EXPECT_THAT(Imported("g (float[N] x) => (float[N] z) { y = Relu(x) }"), HasSubstr("output 'z' is produced by no node, input or initialiser"));
  onnx::ModelProto proto = ProtoOf("g (float[N] x) => (float[N] y) { y = Relu(x) }");
  proto.mutable_graph()->mutable_input(0)->clear_name();
  EXPECT_THAT(Imported(proto), HasSubstr("an input has no name"));
}

// ---- Types ----

TEST(ImportTypes, DeclaredShapesOfResultsAreCorrected) {
  EXPECT_EQ(Imported("g (float[2,3] x) => (float[7] y) <float[9,9] a> { a = Relu(x) y = Transpose(a) }"), R"(g (float[2,3] x) => (float[3,2] y)
{
   [Relu_0] a = Relu (x)
   [Transpose_1] y = Transpose (a)
}
)");
}

TEST(ImportTypes, DimsWithoutASizeAreSymbolsOfTheirOwn) {
  onnx::ModelProto proto = ProtoOf("g (float[N,M,K,L] x) => (float[] y) { y = Relu(x) }");
  auto* shape = proto.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  shape->mutable_dim(0)->Clear();
  shape->mutable_dim(1)->set_dim_param("");
  shape->mutable_dim(2)->set_dim_value(-1);
  EXPECT_THAT(Imported(proto), HasSubstr("float[\"'x.0'\",\"'x.1'\",\"'x.2'\",L] y"));
}

TEST(ImportTypes, HugeDims) {
  const std::string text = Imported("g (float[4294967296,4294967296,4294967296] x) => (float[] y) { y = Relu(x) }");
  EXPECT_THAT(text, HasSubstr("float[4294967296,4294967296,4294967296] y"));
  EXPECT_THAT(Imported("g (float[4294967296,4294967296] x) => (float[] y) { y = Flatten<axis = 0>(x) }"), HasSubstr("exceeds 64 bits"));
  onnx::ModelProto proto = ProtoOf("g () => (float[] y) <float[1] w = {1}> { y = Relu(w) }");
  auto* w = proto.mutable_graph()->mutable_initializer(0);
  w->set_dims(0, int64_t{1} << 32);
  w->add_dims(int64_t{1} << 32);
  EXPECT_FALSE(Import(proto).ok());
  w->set_dims(0, std::numeric_limits<int64_t>::max());
  w->set_dims(1, 1);
  EXPECT_THAT(Imported(proto), StartsWith("model: initialiser 'w': float"));
  w->set_dims(0, -1);
  EXPECT_THAT(Imported(proto), HasSubstr("initialiser 'w'"));
}

TEST(ImportTypes, KindsWithoutASupportedType) {
  onnx::ModelProto proto = ProtoOf("g (float[N] x) => (float[N] y) { y = Relu(x) }");
  onnx::TypeProto& type = *proto.mutable_graph()->mutable_input(0)->mutable_type();
  type.Clear();
  EXPECT_THAT(Imported(proto), HasSubstr("input 'x': has no type"));
  type.mutable_tensor_type()->set_elem_type(0);
  EXPECT_THAT(Imported(proto), HasSubstr("input 'x': has no element type"));
  type.mutable_tensor_type()->set_elem_type(1234);
  EXPECT_THAT(Imported(proto), HasSubstr("has element type number 1234"));
  type.mutable_tensor_type()->set_elem_type(27);
  EXPECT_THAT(Imported(proto), HasSubstr("has element type FLOAT6E2M3"));
  type.mutable_sparse_tensor_type()->set_elem_type(1);
  EXPECT_THAT(Imported(proto), HasSubstr("is a sparse tensor"));
}

// ---- Initialisers ----

TEST(ImportInitialisers, ThatAreInputsTooMayBeFed) {
  const std::string text = "g (float[2] x, float[2] w) => (float[2] y) <float[2] w = {1, 2}> { y = Add(x, w) }";
  EXPECT_EQ(Imported(text), R"(g (float[2] x) => (float[2] y)
<
   float[2] w = {1, 2}
>
{
   [Add_0] y = Add (x, w)
}
)");
  const absl::StatusOr<Model> model = Import(ProtoOf(text));
  EXPECT_THAT(model->overridable, ::testing::ElementsAre("w"));
  EXPECT_EQ(Imported(text, {.overridden = {"w"}}), R"(g (float[2] x, float[2] w) => (float[2] y)
{
   [Add_0] y = Add (x, w)
}
)");
}

TEST(ImportInitialisers, BehindInputsWithoutADefault) {
  EXPECT_THAT(Imported("g (float[2] w, float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add(x, w) }", {.overridden = {"w"}}),
              StartsWith("g (float[2] x, float[2] w) =>"));
}

// The declared type does not hold for the default: what is fed is checked against the default's.
TEST(ImportInitialisers, OfAnotherTypeThanDeclared) {
  EXPECT_THAT(Imported("g (float[2] x, int64[7] w) => (float[2] y) <float[2] w = {1, 2}> { y = Add(x, w) }", {.overridden = {"w"}}),
              StartsWith("g (float[2] x, float[] w) =>"));
}

TEST(ImportInitialisers, Sparse) {
  onnx::ModelProto proto = ProtoOf("g (float[2,2] x) => (float[2,2] y) <float[1] w = {1}> { y = Add(x, s) }");
  auto& sparse = *proto.mutable_graph()->add_sparse_initializer();
  *sparse.mutable_values() = ProtoFromTensor(Tensor::Of<float>({2}, {5, 6}), "s");
  *sparse.mutable_indices() = ProtoFromTensor(Tensor::Of<int64_t>({2, 2}, {0, 1, 1, 0}), "");
  sparse.add_dims(2);
  sparse.add_dims(2);
  EXPECT_THAT(Imported(proto), HasSubstr("float[2,2] s = {0, 5, 6, 0}"));
  *sparse.mutable_indices() = ProtoFromTensor(Tensor::Of<int64_t>({2, 2}, {0, 1, 1, 2}), "");
  EXPECT_THAT(Imported(proto), HasSubstr("sparse initialiser 's': index 2 on axis 1 is outside of [2,2]"));
  *sparse.mutable_indices() = ProtoFromTensor(Tensor::Of<int64_t>({2}, {0, -1}), "");
  EXPECT_THAT(Imported(proto), HasSubstr("index -1 is outside of"));
  sparse.set_dims(0, int64_t{1} << 40);
  EXPECT_THAT(Imported(proto), HasSubstr("too sparse to be made dense"));
}

TEST(ImportInitialisers, DataOfTheRightSizeInTheRightField) {
  const onnx::ModelProto good = ProtoOf("g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add(x, w) }");
  auto with = [&](auto edit) {
    onnx::ModelProto proto = good;
    edit(*proto.mutable_graph()->mutable_initializer(0));
    return Imported(proto);
  };
  EXPECT_THAT(with([](onnx::TensorProto& w) { w.add_float_data(3); }), HasSubstr("float_data has 3 values, expected 2 for float[2]"));
  EXPECT_THAT(with([](onnx::TensorProto& w) { w.set_raw_data("1234"); }), HasSubstr("has values in raw_data and in float_data"));
  EXPECT_THAT(with([](onnx::TensorProto& w) {
                w.clear_float_data();
                w.set_raw_data("1234567");
              }),
              HasSubstr("raw_data has 7 bytes, expected 8 for float[2]"));
  EXPECT_THAT(with([](onnx::TensorProto& w) { w.add_int64_data(3); }), HasSubstr("has values in float_data and in int64_data"));
  EXPECT_THAT(with([](onnx::TensorProto& w) { w.set_data_type(7); }), HasSubstr("has values in float_data, expected int64_data"));
  EXPECT_THAT(with([](onnx::TensorProto& w) { w.mutable_segment()->set_begin(0); }), HasSubstr("is a segment of a tensor"));
  EXPECT_THAT(with([](onnx::TensorProto& w) { w.clear_name(); }), HasSubstr("an initialiser has no name"));
}

// ---- Bodies ----

TEST(ImportBodies, ReadOuterValuesConstantsAndInputs) {
  EXPECT_EQ(Imported(R"(g (float[N] x, bool c) => (float[M] y) <float[1] w = {3}> {
    a = Abs(x)
    y = If (c) <then_branch = t () => (float[N] z) { z = Add(a, w) }, else_branch = e () => (float[M] z2) { z2 = Concat<axis = 0>(x, x) }>
  })"),
            R"(g (float[N] x, bool c) => (float[unk__0] y)
<
   float[1] w = {3}
>
{
   [Abs_0] a = Abs (x)
   [If_1] y = If (c) <then_branch: graph = t () => (float[N] z)
      <
         float[1] w = {3}
      >
      {
         [Add_0] z = Add (a, w)
      }, else_branch: graph = e () => (float["2*N"] z2)
      {
         [Concat_0] z2 = Concat <axis: int = 0> (x, x)
      }>
}
)");
}

// Two levels: the value is handed through the body between.
TEST(ImportBodies, ReadThroughBodies) {
  const std::string text = Imported(R"(g (float[2] x, int64 n, bool c) => (float[2] y) {
    y = Loop (n, c, x) <body = b (int64 i, bool d, float[2] v) => (bool d2, float[2] v2) {
      d2 = Identity(d)
      v2 = If (d) <then_branch = t () => (float[2] p) { p = Add(v, x) }, else_branch = e () => (float[2] q) { q = Sub(v, x) }>
    }>
  })");
  EXPECT_THAT(text, AllOf(HasSubstr("p = Add (v, x)"), HasSubstr("q = Sub (v, x)")));
}

// Names in a body are its own, whatever they mean outside.
TEST(ImportBodies, ShadowOuterNames) {
  const std::string text = Imported(R"(g (float[2] x, bool c) => (float[2] y) {
    a = Abs(x)
    y = If (c) <then_branch = t () => (float[2] b) { a = Neg(x) b = Relu(a) }, else_branch = e () => (float[2] a) { a = Exp(x) }>
  })");
  EXPECT_THAT(text, AllOf(HasSubstr("a = Neg (x)"), HasSubstr("b = Relu (a)"), HasSubstr("a = Exp (x)")));
}

TEST(ImportBodies, ReturnOuterValuesAndInputs) {
  EXPECT_THAT(Imported(R"(g (float[2] x, bool c) => (float[2] y) {
    a = Abs(x)
    y = If (c) <then_branch = t () => (float[2] a) { }, else_branch = e () => (float[2] x) { }>
  })"),
              AllOf(HasSubstr("t () => (float[2] a)"), HasSubstr("e () => (float[2] x)")));
}

// A scan's body gets slices; what it reads besides is outer.
TEST(ImportBodies, ScanWithOuterValues) {
  EXPECT_THAT(Imported(R"(g (float[2] s, float[T,2] xs, float[2] w) => (float[2] y, float[T,2] z) {
    y, z = Scan <num_scan_inputs = 1, body = b (float[2] s1, float[2] x) => (float[2] s2, float[2] o) {
      s2 = Add(s1, x)
      o = Mul(s2, w)
    }> (s, xs)
  })"),
              AllOf(HasSubstr("o = Mul (s2, w)"), HasSubstr("float[T,2] z")));
}

// Opset 8 ran each element of a batch by itself.
TEST(ImportBodies, ScanOfOpset8WithOuterValues) {
  const std::string text = Imported(R"(<ir_version: 7, opset_import: ["" : 8]>
  g (float[B,2] s, float[B,T,2] xs, float[2] w) => (float[B,2] y, float[B,T,2] z) {
    y, z = Scan <num_scan_inputs = 1, body = b (float[2] s1, float[2] x) => (float[2] s2, float[2] o) {
      s2 = Add(s1, x)
      o = Mul(s2, w)
    }> ("", s, xs)
  })");
  EXPECT_THAT(text, AllOf(HasSubstr("float[B,2] y"), HasSubstr("float[B,T,2] z"), HasSubstr("o = Mul (s2, w)")));
}

TEST(ImportBodies, Refusals) {
  EXPECT_THAT(Imported(R"(g (float[2] x, bool c) => (float[2] y) {
    y = If (c) <then_branch = t () => (float[2] z) { z = Relu(nowhere) }, else_branch = e () => (float[2] z2) { z2 = Exp(x) }>
  })"),
              AllOf(HasSubstr("then_branch"), HasSubstr("input 'nowhere' is produced by no node")));
  EXPECT_THAT(Imported("g (float[2] x, bool c) => (float[2] y) { y = If (c) <then_branch = t () => (float[2] z) { z = Relu(x) }> }"),
              HasSubstr("graph attribute 'else_branch' is missing"));
  EXPECT_THAT(Imported("g (float[2] x) => (float[2] y) { y = Relu<body = t () => (float[2] z) { z = Relu(x) }>(x) }"),
              HasSubstr("graph attribute 'body' is none of this operator's"));
}

// ---- Operators ----

TEST(ImportNodes, AllUnknownOnesInOneMessage) {
  const std::string text = Imported(R"(<ir_version: 10, opset_import: ["" : 21, "their.own" : 3]>
  g (float[2] x, bool c) => (float[2] y) {
    a = Frobnicate(x)
    [b] b = their.own.Thing(a)
    d = their.own.Thing(b)
    y = If (c) <then_branch = t () => (float[2] z) { z = Nonsense(d) }, else_branch = e () => (float[2] z2) { z2 = Relu(x) }>
  })");
  EXPECT_EQ(text,
            "model: not supported: node 'Frobnicate_0' (Frobnicate, opset 21: ONNX has no operator Frobnicate); node 'Nonsense_0' (Nonsense, opset 21: "
            "ONNX has no operator Nonsense); nodes 'b', 'Thing_2' (their.own.Thing, opset 3: Weft has no operator their.own.Thing)");
}

TEST(ImportNodes, OperatorsOfTheirOpset) {
  EXPECT_THAT(Imported(R"(<ir_version: 10, opset_import: ["" : 8]> g (float[2] x) => (float[2] y) { y = Erf(x) })"),
              HasSubstr("is no operator of opset 8, expected opset 9 or later"));
  EXPECT_THAT(Imported(R"(<ir_version: 10, opset_import: ["" : 11]> g (float[2] x) => (float[2] y) { y = Affine(x) })"),
              HasSubstr("is no operator of opset 11, it ended with opset 9"));
  EXPECT_THAT(Imported(R"(<ir_version: 10, opset_import: ["" : 20]> g (float[2] x) => (float[2] y) { y = ai.onnx.ml.Scaler(x) })"),
              HasSubstr("the model does not import domain 'ai.onnx.ml'"));
}

TEST(ImportNodes, AttributesAndOperandsAreTheOperators) {
  EXPECT_THAT(Imported("g (float[2] x) => (float[2] y) { y = LeakyRelu<beta = 1.0>(x) }"), HasSubstr("unknown attribute 'beta', expected one of alpha"));
  EXPECT_THAT(Imported("g (float[2] x) => (float[2] y) { y = LeakyRelu<alpha = 1>(x) }"), HasSubstr("attribute 'alpha' is of kind int, expected float"));
  EXPECT_THAT(Imported("g (float[2] x) => (float[2] y) { y = Relu(x, x) }"), HasSubstr("has 2 inputs, expected 1"));
  EXPECT_THAT(Imported("g (float[2] x) => (float[2] y) { y, z = Relu(x) }"), HasSubstr("has 2 outputs, expected 1"));
  onnx::ModelProto proto = ProtoOf("g (float[2] x) => (float[2] y) { y = LeakyRelu<alpha = 0.5>(x) }");
  onnx::NodeProto& node = *proto.mutable_graph()->mutable_node(0);
  node.mutable_attribute(0)->set_i(3);
  EXPECT_THAT(Imported(proto), HasSubstr("is marked as FLOAT but has a value of kind INT"));
  node.mutable_attribute(0)->clear_i();
  *node.add_attribute() = node.attribute(0);
  EXPECT_THAT(Imported(proto), HasSubstr("attribute 'alpha': is given twice"));
  node.mutable_attribute()->RemoveLast();
  node.mutable_attribute(0)->set_ref_attr_name("a");
  EXPECT_THAT(Imported(proto), HasSubstr("refers to attribute 'a' outside of a function"));
}

}  // namespace
}  // namespace weft
