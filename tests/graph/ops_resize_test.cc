#include "graph/ops/resize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "infer_one.h"

namespace weft {
namespace {

using ::testing::HasSubstr;

std::string ByScales(Type x, std::vector<float> scales, ResizeAttrs attrs = {}) {
  const auto n = static_cast<int64_t>(scales.size());
  return InferOne(ops::Resize, attrs, {std::move(x), std::nullopt, Tensor::Of<float>(absl::MakeConstSpan(&n, 1), scales)});
}
std::string BySizes(Type x, std::vector<int64_t> sizes, ResizeAttrs attrs = {}) {
  const auto n = static_cast<int64_t>(sizes.size());
  return InferOne(ops::Resize, attrs, {std::move(x), std::nullopt, std::nullopt, Tensor::Of<int64_t>(absl::MakeConstSpan(&n, 1), sizes)});
}

TEST(Resize, ScalesOfSymbols) {
  EXPECT_EQ(ByScales(F32({Sym("N"), 3, Sym("H"), 5}), {1, 1, 2, 2.5f}), "float[N,3,\"2*H\",12]");
  EXPECT_EQ(ByScales(F32({Sym("N"), 3, Sym("H"), 5}), {1, 1, 0.5f, 0.6f}), "float[N,3,\"floordiv(H, 2)\",3]");
}

TEST(Resize, ProductRoundsAsFloat32) {
  EXPECT_EQ(ByScales(F32({3}), {5.0f / 3.0f}), "float[5]");  // the scale lies just below 5/3
}

TEST(Resize, SizesAndPolicies) {
  ResizeAttrs attrs;
  attrs.axes = {-1, 2};
  EXPECT_EQ(BySizes(F32({Sym("N"), 3, 4, 8}), {10, 20}, attrs), "float[N,3,20,10]");
  attrs.keep_aspect_ratio_policy = "not_larger";
  EXPECT_EQ(BySizes(F32({Sym("N"), 3, 4, 8}), {10, 20}, attrs), "float[N,3,5,10]");
  attrs.keep_aspect_ratio_policy = "not_smaller";
  EXPECT_EQ(BySizes(F32({Sym("N"), 3, 4, 8}), {10, 20}, attrs), "float[N,3,20,40]");
}

TEST(Resize, EmptyScalesAreAbsent) {
  EXPECT_EQ(InferOne(ops::Resize, ResizeAttrs(), {F32({2, 3}), F32({0}), F32({0}), Tensor::Of<int64_t>({2}, {4, 5})}), "float[4,5]");
  EXPECT_THAT(InferOne(ops::Resize, ResizeAttrs(), {F32({2, 3}), F32({0}), F32({0})}), HasSubstr("neither scales nor sizes"));
}

TEST(Resize, Refusals) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(ByScales(F32({2, 3}), {1, nan}), HasSubstr("scales holds nan"));
  EXPECT_THAT(ByScales(F32({2, 3}), {1, 1e30f}), HasSubstr("too much"));
  EXPECT_THAT(ByScales(F32({2, 3}), {1, -1}), HasSubstr("scales holds -1"));
  EXPECT_THAT(ByScales(F32({2, 3}), {1, 1, 1}), HasSubstr("input 2 (scales) has shape [3], expected [2]"));
  EXPECT_THAT(BySizes(F32({2, 3}), {1, -1}), HasSubstr("sizes holds -1"));
  EXPECT_THAT(BySizes(F32({2, 0}), {1, 2}), HasSubstr("expected elements along axis 1"));
  ResizeAttrs attrs;
  attrs.mode = "lanczos";
  EXPECT_THAT(BySizes(F32({2, 3}), {1, 2}, attrs), HasSubstr("mode is 'lanczos'"));
  attrs = ResizeAttrs();
  attrs.axes = {1, -1};
  EXPECT_THAT(BySizes(F32({2, 3}), {1, 2}, attrs), HasSubstr("axis 1 twice"));
  attrs = ResizeAttrs();
  attrs.coordinate_transformation_mode = "tf_crop_and_resize";
  EXPECT_THAT(BySizes(F32({2, 3}), {1, 2}, attrs), HasSubstr("has no roi"));
}

}  // namespace
}  // namespace weft
