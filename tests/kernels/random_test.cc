#include "graph/ops/random.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/evaluate.h"
#include "kernels/ref/elements.h"
#include "kernels/ref/philox.h"

namespace weft {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<double> Draws(const Op& op, const Attrs& attrs, std::vector<Value> inputs = {}) {
  auto out = Evaluate(op, attrs, inputs);
  if (!out.ok()) {
    ADD_FAILURE() << out.status();
    return {};
  }
  const Tensor& y = (*out)[0].tensor();
  std::vector<double> values(y.size());
  ReadElements(y, 0, y.size(), values.data());
  return values;
}

// The mean of f over the values.
template <class F>
double MeanOf(const std::vector<double>& values, F f) {
  double sum = 0;
  for (double v : values) sum += f(v);
  return sum / static_cast<double>(values.size());
}

// Bounds in the tests below are six standard deviations of what they hold.

TEST(Random, PhiloxKnownAnswers) {  // of the authors' Random123, kat_vectors
  EXPECT_THAT(Philox({0, 0, 0, 0}, {0, 0}), ElementsAre(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
  EXPECT_THAT(Philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}), ElementsAre(0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd));
  EXPECT_THAT(Philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
              ElementsAre(0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1));
}

TEST(Random, NormalHasItsMoments) {
  for (DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16}) {
    RandomNormalAttrs attrs;
    attrs.dtype = static_cast<int64_t>(dtype);
    attrs.mean = 3;
    attrs.scale = 2;
    attrs.shape = {100, 1000};
    const std::vector<double> x = Draws(ops::RandomNormal, attrs);
    ASSERT_EQ(x.size(), 100000u);
    EXPECT_NEAR(MeanOf(x, [](double v) { return v; }), 3, 6 * 2 / std::sqrt(1e5));
    EXPECT_NEAR(MeanOf(x, [](double v) { return (v - 3) * (v - 3); }), 4, 6 * 4 * std::sqrt(2 / 1e5));
    EXPECT_NEAR(MeanOf(x, [](double v) { return std::pow((v - 3) / 2, 4); }), 3, 6 * std::sqrt(96 / 1e5));
    EXPECT_NEAR(MeanOf(x, [](double v) { return v > 5; }), 0.158655, 6 * std::sqrt(0.1335 / 1e5));
    double neighbours = 0;
    for (size_t i = 1; i < x.size(); ++i) neighbours += (x[i] - 3) * (x[i - 1] - 3);
    EXPECT_NEAR(neighbours / 1e5, 0, 6 * 4 / std::sqrt(1e5));
  }
}

TEST(Random, UniformFillsItsRangeEvenly) {
  for (DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16}) {
    RandomUniformAttrs attrs;
    attrs.dtype = static_cast<int64_t>(dtype);
    attrs.low = -2;
    attrs.high = 2;
    attrs.shape = {100000};
    const std::vector<double> x = Draws(ops::RandomUniform, attrs);
    std::vector<int64_t> counts(8);
    for (double v : x) {
      ASSERT_GE(v, -2);
      ASSERT_LT(v, 2);
      ++counts[static_cast<size_t>((v + 2) * 2)];
    }
    // 16-bit numbers that lie halfway between two of the type move the edges of the eighths.
    const double moved = dtype == DType::kBFloat16 ? 1e5 / 512 : 1e5 / 4096;
    for (int64_t count : counts) EXPECT_NEAR(static_cast<double>(count), 12500, 6 * std::sqrt(1e5 * 7 / 64) + moved);
  }
}

TEST(Random, SeedDecides) {
  RandomUniformAttrs attrs;
  attrs.shape = {100};
  EXPECT_NE(Draws(ops::RandomUniform, attrs), Draws(ops::RandomUniform, attrs));
  attrs.seed = 1.5f;
  EXPECT_EQ(Draws(ops::RandomUniform, attrs), Draws(ops::RandomUniform, attrs));
  RandomUniformAttrs other = attrs;
  other.seed = 2.5f;
  EXPECT_NE(Draws(ops::RandomUniform, attrs), Draws(ops::RandomUniform, other));
  // The shape does not: element i is number i.
  RandomUniformLikeAttrs like;
  like.seed = 1.5f;
  like.dtype = 1;
  EXPECT_EQ(Draws(ops::RandomUniform, attrs), Draws(ops::RandomUniformLike, like, {*Tensor::Allocate(DType::kInt8, {10, 10})}));
}

TEST(Random, BernoulliFollowsEachProbability) {
  std::vector<float> p(40000);
  for (size_t i = 0; i < p.size(); ++i) p[i] = std::array{0.0f, 0.25f, 0.75f, 1.0f}[i % 4];
  BernoulliAttrs attrs;
  attrs.dtype = static_cast<int64_t>(DType::kBool);
  const std::vector<double> x = Draws(ops::Bernoulli, attrs, {Tensor::Of<float>({40000}, p)});
  std::array<double, 4> ones{};
  for (size_t i = 0; i < x.size(); ++i) ones[i % 4] += x[i];
  EXPECT_EQ(ones[0], 0);
  EXPECT_NEAR(ones[1], 2500, 6 * std::sqrt(1e4 * 3 / 16));
  EXPECT_NEAR(ones[2], 7500, 6 * std::sqrt(1e4 * 3 / 16));
  EXPECT_EQ(ones[3], 10000);
  EXPECT_THAT(Evaluate(ops::Bernoulli, BernoulliAttrs(), {Tensor::Of<float>({2}, {0.5f, 1.5f})}).status().message(),
              HasSubstr("no probability"));
}

TEST(Random, MultinomialFollowsTheLogarithms) {
  const float inf = std::numeric_limits<float>::infinity(), log2 = std::log(2.0f);
  MultinomialAttrs attrs;
  attrs.sample_size = 10000;
  const Tensor x = Tensor::Of<float>({2, 4}, {100, 100 + log2, -inf, 100, -inf, -inf, -inf, -1000});
  const std::vector<double> drawn = Draws(ops::Multinomial, attrs, {x});
  std::array<int64_t, 4> counts{};
  for (size_t i = 0; i < 10000; ++i) ++counts[static_cast<size_t>(drawn[i])];
  EXPECT_NEAR(static_cast<double>(counts[0]), 2500, 6 * std::sqrt(1e4 * 3 / 16));
  EXPECT_NEAR(static_cast<double>(counts[1]), 5000, 6 * std::sqrt(1e4 / 4));
  EXPECT_EQ(counts[2], 0);
  EXPECT_TRUE(std::all_of(drawn.begin() + 10000, drawn.end(), [](double c) { return c == 3; }));
  EXPECT_THAT(Evaluate(ops::Multinomial, attrs, {Tensor::Of<float>({1, 2}, {-inf, -inf})}).status().message(),
              HasSubstr("row 0 of input 0 (input) holds no distribution"));
}

TEST(Random, Refusals) {
  RandomNormalAttrs normal;
  normal.scale = -1;
  EXPECT_THAT(Evaluate(ops::RandomNormal, normal, {}).status().message(), HasSubstr("scale -1"));
  normal = {};
  normal.dtype = 7;
  EXPECT_THAT(Evaluate(ops::RandomNormal, normal, {}).status().message(), HasSubstr("attribute 'dtype' is 7 (int64)"));
  normal = {};
  normal.shape = {2, -1};
  EXPECT_THAT(Evaluate(ops::RandomNormal, normal, {}).status().message(), HasSubstr("attribute 'shape' holds -1"));
  EXPECT_FALSE(Evaluate(ops::RandomNormalLike, RandomNormalLikeAttrs(), {Tensor::Of<int64_t>({1}, {1})}).ok());
}

}  // namespace
}  // namespace weft
