#include "graph/ops/col2im.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/evaluate.h"

namespace weft {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<std::vector<Value>> Fold(const Col2ImAttrs& attrs, Tensor columns, std::vector<int64_t> image, std::vector<int64_t> block) {
  const auto n = static_cast<int64_t>(image.size()), m = static_cast<int64_t>(block.size());
  return Evaluate(ops::Col2Im, attrs,
                  {columns, Tensor::Of<int64_t>(absl::MakeConstSpan(&n, 1), image), Tensor::Of<int64_t>(absl::MakeConstSpan(&m, 1), block)});
}

TEST(Col2Im, OverlapsAddUp) {
  Col2ImAttrs attrs;
  attrs.pads = {1, 0};
  attrs.dilations = {2};
  // One axis of 4 with one pad before it: blocks {-1,1}, {0,2}, {1,3}.
  auto out = Fold(attrs, Tensor::Of<int8_t>({1, 2, 3}, {1, 2, 100, 100, 5, 6}), {4}, {2});
  ASSERT_TRUE(out.ok()) << out.status();
  const auto span = (*out)[0].tensor().span<int8_t>();
  EXPECT_EQ(std::vector<int8_t>(span.begin(), span.end()), (std::vector<int8_t>{2, -56, 5, 6}));
}

TEST(Col2Im, Refusals) {
  const Tensor columns = Tensor::Of<float>({1, 2, 3}, {1, 2, 3, 4, 5, 6});
  auto error = [&](std::vector<int64_t> image, std::vector<int64_t> block) {
    return std::string(Fold(Col2ImAttrs(), columns, std::move(image), std::move(block)).status().message());
  };
  EXPECT_THAT(error({5}, {2}), HasSubstr("number of blocks is 3 in one place and 4"));
  EXPECT_THAT(error({4}, {3}), HasSubstr("has 2 rows, expected a multiple"));
  EXPECT_THAT(error({4, 1}, {2}), HasSubstr("expected equal numbers"));
  EXPECT_THAT(error({-4}, {2}), HasSubstr("image_shape holds -4"));
  EXPECT_THAT(error({4}, {0}), HasSubstr("0"));
}

}  // namespace
}  // namespace weft
