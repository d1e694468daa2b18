#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "graph/ops/random.h"
#include "kernels/evaluate.h"

namespace weft {
namespace {

std::vector<Value> Dropped(const Tensor& x, float ratio, std::optional<int64_t> seed) {
  auto out = Evaluate(ops::Dropout, DropoutAttrs{seed}, {x, Tensor::Scalar(ratio), Tensor::Scalar(true)}, 2);
  EXPECT_TRUE(out.ok()) << out.status();
  return out.ok() ? *std::move(out) : std::vector<Value>(2);
}

TEST(Dropout, TrainingKeepsTheShareAndScalesIt) {
  const Tensor x = Tensor::Of<double>({20000}, std::vector<double>(20000, 3.0));
  const std::vector<Value> out = Dropped(x, 0.25f, std::nullopt);
  int64_t kept = 0;
  for (int64_t i = 0; i < x.size(); ++i) {
    const bool keep = out[1].tensor().data<bool>()[i];
    kept += keep;
    ASSERT_EQ(out[0].tensor().data<double>()[i], keep ? 4.0 : 0.0);
  }
  EXPECT_NEAR(static_cast<double>(kept), 15000, 400);  // 6.5 standard deviations
}

TEST(Dropout, SeedDecides) {
  const Tensor x = Tensor::Of<float>({64}, std::vector<float>(64, 1.0f));
  EXPECT_TRUE(BitwiseEqual(Dropped(x, 0.5f, 7)[1].tensor(), Dropped(x, 0.5f, 7)[1].tensor()));
  EXPECT_FALSE(BitwiseEqual(Dropped(x, 0.5f, 7)[1].tensor(), Dropped(x, 0.5f, 8)[1].tensor()));
  EXPECT_FALSE(BitwiseEqual(Dropped(x, 0.5f, std::nullopt)[1].tensor(), Dropped(x, 0.5f, std::nullopt)[1].tensor()));
}

TEST(Dropout, RatioOfOneIsRefusedInTrainingAlone) {
  const Tensor x = Tensor::Of<float>({1}, {2});
  EXPECT_THAT(Evaluate(ops::Dropout, DropoutAttrs(), {x, Tensor::Scalar(1.0f), Tensor::Scalar(true)}).status().message(),
              testing::HasSubstr("input 1 (ratio) is 1, expected at least 0 and less than 1"));
  EXPECT_TRUE(Evaluate(ops::Dropout, DropoutAttrs(), {x, Tensor::Scalar(1.0f), Tensor::Scalar(false)}).ok());
}

}  // namespace
}  // namespace weft
