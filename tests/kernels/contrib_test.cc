// Ops of ONNX Runtime; expected values are ONNX Runtime's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "graph/ops/normalization.h"
#include "kernels/evaluate.h"

namespace weft {
namespace {

using testing::HasSubstr;

auto Near(std::vector<float> expected) { return testing::Pointwise(testing::FloatNear(1e-5f), std::move(expected)); }

TEST(SimplifiedLayerNormalization, GivesTheInverseRootMeanSquare) {
  auto out = Evaluate(ops::SimplifiedLayerNormalization, LayerNormalizationAttrs{.axis = 1, .epsilon = 0},
                      {Tensor::Of<float>({2, 1, 2}, {1, 7, -3, 3}), Tensor::Of<float>({2}, {1, 10})}, 2);
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT((*out)[0].tensor().span<float>(), Near({0.2f, 14, -1, 10}));
  EXPECT_EQ((*out)[1].tensor().dims(), (Dims{2, 1, 1}));
  EXPECT_THAT((*out)[1].tensor().span<float>(), Near({0.2f, 1 / 3.0f}));
}

}  // namespace
}  // namespace weft
