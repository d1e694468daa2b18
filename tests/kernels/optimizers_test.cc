#include "graph/ops/optimizers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/evaluate.h"

namespace weft {
namespace {

using ::testing::HasSubstr;

const Tensor kRate = Tensor::Scalar(0.5f), kFirst = Tensor::Scalar<int64_t>(0);

TEST(Optimizers, TensorsOfTwoTypesAndShapes) {
  const MomentumAttrs attrs{.alpha = 0.5f, .beta = 100, .mode = "standard"};  // beta counts from the second update on
  auto out = Evaluate(ops::Momentum, attrs,
                      {kRate, kFirst, Tensor::Of<float>({2}, {1, 2}), Tensor::Of<double>({1, 1}, {3}), Tensor::Of<float>({2}, {2, 4}),
                       Tensor::Of<double>({1, 1}, {6}), Tensor::Of<float>({2}, {4, 0}), Tensor::Of<double>({1, 1}, {8})},
                      4);
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT((*out)[0].tensor().span<float>(), testing::ElementsAre(-1, 0));
  EXPECT_THAT((*out)[1].tensor().span<double>(), testing::ElementsAre(-2));
  EXPECT_THAT((*out)[2].tensor().span<float>(), testing::ElementsAre(4, 4));
  EXPECT_THAT((*out)[3].tensor().span<double>(), testing::ElementsAre(10));
}

TEST(Optimizers, Refusals) {
  const Tensor x = Tensor::Of<float>({2}, {1, 2});
  EXPECT_THAT(Evaluate(ops::Adagrad, AdagradAttrs(), {kRate, kFirst, x, x, x, x}, 2).status().message(),
              HasSubstr("has 6 inputs and 2 outputs, expected R, T and 3 inputs for each tensor, and 2 outputs"));
  EXPECT_THAT(Evaluate(ops::Adagrad, AdagradAttrs(), {kRate, kFirst, x, Tensor::Of<float>({1}, {1}), x}, 2).status().message(),
              HasSubstr("has shape [1], expected [2]"));
  EXPECT_THAT(Evaluate(ops::Momentum, MomentumAttrs{.mode = "none"}, {kRate, kFirst, x, x, x}, 2).status().message(),
              HasSubstr("attribute 'mode' is 'none'"));
}

}  // namespace
}  // namespace weft
