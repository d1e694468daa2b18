// Ops of ONNX Runtime; expected values are ONNX Runtime's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "graph/ops/gelu.h"
#include "graph/ops/matmul_nbits.h"
#include "graph/ops/ms_fused.h"
#include "graph/ops/normalization.h"
#include "graph/ops/skip_normalization.h"
#include "kernels/evaluate.h"

namespace weft {
namespace {

using testing::HasSubstr;

auto Near(std::vector<float> expected) { return testing::Pointwise(testing::FloatNear(1e-5f), std::move(expected)); }

std::vector<float> Floats(const Op& op, const Attrs& attrs, const std::vector<Value>& inputs) {
  auto out = Evaluate(op, attrs, inputs);
  if (!out.ok()) {
    ADD_FAILURE() << out.status();
    return {};
  }
  const auto y = (*out)[0].tensor().span<float>();
  return {y.begin(), y.end()};
}

TEST(SimplifiedLayerNormalization, GivesTheInverseRootMeanSquare) {
  auto out = Evaluate(ops::SimplifiedLayerNormalization, LayerNormalizationAttrs{.axis = 1, .epsilon = 0},
                      {Tensor::Of<float>({2, 1, 2}, {1, 7, -3, 3}), Tensor::Of<float>({2}, {1, 10})}, 2);
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT((*out)[0].tensor().span<float>(), Near({0.2f, 14, -1, 10}));
  EXPECT_EQ((*out)[1].tensor().dims(), (Dims{2, 1, 1}));
  EXPECT_THAT((*out)[1].tensor().span<float>(), Near({0.2f, 1 / 3.0f}));
}

TEST(Gelu, ExactFastAndQuick) {
  const Tensor x = Tensor::Of<float>({2, 2}, {1, -2, 0, 3}), bias = Tensor::Of<float>({2}, {1, -1});
  EXPECT_THAT(Floats(ops::MsGelu, Attrs(), {x}), Near({0.841345f, -0.0455003f, 0, 2.99595f}));
  EXPECT_THAT(Floats(ops::BiasGelu, Attrs(), {x, bias}), Near({1.9545f, -0.00404969f, 0.841345f, 1.9545f}));
  EXPECT_THAT(Floats(ops::FastGelu, Attrs(), {x}), Near({0.841192f, -0.0454023f, 0, 2.996363f}));
  EXPECT_THAT(Floats(ops::FastGelu, Attrs(), {x, bias}), Near({1.954598f, -0.003637f, 0.841192f, 1.954598f}));
  EXPECT_THAT(Floats(ops::QuickGelu, QuickGeluAttrs{}, {x}), Near({0.845796f, -0.0643468f, 0, 2.981932f}));
}

TEST(Gelu, TheBiasIsAsLongAsTheLastAxis) {
  EXPECT_THAT(Evaluate(ops::BiasGelu, Attrs(), {Tensor::Of<float>({2}, {1, 2}), Tensor::Of<float>({1}, {1})}).status().message(),
              HasSubstr("the last dim of X and the bias"));
}

TEST(SkipLayerNormalization, StatisticsAndTheSumItself) {
  const Tensor x = Tensor::Of<float>({2, 1, 2}, {1, 2, 5, -4}), skip = Tensor::Of<float>({1, 2}, {1, -2});
  const Tensor gamma = Tensor::Of<float>({2}, {1, 10}), beta = Tensor::Of<float>({2}, {0, 5}), bias = Tensor::Of<float>({2}, {0, 4});
  auto out = Evaluate(ops::SkipLayerNormalization, SkipNormalizationAttrs{}, {x, skip, gamma, beta, bias}, 4);
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT((*out)[0].tensor().span<float>(), Near({-1, 15, 1, -5}));
  EXPECT_EQ((*out)[1].tensor().dims(), (Dims{2, 1, 1}));
  EXPECT_THAT((*out)[1].tensor().span<float>(), Near({3, 2}));
  EXPECT_THAT((*out)[2].tensor().span<float>(), Near({1, 0.25f}));
  EXPECT_THAT((*out)[3].tensor().span<float>(), Near({2, 4, 6, -2}));
  EXPECT_THAT(Floats(ops::SkipSimplifiedLayerNormalization, SkipNormalizationAttrs{}, {x, skip, gamma, bias}),
              Near({0.632456f, 12.649111f, 1.341641f, -4.472136f}));
}

TEST(EmbedLayerNormalization, MaskAndPositions) {
  const Tensor ids = Tensor::Of<int32_t>({2, 2}, {1, 0, 0, 0}), mask = Tensor::Of<int32_t>({2, 2}, {1, 1, 0, 1});
  const Tensor words = Tensor::Of<float>({2, 2}, {0, 1, 4, 0}), places = Tensor::Of<float>({3, 2}, {0, 0, 1, 0, 9, 0});
  const Tensor gamma = Tensor::Of<float>({2}, {1, 2}), beta = Tensor::Of<float>({2}, {0, 1});
  auto run = [&](const Tensor& positions) {
    return Evaluate(ops::EmbedLayerNormalization, EmbedLayerNormalizationAttrs{},
                    {ids, Value(), words, places, Value(), gamma, beta, mask, positions}, 3);
  };
  auto out = run(Tensor::Of<int32_t>({1, 2}, {1, 2}));
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT((*out)[0].tensor().span<float>(), Near({1, -1, 1, -1, 0, 1, 1, -1}));
  EXPECT_THAT((*out)[1].tensor().span<int32_t>(), testing::ElementsAre(2, 1));
  EXPECT_THAT((*out)[2].tensor().span<float>(), Near({5, 0, 9, 1, 1, 1, 9, 1}));
  EXPECT_THAT(run(Tensor::Of<int32_t>({1, 2}, {1, 3})).status().message(),
              HasSubstr("position_ids holds 3, expected a row of an embedding of 3 rows"));
  EXPECT_THAT(run(Tensor::Of<int32_t>({2, 1}, {1, 2})).status().message(), HasSubstr("the last dims of input_ids and position_ids"));
}

TEST(FusedConv, AddsZBeforeTheActivation) {
  const Tensor x = Tensor::Of<float>({1, 1, 2, 2}, {1, 2, 3, 4}), w = Tensor::Of<float>({1, 1, 1, 1}, {2});
  const Tensor bias = Tensor::Of<float>({1}, {-5}), z = Tensor::Of<float>({1, 1, 2, 2}, {0, -9, 0, 1});
  EXPECT_THAT(Floats(ops::FusedConv, MsFusedConvAttrs{.activation = "LeakyRelu", .activation_params = {0.5f}}, {x, w, bias, z}),
              Near({-1.5f, -5, 1, 4}));
  EXPECT_THAT(Floats(ops::FusedConv, MsFusedConvAttrs{.activation = "Clip", .activation_params = {-2, 3}}, {x, w, bias, z}),
              Near({-2, -2, 1, 3}));
  EXPECT_THAT(Evaluate(ops::FusedConv, MsFusedConvAttrs{.activation = "Relu6"}, {x, w}).status().message(),
              HasSubstr("attribute 'activation' is 'Relu6', expected '' or one of Celu, Clip"));
}

TEST(FusedGemm, ParametersByName) {
  const Tensor a = Tensor::Of<float>({1, 2}, {1, -1}), b = Tensor::Of<float>({2, 2}, {1, 0, 0, 4});
  MsFusedGemmAttrs attrs{.activation = "LeakyRelu", .activation_alpha = 0.25f, .alpha = 2};
  EXPECT_THAT(Floats(ops::FusedGemm, attrs, {a, b}), Near({2, -2}));
  attrs.activation = "HardSigmoid";
  attrs.activation_beta = 0.5f;
  EXPECT_THAT(Floats(ops::FusedGemm, attrs, {a, b}), Near({1, 0}));
}

TEST(FusedMatMul, TheFirstAxisMayStandBehindTheBatch) {
  // A is [row, batch, depth].
  const Tensor a = Tensor::Of<float>({2, 3, 1}, {1, 2, 3, 4, 5, 6}), b = Tensor::Of<float>({3, 1, 1}, {1, 10, 100});
  EXPECT_THAT(Floats(ops::FusedMatMul, MsFusedMatMulAttrs{.alpha = 0.5f, .transBatchA = true}, {a, b}),
              Near({0.5f, 2, 10, 25, 150, 300}));
  // Vectors have nothing to transpose.
  EXPECT_THAT(Floats(ops::FusedMatMul, MsFusedMatMulAttrs{.transA = true}, {Tensor::Of<float>({2}, {1, 2}), Tensor::Of<float>({2, 1}, {3, 4})}),
              Near({11}));
}

// Two rows of 20 weights in blocks of 16: the first 0, 1, 2, ... 15, 9, 9, 9, 9, the second all 9; padded with 5s.
Tensor PackedNibbles() {
  std::vector<uint8_t> packed;
  for (int i = 0; i < 16; i += 2) packed.push_back(static_cast<uint8_t>(i | (i + 1) << 4));
  packed.insert(packed.end(), {0x99, 0x99, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55});
  packed.insert(packed.end(), 10, 0x99);
  packed.insert(packed.end(), 6, 0x55);
  return Tensor::Of<uint8_t>({2, 2, 8}, packed);
}

TEST(MatMulNBits, PacksTheLowNibbleFirst) {
  const MatMulNBitsAttrs attrs{.K = 20, .N = 2, .block_size = 16};
  std::vector<float> a(20, 0.0f);
  a[1] = 1;
  a[18] = 100;
  const Tensor x = Tensor::Of<float>({1, 20}, a), b = PackedNibbles(), scales = Tensor::Of<float>({4}, {1, 2, 3, 4});
  EXPECT_THAT(Floats(ops::MatMulNBits, attrs, {x, b, scales}), Near({-7 + 200, 3 + 400}));
  const Tensor zeros = Tensor::Of<uint8_t>({2}, {0x71, 0x92});  // of row 0: 1, 7; of row 1: 2, 9
  EXPECT_THAT(Floats(ops::MatMulNBits, attrs, {x, b, scales, zeros}), Near({0 + 400, 21 + 0}));
  const Tensor float_zeros = Tensor::Of<float>({2, 2}, {0.5f, 0, 9, 9.5f}), bias = Tensor::Of<float>({2}, {10, 20});
  EXPECT_THAT(Floats(ops::MatMulNBits, attrs, {x, b, scales, float_zeros, Value(), bias}), Near({0.5f + 1800 + 10, 0 - 200 + 20}));
}

TEST(MatMulNBits, GroupsByIndex) {
  const MatMulNBitsAttrs attrs{.K = 20, .N = 2, .block_size = 16};
  std::vector<int32_t> groups(20, 1);
  groups[18] = 0;
  const Tensor x = Tensor::Of<float>({1, 20}, std::vector<float>(20, 1.0f)), scales = Tensor::Of<float>({2, 2}, {1, 2, 3, 4});
  // The sums of the first row's group 1 and of weight 18, which is 9; all less 8.
  EXPECT_THAT(Floats(ops::MatMulNBits, attrs, {x, PackedNibbles(), scales, Value(), Tensor::Of<int32_t>({20}, groups)}),
              Near({2 * (120 + 27 - 19 * 8) + 1, 4 * 19 + 3}));
  groups[3] = 2;
  EXPECT_THAT(Evaluate(ops::MatMulNBits, attrs, {x, PackedNibbles(), scales, Value(), Tensor::Of<int32_t>({20}, groups)}).status().message(),
              HasSubstr("g_idx holds 2, expected a value in [0, 1]"));
}

TEST(MatMulNBits, SizesFollowFromTheAttributes) {
  const Tensor x = Tensor::Of<float>({1, 20}, std::vector<float>(20)), scales = Tensor::Of<float>({4}, {1, 2, 3, 4});
  auto message = [&](const MatMulNBitsAttrs& attrs) {
    return std::string(Evaluate(ops::MatMulNBits, attrs, {x, PackedNibbles(), scales}).status().message());
  };
  EXPECT_THAT(message({.K = 20, .N = 2, .bits = 8, .block_size = 16}), HasSubstr("input 1 (B) has shape [2,2,8], expected 64 elements"));
  EXPECT_THAT(message({.K = 20, .N = 2, .bits = 3, .block_size = 16}), HasSubstr("bits is 3, expected 2, 4 or 8"));
  EXPECT_THAT(message({.K = 20, .N = 2, .block_size = 24}), HasSubstr("block_size is 24, expected a power of two"));
  EXPECT_THAT(message({.K = 20, .N = 0, .block_size = 16}), HasSubstr("N is 0"));
}

}  // namespace
}  // namespace weft
