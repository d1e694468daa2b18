#include "graph/ops/resize.h"

#include <gtest/gtest.h>

#include "kernels/evaluate.h"

namespace weft {
namespace {

template <class T>
std::vector<T> BySizes(const ResizeAttrs& attrs, Tensor x, std::vector<int64_t> sizes, Value roi = Value()) {
  const auto n = static_cast<int64_t>(sizes.size());
  auto out = Evaluate(ops::Resize, attrs, {x, roi, Value(), Tensor::Of<int64_t>(absl::MakeConstSpan(&n, 1), sizes)});
  if (!out.ok()) {
    ADD_FAILURE() << out.status();
    return {};
  }
  const Tensor& y = (*out)[0].tensor();
  return std::vector<T>(y.data<T>(), y.data<T>() + y.size());
}

TEST(Resize, NearestModesAtHalves) {
  ResizeAttrs attrs;
  attrs.coordinate_transformation_mode = "asymmetric";
  const Tensor x = Tensor::Of<int32_t>({3}, {0, 1, 2});  // output k of 6 lies at k / 2
  attrs.nearest_mode = "floor";
  EXPECT_EQ(BySizes<int32_t>(attrs, x, {6}), (std::vector<int32_t>{0, 0, 1, 1, 2, 2}));
  attrs.nearest_mode = "ceil";
  EXPECT_EQ(BySizes<int32_t>(attrs, x, {6}), (std::vector<int32_t>{0, 1, 1, 2, 2, 2}));
  attrs.nearest_mode = "round_prefer_floor";
  EXPECT_EQ(BySizes<int32_t>(attrs, x, {6}), (std::vector<int32_t>{0, 0, 1, 1, 2, 2}));
  attrs.nearest_mode = "round_prefer_ceil";
  EXPECT_EQ(BySizes<int32_t>(attrs, x, {6}), (std::vector<int32_t>{0, 1, 1, 2, 2, 2}));
}

TEST(Resize, StringsMove) {
  ResizeAttrs attrs;
  EXPECT_EQ(BySizes<std::string>(attrs, Tensor::Of<std::string>({2}, {"a", "b"}), {4}), (std::vector<std::string>{"a", "a", "b", "b"}));
}

TEST(Resize, LinearBlendsRoundsAndSaturates) {
  ResizeAttrs attrs;
  attrs.mode = "linear";
  EXPECT_EQ(BySizes<float>(attrs, Tensor::Of<float>({2}, {0, 4}), {4}), (std::vector<float>{0, 1, 3, 4}));
  EXPECT_EQ(BySizes<uint8_t>(attrs, Tensor::Of<uint8_t>({2}, {0, 255}), {4}), (std::vector<uint8_t>{0, 64, 191, 255}));
  attrs.antialias = true;  // a tent two inputs wide each way: weights 1 3 3 1 where all four lie inside
  EXPECT_EQ(BySizes<double>(attrs, Tensor::Of<double>({6}, {8, 0, 8, 8, 0, 8}), {3})[1], 6.0);
}

TEST(Resize, InfinityDoesNotSpreadOverZeroWeights) {
  ResizeAttrs attrs;
  attrs.mode = "linear";
  attrs.coordinate_transformation_mode = "align_corners";
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(BySizes<float>(attrs, Tensor::Of<float>({3}, {inf, 1, 3}), {5}), (std::vector<float>{inf, inf, 1, 2, 3}));
}

TEST(Resize, CropExtrapolates) {
  ResizeAttrs attrs;
  attrs.mode = "linear";
  attrs.coordinate_transformation_mode = "tf_crop_and_resize";
  attrs.extrapolation_value = 9;
  const Tensor x = Tensor::Of<float>({1, 3}, {0, 2, 4});
  EXPECT_EQ(BySizes<float>(attrs, x, {1, 3}, Tensor::Of<float>({4}, {0, 0.5f, 0, 1.5f})), (std::vector<float>{2, 4, 9}));
  attrs.mode = "nearest";
  EXPECT_EQ(BySizes<float>(attrs, x, {1, 3}, Tensor::Of<float>({4}, {0, 0.5f, 0, 1.5f})), (std::vector<float>{2, 4, 9}));
}

TEST(Resize, ShrinksBeforeItGrows) {
  ResizeAttrs attrs;
  attrs.mode = "linear";
  EXPECT_EQ(BySizes<float>(attrs, Tensor::Of<float>({2, 2}, {0, 4, 2, 6}), {1, 4}), (std::vector<float>{1, 2, 4, 5}));
}

}  // namespace
}  // namespace weft
