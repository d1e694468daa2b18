#include "graph/ops/non_max_suppression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "absl/strings/str_join.h"
#include "kernels/evaluate.h"

namespace weft {
namespace {

using ::testing::HasSubstr;

std::string Select(Tensor boxes, Tensor scores, Value limit, Value overlap = Value(), Value least = Value()) {
  auto out = Evaluate(ops::NonMaxSuppression, NonMaxSuppressionAttrs(), {boxes, scores, limit, overlap, least});
  if (!out.ok()) return std::string(out.status().message());
  return absl::StrJoin((*out)[0].tensor().span<int64_t>(), " ");
}

TEST(NonMaxSuppression, TiesThresholdsAndNaN) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  // The second is the left half of the first, with its corners the other way round; the third lies apart.
  const Tensor boxes = Tensor::Of<float>({1, 3, 4}, {0, 0, 1, 2, 1, 1, 0, 0, 5, 5, 6, 6});
  const Tensor scores = Tensor::Of<float>({1, 1, 3}, {0.5f, 0.5f, 0.5f});
  const Tensor many = Tensor::Scalar<int64_t>(9);
  EXPECT_EQ(Select(boxes, scores, many), "0 0 0 0 0 2");
  EXPECT_EQ(Select(boxes, scores, many, Tensor::Scalar<float>(0.5f)), "0 0 0 0 0 1 0 0 2");
  EXPECT_EQ(Select(boxes, scores, Tensor::Scalar<int64_t>(1)), "0 0 0");
  EXPECT_EQ(Select(boxes, scores, Tensor::Scalar<int64_t>(-1)), "");
  EXPECT_EQ(Select(boxes, scores, Value()), "");
  EXPECT_EQ(Select(boxes, scores, many, Value(), Tensor::Scalar<float>(0.5f)), "");
  EXPECT_EQ(Select(boxes, Tensor::Of<float>({1, 1, 3}, {nan, 0, 1}), many), "0 0 2 0 0 1");
}

TEST(NonMaxSuppression, Refusals) {
  const Tensor boxes = Tensor::Of<float>({1, 1, 4}, {0, 0, 1, 2}), scores = Tensor::Of<float>({1, 1, 1}, {1});
  EXPECT_THAT(Select(boxes, scores, Value(), Tensor::Scalar<float>(2)), HasSubstr("iou_threshold is 2"));
  EXPECT_THAT(Select(boxes, Tensor::Of<float>({1, 1, 2}, {1, 2}), Value()), HasSubstr("number of boxes"));
}

}  // namespace
}  // namespace weft
