// MatMul, Gemm and weft.FusedMatMul on oneDNN against the reference kernels.
#include "graph/ops/matmul.h"

#include <limits>

#include "graph/ops/fused.h"
#include "onednn_case.h"

namespace weft {
namespace {

struct Shapes {
  Dims a, b;
};

std::vector<Value> Operands(const Shapes& s, uint64_t seed = 1) {
  RandomTensors random(seed);
  return {random(s.a), random(s.b)};
}

std::string Describe(const Shapes& s) { return absl::StrCat(DimsToString(s.a), " by ", DimsToString(s.b)); }

const Shapes kProducts[] = {
    {{1, 1}, {1, 1}},
    {{2, 3}, {3, 4}},
    {{1, 64}, {64, 100}},
    {{70, 33}, {33, 65}},
    {{5, 2, 3}, {3, 4}},                      // B for every batch of A
    {{2, 3}, {5, 3, 4}},                      // A for every batch of B
    {{5, 2, 3}, {5, 3, 4}},
    {{5, 2, 3}, {1, 3, 4}},
    {{1, 2, 3}, {5, 3, 4}},
    {{1, 2, 3}, {3, 4}},
    {{2, 3}, {1, 1, 3, 4}},                   // B has more axes, all 1
    {{2, 1, 4, 3}, {5, 3, 2}},                // both broadcast
    {{2, 1, 4, 3}, {1, 5, 3, 2}},
    {{2, 5, 4, 3}, {2, 5, 3, 2}},
    {{2, 1, 3, 4, 3}, {3, 1, 3, 2}},
    {{1, 2, 1, 2, 4, 3}, {2, 1, 3, 1, 3, 2}},  // rank 6
};

TEST(OnednnMatMul, AgreesOverTheGrid) {
  for (const Shapes& s : kProducts) {
    SCOPED_TRACE(Describe(s));
    for (uint32_t constants : {0b00, 0b10, 0b01}) ExpectAgrees({&ops::MatMul, NoAttrs(), Operands(s), constants});
  }
}

TEST(OnednnMatMul, VectorsAreRefusedOrAgree) {
  for (const Shapes& s : {Shapes{{3}, {3}}, Shapes{{3}, {3, 2}}, Shapes{{2, 3}, {3}}, Shapes{{4, 2, 3}, {3}}, Shapes{{3}, {4, 3, 2}}}) {
    SCOPED_TRACE(Describe(s));
    ExpectAgrees({&ops::MatMul, NoAttrs(), Operands(s), 0b10}, Expect::kEither);
  }
}

TEST(OnednnMatMul, EmptyTensors) {
  for (const Shapes& s : {Shapes{{0, 3}, {3, 4}}, Shapes{{2, 3}, {3, 0}}, Shapes{{0, 2, 3}, {3, 4}}, Shapes{{2, 0}, {0, 4}}, Shapes{{5, 2, 0}, {0, 4}}}) {
    SCOPED_TRACE(Describe(s));
    for (uint32_t constants : {0b00, 0b10}) ExpectAgrees({&ops::MatMul, NoAttrs(), Operands(s), constants}, Expect::kEither);
  }
}

TEST(OnednnMatMul, NonFiniteNumbersSpreadAlike) {
  for (float special : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    for (const Shapes& s : {kProducts[1], kProducts[3], kProducts[6]}) {
      std::vector<Value> inputs = Operands(s);
      inputs[0].tensor().data<float>()[1] = special;
      inputs[1].tensor().data<float>()[3] = 0;  // zero times infinity
      for (uint32_t constants : {0b00, 0b10}) ExpectAgrees({&ops::MatMul, NoAttrs(), inputs, constants});
    }
  }
}

TEST(OnednnMatMul, OtherElementTypesAreRefused) {
  for (DType dtype : {DType::kFloat16, DType::kBFloat16, DType::kFloat64, DType::kInt32}) {
    ExpectRefusal({&ops::MatMul, NoAttrs(), {*Tensor::Allocate(dtype, {2, 3}), *Tensor::Allocate(dtype, {3, 2})}}, std::string(DTypeName(dtype)));
  }
}

TEST(OnednnGemm, AgreesForEveryFormOfC) {
  for (bool transA : {false, true}) {
    for (bool transB : {false, true}) {
      for (float alpha : {1.0f, 0.5f, 0.0f}) {
        for (float beta : {1.0f, 0.0f, -2.0f}) {
          for (const Dims& c : {Dims{4, 5}, Dims{5}, Dims{1, 5}, Dims{4, 1}, Dims{1}, Dims{1, 1}, Dims{}, Dims{-1}}) {
            const bool has_c = c.empty() || c[0] >= 0;
            GemmAttrs attrs;
            attrs.alpha = alpha;
            attrs.beta = beta;
            attrs.transA = transA;
            attrs.transB = transB;
            RandomTensors random(3);
            std::vector<Value> inputs = {random(transA ? Dims{3, 4} : Dims{4, 3}), random(transB ? Dims{5, 3} : Dims{3, 5})};
            if (has_c) inputs.push_back(random(c));
            SCOPED_TRACE(absl::StrCat("transA ", transA, " transB ", transB, " alpha ", alpha, " beta ", beta, " C ", has_c ? DimsToString(c) : "none"));
            const bool other_beta = has_c && beta != 0 && beta != 1;
            for (uint32_t constants : {0b000, 0b010, 0b110}) {
              ExpectAgrees({&ops::Gemm, attrs, inputs, constants}, other_beta ? Expect::kEither : Expect::kTaken);
            }
          }
        }
      }
    }
  }
}

TEST(OnednnGemm, EmptyTensors) {
  GemmAttrs attrs;
  for (const Shapes& s : {Shapes{{0, 3}, {3, 5}}, Shapes{{4, 0}, {0, 5}}, Shapes{{4, 3}, {3, 0}}}) {
    SCOPED_TRACE(Describe(s));
    std::vector<Value> inputs = Operands(s);
    inputs.push_back(RandomTensors(5)({s.a[0], s.b[1]}));
    for (uint32_t constants : {0b000, 0b010}) ExpectAgrees({&ops::Gemm, attrs, inputs, constants}, Expect::kEither);
  }
}

TEST(OnednnFusedMatMul, BiasAndActivationBehindEveryProduct) {
  std::vector<std::string> activations = {""};
  for (std::string_view activation : kFusableActivations) activations.emplace_back(activation);
  for (const Shapes& s : kProducts) {
    for (const std::string& activation : activations) {
      SCOPED_TRACE(absl::StrCat(activation, " behind ", Describe(s)));
      FusedMatMulAttrs attrs;
      attrs.activation = activation;
      attrs.alpha = activation == "Clip" ? -0.5f : 0.2f;
      attrs.beta = 0.6f;
      for (bool bias : {false, true}) {
        std::vector<Value> inputs = Operands(s);
        if (bias) inputs.push_back(RandomTensors(9)({s.b.back()}));
        for (uint32_t constants : {0b000, 0b110}) ExpectAgrees({&ops::WeftFusedMatMul, attrs, inputs, constants});
      }
    }
  }
}

TEST(OnednnFusedMatMul, TransposedOperands) {
  for (const Shapes& s : kProducts) {
    for (int form = 1; form < 4; ++form) {
      FusedMatMulAttrs attrs;
      attrs.transA = (form & 1) != 0;
      attrs.transB = (form & 2) != 0;
      Shapes turned = s;
      if (attrs.transA) std::swap(turned.a[turned.a.size() - 1], turned.a[turned.a.size() - 2]);
      if (attrs.transB) std::swap(turned.b[turned.b.size() - 1], turned.b[turned.b.size() - 2]);
      SCOPED_TRACE(absl::StrCat(Describe(turned), " form ", form));
      std::vector<Value> inputs = Operands(turned);
      for (uint32_t constants : {0b00, 0b10}) ExpectAgrees({&ops::WeftFusedMatMul, attrs, inputs, constants});
      inputs.push_back(RandomTensors(9)({s.b.back()}));
      ExpectAgrees({&ops::WeftFusedMatMul, attrs, inputs, 0b110});
    }
  }
}

}  // namespace
}  // namespace weft
