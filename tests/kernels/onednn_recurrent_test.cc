// LSTM and GRU on oneDNN against the reference kernels.
#include "graph/ops/recurrent.h"

#include <limits>

#include "onednn_case.h"

namespace weft {
namespace {

struct Size {
  int64_t seq, batch, in, hidden;
};

constexpr Size kSizes[] = {{1, 1, 3, 5}, {1, 1, 96, 64}, {4, 1, 7, 16}, {3, 17, 16, 33}, {5, 3, 1, 1}, {9, 1, 128, 48}};
constexpr const char* kDirections[] = {"forward", "reverse", "bidirectional"};
constexpr uint32_t kWeights = 0b1110, kPeepholes = 1 << 7;

Tensor Scaled(Tensor t, float factor) {
  for (float& x : t.span<float>()) x *= factor;
  return t;
}

// X, W, R and as many of B, sequence_lens (left out), initial_h, initial_c, P as `inputs` says.
std::vector<Value> Operands(const Size& s, const std::string& direction, int64_t gates, int inputs) {
  RandomTensors random(7);
  const int64_t d = direction == "bidirectional" ? 2 : 1, width = gates * s.hidden;
  std::vector<Value> all = {random({s.seq, s.batch, s.in}),
                            Scaled(random({d, width, s.in}), 1 / std::sqrt(static_cast<float>(s.in))),
                            Scaled(random({d, width, s.hidden}), 1 / std::sqrt(static_cast<float>(s.hidden))),
                            random({d, 2 * width}),
                            Value(),
                            random({d, s.batch, s.hidden}),
                            random({d, s.batch, s.hidden}),
                            random({d, 3 * s.hidden})};
  all.resize(inputs);
  return all;
}

std::string Describe(const Size& s, const std::string& direction) {
  return absl::StrCat(direction, " seq ", s.seq, " batch ", s.batch, " in ", s.in, " hidden ", s.hidden);
}

TEST(OnednnLstm, AgreesOverTheGrid) {
  for (const Size& s : kSizes) {
    for (const char* direction : kDirections) {
      SCOPED_TRACE(Describe(s, direction));
      LstmAttrs attrs;
      attrs.direction = direction;
      for (int inputs : {3, 4, 6, 7, 8}) {
        for (uint32_t present : {0b001, 0b010, 0b100, 0b111}) {
          if (inputs != 7 && present != 0b111) continue;
          SCOPED_TRACE(absl::StrCat(inputs, " inputs, outputs ", present));
          ExpectAgrees({&ops::LSTM, attrs, Operands(s, direction, 4, inputs), kWeights | kPeepholes, 3, present});
        }
      }
    }
  }
}

TEST(OnednnLstm, InitialCellStateAlone) {
  std::vector<Value> inputs = Operands(kSizes[3], "forward", 4, 7);
  inputs[5] = Value();
  ExpectAgrees({&ops::LSTM, LstmAttrs(), inputs, kWeights, 3});
}

TEST(OnednnGru, AgreesOverTheGrid) {
  for (const Size& s : kSizes) {
    for (const char* direction : kDirections) {
      SCOPED_TRACE(Describe(s, direction));
      for (bool linear : {false, true}) {
        GruAttrs attrs;
        attrs.direction = direction;
        attrs.linear_before_reset = linear;
        for (int inputs : {3, 4, 6}) {
          for (uint32_t present : {0b01, 0b10, 0b11}) {
            if (inputs != 6 && present != 0b11) continue;
            SCOPED_TRACE(absl::StrCat(inputs, " inputs, outputs ", present, " linear_before_reset ", linear));
            ExpectAgrees({&ops::GRU, attrs, Operands(s, direction, 3, inputs), kWeights, 2, present});
          }
        }
      }
    }
  }
}

TEST(OnednnRecurrent, SpecialNumbersInX) {
  const float inf = std::numeric_limits<float>::infinity();
  for (float special : {std::numeric_limits<float>::quiet_NaN(), inf, -inf, 1e30f, -1e30f, 1e-40f, -0.0f}) {
    SCOPED_TRACE(special);
    for (const Size& s : {kSizes[3], kSizes[5]}) {
      std::vector<Value> lstm = Operands(s, "forward", 4, 7), gru = Operands(s, "forward", 3, 6);
      for (std::vector<Value>* inputs : {&lstm, &gru}) (*inputs)[0].tensor().data<float>()[s.in] = special;
      ExpectAgrees({&ops::LSTM, LstmAttrs(), lstm, kWeights, 3});
      for (bool linear : {false, true}) {
        GruAttrs attrs;
        attrs.linear_before_reset = linear;
        ExpectAgrees({&ops::GRU, attrs, gru, kWeights, 2});
      }
    }
  }
}

TEST(OnednnRecurrent, SequenceLensOfTheWholeLengthAreTaken) {
  for (int32_t last : {4, 3}) {
    std::vector<Value> inputs = Operands({4, 2, 3, 5}, "reverse", 4, 6);
    inputs[4] = Tensor::Of<int32_t>({2}, {4, last});
    LstmAttrs attrs;
    attrs.direction = "reverse";
    const OnednnCase c = {&ops::LSTM, attrs, inputs, kWeights | 1 << 4, 3};
    if (last == 4) ExpectAgrees(c);
    else ExpectRefusal(c, "sequence_lens[1]");
    ExpectRefusal({&ops::LSTM, attrs, inputs, kWeights, 3}, "sequence_lens is no constant");
  }
}

TEST(OnednnRecurrent, WhatOnednnCannotDoIsRefused) {
  const std::vector<Value> inputs = Operands({4, 2, 3, 5}, "forward", 4, 4);
  LstmAttrs attrs;
  attrs.clip = 3;
  ExpectRefusal({&ops::LSTM, attrs, inputs, kWeights}, "clipped");
  attrs = {};
  attrs.input_forget = true;
  ExpectRefusal({&ops::LSTM, attrs, inputs, kWeights}, "input_forget");
  attrs = {};
  attrs.layout = true;
  ExpectRefusal({&ops::LSTM, attrs, inputs, kWeights}, "layout");
  attrs = {};
  attrs.activations = {"Sigmoid", "Tanh", "Relu"};
  ExpectRefusal({&ops::LSTM, attrs, inputs, kWeights}, "activations");
  ExpectRefusal({&ops::LSTM, LstmAttrs(), inputs, 0b1010}, "input 2 is no constant");
  ExpectRefusal({&ops::LSTM, LstmAttrs(), Operands({0, 2, 3, 5}, "forward", 4, 4), kWeights}, "X is empty");
}

}  // namespace
}  // namespace weft
