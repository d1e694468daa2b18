#include "golden.h"

#include <fstream>
#include <sstream>

#include "absl/strings/match.h"
#include "graph/infer.h"
#include "gtest/gtest.h"

namespace weft {
namespace {

// One case over Add, Sub, Mul; `after` as in the file.
std::string CaseText(std::string_view name, std::string_view nodes, std::string_view after) {
  std::string text = "// ";
  text.append(name).append("\ng (float[N,3] x, float[3] w) => (y)\n{\n   ").append(nodes).append("\n}\n---\n");
  return text.append(after).append("\n");
}

const char* const kTwoNodes = "t = Add (x, w)\n   y = Mul (t, w)";
const char* const kSwapped =
    "g (float[N,3] x, float[3] w) => (float[N,3] y)\n{\n   t = Add (w, x)\n   y = Mul (t, w)\n}";

class GoldenTest : public testing::Test {
 protected:
  void Write(const std::string& text) {
    path_ = testing::TempDir() + "golden_" + testing::UnitTest::GetInstance()->current_test_info()->name() + ".txt";
    std::ofstream(path_, std::ios::binary) << text;
  }
  std::string Read() const {
    std::ostringstream text;
    text << std::ifstream(path_, std::ios::binary).rdbuf();
    return text.str();
  }
  // The failures behind "FILE:", one after the other; "OK" without any.
  std::string Run(const GoldenPass& pass, bool update = false) {
    auto result = RunGolden(path_, pass, update);
    if (!result.ok()) return "ERROR " + std::string(result.status().message());
    cases_ = result->cases;
    rewritten_ = result->rewritten;
    std::string failures;
    for (const std::string& failure : result->failures) {
      EXPECT_EQ(failure.rfind(path_ + ":", 0), 0u) << failure;
      failures += failure.substr(path_.size() + 1) + "\n";
    }
    return failures.empty() ? "OK" : failures;
  }

  std::string path_;
  int cases_ = 0;
  bool rewritten_ = false;
};

absl::Status DoNothing(Graph&) { return absl::OkStatus(); }

// Add(x, w) -> Add(w, x), where w is a vector: settles at once.
absl::Status Swap(Graph& g) {
  for (NodeId id : g.Order()) {
    const ValueId a = g.Input(id, 0), b = g.Input(id, 1);
    if (g.node(id).op != &ops::Add || g.value(a).type.shape.rank() <= g.value(b).type.shape.rank()) continue;
    g.SetInput(id, 0, b);
    g.SetInput(id, 1, a);
  }
  return InferTypes(g).status();
}

// Add(x, w) -> Add(w, x) and back, run by run.
absl::Status SwapForever(Graph& g) {
  for (NodeId id : g.Order()) {
    if (g.node(id).op != &ops::Add) continue;
    const ValueId a = g.Input(id, 0);
    g.SetInput(id, 0, g.Input(id, 1));
    g.SetInput(id, 1, a);
  }
  return absl::OkStatus();
}

// Mul(t, w) -> Add(t, w).
absl::Status ChangeMeaning(Graph& g) {
  for (NodeId id : g.Order()) {
    if (g.node(id).op != &ops::Mul) continue;
    const ValueId sum = g.AddOpNode(&ops::Add, {g.Input(id, 0), g.Input(id, 1)}, {}, id);
    g.ReplaceUses(g.node(id).outputs[0], sum);
    g.RemoveNode(id);
  }
  return InferTypes(g).status();
}

// Add(x, c) -> x, where all of c is zero: -0 becomes 0 no longer.
absl::Status DropZeros(Graph& g) {
  for (NodeId id : g.Order()) {
    if (g.node(id).op == &ops::Add && g.Constant(g.Input(id, 1)) != nullptr) {
      g.ReplaceUses(g.node(id).outputs[0], g.Input(id, 0));
      g.RemoveNode(id);
    }
  }
  return absl::OkStatus();
}

TEST_F(GoldenTest, RightGoldensPass) {
  Write("\n" + CaseText("Operands swap.", kTwoNodes, kSwapped) + "\n" +
        CaseText("Not those of Mul.\n// Whatever their rank.", "y = Mul (x, w)", "unchanged"));
  EXPECT_EQ(Run({.run = Swap}), "OK");
  EXPECT_EQ(cases_, 2);
}

TEST_F(GoldenTest, TypesOfTheExpectedTextAreInferred) {
  Write(CaseText("swap", kTwoNodes,
                 "g (float[N,3] x, float[3] w) => (y) <float[N,3] t> { t = Add (w, x) y = Mul (t, w) }"));
  EXPECT_EQ(Run({.run = Swap}), "OK");
}

TEST_F(GoldenTest, WrongGoldensFail) {
  Write(CaseText("swap", kTwoNodes, "unchanged") + CaseText("stay", "y = Mul (x, w)", kSwapped));
  EXPECT_EQ(Run({.run = Swap}), "1: case 'swap': the pass gave\n" + std::string(kSwapped) + "\nexpected\nunchanged\n" +
                                    "9: case 'stay': the pass gave\nunchangedexpected\n" + kSwapped + "\n\n");
}

TEST_F(GoldenTest, PassesThatDoNotSettleFail) {
  Write(CaseText("swap", kTwoNodes, kSwapped));
  const std::string found = Run({.run = SwapForever});
  EXPECT_TRUE(absl::StrContains(
      found, "a second run of the pass changed the graph (node 't' (Add): input 0 is 'w', 'x' in the other)"))
      << found;
}

TEST_F(GoldenTest, PassesThatChangeValuesFail) {
  Write(CaseText("sum", "t = Sub (x, w)\n   y = Mul (t, w)",
                 "g (float[N,3] x, float[3] w) => (y)\n{\n   t = Sub (x, w)\n   y = Add (t, w)\n}"));
  for (NumericClass numeric : {NumericClass::kExact, NumericClass::kReassociates, NumericClass::kApproximates}) {
    const std::string found = Run({.run = ChangeMeaning, .numeric = numeric});
    EXPECT_TRUE(absl::StrContains(
        found, "the pass changed what the graph computes (inputs of seed 1): output 'y' element 0 is"))
        << found;
  }
}

TEST_F(GoldenTest, SignsOfZeroCountOnlyWhereExact) {
  Write(
      "// zero\ng (float[N] x) => (y)\n<\n   float[1] c = {0}\n>\n{\n   t = Add (x, c)\n   y = Mul (t, t)\n   z = Sub "
      "(t, t)\n}\n---\n"
      "g (float[N] x) => (y)\n<\n   float[1] c = {0}\n>\n{\n   y = Mul (x, x)\n   z = Sub (x, x)\n}\n");
  EXPECT_EQ(Run({.run = DropZeros}), "OK");  // the square has no sign
  Write(
      "// zero\ng (float[N] x, float[N] z) => (y)\n<\n   float[1] c = {0}\n>\n{\n   t = Add (x, c)\n   y = Mul (t, "
      "z)\n}\n---\n"
      "g (float[N] x, float[N] z) => (y)\n<\n   float[1] c = {0}\n>\n{\n   y = Mul (x, z)\n}\n");
  EXPECT_EQ(Run({.run = DropZeros, .numeric = NumericClass::kReassociates}), "OK");
  EXPECT_TRUE(absl::StrContains(Run({.run = DropZeros}), "(negative)"));
}

TEST_F(GoldenTest, BrokenGraphsFail) {
  Write(CaseText("broken", kTwoNodes, "unchanged"));
  EXPECT_TRUE(absl::StrContains(Run({.run =
                                         [](Graph& g) {
                                           g.MoveBefore(g.last_node(), g.first_node());
                                           return absl::OkStatus();
                                         }}),
                                "1: case 'broken': the graph behind the pass: check 'order': "));
  EXPECT_TRUE(absl::StrContains(Run({.run =
                                         [](Graph& g) {
                                           g.SetType(g.outputs()[0], Type::OfTensor(DType::kInt8));
                                           return absl::OkStatus();
                                         }}),
                                "the graph behind the pass: check 'types': "));
  EXPECT_TRUE(absl::StrContains(Run({.run =
                                         [](Graph& g) {
                                           g.AddOutput(g.inputs()[0]);
                                           return absl::OkStatus();
                                         }}),
                                "the pass changed the graph's outputs from (y) to (y, x)"));
  EXPECT_EQ(Run({.run = [](Graph&) { return absl::InternalError("no"); }}), "1: case 'broken': the pass failed: no\n");
}

TEST_F(GoldenTest, BadFilesAndTextsSayWhere) {
  Write("x\n");
  EXPECT_EQ(Run({.run = DoNothing}),
            "ERROR " + path_ + ":1: found 'x', expected a case, which begins with a line of //");
  Write("\n");
  EXPECT_EQ(Run({.run = DoNothing}), "ERROR " + path_ + ": has no cases");
  Write("// a\ng () => () {}\n---\nunchanged\n---\n");
  EXPECT_EQ(Run({.run = DoNothing}), "ERROR " + path_ + ":5: found a second ---, expected the next case");
  Write("// a\ng () => () {}\n");
  EXPECT_EQ(Run({.run = DoNothing}), "1: case 'a': has no --- and no expected text\n");
  Write("// a\ng () => () {}\n---\nunchanged\n\n// b\ng () => () {\n  y = Nop ()\n}\n---\nunchanged\n");
  EXPECT_EQ(Run({.run = DoNothing}), "6: case 'b': 8:7: operator Nop is not supported\n");
  Write("// a\ng (float[2] x, float[3] w) => (y) {\n  y = Add (x, w)\n}\n---\nunchanged\n");
  EXPECT_TRUE(
      absl::StrContains(Run({.run = DoNothing}), "1: case 'a': node 'y' (Add): shapes [2], [3] do not broadcast"));
  path_ += ".missing";
  EXPECT_EQ(Run({.run = DoNothing}), "ERROR " + path_ + ": cannot be read");
}

TEST_F(GoldenTest, GraphsThatNeverRunFail) {
  Write(CaseText("a", kTwoNodes, kSwapped) + CaseText("b", "y = Mul (x, w)", "unchanged"));
  GoldenPass pass = {.run = Swap};
  pass.evaluate = [](const Graph&, std::vector<Value>) -> absl::StatusOr<std::vector<Value>> {
    return absl::InternalError("no");
  };
  EXPECT_EQ(Run(pass), "1: case 'a': the graph before the pass does not run: no\n");
  pass.evaluate = nullptr;
  EXPECT_EQ(Run(pass), "OK");
}

TEST_F(GoldenTest, UpdateRewritesWhatIsWrong) {
  const std::string right =
      CaseText("stay\n// as it is", "y = Mul (x, w)", "unchanged") + "\n" + CaseText("swap", kTwoNodes, kSwapped);
  Write(CaseText("stay\n// as it is", "y = Mul (x, w)", kSwapped) +
        "\n\n// swap\ng (float[N,3] x, float[3] w) => (y)\n{\n   " + kTwoNodes + "\n}\n");
  EXPECT_NE(Run({.run = Swap}), "OK");
  EXPECT_EQ(Run({.run = Swap}, /*update=*/true), "OK");
  EXPECT_TRUE(rewritten_);
  EXPECT_EQ(Read(), right);
  EXPECT_EQ(Run({.run = Swap}), "OK");
  EXPECT_EQ(Run({.run = Swap}, /*update=*/true), "OK");
  EXPECT_FALSE(rewritten_);
  // What is wrong in another way stays as it is, and fails.
  Write(CaseText("swap", kTwoNodes, "unchanged"));
  EXPECT_NE(Run({.run = SwapForever}, /*update=*/true), "OK");
  EXPECT_EQ(Read(), CaseText("swap", kTwoNodes, "unchanged"));
}

}  // namespace
}  // namespace weft
