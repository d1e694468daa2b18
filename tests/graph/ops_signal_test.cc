#include "graph/ops/signal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infer_one.h"

namespace weft {
namespace {

using ::testing::HasSubstr;

TestInput Int(int64_t value) { return Tensor::Scalar<int64_t>(value); }

TEST(Dft, Shapes) {
  const Type real = F32({Sym("N"), Sym("L"), 1}), complex = F32({Sym("N"), Sym("L"), 2});
  EXPECT_EQ(InferOne(ops::DFT, DftAttrs(), {real}), "float[N,L,2]");
  EXPECT_EQ(InferOne(ops::DFT, DftAttrs{.onesided = true}, {real}), "float[N,\"floordiv(L, 2) + 1\",2]");
  EXPECT_EQ(InferOne(ops::DFT, DftAttrs{.onesided = true}, {real, Int(7)}), "float[N,4,2]");
  EXPECT_EQ(InferOne(ops::DFT, DftAttrs{.inverse = true, .onesided = true}, {complex}), "float[N,\"2*L - 2\",1]");
  EXPECT_EQ(InferOne(ops::DFT, DftAttrs{.inverse = true}, {complex, Int(9), Int(0)}), "float[9,L,2]");
}

TEST(Dft, Refusals) {
  const Type complex = F32({3, 1, 2});
  EXPECT_THAT(InferOne(ops::DFT, DftAttrs{.onesided = true}, {complex}), HasSubstr("expected 1 (real) where onesided is set"));
  EXPECT_THAT(InferOne(ops::DFT, DftAttrs(), {complex, std::nullopt, Int(-1)}), HasSubstr("axis is -1, expected another than the last one"));
  EXPECT_THAT(InferOne(ops::DFT, DftAttrs(), {complex, Int(0)}), HasSubstr("input 1 (dft_length) is 0, expected 1 or more"));
  EXPECT_THAT(InferOne(ops::DFT, DftAttrs{.inverse = true, .onesided = true}, {complex}), HasSubstr("a transform of length 0"));
  EXPECT_THAT(InferOne(ops::DFT, DftAttrs(), {F32({3, 4, 3})}), HasSubstr("has 3 elements on its last axis"));
}

TEST(Stft, Shapes) {
  const Type signal = F32({Sym("N"), Sym("L"), 1});
  // (L - 32) / 10 + 1, in canonical form
  EXPECT_EQ(InferOne(ops::STFT, StftAttrs(), {signal, Int(10), F32({32})}), "float[N,\"floordiv(L + 8, 10) - 3\",17,2]");
  EXPECT_EQ(InferOne(ops::STFT, StftAttrs{.onesided = false}, {F32({2, 100}), Int(10), std::nullopt, Int(30)}), "float[2,8,30,2]");
  EXPECT_EQ(InferOne(ops::STFT, StftAttrs(), {F32({2, 100, 1}), Int(1)}), "float[2,1,51,2]");
}

TEST(Stft, Refusals) {
  EXPECT_THAT(InferOne(ops::STFT, StftAttrs(), {F32({2, 100, 2}), Int(10), F32({32})}), HasSubstr("expected 1 (real) where onesided is set"));
  EXPECT_THAT(InferOne(ops::STFT, StftAttrs(), {F32({2, 30, 1}), Int(10), F32({32})}), HasSubstr("frames of 32 in a signal of shape [2,30,1]"));
  EXPECT_THAT(InferOne(ops::STFT, StftAttrs(), {F32({2, 99, 1}), Int(0), F32({32})}), HasSubstr("input 1 (frame_step) is 0"));
  EXPECT_THAT(InferOne(ops::STFT, StftAttrs(), {F32({2, 99, 1}), Int(1), F32({32}), Int(30)}), HasSubstr("frame_length and window"));
}

}  // namespace
}  // namespace weft
