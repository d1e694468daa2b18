// Ops of ONNX Runtime; expected values are ONNX Runtime's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "graph/ops/gelu.h"
#include "graph/ops/normalization.h"
#include "kernels/evaluate.h"

namespace weft {
namespace {

using testing::HasSubstr;

auto Near(std::vector<float> expected) { return testing::Pointwise(testing::FloatNear(1e-5f), std::move(expected)); }

std::vector<float> Floats(const Op& op, const Attrs& attrs, const std::vector<Value>& inputs) {
  auto out = Evaluate(op, attrs, inputs);
  if (!out.ok()) {
    ADD_FAILURE() << out.status();
    return {};
  }
  const auto y = (*out)[0].tensor().span<float>();
  return {y.begin(), y.end()};
}

TEST(SimplifiedLayerNormalization, GivesTheInverseRootMeanSquare) {
  auto out = Evaluate(ops::SimplifiedLayerNormalization, LayerNormalizationAttrs{.axis = 1, .epsilon = 0},
                      {Tensor::Of<float>({2, 1, 2}, {1, 7, -3, 3}), Tensor::Of<float>({2}, {1, 10})}, 2);
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT((*out)[0].tensor().span<float>(), Near({0.2f, 14, -1, 10}));
  EXPECT_EQ((*out)[1].tensor().dims(), (Dims{2, 1, 1}));
  EXPECT_THAT((*out)[1].tensor().span<float>(), Near({0.2f, 1 / 3.0f}));
}

TEST(Gelu, ExactFastAndQuick) {
  const Tensor x = Tensor::Of<float>({2, 2}, {1, -2, 0, 3}), bias = Tensor::Of<float>({2}, {1, -1});
  EXPECT_THAT(Floats(ops::MsGelu, Attrs(), {x}), Near({0.841345f, -0.0455003f, 0, 2.99595f}));
  EXPECT_THAT(Floats(ops::BiasGelu, Attrs(), {x, bias}), Near({1.9545f, -0.00404969f, 0.841345f, 1.9545f}));
  EXPECT_THAT(Floats(ops::FastGelu, Attrs(), {x}), Near({0.841192f, -0.0454023f, 0, 2.996363f}));
  EXPECT_THAT(Floats(ops::FastGelu, Attrs(), {x, bias}), Near({1.954598f, -0.003637f, 0.841192f, 1.954598f}));
  EXPECT_THAT(Floats(ops::QuickGelu, QuickGeluAttrs{}, {x}), Near({0.845796f, -0.0643468f, 0, 2.981932f}));
}

TEST(Gelu, TheBiasIsAsLongAsTheLastAxis) {
  EXPECT_THAT(Evaluate(ops::BiasGelu, Attrs(), {Tensor::Of<float>({2}, {1, 2}), Tensor::Of<float>({1}, {1})}).status().message(),
              HasSubstr("the last dim of X and the bias"));
}

}  // namespace
}  // namespace weft
