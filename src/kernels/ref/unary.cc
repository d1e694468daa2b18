// Ops on one tensor, element by element.
#include "graph/ops/unary.h"

#include <cmath>
#include <numbers>

#include "kernels/kernel.h"
#include "kernels/ref/dispatch.h"

namespace weft {
namespace {

// Each Fn is a struct with `template <class C> C operator()(C x) const`, built from the node's attributes.
struct Plain {
  explicit Plain(const RunContext&) {}
};

template <class C>
C SigmoidOf(C x) {
  // Without overflow on either side.
  if (x >= 0) return 1 / (1 + std::exp(-x));
  const C e = std::exp(x);
  return e / (1 + e);
}
template <class C>
C SoftplusOf(C x) {
  return std::max(x, C(0)) + std::log1p(std::exp(-std::abs(x)));
}

#define WEFT_PLAIN(Name, expr)     \
  struct Name : Plain {            \
    using Plain::Plain;            \
    template <class C>             \
    C operator()(C x) const {      \
      return expr;                 \
    }                              \
  }

WEFT_PLAIN(CeilFn, std::ceil(x));
WEFT_PLAIN(FloorFn, std::floor(x));
WEFT_PLAIN(RoundFn, std::nearbyint(x));  // ties to even, as the default rounding mode has it
WEFT_PLAIN(SqrtFn, std::sqrt(x));
WEFT_PLAIN(ReciprocalFn, 1 / x);
WEFT_PLAIN(ExpFn, std::exp(x));
WEFT_PLAIN(LogFn, std::log(x));
WEFT_PLAIN(SinFn, std::sin(x));
WEFT_PLAIN(CosFn, std::cos(x));
WEFT_PLAIN(TanFn, std::tan(x));
WEFT_PLAIN(AsinFn, std::asin(x));
WEFT_PLAIN(AcosFn, std::acos(x));
WEFT_PLAIN(AtanFn, std::atan(x));
WEFT_PLAIN(SinhFn, std::sinh(x));
WEFT_PLAIN(CoshFn, std::cosh(x));
WEFT_PLAIN(TanhFn, std::tanh(x));
WEFT_PLAIN(AsinhFn, std::asinh(x));
WEFT_PLAIN(AcoshFn, std::acosh(x));
WEFT_PLAIN(AtanhFn, std::atanh(x));
WEFT_PLAIN(SigmoidFn, SigmoidOf(x));
WEFT_PLAIN(HardSwishFn, x * std::clamp(x / 6 + C(0.5), C(0), C(1)));
WEFT_PLAIN(MishFn, x * std::tanh(SoftplusOf(x)));
WEFT_PLAIN(SoftplusFn, SoftplusOf(x));
WEFT_PLAIN(SoftsignFn, x / (1 + std::abs(x)));

struct LeakyReluFn {
  float alpha;
  explicit LeakyReluFn(const RunContext& ctx) : alpha(ctx.attrs<LeakyReluAttrs>().alpha) {}
  template <class C>
  C operator()(C x) const {
    return x < 0 ? C(alpha) * x : x;
  }
};
struct ThresholdedReluFn {
  float alpha;
  explicit ThresholdedReluFn(const RunContext& ctx) : alpha(ctx.attrs<AlphaOneAttrs>().alpha) {}
  template <class C>
  C operator()(C x) const {
    return x > C(alpha) || std::isnan(x) ? x : C(0);
  }
};
struct EluFn {
  float alpha;
  explicit EluFn(const RunContext& ctx) : alpha(ctx.attrs<AlphaOneAttrs>().alpha) {}
  template <class C>
  C operator()(C x) const {
    return x < 0 ? C(alpha) * std::expm1(x) : x;
  }
};
struct CeluFn {
  float alpha;
  explicit CeluFn(const RunContext& ctx) : alpha(ctx.attrs<AlphaOneAttrs>().alpha) {}
  template <class C>
  C operator()(C x) const {
    return x < 0 ? C(alpha) * std::expm1(x / C(alpha)) : x;
  }
};
struct SeluFn {
  float alpha, gamma;
  explicit SeluFn(const RunContext& ctx) : alpha(ctx.attrs<SeluAttrs>().alpha), gamma(ctx.attrs<SeluAttrs>().gamma) {}
  template <class C>
  C operator()(C x) const {
    return C(gamma) * (x < 0 ? C(alpha) * std::expm1(x) : x);
  }
};
struct HardSigmoidFn {
  float alpha, beta;
  explicit HardSigmoidFn(const RunContext& ctx)
      : alpha(ctx.attrs<HardSigmoidAttrs>().alpha), beta(ctx.attrs<HardSigmoidAttrs>().beta) {}
  template <class C>
  C operator()(C x) const {
    return std::clamp(C(alpha) * x + C(beta), C(0), C(1));
  }
};
struct SwishFn {
  float alpha;
  explicit SwishFn(const RunContext& ctx) : alpha(ctx.attrs<AlphaOneAttrs>().alpha) {}
  template <class C>
  C operator()(C x) const {
    return x * SigmoidOf(C(alpha) * x);
  }
};
struct GeluFn {
  bool tanh;
  explicit GeluFn(const RunContext& ctx) : tanh(ctx.attrs<GeluAttrs>().approximate == "tanh") {}
  template <class C>
  C operator()(C x) const {
    if (!tanh) return C(0.5) * x * (1 + std::erf(x / std::numbers::sqrt2_v<C>));
    const C inner = std::sqrt(2 * std::numbers::inv_pi_v<C>) * (x + C(0.044715) * x * x * x);
    return C(0.5) * x * (1 + std::tanh(inner));
  }
};

template <class Fn, int64_t kCost>
absl::Status RunFloat(RunContext& ctx) {
  const Fn fn(ctx);
  return DispatchFloat(ctx.input(0).dtype(), [&]<class T>() {
    MapElements<T, T>(ctx.input(0), ctx.output(0), kCost, [&](T x) { return T(fn(static_cast<Compute<T>>(x))); });
    return absl::OkStatus();
  });
}

// Numbers of every type; unsigned arithmetic where a signed one would overflow.
template <class T, class Fn>
void MapNumeric(RunContext& ctx, Fn fn) {
  MapElements<T, T>(ctx.input(0), ctx.output(0), 1, [&](T x) { return T(fn(static_cast<Compute<T>>(x))); });
}

template <class T>
T NegatedInteger(T x) {
  return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(x));
}

absl::Status RunAbs(RunContext& ctx) {
  return DispatchNumeric(ctx.input(0).dtype(), [&]<class T>() {
    MapNumeric<T>(ctx, []<class C>(C x) -> C {
      if constexpr (std::is_floating_point_v<C>) return std::abs(x);
      else return x < 0 ? NegatedInteger(x) : x;
    });
    return absl::OkStatus();
  });
}

absl::Status RunNeg(RunContext& ctx) {
  return DispatchNumeric(ctx.input(0).dtype(), [&]<class T>() {
    MapNumeric<T>(ctx, []<class C>(C x) -> C {
      if constexpr (std::is_floating_point_v<C>) return -x;
      else return NegatedInteger(x);
    });
    return absl::OkStatus();
  });
}

absl::Status RunSign(RunContext& ctx) {
  return DispatchNumeric(ctx.input(0).dtype(), [&]<class T>() {
    MapNumeric<T>(ctx, []<class C>(C x) -> C { return x > 0 ? C(1) : x < 0 ? C(-1) : x; });  // NaN and -0 stay
    return absl::OkStatus();
  });
}

// NaN passes: a comparison with it is false.
absl::Status RunRelu(RunContext& ctx) {
  return DispatchNumeric(ctx.input(0).dtype(), [&]<class T>() {
    MapNumeric<T>(ctx, []<class C>(C x) -> C { return x < 0 ? C(0) : x; });
    return absl::OkStatus();
  });
}

absl::Status RunErf(RunContext& ctx) {
  return DispatchNumeric(ctx.input(0).dtype(), [&]<class T>() {
    MapNumeric<T>(ctx, []<class C>(C x) -> C {
      if constexpr (std::is_floating_point_v<C>) return std::erf(x);
      else return static_cast<C>(std::erf(static_cast<double>(x)));
    });
    return absl::OkStatus();
  });
}

absl::Status RunShrink(RunContext& ctx) {
  const auto [bias, lambd] = ctx.attrs<ShrinkAttrs>();
  return DispatchNumeric(ctx.input(0).dtype(), [&, bias = bias, lambd = lambd]<class T>() {
    MapNumeric<T>(ctx, [=]<class C>(C x) -> C {
      if (static_cast<double>(x) < -lambd) return static_cast<C>(x + bias);
      if (static_cast<double>(x) > lambd) return static_cast<C>(x - bias);
      return C(0);
    });
    return absl::OkStatus();
  });
}

absl::Status RunNot(RunContext& ctx) {
  MapElements<uint8_t, uint8_t>(ctx.input(0), ctx.output(0), 1, [](uint8_t x) { return x == 0; });
  return absl::OkStatus();
}

absl::Status RunBitwiseNot(RunContext& ctx) {
  return DispatchInteger(ctx.input(0).dtype(), [&]<class T>() {
    MapElements<T, T>(ctx.input(0), ctx.output(0), 1, [](T x) { return static_cast<T>(~x); });
    return absl::OkStatus();
  });
}

// A test of floats of every width.
template <class Test>
absl::Status RunTest(RunContext& ctx, Test test) {
  const Tensor& x = ctx.input(0);
  const DType dtype = x.dtype();
  if (DTypeSize(dtype) == 1) {
    MapElements<uint8_t, uint8_t>(x, ctx.output(0), 4, [&](uint8_t bits) { return test(SmallFloatToFloat(dtype, bits)); });
    return absl::OkStatus();
  }
  return DispatchFloat(dtype, [&]<class T>() {
    MapElements<T, uint8_t>(x, ctx.output(0), 1, [&](T v) { return test(static_cast<Compute<T>>(v)); });
    return absl::OkStatus();
  });
}

absl::Status RunIsNaN(RunContext& ctx) {
  return RunTest(ctx, [](auto x) { return std::isnan(x); });
}

absl::Status RunIsInf(RunContext& ctx) {
  const auto& attrs = ctx.attrs<IsInfAttrs>();
  const bool negative = attrs.detect_negative != 0, positive = attrs.detect_positive != 0;
  return RunTest(ctx, [=](auto x) { return std::isinf(x) && (x < 0 ? negative : positive); });
}

constexpr int64_t kCheap = 1, kDear = 20;

constexpr Kernel kKernels[] = {
    {.op = &ops::Abs, .name = "ref", .run = &RunAbs},
    {.op = &ops::Neg, .name = "ref", .run = &RunNeg},
    {.op = &ops::Sign, .name = "ref", .run = &RunSign},
    {.op = &ops::Ceil, .name = "ref", .run = &RunFloat<CeilFn, kCheap>},
    {.op = &ops::Floor, .name = "ref", .run = &RunFloat<FloorFn, kCheap>},
    {.op = &ops::Round, .name = "ref", .run = &RunFloat<RoundFn, kCheap>},
    {.op = &ops::Sqrt, .name = "ref", .run = &RunFloat<SqrtFn, kCheap>},
    {.op = &ops::Reciprocal, .name = "ref", .run = &RunFloat<ReciprocalFn, kCheap>},
    {.op = &ops::Exp, .name = "ref", .run = &RunFloat<ExpFn, kDear>},
    {.op = &ops::Log, .name = "ref", .run = &RunFloat<LogFn, kDear>},
    {.op = &ops::Sin, .name = "ref", .run = &RunFloat<SinFn, kDear>},
    {.op = &ops::Cos, .name = "ref", .run = &RunFloat<CosFn, kDear>},
    {.op = &ops::Tan, .name = "ref", .run = &RunFloat<TanFn, kDear>},
    {.op = &ops::Asin, .name = "ref", .run = &RunFloat<AsinFn, kDear>},
    {.op = &ops::Acos, .name = "ref", .run = &RunFloat<AcosFn, kDear>},
    {.op = &ops::Atan, .name = "ref", .run = &RunFloat<AtanFn, kDear>},
    {.op = &ops::Sinh, .name = "ref", .run = &RunFloat<SinhFn, kDear>},
    {.op = &ops::Cosh, .name = "ref", .run = &RunFloat<CoshFn, kDear>},
    {.op = &ops::Tanh, .name = "ref", .run = &RunFloat<TanhFn, kDear>},
    {.op = &ops::Asinh, .name = "ref", .run = &RunFloat<AsinhFn, kDear>},
    {.op = &ops::Acosh, .name = "ref", .run = &RunFloat<AcoshFn, kDear>},
    {.op = &ops::Atanh, .name = "ref", .run = &RunFloat<AtanhFn, kDear>},
    {.op = &ops::Erf, .name = "ref", .run = &RunErf},
    {.op = &ops::Not, .name = "ref", .run = &RunNot},
    {.op = &ops::BitwiseNot, .name = "ref", .run = &RunBitwiseNot},
    {.op = &ops::IsNaN, .name = "ref", .run = &RunIsNaN},
    {.op = &ops::IsInf, .name = "ref", .run = &RunIsInf},
    {.op = &ops::Sigmoid, .name = "ref", .run = &RunFloat<SigmoidFn, kDear>},
    {.op = &ops::Relu, .name = "ref", .run = &RunRelu},
    {.op = &ops::LeakyRelu, .name = "ref", .run = &RunFloat<LeakyReluFn, kCheap>},
    {.op = &ops::ThresholdedRelu, .name = "ref", .run = &RunFloat<ThresholdedReluFn, kCheap>},
    {.op = &ops::Elu, .name = "ref", .run = &RunFloat<EluFn, kDear>},
    {.op = &ops::Celu, .name = "ref", .run = &RunFloat<CeluFn, kDear>},
    {.op = &ops::Selu, .name = "ref", .run = &RunFloat<SeluFn, kDear>},
    {.op = &ops::HardSigmoid, .name = "ref", .run = &RunFloat<HardSigmoidFn, kCheap>},
    {.op = &ops::HardSwish, .name = "ref", .run = &RunFloat<HardSwishFn, kCheap>},
    {.op = &ops::Swish, .name = "ref", .run = &RunFloat<SwishFn, kDear>},
    {.op = &ops::Mish, .name = "ref", .run = &RunFloat<MishFn, kDear>},
    {.op = &ops::Softplus, .name = "ref", .run = &RunFloat<SoftplusFn, kDear>},
    {.op = &ops::Softsign, .name = "ref", .run = &RunFloat<SoftsignFn, kCheap>},
    {.op = &ops::Gelu, .name = "ref", .run = &RunFloat<GeluFn, kDear>},
    {.op = &ops::Shrink, .name = "ref", .run = &RunShrink},
};

}  // namespace

absl::Span<const Kernel> RefUnary() { return kKernels; }

}  // namespace weft
