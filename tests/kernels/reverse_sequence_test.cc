#include "graph/ops/reverse_sequence.h"

#include <gtest/gtest.h>

#include "kernels/evaluate.h"

namespace weft {
namespace {

TEST(ReverseSequence, EachSampleToItsLength) {
  ReverseSequenceAttrs attrs;
  attrs.batch_axis = 0;
  attrs.time_axis = 1;
  auto run = [&](std::vector<int64_t> lengths) {
    constexpr int64_t kBatch[] = {3};
    auto out = Evaluate(ops::ReverseSequence, attrs,
                        {Tensor::Of<int16_t>({3, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}), Tensor::Of<int64_t>(kBatch, lengths)});
    if (!out.ok()) return std::vector<int16_t>();
    const auto span = (*out)[0].tensor().span<int16_t>();
    return std::vector<int16_t>(span.begin(), span.end());
  };
  EXPECT_EQ(run({0, 2, 1}), (std::vector<int16_t>{1, 2, 3, 4, 7, 8, 5, 6, 9, 10, 11, 12}));
  EXPECT_TRUE(run({0, 3, 1}).empty());
  EXPECT_TRUE(run({-1, 0, 0}).empty());
  attrs.time_axis = 0;
  EXPECT_TRUE(run({0, 0, 0}).empty());
}

}  // namespace
}  // namespace weft
