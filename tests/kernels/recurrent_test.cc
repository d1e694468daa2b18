#include "graph/ops/recurrent.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/evaluate.h"

namespace weft {
namespace {

void ExpectNear(const Value& value, const std::vector<float>& want) {
  ASSERT_EQ(value.tensor().size(), static_cast<int64_t>(want.size()));
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(value.tensor().data<float>()[i], want[i], 1e-6f) << i;
}

// One unit with weight 1, recurrent weight 1, Relu: h is the running sum.
RnnAttrs RunningSum(std::string direction) {
  RnnAttrs attrs;
  attrs.activations = {"Relu", "Relu"};
  attrs.direction = std::move(direction);
  return attrs;
}

TEST(Rnn, EachSequenceEndsWhereItsLengthSays) {
  const Value x = Tensor::Of<float>({3, 2, 1}, {1, 10, 2, 20, 3, 30});
  const Value one = Tensor::Of<float>({1, 1, 1}, {1});
  const Value lens = Tensor::Of<int32_t>({2}, {3, 2});
  auto forward = Evaluate(ops::RNN, RunningSum("forward"), {x, one, one, Value(), lens}, 2);
  ASSERT_TRUE(forward.ok()) << forward.status();
  ExpectNear((*forward)[0], {1, 10, 3, 30, 6, 0});
  ExpectNear((*forward)[1], {6, 30});
  auto reverse = Evaluate(ops::RNN, RunningSum("reverse"), {x, one, one, Value(), lens}, 2);
  ASSERT_TRUE(reverse.ok()) << reverse.status();
  ExpectNear((*reverse)[0], {6, 30, 5, 20, 3, 0});
  ExpectNear((*reverse)[1], {6, 30});
}

TEST(Rnn, EmptySequencesKeepTheInitialState) {
  const Value one = Tensor::Of<float>({1, 1, 1}, {1});
  auto out = Evaluate(ops::RNN, RunningSum("forward"),
                      {Tensor::Of<float>({1, 2, 1}, {1, 10}), one, one, Value(), Tensor::Of<int32_t>({2}, {0, 1}), Tensor::Of<float>({1, 2, 1}, {5, 6})}, 2);
  ASSERT_TRUE(out.ok()) << out.status();
  ExpectNear((*out)[0], {0, 16});
  ExpectNear((*out)[1], {5, 16});
}

TEST(Rnn, LengthBeyondTheTimeAxisIsRefused) {
  const Value one = Tensor::Of<float>({1, 1, 1}, {1});
  for (int32_t len : {-1, 2}) {
    auto out = Evaluate(ops::RNN, RunningSum("forward"), {Tensor::Of<float>({1, 1, 1}, {1}), one, one, Value(), Tensor::Of<int32_t>({1}, {len})}, 1);
    EXPECT_EQ(out.status().code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST(Lstm, OneStepByHand) {
  // Gates i, o, f, c with x weights 1, 2, 3, 4 and peepholes 0.1, 0.2, 0.3.
  const float x = 0.5f, h0 = 0.25f, c0 = -1.0f;
  auto sigmoid = [](float v) { return 1 / (1 + std::exp(-v)); };
  const float i = sigmoid(x + h0 + 0.1f * c0), f = sigmoid(3 * x + h0 + 0.3f * c0), g = std::tanh(4 * x + h0);
  for (bool coupled : {false, true}) {
    LstmAttrs attrs;
    attrs.input_forget = coupled;
    const float c = (coupled ? 1 - i : f) * c0 + i * g, o = sigmoid(2 * x + h0 + 0.2f * c);
    auto out = Evaluate(ops::LSTM, attrs,
                        {Tensor::Of<float>({1, 1, 1}, {x}), Tensor::Of<float>({1, 4, 1}, {1, 2, 3, 4}), Tensor::Of<float>({1, 4, 1}, {1, 1, 1, 1}),
                         Value(), Value(), Tensor::Of<float>({1, 1, 1}, {h0}), Tensor::Of<float>({1, 1, 1}, {c0}),
                         Tensor::Of<float>({1, 3}, {0.1f, 0.2f, 0.3f})}, 3);
    ASSERT_TRUE(out.ok()) << out.status();
    ExpectNear((*out)[0], {o * std::tanh(c)});
    ExpectNear((*out)[2], {c});
  }
}

TEST(Gru, ResetBeforeAndAfterTheProduct) {
  // Two units; the update gate is held at 0.5 and the reset gate differs between units.
  const Value x = Tensor::Of<double>({1, 1, 1}, {1.0});
  const Value w = Tensor::Of<double>({1, 6, 1}, {0, 0, 0, 1, 0.5, -0.5});
  const Value r = Tensor::Of<double>({1, 6, 2}, {0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4});
  const Value b = Tensor::Of<double>({1, 12}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.1, 0.2});
  const Value h = Tensor::Of<double>({1, 1, 2}, {0.2, 0.4});
  const double r0 = 0.5, r1 = 1 / (1 + std::exp(-1.0));
  for (bool linear : {false, true}) {
    GruAttrs attrs;
    attrs.linear_before_reset = linear;
    auto out = Evaluate(ops::GRU, attrs, {x, w, r, b, Value(), h}, 2);
    ASSERT_TRUE(out.ok()) << out.status();
    const double a0 = linear ? 0.5 + r0 * (0.2 + 0.8 + 0.1) : 0.5 + (r0 * 0.2 + 2 * r1 * 0.4) + 0.1;
    const double a1 = linear ? -0.5 + r1 * (0.6 + 1.6 + 0.2) : -0.5 + (3 * r0 * 0.2 + 4 * r1 * 0.4) + 0.2;
    EXPECT_NEAR((*out)[1].tensor().data<double>()[0], 0.5 * std::tanh(a0) + 0.1, 1e-12);
    EXPECT_NEAR((*out)[1].tensor().data<double>()[1], 0.5 * std::tanh(a1) + 0.2, 1e-12);
  }
}

}  // namespace
}  // namespace weft
