#include "graph/ops/grid_sample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>
#include <limits>

#include "kernels/evaluate.h"

namespace weft {
namespace {

using ::testing::HasSubstr;

// X of one axis, sampled at `places`.
template <class T>
std::vector<T> SampleLine(const std::string& mode, const std::string& padding, std::vector<T> line, std::vector<float> places,
                          bool align_corners = false) {
  GridSampleAttrs attrs;
  attrs.mode = mode;
  attrs.padding_mode = padding;
  attrs.align_corners = align_corners;
  const int64_t x_dims[] = {1, 1, static_cast<int64_t>(line.size())}, grid_dims[] = {1, static_cast<int64_t>(places.size()), 1};
  auto out = Evaluate(ops::GridSample, attrs, {Tensor::Of<T>(x_dims, line), Tensor::Of<float>(grid_dims, places)});
  if (!out.ok()) {
    ADD_FAILURE() << out.status();
    return {};
  }
  const Tensor& y = (*out)[0].tensor();
  const auto span = y.span<T>();
  return std::vector<T>(span.begin(), span.end());
}

TEST(GridSample, FarAwayAndNotANumber) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> line = {1, 2, 3, 4}, places = {-inf, inf, nan, 1e30f};
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    EXPECT_EQ(SampleLine(mode, "zeros", line, places), (std::vector<float>{0, 0, 0, 0})) << mode;
    EXPECT_EQ(SampleLine(mode, "border", line, places), (std::vector<float>{1, 4, 1, 4})) << mode;
    for (float y : SampleLine(mode, "reflection", line, places)) EXPECT_TRUE(y >= 0.5f && y <= 4.5f) << mode;
  }
}

TEST(GridSample, Reflects) {
  // Index -1 is index 0 where the border lies at -0.5, and index 1 where it lies at 0.
  EXPECT_EQ(SampleLine<float>("linear", "reflection", {1, 2, 3, 4}, {-1.5f, 1.5f}), (std::vector<float>{1.5f, 3.5f}));
  EXPECT_EQ(SampleLine<std::string>("nearest", "reflection", {"a", "b", "c"}, {-2, 2, 4}, true), (std::vector<std::string>{"b", "b", "b"}));
  EXPECT_EQ(SampleLine<float>("linear", "reflection", {7}, {-3, 0, 5}, true), (std::vector<float>{7, 7, 7}));
}

TEST(GridSample, ZeroWeightsAndOtherTypes) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(SampleLine<float>("linear", "zeros", {1, inf}, {-0.5f, 0.5f}), (std::vector<float>{1, inf}));
  EXPECT_EQ(SampleLine<uint8_t>("linear", "border", {0, 255}, {0, -2, 2}), (std::vector<uint8_t>{127, 0, 255}));
  EXPECT_EQ(SampleLine<uint8_t>("cubic", "border", {0, 0, 255, 255}, {0.5f}), (std::vector<uint8_t>{255}));
  using C = std::complex<float>;
  EXPECT_EQ(SampleLine<C>("linear", "zeros", {C(0, 2), C(4, 0)}, {0}), (std::vector<C>{C(2, 1)}));
  EXPECT_EQ(SampleLine<std::string>("nearest", "zeros", {"a", "b"}, {-3, 0.5f}), (std::vector<std::string>{"", "b"}));
}

TEST(GridSample, Refusals) {
  auto error = [](GridSampleAttrs attrs, Tensor x, Tensor grid) {
    return std::string(Evaluate(ops::GridSample, attrs, {x, grid}).status().message());
  };
  const Tensor x = Tensor::Of<float>({1, 1, 2}, {1, 2}), grid = Tensor::Of<float>({1, 1, 1}, {0});
  EXPECT_THAT(error({0, "lanczos", "zeros"}, x, grid), HasSubstr("mode is 'lanczos'"));
  EXPECT_THAT(error({0, "linear", "wrap"}, x, grid), HasSubstr("padding_mode is 'wrap'"));
  EXPECT_THAT(error({}, x, Tensor::Of<float>({1, 1, 2}, {0, 0})), HasSubstr("grid) has shape [1,1,2]"));
  EXPECT_THAT(error({}, *Tensor::Allocate(DType::kFloat32, {1, 1, 0}), grid), HasSubstr("nothing to sample"));
  EXPECT_THAT(error({}, Tensor::Of<bool>({1, 1, 1}, {true}), grid), HasSubstr("bool"));
}

TEST(AffineGrid, TransformsTheCorners) {
  AffineGridAttrs attrs;
  attrs.align_corners = 1;
  // x' = y + 10, y' = 2x; a height of 1 lies in the middle.
  const Tensor theta = Tensor::Of<double>({1, 2, 3}, {0, 1, 10, 2, 0, 0});
  auto out = Evaluate(ops::AffineGrid, attrs, {theta, Tensor::Of<int64_t>({4}, {1, 9, 1, 3})});
  ASSERT_TRUE(out.ok()) << out.status();
  const auto span = (*out)[0].tensor().span<double>();
  EXPECT_EQ(std::vector<double>(span.begin(), span.end()), (std::vector<double>{10, -2, 10, 0, 10, 2}));
  auto error = [&](std::vector<int64_t> size) {
    const auto n = static_cast<int64_t>(size.size());
    return std::string(Evaluate(ops::AffineGrid, attrs, {theta, Tensor::Of<int64_t>(absl::MakeConstSpan(&n, 1), size)}).status().message());
  };
  EXPECT_THAT(error({2, 1, 1, 1}), HasSubstr("theta) has shape [1,2,3]"));
  EXPECT_THAT(error({1, 1, 1, 1, 1}), HasSubstr("theta) has shape [1,2,3]"));
  EXPECT_THAT(error({1, 1, 1}), HasSubstr("expected 4 or 5"));
  EXPECT_THAT(error({1, 1, 1, -1}), HasSubstr("holds -1"));
}

}  // namespace
}  // namespace weft
