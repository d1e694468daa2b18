#include "graph/ops/loss.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/evaluate.h"

namespace weft {
namespace {

const Tensor kLogs = Tensor::Of<float>({2, 3}, {-1, -2, -3, -4, -5, -6});

float Loss(const LossAttrs& attrs, Tensor targets, Value weights = Value()) {
  auto out = Evaluate(ops::NegativeLogLikelihoodLoss, attrs, {kLogs, std::move(targets), std::move(weights)});
  EXPECT_TRUE(out.ok()) << out.status();
  return out.ok() ? *(*out)[0].tensor().data<float>() : 0;
}

TEST(Loss, MeanIsOverWhatCounts) {
  LossAttrs attrs;
  EXPECT_EQ(Loss(attrs, Tensor::Of<int64_t>({2}, {1, 2})), 4);
  attrs.ignore_index = -1;
  EXPECT_EQ(Loss(attrs, Tensor::Of<int64_t>({2}, {1, -1})), 2);
  EXPECT_EQ(Loss(attrs, Tensor::Of<int32_t>({2}, {1, 2}), Tensor::Of<float>({3}, {0, 1, 3})), 5);
  EXPECT_TRUE(std::isnan(Loss(attrs, Tensor::Of<int64_t>({2}, {-1, -1}))));
}

TEST(Loss, LargeScoresDoNotOverflow) {
  LossAttrs attrs;
  attrs.reduction = "none";
  auto out = Evaluate(ops::SoftmaxCrossEntropyLoss, attrs, {Tensor::Of<float>({1, 2}, {1000, 1000}), Tensor::Of<int32_t>({1}, {0})}, 2);
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_FLOAT_EQ(*(*out)[0].tensor().data<float>(), std::log(2.0f));
  EXPECT_FLOAT_EQ((*out)[1].tensor().data<float>()[1], -std::log(2.0f));
}

TEST(Loss, Refusals) {
  LossAttrs attrs;
  const auto message = [&](Tensor targets) {
    return std::string(Evaluate(ops::NegativeLogLikelihoodLoss, attrs, {kLogs, std::move(targets)}).status().message());
  };
  EXPECT_THAT(message(Tensor::Of<int64_t>({2}, {0, 3})), testing::HasSubstr("index 3 is out of range for axis 1 of size 3"));
  EXPECT_THAT(message(Tensor::Of<int64_t>({2}, {0, -1})), testing::HasSubstr("index -1 is out of range"));
  EXPECT_THAT(message(Tensor::Of<int64_t>({3}, {0, 1, 2})), testing::HasSubstr("input 1 (target) has shape [3], expected [2]"));
  attrs.reduction = "average";
  EXPECT_THAT(message(Tensor::Of<int64_t>({2}, {0, 1})), testing::HasSubstr("attribute 'reduction' is 'average'"));
}

}  // namespace
}  // namespace weft
