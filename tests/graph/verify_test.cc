#include "graph/verify.h"

#include "graph/infer.h"
#include "graph/text.h"
#include "gtest/gtest.h"
#include "test_op.h"

namespace weft {

// Breaks what the edit methods keep.
struct GraphBreaker {
  static GraphNode& Node(Graph& g, NodeId id) { return g.mutable_node(id); }
  static GraphValue& Value(Graph& g, ValueId id) { return g.mutable_value(id); }
  static std::vector<ValueId>& Outputs(Graph& g) { return g.outputs_; }
  static std::vector<ValueId>& Inputs(Graph& g) { return g.inputs_; }
  static int& NumNodes(Graph& g) { return g.num_nodes_; }
};

namespace {

class VerifyTest : public testing::Test {
 protected:
  VerifyTest() {
    auto parsed = ParseGraph(R"(g (float[2] x, bool c) => (float[2] y)
      <float[2] w = {1, 2}>
      {
        a = Add (x, w)
        b = weft.test.If (c) <then: graph = t () => (q) { q = Mul (x, a) }, else: graph = e () => (x) {}>
        y = Sub (a, a)
      })",
                             &FindTestOp);
    EXPECT_TRUE(parsed.ok()) << parsed.status();
    g_ = *std::move(parsed);
    EXPECT_TRUE(InferTypes(g_).ok());
    EXPECT_EQ(Found(), "OK");
  }

  std::string Found() const {
    const absl::Status status = Verify(g_);
    if (status.ok()) return "OK";
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
    return std::string(status.message());
  }
  ValueId V(std::string_view name) const { return g_.FindValue(name); }
  NodeId N(std::string_view output) const { return g_.value(V(output)).producer; }
  GraphNode& Node(std::string_view output) { return GraphBreaker::Node(g_, N(output)); }
  GraphValue& Value(std::string_view name) { return GraphBreaker::Value(g_, V(name)); }

  Graph g_;
};

TEST_F(VerifyTest, Ids) {
  GraphBreaker::Node(g_, N("y")).inputs[0] = ValueId{99};
  EXPECT_EQ(Found(), "check 'ids': node 'y' (Sub) has an operand of value id 99, expected one below 6");
}
TEST_F(VerifyTest, OutputIds) {
  GraphBreaker::Outputs(g_)[0] = ValueId{-7};
  EXPECT_EQ(Found(), "check 'ids': output 0 is value id -7, expected one below 6");
}
TEST_F(VerifyTest, NodeCount) {
  ++GraphBreaker::NumNodes(g_);
  EXPECT_EQ(Found(), "check 'ids': the list of nodes has 3 of the graph's 4 nodes");
}
TEST_F(VerifyTest, NodeListInACircle) {
  Node("y").next = N("a");
  EXPECT_EQ(Found(), "check 'ids': the list of nodes has more than the 3 nodes of the graph");
}
TEST_F(VerifyTest, NodeListBackwards) {
  Node("y").prev = N("a");
  EXPECT_EQ(Found(), "check 'ids': node 'y' (Sub) stands behind node id 1, but names 0 as the one before it");
}
TEST_F(VerifyTest, RegionWithoutGraph) {
  Node("b").regions[1].graph = nullptr;
  EXPECT_EQ(Found(), "check 'ids': node 'b' (weft.test.If) has a region without a graph");
}

TEST_F(VerifyTest, TwoProducers) {
  g_.AddNode(&ops::Mul, "again", {V("x"), V("x")}, {V("a")}, {});
  EXPECT_EQ(
      Found(),
      "check 'producers': node 'a' (Add) has value 'a' (id 3) as output 0, but that value's producer is output 0 of "
      "node id 3");
}
TEST_F(VerifyTest, ProducerThatDoesNotProduce) {
  const ValueId v = g_.AddValue("v", Type());
  GraphBreaker::Value(g_, v).producer = N("y");
  EXPECT_EQ(Found(),
            "check 'producers': value 'v' (id 6) names node id 2 as its producer, which does not have it as output 0");
}
TEST_F(VerifyTest, InputThatIsProduced) {
  g_.AddNode(&ops::Mul, "", {V("w"), V("w")}, {V("x")}, {});
  EXPECT_EQ(Found(),
            "check 'producers': value 'x' (id 1) is more than one of node output, constant, and input or capture");
}
TEST_F(VerifyTest, ConstantThatIsAnInput) {
  g_.MakeConstant(V("x"), Tensor::Of<float>({2}, {1, 2}));
  EXPECT_EQ(Found(),
            "check 'producers': value 'x' (id 1) is more than one of node output, constant, and input or capture");
}
TEST_F(VerifyTest, FormalWithoutPlace) {
  Value("a").formal = true;
  EXPECT_EQ(Found(), "check 'producers': value 'a' (id 3) says it is an input or a capture, but is in neither list");
}
TEST_F(VerifyTest, InputTwice) {
  GraphBreaker::Inputs(g_).push_back(V("x"));
  EXPECT_EQ(Found(), "check 'producers': value 'x' (id 1) is an input or capture twice");
}

TEST_F(VerifyTest, OrderOfOperands) {
  g_.MoveBefore(N("y"), N("a"));
  EXPECT_EQ(
      Found(),
      "check 'order': input 0 of node 'y' (Sub) reads value 'a' (id 3), which is defined later, by node 'a' (Add), "
      "expected a value defined before it");
}
TEST_F(VerifyTest, OrderOfCaptures) {
  g_.MoveBefore(N("b"), N("a"));
  EXPECT_EQ(Found(),
            "check 'order': capture 1 of region 0 of node 'b' (weft.test.If) reads value 'a' (id 3), which is defined "
            "later, by node 'a' (Add), expected a value defined before it");
}
TEST_F(VerifyTest, OperandThatNothingDefines) {
  g_.SetInput(N("y"), 1, g_.AddValue("v", Type()));
  EXPECT_EQ(Found(),
            "check 'order': input 1 of node 'y' (Sub) reads value 'v' (id 6), which nothing defines, expected a value "
            "defined before it");
}
TEST_F(VerifyTest, NodeThatReadsItself) {
  g_.SetInput(N("y"), 1, V("y"));
  EXPECT_EQ(Found().substr(0, 66), "check 'order': input 1 of node 'y' (Sub) reads value 'y' (id 5), w");
}

TEST_F(VerifyTest, UseThatIsMissing) {
  Value("a").uses.pop_back();
  EXPECT_EQ(Found(),
            "check 'uses': input 1 of node 'y' (Sub) reads value 'a' (id 3), whose use list does not have it at 2");
}
TEST_F(VerifyTest, UseOfNobody) {
  Value("a").uses.push_back({.node = N("b"), .index = 0});
  EXPECT_EQ(Found(), "check 'uses': value 'a' (id 3) has 4 uses, but is read in 3 places");
}
TEST_F(VerifyTest, OperandBehindTheUseListsBack) {
  Node("y").inputs[1] = V("x");
  EXPECT_EQ(Found().substr(0, 75), "check 'uses': input 1 of node 'y' (Sub) reads value 'x' (id 1), whose use l");
}
TEST_F(VerifyTest, OutputUse) {
  Value("y").uses[0].index = 3;
  EXPECT_EQ(Found(), "check 'uses': value 'y' (id 5) has output 3 of the graph as a use, which is another value");
}

TEST_F(VerifyTest, NoName) {
  Value("a").name = "";
  EXPECT_EQ(Found(), "check 'names': the value of id 3 has no name");
}
TEST_F(VerifyTest, NameTwice) {
  Value("a").name = "x";
  EXPECT_EQ(Found(), "check 'names': value 'x' (id 3) shares its name with value 'x' (id 1)");
}

TEST_F(VerifyTest, Arity) {
  g_.SetInput(N("y"), 2, V("x"));
  EXPECT_EQ(Found(), "check 'nodes': node 'y' (Sub): has 3 inputs, expected 2");
  EXPECT_EQ(VerifyNode(g_, N("y")).code(), absl::StatusCode::kInvalidArgument);
}
TEST_F(VerifyTest, OutputArity) {
  g_.AddNode(&ops::Add, "n", {V("x"), V("x")}, {}, {});
  EXPECT_EQ(Found(), "check 'nodes': node 'n' (Add): has 0 outputs, expected 1");
}
TEST_F(VerifyTest, OmittedOperand) {
  g_.SetInput(N("y"), 0, ValueId::kNone);
  EXPECT_EQ(Found(), "check 'nodes': node 'y' (Sub): input 0 is omitted, expected a value");
}
TEST_F(VerifyTest, OmittedVariadicOperand) {
  const NodeId n = g_.AddNode(&kVariadicOp, "n", {ValueId::kNone, V("x"), V("x")}, {g_.AddValue("v", Type())}, {});
  EXPECT_EQ(Found(), "OK");
  g_.SetInput(n, 2, ValueId::kNone);
  EXPECT_EQ(Found(), "check 'nodes': node 'n' (weft.test.Variadic): input 2 is omitted, expected a value");
  g_.SetInput(n, 2, V("x"));
  g_.SetInput(n, 1, ValueId::kNone);
  EXPECT_EQ(Found(), "check 'nodes': node 'n' (weft.test.Variadic): input 1 is omitted, expected a value");
}
TEST_F(VerifyTest, AttributesOfAnotherOp) {
  g_.SetAttrs(N("y"), EveryAttrs());
  EXPECT_EQ(Found(), "check 'nodes': node 'y' (Sub): has the attributes of another op");
}
TEST_F(VerifyTest, RegionsMissing) {
  g_.AddNode(&kIfOp, "n", {}, {}, {});
  EXPECT_EQ(Found(), "check 'nodes': node 'n' (weft.test.If): has 0 regions, expected 2");
}
TEST_F(VerifyTest, CapturesMissing) {
  g_.region_graph(N("b"), 0).AddCapture("more", Type());
  EXPECT_EQ(Found(), "check 'nodes': node 'b' (weft.test.If): region 'then' is given 2 captures, expected 3");
}
TEST_F(VerifyTest, Bodies) {
  Graph& body = g_.region_graph(N("b"), 0);
  body.SetInput(body.first_node(), 1, ValueId::kNone);
  EXPECT_EQ(Found(), "node 'b' (weft.test.If): check 'nodes': node 'q' (Mul): input 1 is omitted, expected a value");
}

TEST_F(VerifyTest, OutputThatNothingDefines) {
  g_.AddOutput(g_.AddValue("v", Type()));
  EXPECT_EQ(Found(),
            "check 'outputs': output 1 of the graph is value 'v' (id 6), which nothing defines, expected an input, a "
            "constant or a node's output");
}

TEST_F(VerifyTest, TypeThatInferenceDoesNotGive) {
  g_.SetType(V("a"), Type::OfTensor(DType::kFloat32, Shape({Dim(3)})));
  EXPECT_EQ(Found(), "check 'types': value 'a' (id 3) of node 'a' (Add) has type float[3], inference gives float[2]");
  g_.SetType(V("a"), Type::OfTensor(DType::kInt32));
  EXPECT_EQ(Found(), "check 'types': value 'a' (id 3) of node 'a' (Add) has type int32[], inference gives float[2]");
  g_.SetType(V("a"), Type::OfTensor(DType::kFloat32, Shape({Dim::Symbol("N")})));
  EXPECT_EQ(Found(), "OK");
  g_.SetType(V("a"), Type());
  EXPECT_EQ(Found(), "OK");
}
TEST_F(VerifyTest, TypeOfAConstant) {
  g_.SetType(V("w"), Type::OfTensor(DType::kInt32));
  EXPECT_EQ(Found(), "check 'types': value 'w' (id 0) has type int32[], inference gives float[2]");
}
TEST_F(VerifyTest, NegativeDims) {
  g_.SetType(V("c"), Type::OfSequence(Type::OfTensor(DType::kBool, Shape({Dim(-1)}))));
  EXPECT_EQ(Found(), "check 'types': value 'c' (id 2) has type seq(bool[\"-1\"]), expected no negative dim");
}
TEST_F(VerifyTest, InferenceFails) {
  g_.SetInput(N("y"), 1, g_.AddConstant("", Tensor::Of<int64_t>({2}, {1, 2})));
  EXPECT_EQ(Found(), "check 'types': node 'y' (Sub): input 1 has element type int64, expected that of input 0, float");
}

TEST(Verify, EmptyGraph) { EXPECT_TRUE(Verify(Graph()).ok()); }

}  // namespace
}  // namespace weft
