#include "graph/ops/recurrent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infer_one.h"

namespace weft {
namespace {

using ::testing::HasSubstr;

TEST(Recurrent, SymbolicShapes) {
  LstmAttrs attrs;
  attrs.hidden_size = 5;
  attrs.direction = "bidirectional";
  EXPECT_EQ(InferOne(ops::LSTM, attrs, {F32({Sym("S"), Sym("B"), 3}), F32({2, 20, 3}), F32({2, 20, 5})}, 3),
            "float[S,2,B,5]; float[2,B,5]; float[2,B,5]");
  attrs.layout = true;
  EXPECT_EQ(InferOne(ops::LSTM, attrs, {F32({Sym("B"), Sym("S"), 3}), F32({2, 20, 3}), F32({2, 20, 5})}, 3),
            "float[B,S,2,5]; float[B,2,5]; float[B,2,5]");
}

TEST(Recurrent, HiddenSizeComesFromR) {
  EXPECT_EQ(InferOne(ops::GRU, GruAttrs(), {F32({7, 2, 3}), F32({1, 12, 3}), F32({1, 12, 4})}, 2), "float[7,1,2,4]; float[1,2,4]");
  EXPECT_EQ(InferOne(ops::RNN, RnnAttrs(), {F32({7, 2, 3}), F32({1, 4, 3}), F32({1, 4, 4})}, 2), "float[7,1,2,4]; float[1,2,4]");
}

TEST(Recurrent, Refusals) {
  const std::vector<TestInput> inputs = {F32({7, 2, 3}), F32({1, 16, 3}), F32({1, 16, 4})};
  LstmAttrs attrs;
  attrs.hidden_size = 5;
  EXPECT_THAT(InferOne(ops::LSTM, attrs, inputs), HasSubstr("input 1 (W) has shape [1,16,3], expected [1,20,3]"));
  attrs.hidden_size = -1;
  EXPECT_THAT(InferOne(ops::LSTM, attrs, inputs), HasSubstr("hidden_size is -1"));
  attrs.hidden_size.reset();
  attrs.direction = "sideways";
  EXPECT_THAT(InferOne(ops::LSTM, attrs, inputs), HasSubstr("direction is 'sideways'"));
  attrs.direction = "forward";
  attrs.activations = {"Sigmoid", "Tanh"};
  EXPECT_THAT(InferOne(ops::LSTM, attrs, inputs), HasSubstr("names 2 functions, expected 3"));
  attrs.activations = {"Sigmoid", "Tanh", "Cosh"};
  EXPECT_THAT(InferOne(ops::LSTM, attrs, inputs), HasSubstr("names 'Cosh'"));
}

TEST(Recurrent, AlphasAreConsumedInOrder) {
  RecurrentAttrs attrs;
  attrs.activations = {"HardSigmoid", "tanh", "LeakyRelu"};
  attrs.activation_alpha = {0.3f};
  attrs.activation_beta = {0.4f};
  const auto functions = ResolveActivations(attrs, kLstmActivations);
  ASSERT_TRUE(functions.ok());
  EXPECT_EQ((*functions)[0].alpha, 0.3f);
  EXPECT_EQ((*functions)[0].beta, 0.4f);
  EXPECT_EQ((*functions)[1].kind, ActivationKind::kTanh);
  EXPECT_EQ((*functions)[2].alpha, 0.01f);
}

}  // namespace
}  // namespace weft
