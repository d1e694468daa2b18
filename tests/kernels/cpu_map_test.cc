// Exp, Erf and Gelu of src/kernels/cpu: how far they are from the true value, special numbers, and the same bits from every instruction set.
#include <bit>
#include <cmath>
#include <limits>

#include "cpu_case.h"
#include "graph/ops/gelu.h"
#include "graph/ops/unary.h"

namespace weft {
namespace {

// A sample of all floats, by their bits, special numbers among them.
Tensor Floats() {
  constexpr uint32_t kStep = 8191;
  std::vector<float> all = {0.0f, -0.0f, 1.0f, -1.0f, 88.0f, 88.72283f, 88.72284f, 89.0f, -87.33654f, -87.4f, -103.9f, -103.98f, -104.0f, 3.9f, 4.0f};
  for (float x : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::max(),
                  std::numeric_limits<float>::min(), std::numeric_limits<float>::denorm_min()}) {
    all.insert(all.end(), {x, -x});
  }
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += kStep) all.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  return Tensor::Of<float>({static_cast<int64_t>(all.size())}, all);
}

// The distance of `found` from `exact` in units of the last place of a float there.
double Ulps(float found, double exact) {
  const auto nearest = static_cast<float>(exact);
  if (std::isnan(exact) || std::isinf(nearest)) return std::isnan(exact) == std::isnan(found) && (std::isnan(exact) || found == nearest) ? 0 : 1e30;
  const int exponent = std::max(std::ilogb(std::abs(exact) > 0 ? exact : 1e-300), -126);
  return std::abs(found - exact) / std::ldexp(1.0, exponent - 23);
}

template <class Exact>
void ExpectWithin(const Op& op, double ulps, Exact exact) {
  const Tensor x = Floats();
  Tensor first;
  ForEachInstructionSet([&] {
    auto y = RunOnCpuKernel(op, op.attrs == nullptr ? Attrs(NoAttrs()) : Attrs(op.attrs), {Value(x)});
    ASSERT_TRUE(y.ok()) << y.status();
    if (first.empty_handle()) first = *y;
    EXPECT_TRUE(BitwiseEqual(*y, first)) << "other bits than the baseline";
    const float* found = y->template data<float>();
    double worst = 0;
    float at = 0;
    for (int64_t i = 0; i < x.size(); ++i) {
      const double off = Ulps(found[i], exact(static_cast<double>(x.data<float>()[i])));
      if (off > worst) {
        worst = off;
        at = x.data<float>()[i];
      }
    }
    EXPECT_LE(worst, ulps) << "at " << at;
  });
}

TEST(CpuMap, ExpIsWithinAnUlp) {
  ExpectWithin(ops::Exp, 1, [](double x) { return std::exp(x); });
}

TEST(CpuMap, ErfIsWithinTwoUlps) {
  ExpectWithin(ops::Erf, 2, [](double x) { return std::erf(x); });
  auto zero = RunOnCpuKernel(ops::Erf, NoAttrs(), {Value(Tensor::Of<float>({1}, {-0.0f}))});
  ASSERT_TRUE(zero.ok()) << zero.status();
  EXPECT_TRUE(std::signbit(zero->data<float>()[0]));
}

TEST(CpuMap, GeluAgreesWithTheReference) {
  const Tensor x = Floats();
  for (const Op* op : {&ops::Gelu, &ops::MsGelu}) {
    const Attrs attrs = op->attrs == nullptr ? Attrs(NoAttrs()) : Attrs(op->attrs);
    auto expected = Evaluate(*op, attrs, {Value(x)});
    ASSERT_TRUE(expected.ok()) << expected.status();
    ForEachInstructionSet([&] {
      auto y = RunOnCpuKernel(*op, attrs, {Value(x)});
      ASSERT_TRUE(y.ok()) << y.status();
      for (int64_t i = 0; i < x.size(); ++i) {
        const float a = y->data<float>()[i], b = (*expected)[0].tensor().data<float>()[i];
        if (a == b || (std::isnan(a) && std::isnan(b))) continue;
        ASSERT_LE(std::abs(a - b), 1e-6f * std::max(1.0f, std::abs(b))) << "at " << x.data<float>()[i];
      }
    });
  }
}

TEST(CpuMap, Refusals) {
  EXPECT_TRUE(absl::IsUnimplemented(RunOnCpuKernel(ops::Exp, NoAttrs(), {Value(*Tensor::Allocate(DType::kFloat64, {2}))}).status()));
  GeluAttrs tanh;
  tanh.approximate = "tanh";
  EXPECT_TRUE(absl::IsUnimplemented(RunOnCpuKernel(ops::Gelu, tanh, {Value(*Tensor::Allocate(DType::kFloat32, {2}))}).status()));
}

}  // namespace
}  // namespace weft
