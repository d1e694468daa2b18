#include <gtest/gtest.h>

#include <limits>

#include "graph/op.h"
#include "kernels/evaluate.h"

namespace weft {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

std::vector<float> Floats(const Tensor& t) { return {t.data<float>(), t.data<float>() + t.size()}; }

// Bounds that are left out are the largest numbers there are (Clip-13), so infinities do not pass.
TEST(Clip, WithoutBoundsClipsInfinities) {
  auto out = Evaluate(ops::Clip, Attrs(NoAttrs{}), {Tensor::Of<float>({3}, {-kInf, 1, kInf})});
  ASSERT_TRUE(out.ok()) << out.status();
  constexpr float kMax = std::numeric_limits<float>::max();
  EXPECT_EQ(Floats((*out)[0].tensor()), (std::vector<float>{-kMax, 1, kMax}));
}

TEST(Clip, CrossedBoundsGiveTheUpper) {
  auto out = Evaluate(ops::Clip, Attrs(NoAttrs{}),
                      {Tensor::Of<float>({3}, {0, 5, 9}), Tensor::Of<float>({}, {6}), Tensor::Of<float>({}, {3})});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(Floats((*out)[0].tensor()), (std::vector<float>{3, 3, 3}));
}

}  // namespace
}  // namespace weft
