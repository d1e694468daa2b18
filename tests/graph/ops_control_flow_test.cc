// Types of values that bodies carry from one iteration to the next.
#include <gtest/gtest.h>

#include "graph/infer.h"
#include "graph/text.h"

namespace weft {
namespace {

// The types of the graph's outputs, one a line, or the error's message.
std::string OutputTypes(std::string_view text) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  if (!graph.ok()) return std::string(graph.status().message());
  if (absl::Status status = InferTypes(*graph).status(); !status.ok()) return std::string(status.message());
  std::string types;
  for (ValueId output : graph->outputs()) types += graph->value(output).type.ToString() + "\n";
  return types;
}

TEST(ControlFlow, CarriedDimsThatStayAreKept) {
  EXPECT_EQ(OutputTypes(R"(g (float[N,2] x, int64 n, bool c) => (y)
{
   y = Loop (n, c, x) <body = b (int64 i, bool d, float[N,2] v) => (e, w) {
      e = Identity (d)
      w = Relu (v)
   }>
})"),
            "float[N,2]\n");
}

// A size goes from one carried value to the next, an iteration at a time: nothing is left of the one that the last value began with, which
// others have too.
TEST(ControlFlow, CarriedDimsThatChangeLater) {
  const std::string types = OutputTypes(R"(g (float[N] x, bool[N] picks, float[3] s, int64 n, bool c) => (k, a, b, q)
{
   k = Compress <axis = 0> (x, picks)
   a, b, q = Loop (n, c, k, k, s) <body = b (int64 i, bool d, float[M] u, float[M] v, float[M] w) => (e, u2, v2, w2) {
      e = Identity (d)
      u2 = Identity (v)
      v2 = Identity (w)
      w2 = Concat <axis = 0> (w, w)
   }>
})");
  EXPECT_EQ(types.rfind("float[unk__", 0), 0u) << types;
  const size_t line = types.find('\n');
  EXPECT_EQ(types.find(types.substr(0, line), 1), std::string::npos) << types;
}

// Items of a list that grows may have any size.
TEST(ControlFlow, CarriedLists) {
  EXPECT_EQ(OutputTypes(R"(g (float[3] x, int64 n, bool c) => (list)
{
   one = SequenceConstruct (x)
   list, last = Loop (n, c, one, x) <body = b (int64 i, bool d, seq(float[3]) l, float[3] v) => (e, l2, v2) {
      e = Identity (d)
      v2 = Concat <axis = 0> (v, v)
      l2 = SequenceInsert (l, v2)
   }>
})")
                .rfind("seq(float[unk__", 0),
            0u);
}

}  // namespace
}  // namespace weft
