#include "graph/infer.h"

#include "graph/text.h"
#include "gtest/gtest.h"

namespace weft {
namespace {

TEST(Infer, FreshSymbolsAreNotTheModels) {
  auto graph =
      ParseGraph("g (float[unk__0] x, float[N,unk__7] a, float[M,1] b) => (y) { y = Add (a, b) z = Add (x, x) }");
  ASSERT_TRUE(graph.ok()) << graph.status();
  ASSERT_TRUE(InferTypes(*graph).ok());
  EXPECT_EQ(graph->value(graph->outputs()[0]).type.ToString(), "float[unk__8,unk__7]");
  EXPECT_EQ(graph->value(graph->FindValue("z")).type.ToString(), "float[unk__0]");
}

}  // namespace
}  // namespace weft
