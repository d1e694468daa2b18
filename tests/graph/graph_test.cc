#include "graph/graph.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace weft {
namespace {

const Type kFloats = Type::OfTensor(DType::kFloat32, Shape({Dim(2)}));

Tensor Floats() { return Tensor::Of<float>({2}, {1.f, 2.f}); }

// Every operand finds its use where its slot says, and every use names an operand that reads the value.
void ExpectUsesExact(const Graph& g) {
  size_t reads = 0, uses = 0;
  auto check = [&](ValueId v, Use use, int32_t slot) {
    if (v == ValueId::kNone) return;
    ++reads;
    ASSERT_LT(static_cast<size_t>(slot), g.value(v).uses.size());
    EXPECT_EQ(g.value(v).uses[slot], use);
  };
  for (NodeId id : g.Order()) {
    const GraphNode& n = g.node(id);
    for (size_t i = 0; i < n.inputs.size(); ++i) check(n.inputs[i], {id, -1, static_cast<int>(i)}, n.input_slots[i]);
    for (size_t k = 0; k < n.regions.size(); ++k) {
      const Region& r = n.regions[k];
      for (size_t i = 0; i < r.captures.size(); ++i) {
        check(r.captures[i], {id, static_cast<int>(k), static_cast<int>(i)}, r.capture_slots[i]);
      }
    }
  }
  reads += g.outputs().size();
  for (int v = 0; v < g.num_values(); ++v) uses += g.value(ValueId{v}).uses.size();
  EXPECT_EQ(reads, uses);
}

TEST(Graph, NamesAreUnique) {
  Graph g;
  const ValueId a = g.AddInput("x", kFloats), b = g.AddValue("x", kFloats), c = g.AddValue("x", kFloats);
  EXPECT_EQ(g.value(a).name, "x");
  EXPECT_EQ(g.value(b).name, "x_1");
  EXPECT_EQ(g.value(c).name, "x_2");
  EXPECT_EQ(g.value(g.AddValue("", kFloats)).name, "v1");
  EXPECT_EQ(g.FindValue("x_2"), c);
  EXPECT_EQ(g.FindValue("y"), ValueId::kNone);
  g.SetName(c, "x");
  EXPECT_NE(g.value(c).name, "x");
  EXPECT_EQ(g.FindValue("x_2"), ValueId::kNone);
  g.RemoveValue(b);
  EXPECT_EQ(g.FindValue("x_1"), ValueId::kNone);
  g.SetName(c, "x_1");
  EXPECT_EQ(g.value(c).name, "x_1");
}

TEST(Graph, EditsKeepUsesAndOrder) {
  Graph g;
  const ValueId x = g.AddInput("x", kFloats), w = g.AddConstant("w", Floats());
  const ValueId sum = g.AddOpNode(&ops::Add, {x, w}, {});
  const ValueId twice = g.AddOpNode(&ops::Mul, {sum, sum}, {});
  g.AddOutput(twice);
  g.SetName(twice, "y");
  ExpectUsesExact(g);
  EXPECT_TRUE(g.IsInput(x));
  EXPECT_TRUE(g.IsOutput(twice));
  EXPECT_FALSE(g.IsOutput(sum));

  const NodeId mul = g.value(twice).producer;
  const ValueId early = g.AddOpNode(&ops::Sub, {x, x}, {}, g.value(sum).producer);
  EXPECT_EQ(g.Order().front(), g.value(early).producer);
  g.SetInput(mul, 1, early);
  ExpectUsesExact(g);
  g.SetInput(mul, 3, w);  // beyond the end
  EXPECT_EQ(g.Input(mul, 2), ValueId::kNone);
  EXPECT_EQ(g.Input(mul, 3), w);
  ExpectUsesExact(g);

  EXPECT_TRUE(g.ReplaceUses(sum, w));
  ExpectUsesExact(g);
  g.RemoveNode(g.value(sum).producer);
  EXPECT_EQ(g.num_nodes(), 2);
  EXPECT_EQ(g.value(sum).name, "");
  ExpectUsesExact(g);
}

TEST(Graph, ReplacingAnOutputKeepsItsName) {
  Graph g;
  const ValueId x = g.AddInput("x", kFloats);
  const ValueId y = g.AddOpNode(&ops::Add, {x, x}, {}), z = g.AddOpNode(&ops::Sub, {x, x}, {});
  g.SetName(y, "y");
  g.SetName(z, "z");
  g.AddOutput(y);
  EXPECT_FALSE(g.ReplaceUses(y, x));
  EXPECT_FALSE(g.ReplaceUses(y, g.AddConstant("c", Floats())));
  EXPECT_EQ(g.outputs()[0], y);
  EXPECT_TRUE(g.ReplaceUses(y, z));
  EXPECT_EQ(g.outputs()[0], z);
  EXPECT_EQ(g.value(z).name, "y");
  EXPECT_EQ(g.FindValue("y"), z);
  EXPECT_EQ(g.FindValue("z"), y);
  g.AddOutput(y);
  EXPECT_FALSE(g.ReplaceUses(z, y));
  ExpectUsesExact(g);
}

TEST(Graph, MakeConstantDetachesTheProducer) {
  Graph g;
  const ValueId x = g.AddInput("x", kFloats);
  const ValueId y = g.AddOpNode(&ops::Add, {x, x}, {}), z = g.AddOpNode(&ops::Add, {y, x}, {});
  g.AddOutput(z);
  const NodeId add = g.value(y).producer;
  g.MakeConstant(y, Floats());
  EXPECT_EQ(g.node(add).outputs[0], ValueId::kNone);
  EXPECT_EQ(g.value(y).producer, NodeId::kNone);
  ASSERT_NE(g.Constant(y), nullptr);
  g.RemoveNode(add);
  EXPECT_EQ(g.Constant(g.Input(g.value(z).producer, 0)), &g.value(y).constant);
  ExpectUsesExact(g);
}

TEST(Graph, DroppedOutputs) {
  static constexpr Op kOptional = {.name = "Optional", .outputs = Arity(1, 4)};
  static constexpr Op kVariadic = {.name = "Variadic", .outputs = Arity(1, Arity::kVariadic)};
  Graph g;
  for (const Op* op : {&kOptional, &kVariadic}) {
    std::vector<ValueId> outputs;
    for (int i = 0; i < 4; ++i) outputs.push_back(g.AddValue("", kFloats));
    const NodeId id = g.AddNode(op, "", {}, outputs, {});
    g.DropOutput(id, 2);
    EXPECT_EQ(g.node(id).outputs, (std::vector<ValueId>{outputs[0], outputs[1], ValueId::kNone, outputs[3]}));
    g.DropOutput(id, 3);
    EXPECT_EQ(g.node(id).outputs.size(), op == &kOptional ? 2u : 4u);
    EXPECT_EQ(g.value(outputs[3]).name, "");
  }
}

TEST(Graph, CapturesAreUses) {
  Graph g;
  const ValueId a = g.AddInput("a", kFloats), b = g.AddInput("b", kFloats), c = g.AddInput("c", kFloats);
  const ValueId y = g.AddOpNode(&ops::Add, {a, b}, {});
  const NodeId node = g.value(y).producer;
  Graph body;
  for (const char* name : {"a", "b", "c"}) body.AddCapture(name, kFloats);
  body.AddOutput(body.AddOpNode(&ops::Add, {body.captures()[2], body.captures()[2]}, {}));
  g.AddRegion(node, std::move(body), {a, b, c});
  ExpectUsesExact(g);
  g.RemoveRegionCapture(node, 0, 0);
  ExpectUsesExact(g);
  EXPECT_EQ(g.region_graph(node, 0).captures().size(), 2u);
  const ValueId inner = g.AddRegionCapture(node, 0, a, "b");
  EXPECT_EQ(g.region_graph(node, 0).value(inner).name, "b_1");
  EXPECT_TRUE(g.ReplaceUses(c, a));
  EXPECT_EQ(g.node(node).regions[0].captures, (std::vector<ValueId>{b, a, a}));
  ExpectUsesExact(g);

  const Graph copy = g.Clone();
  ExpectUsesExact(copy);
  g.RemoveNode(node);
  ExpectUsesExact(g);
  EXPECT_TRUE(g.value(a).uses.empty());
  EXPECT_EQ(copy.num_nodes(), 1);
  EXPECT_EQ(copy.node(node).regions[0].graph->num_nodes(), 1);
}

TEST(Graph, SortIsStableAndFindsCycles) {
  Graph g;
  const ValueId x = g.AddInput("x", kFloats);
  const ValueId a = g.AddOpNode(&ops::Add, {x, x}, {}), b = g.AddOpNode(&ops::Add, {x, x}, {});
  const ValueId c = g.AddOpNode(&ops::Add, {b, a}, {});
  const std::vector<NodeId> order = g.Order();
  EXPECT_TRUE(g.SortTopologically());
  EXPECT_EQ(g.Order(), order);
  g.MoveBefore(g.value(c).producer, g.value(a).producer);
  EXPECT_TRUE(g.SortTopologically());
  EXPECT_EQ(g.Order(), (std::vector<NodeId>{g.value(b).producer, g.value(a).producer, g.value(c).producer}));
  g.SetInput(g.value(a).producer, 0, c);
  const std::vector<NodeId> before = g.Order();
  EXPECT_FALSE(g.SortTopologically());
  EXPECT_EQ(g.Order(), before);
}

TEST(Graph, SortsALongChainAndReleasesManyUses) {
  constexpr int kNodes = 100000;
  Graph g;
  const ValueId x = g.AddInput("x", kFloats);
  // Built back to front: each node is put before its reader.
  std::vector<ValueId> values(kNodes);
  for (ValueId& v : values) v = g.AddValue("", kFloats);
  for (int i = kNodes - 1; i >= 0; --i) {
    g.AddNode(&ops::Add, "", {i == 0 ? x : values[i - 1], x}, {values[i]}, {});
  }
  g.AddOutput(values.back());
  ASSERT_TRUE(g.SortTopologically());
  EXPECT_EQ(g.first_node(), g.value(values[0]).producer);
  EXPECT_EQ(g.last_node(), g.value(values.back()).producer);
  EXPECT_TRUE(g.ReplaceUses(x, g.AddConstant("w", Floats())));
  EXPECT_TRUE(g.value(x).uses.empty());
  for (NodeId id : g.Order()) {
    g.SetInput(id, 0, x);
    g.SetInput(id, 1, ValueId::kNone);
  }
  EXPECT_EQ(g.value(x).uses.size(), static_cast<size_t>(kNodes));
  ExpectUsesExact(g);
}

}  // namespace
}  // namespace weft
