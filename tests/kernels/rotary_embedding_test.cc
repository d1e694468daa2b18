#include "graph/ops/rotary_embedding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/evaluate.h"

namespace weft {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Row 1 of the caches turns by a quarter.
const Tensor& Cos() {
  static const Tensor cos = Tensor::Of<float>({2, 2}, {1, 1, 0, 0});
  return cos;
}
const Tensor& Sin() {
  static const Tensor sin = Tensor::Of<float>({2, 2}, {0, 0, 1, 1});
  return sin;
}

std::vector<float> Floats(const absl::StatusOr<std::vector<Value>>& out) {
  if (!out.ok()) {
    ADD_FAILURE() << out.status();
    return {};
  }
  const Tensor& t = (*out)[0].tensor();
  return std::vector<float>(t.data<float>(), t.data<float>() + t.size());
}

TEST(RotaryEmbedding, PairsAndTheRest) {
  const Tensor x = Tensor::Of<float>({1, 1, 1, 5}, {1, 2, 3, 4, 5}), position = Tensor::Of<int64_t>({1, 1}, {1});
  RotaryEmbeddingAttrs attrs;
  attrs.rotary_embedding_dim = 4;
  EXPECT_THAT(Floats(Evaluate(ops::RotaryEmbedding, attrs, {x, Cos(), Sin(), position})), ElementsAre(-3, -4, 1, 2, 5));
  attrs.interleaved = true;
  EXPECT_THAT(Floats(Evaluate(ops::RotaryEmbedding, attrs, {x, Cos(), Sin(), position})), ElementsAre(-2, 1, -4, 3, 5));
}

TEST(RotaryEmbedding, MsCountsFromOnePosition) {
  const Tensor x = Tensor::Of<float>({1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});  // one head, as the caches' width says
  auto run = [&](int64_t first) {
    return Evaluate(ops::MsRotaryEmbedding, MsRotaryEmbeddingAttrs(), {x, Tensor::Of<int64_t>({1}, {first}), Cos(), Sin()});
  };
  EXPECT_THAT(Floats(run(0)), ElementsAre(1, 2, 3, 4, -7, -8, 5, 6));
  EXPECT_THAT(std::string(run(1).status().message()), HasSubstr("position_ids holds 1, expected a value in [0, 0]"));
}

TEST(RotaryEmbedding, Refusals) {
  const Tensor x = Tensor::Of<float>({1, 1, 1, 4}, {1, 2, 3, 4});
  auto message = [&](const RotaryEmbeddingAttrs& attrs, const Tensor& in, std::vector<int64_t> positions) {
    const Dims dims = {1, static_cast<int64_t>(positions.size())};
    return std::string(Evaluate(ops::RotaryEmbedding, attrs, {in, Cos(), Sin(), Tensor::Of<int64_t>(dims, positions)}).status().message());
  };
  EXPECT_THAT(message({}, x, {2}), HasSubstr("position_ids holds 2"));
  EXPECT_THAT(message({}, x, {-1}), HasSubstr("position_ids holds -1"));
  EXPECT_THAT(message({}, x, {0, 0}), HasSubstr("(position_ids) has shape [1,2], expected [1,1]"));
  EXPECT_THAT(message({}, Tensor::Of<float>({1, 1, 4}, {1, 2, 3, 4}), {0}), HasSubstr("num_heads"));
  RotaryEmbeddingAttrs attrs;
  attrs.rotary_embedding_dim = 6;
  EXPECT_THAT(message(attrs, x, {0}), HasSubstr("at most the head size, 4"));
}

}  // namespace
}  // namespace weft
