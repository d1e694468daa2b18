// The convolutions on oneDNN against the reference kernels.
#include <limits>

#include "absl/strings/str_join.h"
#include "base/float_types.h"
#include "graph/ops/conv.h"
#include "graph/ops/fused.h"
#include "onednn_case.h"

namespace weft {
namespace {

using Ints = std::vector<int64_t>;

struct Geometry {
  Ints spatial;  // of the input
  Ints kernel;
  Ints strides, dilations, pads;
  std::string auto_pad = "NOTSET";
};

struct Channels {
  int64_t in, out, group;
};

const Channels kChannels[] = {{3, 8, 1}, {1, 1, 1}, {16, 16, 1}, {6, 4, 2}, {8, 8, 8}, {4, 8, 4}, {17, 5, 1}, {32, 32, 4}};

const Geometry kGeometries[] = {
    {{9}, {3}, {}, {}, {}},
    {{12}, {4}, {3}, {2}, {2, 1}},
    {{8}, {2}, {2}, {}, {}, "SAME_UPPER"},
    {{7, 7}, {1, 1}, {}, {}, {}},
    {{7, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
    {{8, 10}, {3, 3}, {2, 2}, {}, {0, 0, 1, 1}},       // asymmetric
    {{11, 13}, {3, 2}, {2, 3}, {2, 1}, {3, 0, 1, 2}},  // everything differs by axis
    {{9, 9}, {3, 3}, {}, {3, 2}, {2, 2, 2, 2}},
    {{10, 10}, {3, 3}, {4, 4}, {}, {}},                // the last columns are not read
    {{7, 8}, {4, 3}, {2, 2}, {}, {}, "SAME_UPPER"},
    {{7, 8}, {4, 3}, {2, 2}, {}, {}, "SAME_LOWER"},
    {{7, 8}, {3, 3}, {2, 1}, {}, {}, "VALID"},
    {{3, 3}, {3, 3}, {}, {}, {4, 4, 4, 4}},            // windows of padding alone
    {{1, 1}, {3, 3}, {}, {}, {1, 1, 1, 1}},
    {{5, 5, 5}, {3, 3, 3}, {}, {}, {1, 1, 1, 1, 1, 1}},
    {{6, 5, 7}, {2, 3, 1}, {2, 1, 3}, {1, 2, 1}, {0, 2, 0, 1, 1, 2}},
    {{70}, {1}, {}, {}, {}},                           // matrix products
    {{9, 8}, {1, 1}, {}, {}, {}},
    {{4, 3, 6}, {1, 1, 1}, {}, {}, {}, "SAME_UPPER"},
    {{9, 8}, {1, 1}, {}, {}, {0, 1, 0, 0}},            // no such
    {{9, 8}, {1, 1}, {2, 1}, {}, {}},
    {{9, 1}, {3, 1}, {2, 1}, {}, {1, 0, 0, 0}},        // axes of size 1
    {{1, 9}, {1, 3}, {}, {1, 2}, {0, 1, 0, 1}},
    {{1, 1}, {1, 1}, {}, {}, {}},
    {{6, 1, 7}, {3, 1, 2}, {1, 1, 2}, {}, {1, 0, 0, 0, 0, 1}},
    {{1, 6}, {1, 3}, {5, 1}, {}, {1, 0, 0, 0}},        // the one window along the first axis is padding
};

constexpr int kProduct = 17;  // the geometry of a matrix product

std::string Describe(const Geometry& g, const Channels& c) {
  return absl::StrCat("[", absl::StrJoin(g.spatial, ","), "] kernel [", absl::StrJoin(g.kernel, ","), "] strides [", absl::StrJoin(g.strides, ","),
                      "] dilations [", absl::StrJoin(g.dilations, ","), "] pads [", absl::StrJoin(g.pads, ","), "] ", g.auto_pad, ", ", c.in, " to ",
                      c.out, " channels in ", c.group, " groups");
}

Dims DimsOf(int64_t n, int64_t c, const Ints& spatial) {
  Dims dims = {n, c};
  dims.insert(dims.end(), spatial.begin(), spatial.end());
  return dims;
}

// X, W and, where asked for, B of a convolution.
std::vector<Value> Operands(const Geometry& g, const Channels& c, bool bias, int64_t batch = 2) {
  RandomTensors random(g.spatial[0] * 1000 + c.in);
  std::vector<Value> inputs = {random(DimsOf(batch, c.in, g.spatial)), random(DimsOf(c.out, c.in / c.group, g.kernel))};
  if (bias) inputs.push_back(random({c.out}));
  return inputs;
}

FusedConvAttrs AttrsOf(const Geometry& g, const Channels& c) {
  FusedConvAttrs attrs;
  attrs.auto_pad = g.auto_pad;
  attrs.dilations = g.dilations;
  attrs.group = c.group;
  attrs.kernel_shape = g.kernel;
  attrs.pads = g.pads;
  attrs.strides = g.strides;
  return attrs;
}

TEST(OnednnConv, AgreesOverTheGrid) {
  for (const Geometry& g : kGeometries) {
    for (const Channels& c : kChannels) {
      SCOPED_TRACE(Describe(g, c));
      for (bool bias : {false, true}) ExpectAgrees({&ops::Conv, AttrsOf(g, c).conv(), Operands(g, c, bias), 0b110});
    }
  }
}

TEST(OnednnConv, TakesAWeightWhoseKernelShapeIsNotSaid) {
  const Geometry& g = kGeometries[5];
  ConvAttrs attrs = AttrsOf(g, kChannels[0]).conv();
  attrs.kernel_shape.clear();
  ExpectAgrees({&ops::Conv, attrs, Operands(g, kChannels[0], true), 0b110});
}

TEST(OnednnConv, ABiasMayComeWithTheRun) {
  ExpectAgrees({&ops::Conv, AttrsOf(kGeometries[4], kChannels[3]).conv(), Operands(kGeometries[4], kChannels[3], true), 0b010});
}

TEST(OnednnConv, FusedActivations) {
  for (std::string_view activation : kFusableActivations) {
    for (int g : {1, 4, 6, 15, kProduct}) {
      for (int c : {0, 3, 4, 5}) {
        SCOPED_TRACE(absl::StrCat(std::string(activation), " behind ", Describe(kGeometries[g], kChannels[c])));
        FusedConvAttrs attrs = AttrsOf(kGeometries[g], kChannels[c]);
        attrs.activation = std::string(activation);
        attrs.alpha = activation == "Clip" ? -0.5f : 0.2f;
        attrs.beta = 0.6f;
        for (bool bias : {false, true}) ExpectAgrees({&ops::WeftFusedConv, attrs, Operands(kGeometries[g], kChannels[c], bias), 0b110});
      }
    }
  }
}

// A NaN or infinity reaches what it reaches on the reference kernels; three activations may hide a NaN (kernels/onednn/primitive.h).
TEST(OnednnConv, NonFiniteNumbersSpreadAlike) {
  for (const std::string activation : {"", "Relu", "LeakyRelu", "Clip", "Sigmoid", "Tanh", "HardSigmoid", "HardSwish"}) {
    for (float special : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()}) {
      for (const auto& [geometry, c] : {std::pair(4, 0), {4, 4}, {kProduct, 0}, {kProduct, 7}}) {
        const Geometry& g = kGeometries[geometry];
        SCOPED_TRACE(absl::StrCat(activation, " of ", special, ", ", Describe(g, kChannels[c])));
        FusedConvAttrs attrs = AttrsOf(g, kChannels[c]);
        attrs.activation = activation;
        attrs.alpha = activation == "Clip" ? -0.5f : 0.2f;
        attrs.beta = 0.6f;
        std::vector<Value> inputs = Operands(g, kChannels[c], true);
        inputs[0].tensor().data<float>()[17] = special;
        const bool hides_nan = activation == "Relu" || activation == "Clip" || activation == "HardSigmoid";
        ExpectAgrees({&ops::WeftFusedConv, attrs, inputs, 0b110}, Expect::kTaken, 1e-5, hides_nan);
      }
    }
  }
}

TEST(OnednnConv, EmptyTensors) {
  const Geometry& g = kGeometries[4];
  ExpectAgrees({&ops::Conv, AttrsOf(g, kChannels[0]).conv(), Operands(g, kChannels[0], true, 0), 0b110});  // no images
  // No rows but padding: the bias alone.
  const Geometry rows = {{0, 4}, {1, 3}, {}, {}, {1, 1, 1, 1}};
  ExpectAgrees({&ops::Conv, AttrsOf(rows, kChannels[0]).conv(), Operands(rows, kChannels[0], true), 0b110}, Expect::kEither);
  // No output channels, no input channels.
  ExpectAgrees({&ops::Conv, AttrsOf(g, {3, 0, 1}).conv(), Operands(g, {3, 0, 1}, true), 0b110}, Expect::kEither);
  ExpectAgrees({&ops::Conv, AttrsOf(g, {0, 2, 1}).conv(), Operands(g, {0, 2, 1}, true), 0b110}, Expect::kEither);
}

TEST(OnednnConv, LargeEnoughForItsOtherAlgorithms) {
  const Geometry g = {{28, 30}, {3, 3}, {}, {}, {1, 1, 1, 1}};
  ExpectAgrees({&ops::Conv, AttrsOf(g, {64, 64, 1}).conv(), Operands(g, {64, 64, 1}, true, 1), 0b110});
  ExpectAgrees({&ops::Conv, AttrsOf(g, {64, 64, 64}).conv(), Operands(g, {64, 64, 64}, true, 1), 0b110});
}

TEST(OnednnConv, Refusals) {
  const std::vector<Value> inputs = Operands(kGeometries[4], kChannels[0], true);
  ExpectRefusal({&ops::Conv, AttrsOf(kGeometries[4], kChannels[0]).conv(), inputs, 0}, "no constant");
  for (DType dtype : {DType::kFloat16, DType::kBFloat16, DType::kFloat64}) {
    std::vector<Value> other;
    for (const Value& value : inputs) other.push_back(*Tensor::Allocate(dtype, value.tensor().dims()));
    ExpectRefusal({&ops::Conv, AttrsOf(kGeometries[4], kChannels[0]).conv(), other, 0b110}, std::string(DTypeName(dtype)));
  }
}

TEST(OnednnConvTranspose, AgreesOverTheGrid) {
  const Channels channels[] = {{3, 8, 1}, {1, 1, 1}, {16, 16, 1}, {6, 4, 2}, {8, 8, 8}, {4, 8, 4}, {32, 16, 1}, {64, 8, 2}};
  const Geometry geometries[] = {
      {{5}, {3}, {2}, {}, {}},
      {{4, 5}, {3, 3}, {}, {}, {1, 1, 1, 1}},
      {{4, 5}, {2, 2}, {2, 2}, {}, {}},
      {{4, 5}, {3, 4}, {3, 2}, {2, 1}, {1, 0, 2, 1}},
      {{4, 5}, {2, 2}, {3, 3}, {}, {}},  // gaps between the windows
      {{4, 5}, {3, 3}, {2, 2}, {}, {}, "SAME_UPPER"},
      {{4, 5}, {3, 3}, {2, 2}, {}, {}, "SAME_LOWER"},
      {{3, 4, 2}, {2, 3, 2}, {2, 1, 2}, {}, {0, 1, 0, 1, 0, 0}},
  };
  for (const Geometry& g : geometries) {
    for (const Channels& c : channels) {
      SCOPED_TRACE(Describe(g, c));
      for (bool padded : {false, true}) {
        if (padded && (g.auto_pad != "NOTSET" || g.strides.empty() || g.spatial.size() != 2)) continue;
        for (bool bias : {false, true}) {
          ConvTransposeAttrs attrs;
          attrs.auto_pad = g.auto_pad;
          attrs.dilations = g.dilations;
          attrs.group = c.group;
          attrs.kernel_shape = g.kernel;
          attrs.pads = g.pads;
          attrs.strides = g.strides;
          if (padded) attrs.output_padding = {1, 0};
          RandomTensors random(7);
          std::vector<Value> inputs = {random(DimsOf(2, c.in, g.spatial)), random(DimsOf(c.in, c.out / c.group, g.kernel))};
          if (bias) inputs.push_back(random({c.out}));
          ExpectAgrees({&ops::ConvTranspose, attrs, inputs, 0b110});
        }
      }
    }
  }
}

}  // namespace
}  // namespace weft
