// The pools, activations and softmaxes on oneDNN against the reference kernels.
#include "graph/ops/pool.h"

#include <limits>

#include "absl/strings/str_join.h"
#include "graph/ops/reduce.h"
#include "graph/ops/unary.h"
#include "onednn_case.h"

namespace weft {
namespace {

using Ints = std::vector<int64_t>;
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

struct Geometry {
  Dims x;
  Ints kernel, strides, dilations, pads;
  std::string auto_pad = "NOTSET";
};

const Geometry kGeometries[] = {
    {{2, 3, 9}, {3}, {2}, {}, {}},
    {{2, 3, 10}, {3}, {3}, {2}, {1, 1}},
    {{1, 5, 8, 9}, {2, 2}, {2, 2}, {}, {}},
    {{1, 16, 8, 9}, {3, 3}, {2, 2}, {}, {1, 1, 1, 1}},
    {{2, 3, 8, 9}, {3, 2}, {1, 3}, {}, {2, 0, 1, 1}},  // asymmetric
    {{2, 3, 8, 9}, {3, 3}, {2, 2}, {2, 1}, {}},
    {{2, 3, 8, 9}, {3, 3}, {2, 2}, {1, 2}, {1, 1, 1, 1}},
    {{2, 3, 7, 8}, {3, 3}, {2, 2}, {}, {}, "SAME_UPPER"},
    {{2, 3, 7, 8}, {4, 3}, {2, 2}, {}, {}, "SAME_LOWER"},
    {{2, 3, 7, 8}, {3, 3}, {2, 1}, {}, {}, "VALID"},
    {{1, 1, 1, 1}, {1, 1}, {}, {}, {}},
    {{2, 4, 5, 6, 7}, {2, 3, 2}, {2, 2, 2}, {}, {1, 1, 0, 0, 1, 1}},
    {{1, 2, 6, 6}, {5, 5}, {4, 4}, {}, {2, 2, 2, 2}},
};

std::string Describe(const Geometry& g) {
  return absl::StrCat(DimsToString(g.x), " kernel [", absl::StrJoin(g.kernel, ","), "] strides [", absl::StrJoin(g.strides, ","), "] dilations [",
                      absl::StrJoin(g.dilations, ","), "] pads [", absl::StrJoin(g.pads, ","), "] ", g.auto_pad);
}

template <class A>
A AttrsOf(const Geometry& g, bool ceil_mode = false) {
  A attrs;
  attrs.auto_pad = g.auto_pad;
  attrs.ceil_mode = ceil_mode;
  attrs.dilations = g.dilations;
  attrs.kernel_shape = g.kernel;
  attrs.pads = g.pads;
  attrs.strides = g.strides;
  return attrs;
}

TEST(OnednnPool, MaximaOverTheGrid) {
  for (const Geometry& g : kGeometries) {
    for (bool ceil_mode : {false, true}) {
      SCOPED_TRACE(absl::StrCat(Describe(g), " ceil_mode ", ceil_mode));
      ExpectAgrees({&ops::MaxPool, AttrsOf<MaxPoolAttrs>(g, ceil_mode), {RandomTensors(1)(g.x)}}, Expect::kTaken, 0);
    }
  }
}

TEST(OnednnPool, MeansOverTheGrid) {
  for (const Geometry& g : kGeometries) {
    for (bool ceil_mode : {false, true}) {
      for (bool count_include_pad : {false, true}) {
        SCOPED_TRACE(absl::StrCat(Describe(g), " ceil_mode ", ceil_mode, " count_include_pad ", count_include_pad));
        AveragePoolAttrs attrs = AttrsOf<AveragePoolAttrs>(g, ceil_mode);
        attrs.count_include_pad = count_include_pad;
        ExpectAgrees({&ops::AveragePool, attrs, {RandomTensors(1)(g.x)}}, ceil_mode && count_include_pad ? Expect::kEither : Expect::kTaken);
      }
    }
  }
}

TEST(OnednnPool, GlobalMeans) {
  for (const Dims& x : {Dims{2, 3, 9}, Dims{1, 16, 7, 7}, Dims{1, 5, 33, 40}, Dims{2, 3, 4, 5, 6}, Dims{1, 1, 1, 1}}) {
    SCOPED_TRACE(DimsToString(x));
    ExpectAgrees({&ops::GlobalAveragePool, NoAttrs(), {RandomTensors(1)(x)}});
  }
}

TEST(OnednnPool, NonFiniteNumbersSpreadAlike) {
  for (float special : {kNaN, kInf, -kInf, std::numeric_limits<float>::lowest()}) {
    for (const Geometry& g : {kGeometries[2], kGeometries[3], kGeometries[6]}) {
      SCOPED_TRACE(absl::StrCat(special, " in ", Describe(g)));
      for (bool all : {false, true}) {
        Tensor x = RandomTensors(1)(g.x);
        for (int64_t i = 0; i < x.size(); ++i) {
          if (all || i % 5 == 3) x.data<float>()[i] = special;
        }
        // Beside numbers a NaN may be passed over.
        ExpectAgrees({&ops::MaxPool, AttrsOf<MaxPoolAttrs>(g), {x}}, Expect::kTaken, 0, !all);
        if (std::abs(special) == std::numeric_limits<float>::max()) continue;  // sums of it overflow
        ExpectAgrees({&ops::AveragePool, AttrsOf<AveragePoolAttrs>(g), {x}});
      }
    }
  }
}

TEST(OnednnPool, EmptyTensors) {
  Geometry g = kGeometries[3];
  g.x = {0, 3, 8, 9};
  ExpectAgrees({&ops::MaxPool, AttrsOf<MaxPoolAttrs>(g), {RandomTensors(1)(g.x)}});
  ExpectAgrees({&ops::AveragePool, AttrsOf<AveragePoolAttrs>(g), {RandomTensors(1)(g.x)}});
  g.x = {2, 0, 8, 9};
  ExpectAgrees({&ops::MaxPool, AttrsOf<MaxPoolAttrs>(g), {RandomTensors(1)(g.x)}});
  ExpectAgrees({&ops::GlobalAveragePool, NoAttrs(), {RandomTensors(1)(g.x)}});
  ExpectAgrees({&ops::GlobalAveragePool, NoAttrs(), {RandomTensors(1)({2, 3, 0, 4})}}, Expect::kEither);
}

TEST(OnednnPool, Refusals) {
  const Geometry& g = kGeometries[2];
  ExpectRefusal({&ops::MaxPool, AttrsOf<MaxPoolAttrs>(g), {RandomTensors(1)(g.x)}, 0, 2}, "indices");
  for (DType dtype : {DType::kFloat16, DType::kBFloat16, DType::kFloat64}) {
    const Tensor x = *Tensor::Allocate(dtype, g.x);
    ExpectRefusal({&ops::AveragePool, AttrsOf<AveragePoolAttrs>(g), {x}}, std::string(DTypeName(dtype)));
    ExpectRefusal({&ops::MaxPool, AttrsOf<MaxPoolAttrs>(g), {x}}, std::string(DTypeName(dtype)));
    ExpectRefusal({&ops::GlobalAveragePool, NoAttrs(), {x}}, std::string(DTypeName(dtype)));
    ExpectRefusal({&ops::Tanh, NoAttrs(), {x}}, std::string(DTypeName(dtype)));
    ExpectRefusal({&ops::Softmax, SoftmaxAttrs(), {x}}, std::string(DTypeName(dtype)));
  }
}

// From the smallest numbers to those whose exponentials overflow, and what is no number.
Tensor Ladder(int64_t size) {
  const float special[] = {0.0f, -0.0f, 1e-40f, -1e-40f, 1e-20f, -1e-7f, 1e-4f, 0.1f, -1.5f, 5.0f, -9.0f, 20.0f, -40.0f, 88.0f, -88.0f, 100.0f, -104.0f,
                           1e10f, -1e10f, std::numeric_limits<float>::max(), std::numeric_limits<float>::lowest(), kInf, -kInf, kNaN};
  Tensor x = *Tensor::Allocate(DType::kFloat32, {size});
  for (int64_t i = 0; i < size; ++i) x.data<float>()[i] = special[i % std::size(special)] * (1 + static_cast<float>(i / std::size(special)) / 16);
  return x;
}

TEST(OnednnEltwise, AgreesOnEveryKindOfNumber) {
  for (int64_t size : {1, 7, 24, 250}) {
    SCOPED_TRACE(size);
    const Tensor x = Ladder(size);
    ExpectAgrees({&ops::Sigmoid, NoAttrs(), {x}});
    ExpectAgrees({&ops::Tanh, NoAttrs(), {x}});
    // Elu's large results are compared to each other; small ones by themselves.
    Tensor small = *x.Clone();
    for (float& v : small.span<float>()) v = v > 1 ? 1 : v;
    for (float alpha : {1.0f, 0.25f}) {
      AlphaOneAttrs attrs;
      attrs.alpha = alpha;
      ExpectAgrees({&ops::Elu, attrs, {x}});
      ExpectAgrees({&ops::Elu, attrs, {small}});
    }
  }
}

TEST(OnednnEltwise, EmptyAndHigherRanks) {
  for (const Dims& dims : {Dims{0}, Dims{2, 0, 3}, Dims{2, 3, 4, 5, 6, 7}}) {
    ExpectAgrees({&ops::Sigmoid, NoAttrs(), {RandomTensors(1)(dims)}});
    ExpectAgrees({&ops::Softmax, SoftmaxAttrs(), {RandomTensors(1)(dims)}});
  }
  ExpectRefusal({&ops::Sigmoid, NoAttrs(), {Tensor::Scalar<float>(1)}}, "scalar");
}

TEST(OnednnSoftmax, EveryAxis) {
  for (const Dims& dims : {Dims{1}, Dims{9}, Dims{3, 33}, Dims{2, 1, 5}, Dims{4, 3, 17, 2}}) {
    for (int axis = -static_cast<int>(dims.size()); axis < static_cast<int>(dims.size()); ++axis) {
      SCOPED_TRACE(absl::StrCat(DimsToString(dims), " axis ", axis));
      SoftmaxAttrs attrs;
      attrs.axis = axis;
      ExpectAgrees({&ops::Softmax, attrs, {RandomTensors(1)(dims)}});
      ExpectAgrees({&ops::LogSoftmax, attrs, {RandomTensors(1)(dims)}});
    }
  }
}

TEST(OnednnSoftmax, ExtremeRows) {
  // By row: far apart, all large, all very negative, equal, masked by -inf, masked but one, all masked, with NaN, with inf.
  const Tensor x = Tensor::Of<float>({9, 4}, {1000, 0, -1000, 5,  3e38f, 3e38f, 1e38f, 0,   -3e38f, -3e38f, -1e38f, -3e38f, 2,    2,   2,    2,   -kInf, 1,
                                              2,    3, -kInf, -kInf, -kInf, 7, -kInf, -kInf, -kInf, -kInf,  1,      kNaN,   2,      3,    kInf, 1, 2,     3});
  for (int64_t axis : {1, 0}) {
    SoftmaxAttrs attrs;
    attrs.axis = axis;
    ExpectAgrees({&ops::Softmax, attrs, {x}});
    ExpectAgrees({&ops::LogSoftmax, attrs, {x}});
  }
}

}  // namespace
}  // namespace weft
