#include "graph/ops/one_hot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "kernels/evaluate.h"

namespace weft {
namespace {

using ::testing::HasSubstr;

TEST(OneHot, WhatIsNoIndexIsOff) {
  const Tensor depth = Tensor::Of<float>({1}, {3.9f}), values = Tensor::Of<std::string>({2}, {"-", "x"});
  auto rows = [&](Tensor indices) {
    auto out = Evaluate(ops::OneHot, OneHotAttrs(), {indices, depth, values});
    std::string text;
    if (!out.ok()) return out.status().ToString();
    for (const std::string& s : (*out)[0].tensor().span<std::string>()) text += s;
    return text;
  };
  EXPECT_EQ(rows(Tensor::Of<int64_t>({4}, {2, -3, 3, -4})), "--xx--------");
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(rows(Tensor::Of<float>({4}, {1.9f, -0.9f, inf, -inf})), "-x-x--------");
  EXPECT_EQ(rows(Tensor::Of<uint64_t>({1}, {std::numeric_limits<uint64_t>::max()})), "---");
  EXPECT_EQ(rows(Tensor::Of<int64_t>({1}, {std::numeric_limits<int64_t>::min()})), "---");
}

TEST(OneHot, Refusals) {
  auto error = [](Tensor depth) {
    auto out = Evaluate(ops::OneHot, OneHotAttrs(), {Tensor::Of<int64_t>({1}, {0}), depth, Tensor::Of<float>({2}, {0, 1})});
    return std::string(out.status().message());
  };
  EXPECT_THAT(error(Tensor::Scalar<int64_t>(-1)), HasSubstr("depth) is -1"));
  EXPECT_THAT(error(Tensor::Scalar<uint64_t>(std::numeric_limits<uint64_t>::max())), HasSubstr("expected a size"));
  EXPECT_THAT(error(Tensor::Scalar<float>(std::numeric_limits<float>::quiet_NaN())), HasSubstr("depth) is nan"));
}

}  // namespace
}  // namespace weft
