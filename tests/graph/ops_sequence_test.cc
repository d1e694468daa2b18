#include "graph/ops/sequence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infer_one.h"

namespace weft {
namespace {

using ::testing::HasSubstr;

TEST(Sequence, ItemsKeepWhatTheyShare) {
  EXPECT_EQ(InferOne(ops::SequenceConstruct, {}, {F32({2, 3}), F32({2, 3})}), "seq(float[2,3])");
  EXPECT_EQ(InferOne(ops::SequenceConstruct, {}, {F32({2, 3}), F32({2, 4})}), "seq(float[2,unk__0])");
  EXPECT_EQ(InferOne(ops::SequenceConstruct, {}, {F32({2, 3}), F32({2})}), "seq(float[])");
  EXPECT_THAT(InferOne(ops::SequenceConstruct, {}, {F32({2}), I32({2})}), HasSubstr("is float[2] in one place and int32[2] in the other"));
  EXPECT_EQ(InferOne(ops::SequenceInsert, {}, {Type::OfSequence(F32({2, 3})), F32({2, 4})}), "seq(float[2,unk__0])");
}

// N of a sequence's type is no size of any one item.
TEST(Sequence, SymbolsOfItemsAreTheirOwn) {
  EXPECT_EQ(InferOne(ops::SequenceAt, {}, {Type::OfSequence(F32({Sym("N"), 3})), I64({})}), "float[unk__0,3]");
  EXPECT_EQ(InferOne(ops::SequenceErase, {}, {Type::OfSequence(F32({Sym("N"), 3})), I64({})}), "seq(float[N,3])");
}

TEST(Sequence, Empty) {
  EXPECT_EQ(InferOne(ops::SequenceEmpty, SequenceEmptyAttrs(), {}), "seq(float[])");
  EXPECT_EQ(InferOne(ops::SequenceEmpty, SequenceEmptyAttrs{8}, {}), "seq(string[])");
  EXPECT_THAT(InferOne(ops::SequenceEmpty, SequenceEmptyAttrs{99}, {}), HasSubstr("'dtype' is 99"));
}

std::string Split(Type x, std::optional<Tensor> split, SplitToSequenceAttrs attrs = {}) {
  if (!split) return InferOne(ops::SplitToSequence, attrs, {std::move(x)});
  return InferOne(ops::SplitToSequence, attrs, {std::move(x), *std::move(split)});
}

TEST(Sequence, Split) {
  EXPECT_EQ(Split(F32({4, 6}), std::nullopt), "seq(float[1,6])");
  EXPECT_EQ(Split(F32({4, 6}), std::nullopt, {.axis = -1, .keepdims = false}), "seq(float[4])");
  EXPECT_EQ(Split(F32({4, 6}), Tensor::Scalar<int64_t>(3), {.axis = 1, .keepdims = false}), "seq(float[4,3])");
  EXPECT_EQ(Split(F32({4, 6}), Tensor::Scalar<int64_t>(4), {.axis = 1}), "seq(float[4,unk__0])");
  EXPECT_EQ(Split(F32({4, Sym("N")}), Tensor::Scalar<int64_t>(4), {.axis = 1}), "seq(float[4,unk__0])");
  EXPECT_EQ(Split(F32({4, 6}), Tensor::Of<int32_t>({2}, {3, 1})), "seq(float[unk__0,6])");
  EXPECT_EQ(Split(F32({4, 6}), Tensor::Of<int32_t>({2}, {2, 2})), "seq(float[2,6])");
  EXPECT_THAT(Split(F32({4, 6}), Tensor::Of<int64_t>({2}, {3, 2})), HasSubstr("add up to 5"));
  EXPECT_THAT(Split(F32({4, 6}), Tensor::Of<int64_t>({2}, {5, -1})), HasSubstr("split holds -1"));
  EXPECT_THAT(Split(F32({4, 6}), Tensor::Scalar<int64_t>(0)), HasSubstr("split holds 0"));
  EXPECT_THAT(Split(F32({4, 6}), std::nullopt, {.axis = 2}), HasSubstr("axis is 2"));
}

TEST(Sequence, Concat) {
  const Type items = Type::OfSequence(F32({2, Sym("N")}));
  EXPECT_EQ(InferOne(ops::ConcatFromSequence, ConcatFromSequenceAttrs{-2, false}, {items}), "float[unk__1,unk__0]");
  EXPECT_EQ(InferOne(ops::ConcatFromSequence, ConcatFromSequenceAttrs{-1, true}, {items}), "float[2,unk__0,unk__1]");
  EXPECT_THAT(InferOne(ops::ConcatFromSequence, ConcatFromSequenceAttrs{2, false}, {items}), HasSubstr("axis is 2"));
  EXPECT_THAT(InferOne(ops::ConcatFromSequence, ConcatFromSequenceAttrs{0, false}, {F32({2})}), HasSubstr("expected a sequence"));
}

TEST(Optional, Types) {
  EXPECT_EQ(InferOne(ops::Optional, OptionalAttrs(), {F32({2})}), "optional(float[2])");
  EXPECT_EQ(InferOne(ops::Optional, OptionalAttrs{Type::OfSequence(I64({}))}, {}), "optional(seq(int64))");
  EXPECT_THAT(InferOne(ops::Optional, OptionalAttrs(), {}), HasSubstr("neither an input nor the attribute 'type'"));
  EXPECT_THAT(InferOne(ops::Optional, OptionalAttrs{I64({})}, {F32({2})}), HasSubstr("expected one type"));
  EXPECT_THAT(InferOne(ops::Optional, OptionalAttrs(), {Type::OfOptional(F32({2}))}), HasSubstr("expected a tensor or a sequence"));
  EXPECT_EQ(InferOne(ops::OptionalGetElement, {}, {Type::OfOptional(F32({2}))}), "float[2]");
  EXPECT_EQ(InferOne(ops::OptionalGetElement, {}, {Type::OfSequence(F32({2}))}), "seq(float[2])");
  EXPECT_EQ(InferOne(ops::OptionalHasElement, {}, {Type::OfOptional(F32({2}))}), "bool");
  EXPECT_THAT(InferOne(ops::OptionalHasElement, {}, {Type::OfMap(DType::kInt64, F32({}))}), HasSubstr("expected an optional"));
}

}  // namespace
}  // namespace weft
