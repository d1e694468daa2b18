// LinearAttention and CausalConvWithState: what they carry from call to call.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/ops/causal_conv.h"
#include "graph/ops/linear_attention.h"
#include "kernels/evaluate.h"

namespace weft {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::vector<float>> RunBoth(const Op& op, const Attrs& attrs, std::vector<Value> inputs) {
  auto out = Evaluate(op, attrs, inputs, 2);
  if (!out.ok()) {
    ADD_FAILURE() << out.status();
    return {{}, {}};
  }
  std::vector<std::vector<float>> values;
  for (const Value& value : *out) {
    const Tensor& t = value.tensor();
    values.emplace_back(t.data<float>(), t.data<float>() + t.size());
  }
  return values;
}

TEST(CausalConvWithState, StateIsTheEndOfWhatWasRead) {
  const Tensor weight = Tensor::Of<float>({1, 1, 4}, {1000, 100, 10, 1}), past = Tensor::Of<float>({1, 1, 3}, {1, 2, 3});
  const auto whole = RunBoth(ops::CausalConvWithState, CausalConvAttrs(), {Tensor::Of<float>({1, 1, 2}, {4, 5}), weight, Value(), past});
  EXPECT_THAT(whole[0], ElementsAre(1234, 2345));
  EXPECT_THAT(whole[1], ElementsAre(3, 4, 5));
  const auto none = RunBoth(ops::CausalConvWithState, CausalConvAttrs(), {Tensor::Of<float>({1, 1, 0}, {}), weight, Value(), past});
  EXPECT_THAT(none[0], ElementsAre());
  EXPECT_THAT(none[1], ElementsAre(1, 2, 3));
}

TEST(CausalConvWithState, Refusals) {
  const Tensor x = Tensor::Of<float>({1, 1, 2}, {4, 5});
  auto message = [&](CausalConvAttrs attrs, const Tensor& weight) {
    return std::string(Evaluate(ops::CausalConvWithState, attrs, {x, weight}, 2).status().message());
  };
  EXPECT_THAT(message({.activation = "relu"}, Tensor::Of<float>({1, 1, 1}, {1})), HasSubstr("activation is 'relu'"));
  EXPECT_THAT(message({}, Tensor::Of<float>({1, 1, 0}, {})), HasSubstr("expected a kernel of 1 or more"));
  EXPECT_THAT(message({}, Tensor::Of<float>({1, 2, 1}, {1, 1})), HasSubstr("expected [1,1,1]"));
}

TEST(LinearAttention, GatesAndCorrections) {
  LinearAttentionAttrs attrs;
  attrs.kv_num_heads = 1;
  attrs.q_num_heads = 2;  // both read the one state, the second twice as strongly
  attrs.scale = 1;
  const Tensor q = Tensor::Of<float>({1, 2, 2}, {1, 2, 1, 2}), k = Tensor::Of<float>({1, 2, 1}, {1, 1}), v = Tensor::Of<float>({1, 2, 1}, {8, 4});
  const Tensor halves = Tensor::Of<float>({1, 2, 1}, {0.5f, 0.5f}), stay = Tensor::Of<float>({1, 2, 1}, {0, 0});
  const Tensor past = Tensor::Of<float>({1, 1, 1, 1}, {2});
  attrs.update_rule = "linear";
  auto out = RunBoth(ops::LinearAttention, attrs, {q, k, v, past});
  EXPECT_THAT(out[0], ElementsAre(10, 20, 14, 28));
  EXPECT_THAT(out[1], ElementsAre(14));
  attrs.update_rule = "gated_delta";
  out = RunBoth(ops::LinearAttention, attrs, {q, k, v, past, stay, halves});  // half way to each value
  EXPECT_THAT(out[0], ElementsAre(5, 10, 4.5, 9));
  EXPECT_THAT(std::string(Evaluate(ops::LinearAttention, attrs, {q, k, v, past, stay}, 2).status().message()), HasSubstr("needs the input beta"));
  attrs.update_rule = "linear";
  EXPECT_THAT(std::string(Evaluate(ops::LinearAttention, attrs, {q, k, v, past, stay}, 2).status().message()),
              HasSubstr("has no use for the input decay"));
}

}  // namespace
}  // namespace weft
