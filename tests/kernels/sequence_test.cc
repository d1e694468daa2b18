#include "graph/ops/sequence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "kernels/evaluate.h"

namespace weft {
namespace {

using ::testing::HasSubstr;

// "float[2]: 1 2" of a tensor, items in brackets of a sequence, the error's message otherwise.
std::string Text(const Value& value) {
  if (value.is_sequence()) {
    std::string text = "[";
    for (const Value& item : value.sequence().items) text += (text.size() > 1 ? ", " : "") + Text(item);
    return text + "]";
  }
  const Tensor& tensor = value.tensor();
  std::string text = Type::OfTensor(tensor).ToString() + ":";
  for (int64_t i = 0; i < tensor.size(); ++i) {
    if (tensor.dtype() == DType::kString) absl::StrAppend(&text, " ", tensor.data<std::string>()[i]);
    else if (tensor.dtype() == DType::kInt64) absl::StrAppend(&text, " ", tensor.data<int64_t>()[i]);
    else absl::StrAppend(&text, " ", tensor.data<float>()[i]);
  }
  return text;
}

std::string Eval(const Op& op, Attrs attrs, std::vector<Value> inputs) {
  const absl::StatusOr<std::vector<Value>> out = Evaluate(op, attrs, inputs);
  return out.ok() ? Text((*out)[0]) : std::string(out.status().message());
}

Tensor T(std::initializer_list<float> values) { return Tensor::Of<float>({static_cast<int64_t>(values.size())}, values); }
Tensor I(int64_t value) { return Tensor::Scalar<int64_t>(value); }
Value List(std::vector<Value> items, DType dtype = DType::kFloat32) {
  Sequence sequence;
  sequence.items = std::move(items);
  sequence.elem_dtype = dtype;
  return Value(std::move(sequence));
}

TEST(Sequence, PositionsCountFromEitherEnd) {
  const Value list = List({T({1}), T({2, 3})});
  EXPECT_EQ(Eval(ops::SequenceInsert, {}, {list, T({9})}), "[float[1]: 1, float[2]: 2 3, float[1]: 9]");
  EXPECT_EQ(Eval(ops::SequenceInsert, {}, {list, T({9}), I(2)}), "[float[1]: 1, float[2]: 2 3, float[1]: 9]");
  EXPECT_EQ(Eval(ops::SequenceInsert, {}, {list, T({9}), I(-1)}), "[float[1]: 1, float[1]: 9, float[2]: 2 3]");
  EXPECT_EQ(Eval(ops::SequenceInsert, {}, {list, T({9}), I(-2)}), "[float[1]: 9, float[1]: 1, float[2]: 2 3]");
  EXPECT_EQ(Eval(ops::SequenceErase, {}, {list}), "[float[1]: 1]");
  EXPECT_EQ(Eval(ops::SequenceErase, {}, {list, Tensor::Scalar<int32_t>(-2)}), "[float[2]: 2 3]");
  EXPECT_EQ(Eval(ops::SequenceAt, {}, {list, I(-1)}), "float[2]: 2 3");
  EXPECT_EQ(Eval(ops::SequenceLength, {}, {list}), "int64: 2");
}

TEST(Sequence, PositionsOutOfRange) {
  const Value list = List({T({1}), T({2, 3})});
  EXPECT_THAT(Eval(ops::SequenceInsert, {}, {list, T({9}), I(3)}), HasSubstr("position 3 is out of range for a sequence of 2"));
  EXPECT_THAT(Eval(ops::SequenceInsert, {}, {list, T({9}), I(-3)}), HasSubstr("position -3 is out of range"));
  EXPECT_THAT(Eval(ops::SequenceAt, {}, {list, I(2)}), HasSubstr("position 2 is out of range"));
  EXPECT_THAT(Eval(ops::SequenceAt, {}, {list, I(std::numeric_limits<int64_t>::min())}), HasSubstr("is out of range"));
  EXPECT_THAT(Eval(ops::SequenceErase, {}, {List({})}), HasSubstr("out of range for a sequence of 0"));
  EXPECT_THAT(Eval(ops::SequenceAt, {}, {list, Tensor::Of<int64_t>({2}, {0, 1})}), HasSubstr("expected a single element"));
}

TEST(Sequence, SplitsAndJoins) {
  const Tensor x = Tensor::Of<float>({2, 3}, {0, 1, 2, 3, 4, 5});
  EXPECT_EQ(Eval(ops::SplitToSequence, SplitToSequenceAttrs{1, false}, {x}), "[float[2]: 0 3, float[2]: 1 4, float[2]: 2 5]");
  EXPECT_EQ(Eval(ops::SplitToSequence, SplitToSequenceAttrs{1, true}, {x, I(2)}), "[float[2,2]: 0 1 3 4, float[2,1]: 2 5]");
  EXPECT_EQ(Eval(ops::SplitToSequence, SplitToSequenceAttrs{-1, false}, {x, Tensor::Of<int64_t>({3}, {1, 0, 2})}),
            "[float[2,1]: 0 3, float[2,0]:, float[2,2]: 1 2 4 5]");
  EXPECT_EQ(Eval(ops::SplitToSequence, SplitToSequenceAttrs{0, true}, {Tensor::Of<std::string>({2}, {"a", "b"})}), "[string[1]: a, string[1]: b]");
  EXPECT_EQ(Eval(ops::SplitToSequence, SplitToSequenceAttrs{}, {*Tensor::Allocate(DType::kFloat32, {0, 2})}), "[]");
  EXPECT_THAT(Eval(ops::SplitToSequence, SplitToSequenceAttrs{}, {*Tensor::Allocate(DType::kFloat32, {int64_t{1} << 40, 0})}), HasSubstr("empty tensor"));
  const Value list = List({Tensor::Of<float>({1, 2}, {1, 2}), Tensor::Of<float>({1, 1}, {3})});
  EXPECT_EQ(Eval(ops::ConcatFromSequence, ConcatFromSequenceAttrs{1, false}, {list}), "float[1,3]: 1 2 3");
  EXPECT_THAT(Eval(ops::ConcatFromSequence, ConcatFromSequenceAttrs{0, false}, {list}), HasSubstr("differ on the joined axis alone"));
  EXPECT_THAT(Eval(ops::ConcatFromSequence, ConcatFromSequenceAttrs{0, true}, {list}), HasSubstr("of one shape"));
  EXPECT_EQ(Eval(ops::ConcatFromSequence, ConcatFromSequenceAttrs{-1, true}, {List({T({1, 2}), T({3, 4})})}), "float[2,2]: 1 3 2 4");
  EXPECT_THAT(Eval(ops::ConcatFromSequence, ConcatFromSequenceAttrs{0, false}, {List({})}), HasSubstr("the sequence is empty"));
  EXPECT_THAT(Eval(ops::ConcatFromSequence, ConcatFromSequenceAttrs{0, false}, {List({T({1}), Tensor::Scalar<float>(1)})}), HasSubstr("float[1] and float"));
}

TEST(Optional, HoldsOneValueOrNone) {
  const Value none = (*Evaluate(ops::Optional, OptionalAttrs{Type::OfTensor(DType::kFloat32)}, {}))[0];
  const Value one = (*Evaluate(ops::Optional, OptionalAttrs(), {List({T({1})})}))[0];
  EXPECT_EQ(none.optional().elem_dtype, DType::kFloat32);
  EXPECT_EQ(Eval(ops::OptionalGetElement, {}, {one}), "[float[1]: 1]");
  EXPECT_EQ(Eval(ops::OptionalGetElement, {}, {T({1})}), "float[1]: 1");
  EXPECT_THAT(Eval(ops::OptionalGetElement, {}, {none}), HasSubstr("empty optional"));
  auto has = [](std::vector<Value> inputs) { return *(*Evaluate(ops::OptionalHasElement, {}, inputs))[0].tensor().data<bool>(); };
  EXPECT_TRUE(has({one}));
  EXPECT_TRUE(has({T({1})}));
  EXPECT_FALSE(has({none}));
  EXPECT_FALSE(has({Value()}));
  EXPECT_FALSE(has({}));
}

}  // namespace
}  // namespace weft
