#include "graph/ops/attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "kernels/evaluate.h"

namespace weft {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

std::vector<float> Floats(const Value& value) {
  const Tensor& t = value.tensor();
  return std::vector<float>(t.data<float>(), t.data<float>() + t.size());
}
std::vector<float> Attention(const AttentionAttrs& attrs, std::vector<Value> inputs, int output = 0) {
  auto out = Evaluate(ops::Attention, attrs, inputs, output + 1);
  if (!out.ok()) {
    ADD_FAILURE() << out.status();
    return {};
  }
  return Floats((*out)[output]);
}

TEST(Attention, MoreScoresThanAreHeldAtATime) {
  // Equal scores: a causal query gives the mean of the values up to it. The three query heads share one key head.
  const int64_t n = 1500;
  const std::vector<float> zeros(3 * n);
  std::vector<float> values(n);
  std::iota(values.begin(), values.end(), 0.0f);
  AttentionAttrs attrs;
  attrs.is_causal = true;
  const Dims q = {1, 3, n, 1}, k = {1, 1, n, 1};
  const Tensor keys = Tensor::Of<float>(k, absl::MakeConstSpan(zeros).first(n));
  const std::vector<float> y = Attention(attrs, {Tensor::Of<float>(q, zeros), keys, Tensor::Of<float>(k, values)});
  ASSERT_EQ(y.size(), zeros.size());
  for (int64_t i = 0; i < 3 * n; ++i) EXPECT_NEAR(y[i], static_cast<float>(i % n) / 2, 0.01);
}

TEST(Attention, MaskedKeysLeaveNoTrace) {
  const Tensor q = Tensor::Of<float>({1, 1, 2, 1}, {1, 1}), k = Tensor::Of<float>({1, 1, 3, 1}, {0, kNaN, kInf});
  const Tensor v = Tensor::Of<float>({1, 1, 3, 1}, {5, 6, 7});
  const Tensor mask = Tensor::Of<bool>({2, 3}, {true, false, false, false, false, false});
  EXPECT_THAT(Attention({}, {q, k, v, mask}), ElementsAre(5, 0));  // a query without keys gives zeros
  AttentionAttrs attrs;
  attrs.qk_matmul_output_mode = 2;
  EXPECT_THAT(Attention(attrs, {q, k, v, mask}, 3), ElementsAre(0, -kInf, -kInf, -kInf, -kInf, -kInf));
}

TEST(Attention, ShortMaskEndsTheKeys) {
  const Tensor q = Tensor::Of<float>({1, 1, 1, 1}, {0}), k = Tensor::Of<float>({1, 1, 3, 1}, {0, 0, 0});
  const Tensor v = Tensor::Of<float>({1, 1, 3, 1}, {1, 3, 100});
  EXPECT_THAT(Attention({}, {q, k, v, Tensor::Of<float>({2}, {0, 0})}), ElementsAre(2));
  EXPECT_THAT(Attention({}, {q, k, v, Tensor::Of<int8_t>({1, 1}, {0})}), ElementsAre(1));
}

TEST(Attention, WidestWindowsAreNoBound) {
  const Tensor q = Tensor::Of<float>({1, 1, 2, 1}, {0, 0}), v = Tensor::Of<float>({1, 1, 2, 1}, {1, 3});
  AttentionAttrs attrs;
  attrs.left_window_size = attrs.right_window_size = std::numeric_limits<int64_t>::max();
  EXPECT_THAT(Attention(attrs, {q, q, v}), ElementsAre(2, 2));
  attrs.left_window_size = attrs.right_window_size = 0;
  EXPECT_THAT(Attention(attrs, {q, q, v}), ElementsAre(1, 3));
}

TEST(Attention, NothingToRead) {
  const Dims none = {1, 1, 0, 1};
  const Tensor q = Tensor::Of<float>({1, 1, 2, 1}, {1, 2}), empty = Tensor::Of<float>(none, {});
  EXPECT_THAT(Attention({}, {q, empty, empty}), ElementsAre(0, 0));
  EXPECT_THAT(Attention({}, {empty, q, q}), ElementsAre());
}

TEST(Attention, Refusals) {
  const Tensor q = Tensor::Of<float>({1, 1, 2, 1}, {0, 0});
  auto message = [&](const AttentionAttrs& attrs, std::vector<Value> inputs) {
    return std::string(Evaluate(ops::Attention, attrs, inputs).status().message());
  };
  EXPECT_THAT(message({}, {q, q, q, Value(), Value(), Value(), Tensor::Of<int64_t>({1}, {3})}), HasSubstr("nonpad_kv_seqlen holds 3"));
  EXPECT_THAT(message({}, {q, q, q, Value(), q}), HasSubstr("one of past_key and past_value"));
  EXPECT_THAT(message({}, {q, Tensor::Of<float>({1, 2, 1, 1}, {0, 0}), q}), HasSubstr("heads"));
  EXPECT_THAT(message({}, {q, q, q, Tensor::Of<float>({3, 2}, {0, 0, 0, 0, 0, 0})}), HasSubstr("broadcasts to [1,1,2,2]"));
  const Tensor rows = Tensor::Of<float>({1, 1, 3}, {0, 0, 0});
  AttentionAttrs attrs;
  EXPECT_THAT(message(attrs, {rows, rows, rows}), HasSubstr("q_num_heads"));
  attrs.q_num_heads = attrs.kv_num_heads = 2;
  EXPECT_THAT(message(attrs, {rows, rows, rows}), HasSubstr("multiple of its 2 heads"));
  attrs.qk_matmul_output_mode = 4;
  EXPECT_THAT(message(attrs, {rows, rows, rows}), HasSubstr("qk_matmul_output_mode is 4"));
}

}  // namespace
}  // namespace weft
