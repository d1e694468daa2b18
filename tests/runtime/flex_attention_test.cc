#include <gmock/gmock.h>

#include "run_text.h"

namespace weft {
namespace {

using ::testing::HasSubstr;

Tensor Floats(std::initializer_list<int64_t> dims, std::initializer_list<float> values) { return Tensor::Of<float>(dims, values); }

TEST(FlexAttention, BodiesReadOuterValues) {
  // Scores are 0; score_mod hides the last key, prob_mod gives back what `gain` says.
  const char* text = R"(g (float[1,1,2,1] q, float[1,1,3,1] v, float gain) => (float[1,1,2,1] y)
    < float[3] mask = {0, 0, -inf} > {
    y = ai.onnx.preview.FlexAttention (q, v, v) <scale: float = 0,
      score_mod = s (float[1,1,2,3] a) => (float[1,1,2,3] b) { b = Add (a, mask) },
      prob_mod = p (float[1,1,2,3] c) => (float[1,1,2,3] d) { d = Mul (c, gain) }>
  })";
  ExpectOutputs(text, {Floats({1, 1, 2, 1}, {1, 2}), Floats({1, 1, 3, 1}, {2, 4, 1000}), Tensor::Scalar<float>(2)}, {Floats({1, 1, 2, 1}, {6, 6})});
}

TEST(FlexAttention, ABodyMayReturnWhatItCaptures) {
  // The scores that Softmax works on are w itself, which z reads as well.
  const char* text = R"(g (float[1,1,1,2] q, float[1,1,2,2] k) => (float[1,1,1,2] y, float[1,1,1,2] z) {
    w = Sub (q, q)
    y = ai.onnx.preview.FlexAttention (q, k, k) <score_mod = s (float[1,1,1,2] a) => (float[1,1,1,2] b) { b = Identity (w) },
                                                 prob_mod = p (float[1,1,1,2] c) => (float[1,1,1,2] c) { }>
    z = Abs (w)
  })";
  ExpectOutputs(text, {Floats({1, 1, 1, 2}, {1, 2}), Floats({1, 1, 2, 2}, {2, 4, 6, 8})},
                {Floats({1, 1, 1, 2}, {4, 6}), Floats({1, 1, 1, 2}, {0, 0})});
}

TEST(FlexAttention, ABodyKeepsTheShape) {
  const char* text = R"(g (float[1,1,1,2] q, float[1,1,2,2] k) => (float[1,1,1,2] y) {
    y = ai.onnx.preview.FlexAttention (q, k, k) <score_mod = s (float[1,1,1,2] a) => (float[1,1,2,1] b) { b = Transpose (a) <perm = [0, 1, 3, 2]> },
                                                 prob_mod = p (float[1,1,1,2] c) => (float[1,1,1,2] c) { }>
  })";
  EXPECT_THAT(std::string(CompileText(text).status().message()), HasSubstr("score_mod returns float[1,1,2,1], expected float[1,1,1,2]"));
}

TEST(FlexAttention, ShapesThatOnlyTheRunKnows) {
  const char* text = R"(g (float[B,H,L,E] q, float[B,G,S,E] k) => (float[B,H,L,E] y) {
    y = ai.onnx.preview.FlexAttention (q, k, k) <score_mod = s (float[] a) => (float[] a) { }, prob_mod = p (float[] c) => (float[] c) { }>
  })";
  auto program = CompileText(text);
  ASSERT_TRUE(program.ok()) << program.status();
  Execution execution(**program);
  const Value q = Floats({1, 2, 1, 1}, {0, 0});
  EXPECT_THAT(std::string(RunOn(execution, {q, Floats({1, 3, 1, 1}, {1, 2, 3})}).status().message()), HasSubstr("Q has shape [1,2,1,1]"));
  EXPECT_TRUE(RunOn(execution, {q, Floats({1, 1, 1, 1}, {1})}).ok());
}

}  // namespace
}  // namespace weft
