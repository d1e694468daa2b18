#include "graph/ops/multi_head_attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/evaluate.h"

namespace weft {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<float> RunMha(MultiHeadAttentionAttrs attrs, std::vector<Value> inputs) {
  auto out = Evaluate(ops::MultiHeadAttention, attrs, inputs);
  if (!out.ok()) {
    ADD_FAILURE() << out.status();
    return {};
  }
  const Tensor& t = (*out)[0].tensor();
  return std::vector<float>(t.data<float>(), t.data<float>() + t.size());
}

TEST(MultiHeadAttention, OneResultWhateverTheLayout) {
  // Two heads of one element over two keys; all scores are 0.
  const MultiHeadAttentionAttrs attrs = {.num_heads = 2};
  const Tensor q = Tensor::Of<float>({1, 2, 2}, {0, 0, 0, 0}), k = q, v = Tensor::Of<float>({1, 2, 2}, {1, 10, 3, 30});
  const auto expected = ElementsAre(2, 20, 2, 20);
  EXPECT_THAT(RunMha(attrs, {q, k, v}), expected);
  EXPECT_THAT(RunMha(attrs, {q, Tensor::Of<float>({1, 2, 2, 2, 1}, {0, 1, 0, 10, 0, 3, 0, 30})}), expected);
  EXPECT_THAT(RunMha(attrs, {q, Tensor::Of<float>({1, 2, 2, 1}, {0, 0, 0, 0}), Tensor::Of<float>({1, 2, 2, 1}, {1, 3, 10, 30})}), expected);
  EXPECT_THAT(RunMha(attrs, {Tensor::Of<float>({1, 2, 2, 3, 1}, {0, 0, 1, 0, 0, 10, 0, 0, 3, 0, 0, 30})}), expected);
}

TEST(MultiHeadAttention, MaskOfTheWholePast) {
  const MultiHeadAttentionAttrs attrs = {.num_heads = 1};
  const Tensor one = Tensor::Of<float>({1, 1, 1}, {0}), v = Tensor::Of<float>({1, 1, 1}, {8});
  const Tensor past = Tensor::Of<float>({1, 1, 2, 1}, {0, 0}), past_v = Tensor::Of<float>({1, 1, 2, 1}, {2, 100});
  EXPECT_THAT(RunMha(attrs, {one, one, v, Value(), Tensor::Of<int32_t>({1, 3}, {1, 0, 1}), Value(), past, past_v}), ElementsAre(5));
}

TEST(MultiHeadAttention, Refusals) {
  const Tensor x = Tensor::Of<float>({1, 1, 2}, {0, 0});
  auto message = [&](int64_t heads, std::vector<Value> inputs) {
    return std::string(Evaluate(ops::MultiHeadAttention, MultiHeadAttentionAttrs{.num_heads = heads}, inputs).status().message());
  };
  EXPECT_THAT(message(0, {x, x, x}), HasSubstr("num_heads is 0"));
  EXPECT_THAT(message(3, {x, x, x}), HasSubstr("multiple of its 3 heads"));
  EXPECT_THAT(message(1, {x}), HasSubstr("has no key"));
  EXPECT_THAT(message(1, {x, x}), HasSubstr("has no value"));
  EXPECT_THAT(message(1, {x, x, x, Value(), Tensor::Of<int32_t>({1, 2}, {1, 1})}),
              HasSubstr("(key_padding_mask) has shape [1,2], expected [1,1]"));
}

}  // namespace
}  // namespace weft
