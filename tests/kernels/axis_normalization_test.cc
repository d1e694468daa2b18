#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "graph/ops/normalization.h"
#include "kernels/evaluate.h"

namespace weft {
namespace {

std::vector<float> Floats(const Op& op, const Attrs& attrs, const Tensor& x) {
  auto out = Evaluate(op, attrs, {x});
  if (!out.ok()) {
    ADD_FAILURE() << out.status();
    return {};
  }
  const Tensor& y = (*out)[0].tensor();
  return std::vector<float>(y.data<float>(), y.data<float>() + y.size());
}

TEST(LpNormalization, ZeroLinesStayZero) {
  const Tensor x = Tensor::Of<float>({2, 2}, {0, 3, 0, -1});
  EXPECT_THAT(Floats(ops::LpNormalization, LpNormalizationAttrs{.axis = 0, .p = 1}, x), testing::ElementsAre(0, 0.75f, 0, -0.25f));
  EXPECT_THAT(Floats(ops::LpNormalization, LpNormalizationAttrs{}, x), testing::ElementsAre(0, 1, 0, -1));
}

TEST(LpNormalization, OtherOrdersAreRefused) {
  EXPECT_THAT(Evaluate(ops::LpNormalization, LpNormalizationAttrs{.p = 3}, {Tensor::Of<float>({1}, {1})}).status().message(),
              testing::HasSubstr("attribute 'p' is 3, expected 1 or 2"));
}

TEST(MeanVarianceNormalization, MiddleAxisAndOuterAxes) {
  const Tensor x = Tensor::Of<float>({2, 2, 2}, {0, 10, 4, 30, 1, 7, 3, 7});
  const auto near = [](std::vector<float> v) { return testing::Pointwise(testing::FloatNear(1e-5f), v); };
  EXPECT_THAT(Floats(ops::MeanVarianceNormalization, MeanVarianceNormalizationAttrs{{1}}, x), near({-1, -1, 1, 1, -1, 0, 1, 0}));
  // {0, 10, 1, 7} and {4, 30, 3, 7}
  EXPECT_THAT(Floats(ops::MeanVarianceNormalization, MeanVarianceNormalizationAttrs{{2, 0}}, x),
              near({-1.083473f, 1.324244f, -0.632456f, 1.716665f, -0.842701f, 0.601929f, -0.722806f, -0.361403f}));
}

TEST(Det, PermutationsAndSingularMatrices) {
  const Tensor x = Tensor::Of<double>({3, 2, 2}, {0, 2, 3, 1, 1, 2, 2, 4, 5, 0, 0, 5});
  auto out = Evaluate(ops::Det, Attrs(), {x});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT((*out)[0].tensor().span<double>(), testing::ElementsAre(-6, 0, 25));
  EXPECT_THAT(Evaluate(ops::Det, Attrs(), {Tensor::Of<float>({2, 3}, {1, 2, 3, 4, 5, 6})}).status().message(),
              testing::HasSubstr("the side of a square matrix"));
  auto empty = Evaluate(ops::Det, Attrs(), {*Tensor::Allocate(DType::kFloat32, {0, 0})});
  ASSERT_TRUE(empty.ok()) << empty.status();
  EXPECT_EQ(*(*empty)[0].tensor().data<float>(), 1);
}

}  // namespace
}  // namespace weft
