#include "graph/ops/group_query_attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/evaluate.h"

namespace weft {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<float> Floats(const Value& value) {
  const Tensor& t = value.tensor();
  return std::vector<float>(t.data<float>(), t.data<float>() + t.size());
}

GroupQueryAttentionAttrs OneHead() {
  GroupQueryAttentionAttrs attrs;
  attrs.num_heads = attrs.kv_num_heads = 1;
  return attrs;
}

Tensor Row(std::initializer_list<float> values) { return Tensor::Of<float>({1, static_cast<int64_t>(values.size()), 1}, values); }
Tensor Cache(std::initializer_list<float> values) { return Tensor::Of<float>({1, 1, static_cast<int64_t>(values.size()), 1}, values); }

// Keys are 0: a query gives the mean of the values that it reads.
absl::StatusOr<std::vector<Value>> RunGqa(const GroupQueryAttentionAttrs& attrs, const Tensor& values, const Value& past, int32_t seqlens_k,
                                          int32_t total, int outputs = 3, Value query_seqlens = Value()) {
  const Tensor zeros = *Tensor::Allocate(DType::kFloat32, values.dims());
  std::vector<Value> inputs = {zeros, zeros, values, past, past, Tensor::Of<int32_t>({1}, {seqlens_k}), Tensor::Scalar<int32_t>(total)};
  if (!query_seqlens.empty()) {
    inputs.resize(GqaInputs::kQuerySeqlens);
    inputs.push_back(std::move(query_seqlens));
  }
  return Evaluate(ops::GroupQueryAttention, attrs, inputs, outputs);
}

TEST(GroupQueryAttention, AppendsBehindTheOldPositions) {
  // One old position counts; what lies behind it in the cache is overwritten, or cleared.
  const float nan = std::numeric_limits<float>::quiet_NaN();
  auto out = RunGqa(OneHead(), Row({4, 7}), Cache({1, nan, nan, nan}), 2, 3);
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT(Floats((*out)[2]), ElementsAre(1, 4, 7, 0));
  EXPECT_THAT(Floats((*out)[0]), ElementsAre(2.5, 4));
  out = RunGqa(OneHead(), Row({4, 7}), Cache({1, nan, nan, nan}), 2, 3, 1);
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT(Floats((*out)[0]), ElementsAre(2.5, 4));
}

TEST(GroupQueryAttention, CacheGrows) {
  auto out = RunGqa(OneHead(), Row({4}), Cache({1, 1}), 2, 3);
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT(Floats((*out)[2]), ElementsAre(1, 1, 4));
  EXPECT_THAT(Floats((*out)[0]), ElementsAre(2));
}

TEST(GroupQueryAttention, PaddingIsNeitherReadNorKept) {
  auto out = RunGqa(OneHead(), Row({4, 100}), Cache({2, 0, 0}), 1, 3, 3, Tensor::Of<int32_t>({1}, {1}));
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT(Floats((*out)[2]), ElementsAre(2, 4, 0));
  EXPECT_THAT(Floats((*out)[0]), ElementsAre(3, 0));
}

TEST(GroupQueryAttention, WindowAndSink) {
  GroupQueryAttentionAttrs attrs = OneHead();
  attrs.local_window_size = 2;
  auto out = RunGqa(attrs, Row({2, 4, 6}), Value(), 2, 3);
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT(Floats((*out)[0]), ElementsAre(2, 3, 5));
  attrs.smooth_softmax = true;
  out = RunGqa(attrs, Row({2, 4, 6}), Value(), 2, 3);
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT(Floats((*out)[0]), ElementsAre(1, 2, testing::FloatEq(10.0f / 3)));
}

TEST(GroupQueryAttention, Refusals) {
  auto message = [](const absl::StatusOr<std::vector<Value>>& out) { return std::string(out.status().message()); };
  EXPECT_THAT(message(RunGqa(OneHead(), Row({4}), Cache({1}), 2, 2)), HasSubstr("seqlens_k holds 2"));
  EXPECT_THAT(message(RunGqa(OneHead(), Row({4}), Cache({1}), -1, 2)), HasSubstr("seqlens_k holds -1"));
  EXPECT_THAT(message(RunGqa(OneHead(), Row({4}), Cache({1}), 3, 4)), HasSubstr("has 3 old positions"));
  EXPECT_THAT(message(RunGqa(OneHead(), Row({4, 5}), Cache({1}), 0, 3)), HasSubstr("has 1 positions, 2 of them new"));
  GroupQueryAttentionAttrs attrs = OneHead();
  attrs.sliding_window_cache = true;
  EXPECT_THAT(message(RunGqa(attrs, Row({4}), Cache({1}), 1, 2)), HasSubstr("sliding_window_cache"));
  attrs = OneHead();
  attrs.k_quant_type = "PER_TENSOR";
  EXPECT_THAT(message(RunGqa(attrs, Row({4}), Cache({1}), 1, 2)), HasSubstr("k_quant_type is 'PER_TENSOR'"));
  attrs = OneHead();
  attrs.local_window_size = 0;
  EXPECT_THAT(message(RunGqa(attrs, Row({4}), Cache({1}), 1, 2)), HasSubstr("local_window_size is 0"));
}

}  // namespace
}  // namespace weft
