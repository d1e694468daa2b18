// Sequences and optionals across steps, bodies and the session's edge.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run_text.h"

namespace weft {
namespace {

using ::testing::HasSubstr;

// Items share memory with what later steps might overwrite.
TEST(Sequence, ItemsOutliveTheirProducer) {
  ExpectOutputs(R"(g (float[2] x, int64 i) => (y, z)
{
   a = Neg (x)
   s = SequenceConstruct (a, x)
   b = Relu (a)
   c = Exp (b)
   y = SequenceAt (s, i)
   z = Sub (c, c)
})",
                {Value(Tensor::Of<float>({2}, {1, -2})), Value(Tensor::Scalar<int64_t>(0))},
                {Value(Tensor::Of<float>({2}, {-1, 2})), Value(Tensor::Of<float>({2}, {0, 0}))});
}

// A list of items of growing size: inference of the carried value comes to an end, and says nothing that is wrong of the items.
TEST(Sequence, LoopGrowsAList) {
  ExpectOutputs(R"(g (float[1] x, int64 n, bool go) => (y)
{
   none = SequenceConstruct (x)
   list, last = Loop (n, go, none, x) <body = body (int64 i, bool c, seq(float[1]) l, float[1] v) => (d, l2, v2) {
      d = Identity (c)
      v2 = Concat <axis = 0> (v, v)
      l2 = SequenceInsert (l, v2)
   }>
   y = ConcatFromSequence <axis = 0> (list)
})",
                {Value(Tensor::Of<float>({1}, {3})), Value(Tensor::Scalar<int64_t>(2)), Value(Tensor::Scalar<bool>(true))},
                {Value(Tensor::Of<float>({7}, {3, 3, 3, 3, 3, 3, 3}))});
}

TEST(Optional, ChosenByABranch) {
  const char* text = R"(g (float[2] x, bool which) => (y, has)
{
   o = If (which) <then_branch = t () => (some) {
      some = Optional (x)
   }, else_branch = e () => (none) {
      none = Optional <type = float[2]> ()
   }>
   has = OptionalHasElement (o)
   y = If (has) <then_branch = t2 () => (e1) {
      e1 = OptionalGetElement (o)
   }, else_branch = e2 () => (e3) {
      e3 = Neg (x)
   }>
})";
  const Value x(Tensor::Of<float>({2}, {1, 2}));
  ExpectOutputs(text, {x, Value(Tensor::Scalar<bool>(true))}, {x, Value(Tensor::Scalar<bool>(true))});
  ExpectOutputs(text, {x, Value(Tensor::Scalar<bool>(false))}, {Value(Tensor::Of<float>({2}, {-1, -2})), Value(Tensor::Scalar<bool>(false))});
}

}  // namespace
}  // namespace weft
