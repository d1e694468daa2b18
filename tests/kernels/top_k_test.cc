#include "graph/ops/top_k.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <utility>

#include "kernels/evaluate.h"

namespace weft {
namespace {

using ::testing::HasSubstr;

template <class T>
std::pair<std::vector<T>, std::vector<int64_t>> Top(const TopKAttrs& attrs, Tensor x, int64_t k) {
  auto out = Evaluate(ops::TopK, attrs, {x, Tensor::Of<int64_t>({1}, {k})}, 2);
  if (!out.ok()) {
    ADD_FAILURE() << out.status();
    return {};
  }
  const auto values = (*out)[0].tensor().span<T>();
  const auto indices = (*out)[1].tensor().span<int64_t>();
  return {std::vector<T>(values.begin(), values.end()), std::vector<int64_t>(indices.begin(), indices.end())};
}

TEST(TopK, TiesNaNsAndZeros) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor x = Tensor::Of<float>({7}, {0, inf, -0.0f, nan, -inf, 1, -1});
  TopKAttrs attrs;
  EXPECT_EQ(Top<float>(attrs, x, 7).second, (std::vector<int64_t>{3, 1, 5, 0, 2, 6, 4}));
  EXPECT_EQ(Top<float>(attrs, x, 4).second, (std::vector<int64_t>{3, 1, 5, 0}));
  attrs.largest = 0;
  EXPECT_EQ(Top<float>(attrs, x, 7).second, (std::vector<int64_t>{4, 6, 0, 2, 5, 1, 3}));
}

TEST(TopK, ExtremeIntegersOnAMiddleAxis) {
  TopKAttrs attrs;
  attrs.axis = 0;
  const Tensor x = Tensor::Of<int8_t>({3, 2}, {-128, 127, 127, -128, 0, 0});
  EXPECT_EQ(Top<int8_t>(attrs, x, 2), (std::pair<std::vector<int8_t>, std::vector<int64_t>>({127, 127, 0, 0}, {1, 0, 2, 2})));
  attrs.largest = 0;
  EXPECT_EQ(Top<int8_t>(attrs, x, 1).second, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(Top<int8_t>(attrs, x, 0).second, std::vector<int64_t>());
}

TEST(TopK, Refusals) {
  const Tensor x = Tensor::Of<float>({2}, {1, 2});
  for (int64_t k : {-1, 3}) {
    EXPECT_THAT(std::string(Evaluate(ops::TopK, TopKAttrs(), {x, Tensor::Of<int64_t>({1}, {k})}, 2).status().message()), HasSubstr("K is "));
  }
}

}  // namespace
}  // namespace weft
