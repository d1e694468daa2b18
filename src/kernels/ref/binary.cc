// Ops on two or more tensors with numpy broadcasting.
#include "graph/ops/binary.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "kernels/kernel.h"
#include "kernels/ref/dispatch.h"
#include "kernels/ref/wrapping.h"

namespace weft {
namespace {

template <class Fn>
absl::Status RunArithmetic(RunContext& ctx, Fn fn) {
  return DispatchNumeric(ctx.input(0).dtype(), [&]<class T>() {
    BroadcastBinary<T, T, T>(ctx.input(0), ctx.input(1), ctx.output(0), [fn](T x, T y) {
      if constexpr (std::is_integral_v<T>) return static_cast<T>(fn(static_cast<Wrapping<T>>(x), static_cast<Wrapping<T>>(y)));
      else return T(fn(static_cast<Compute<T>>(x), static_cast<Compute<T>>(y)));
    });
    return absl::OkStatus();
  });
}
absl::Status RunAdd(RunContext& ctx) {
  return RunArithmetic(ctx, [](auto x, auto y) { return x + y; });
}
absl::Status RunSub(RunContext& ctx) {
  return RunArithmetic(ctx, [](auto x, auto y) { return x - y; });
}
absl::Status RunMul(RunContext& ctx) {
  return RunArithmetic(ctx, [](auto x, auto y) { return x * y; });
}

// Integer functions of a divisor: an element divided by zero is an error, and the one quotient that overflows wraps around.
template <class T, class Fn>
absl::Status RunDivision(RunContext& ctx, Fn fn) {
  std::atomic<bool> by_zero{false};
  BroadcastBinary<T, T, T>(ctx.input(0), ctx.input(1), ctx.output(0), [&](T x, T y) -> T {
    if (y == 0) {
      by_zero.store(true, std::memory_order_relaxed);
      return 0;
    }
    return fn(x, y);
  });
  if (by_zero.load()) return Invalid("an integer is divided by zero");
  return absl::OkStatus();
}

absl::Status RunDiv(RunContext& ctx) {
  const DType dtype = ctx.input(0).dtype();
  if (IsFloat(dtype)) return RunArithmetic(ctx, [](auto x, auto y) { return x / y; });
  return DispatchInteger(dtype, [&]<class T>() {
    return RunDivision<T>(ctx, [](T x, T y) -> T {
      if constexpr (std::is_signed_v<T>) {
        if (y == -1) return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(x));
      }
      return static_cast<T>(x / y);
    });
  });
}

absl::Status RunMod(RunContext& ctx) {
  const DType dtype = ctx.input(0).dtype();
  const bool fmod = ctx.attrs<ModAttrs>().fmod != 0;
  if (IsFloat(dtype)) {
    return RunArithmetic(ctx, [fmod]<class C>(C x, C y) -> C {
      if constexpr (std::is_floating_point_v<C>) {
        const C r = std::fmod(x, y);
        if (fmod) return r;
        if (r == 0) return std::copysign(r, y);
        return (r < 0) != (y < 0) ? r + y : r;
      } else {
        return x;
      }
    });
  }
  return DispatchInteger(dtype, [&]<class T>() {
    return RunDivision<T>(ctx, [=](T x, T y) -> T {
      if constexpr (std::is_signed_v<T>) {
        if (y == -1) return 0;
        const T r = static_cast<T>(x % y);
        return !fmod && r != 0 && (r < 0) != (y < 0) ? static_cast<T>(r + y) : r;
      }
      return static_cast<T>(x % y);
    });
  });
}

// By repeated squaring, so that integers wrap around instead of losing bits in floating point.
template <class T>
T IntegerPower(T base, int64_t exponent) {
  if (exponent < 0) return base == 1 ? T(1) : base == T(-1) ? (exponent % 2 != 0 ? T(-1) : T(1)) : T(0);
  using U = std::make_unsigned_t<T>;
  U result = 1, square = static_cast<U>(base);
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) result *= square;
    square *= square;
  }
  return static_cast<T>(result);
}

template <class A, class B>
void Power(RunContext& ctx) {
  BroadcastBinary<A, B, A>(ctx.input(0), ctx.input(1), ctx.output(0), [](A x, B y) -> A {
    if constexpr (std::is_integral_v<A> && std::is_integral_v<B>) {
      return IntegerPower<A>(x, static_cast<int64_t>(y));
    } else if constexpr (std::is_integral_v<A>) {
      return static_cast<A>(std::pow(static_cast<double>(x), static_cast<double>(y)));
    } else {
      using C = Compute<A>;
      const C base = static_cast<C>(x);
      const auto exponent = static_cast<Compute<B>>(y);
      if (exponent == 2) return A(base * base);
      if (exponent == 1) return x;
      if constexpr (std::is_same_v<C, float> && sizeof(B) <= 4) return A(std::pow(base, static_cast<float>(exponent)));
      else return A(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
    }
  });
}

absl::Status RunPow(RunContext& ctx) {
  auto with_base = [&]<class A>() {
    return DispatchNumeric(ctx.input(1).dtype(), [&]<class B>() {
      Power<A, B>(ctx);
      return absl::OkStatus();
    });
  };
  switch (ctx.input(0).dtype()) {
    case DType::kInt32: return with_base.template operator()<int32_t>();
    case DType::kInt64: return with_base.template operator()<int64_t>();
    default: return DispatchFloat(ctx.input(0).dtype(), with_base);
  }
}

absl::Status RunBitShift(RunContext& ctx) {
  const bool left = ctx.attrs<BitShiftAttrs>().direction == "LEFT";
  return DispatchInteger(ctx.input(0).dtype(), [&]<class T>() {
    BroadcastBinary<T, T, T>(ctx.input(0), ctx.input(1), ctx.output(0), [left](T x, T y) -> T {
      if (static_cast<std::make_unsigned_t<T>>(y) >= sizeof(T) * 8) return !left && x < 0 ? T(-1) : T(0);  // all bits are shifted out
      if (left) return static_cast<T>(static_cast<uint64_t>(x) << y);
      return static_cast<T>(x >> y);  // of a signed type: its sign comes in
    });
    return absl::OkStatus();
  });
}

template <class Fn>
absl::Status RunBitwise(RunContext& ctx) {
  return DispatchInteger(ctx.input(0).dtype(), [&]<class T>() {
    BroadcastBinary<T, T, T>(ctx.input(0), ctx.input(1), ctx.output(0), [](T x, T y) { return static_cast<T>(Fn()(x, y)); });
    return absl::OkStatus();
  });
}

template <class Fn>
absl::Status RunLogical(RunContext& ctx) {
  BroadcastBinary<uint8_t, uint8_t, uint8_t>(ctx.input(0), ctx.input(1), ctx.output(0),
                                             [](uint8_t x, uint8_t y) { return Fn()(x != 0, y != 0); });
  return absl::OkStatus();
}

template <class Fn>
absl::Status RunComparison(RunContext& ctx) {
  const DType dtype = ctx.input(0).dtype();
  auto compare = [&]<class T>() {
    BroadcastBinary<T, T, uint8_t>(ctx.input(0), ctx.input(1), ctx.output(0), [](const T& x, const T& y) {
      if constexpr (std::is_same_v<T, std::string>) return Fn()(x, y);
      else return Fn()(static_cast<Compute<T>>(x), static_cast<Compute<T>>(y));
    });
    return absl::OkStatus();
  };
  if (dtype == DType::kString) return compare.template operator()<std::string>();
  if (dtype == DType::kBool) {
    BroadcastBinary<uint8_t, uint8_t, uint8_t>(ctx.input(0), ctx.input(1), ctx.output(0),
                                               [](uint8_t x, uint8_t y) { return Fn()(x != 0, y != 0); });
    return absl::OkStatus();
  }
  return DispatchNumeric(dtype, compare);
}

absl::Status RunPRelu(RunContext& ctx) {
  return RunArithmetic(ctx, []<class C>(C x, C slope) -> C {
    if constexpr (std::is_floating_point_v<C>) return x < 0 ? slope * x : x;
    else return static_cast<std::make_signed_t<C>>(x) < 0 ? slope * x : x;
  });
}

// ---- Variadic: folded from the left, each step broadcast to the output ----

template <class T>
T LargerOrNaN(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(x)) return x;
    if (std::isnan(y)) return y;
  }
  return x < y ? y : x;
}
template <class T>
T SmallerOrNaN(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(x)) return x;
    if (std::isnan(y)) return y;
  }
  return y < x ? y : x;
}

template <class T, class Fn>
void FoldInputs(RunContext& ctx, Fn fn) {
  Tensor& out = ctx.output(0);
  if (ctx.num_inputs() == 1) {
    std::copy_n(ctx.input(0).data<T>(), out.size(), out.data<T>());
    return;
  }
  auto step = [fn](T x, T y) { return T(fn(static_cast<Compute<T>>(x), static_cast<Compute<T>>(y))); };
  BroadcastBinary<T, T, T>(ctx.input(0), ctx.input(1), out, step);
  for (int i = 2; i < ctx.num_inputs(); ++i) BroadcastBinary<T, T, T>(out, ctx.input(i), out, step);
}

absl::Status RunMax(RunContext& ctx) {
  return DispatchNumeric(ctx.input(0).dtype(), [&]<class T>() {
    FoldInputs<T>(ctx, [](auto x, auto y) { return LargerOrNaN(x, y); });
    return absl::OkStatus();
  });
}
absl::Status RunMin(RunContext& ctx) {
  return DispatchNumeric(ctx.input(0).dtype(), [&]<class T>() {
    FoldInputs<T>(ctx, [](auto x, auto y) { return SmallerOrNaN(x, y); });
    return absl::OkStatus();
  });
}

// The 16-bit floats are rounded once, behind the whole sum.
template <class T>
void SumInputs(RunContext& ctx, Compute<T> scale) {
  if constexpr (std::is_same_v<T, Compute<T>>) {
    FoldInputs<T>(ctx, [](T x, T y) { return x + y; });
    if (scale != 1) MapElements<T, T>(ctx.output(0), ctx.output(0), 1, [scale](T x) { return x * scale; });
  } else {
    Tensor& out = ctx.output(0);
    std::vector<float> sum(out.size(), 0.0f);
    const Tensor wide = Tensor::View<float>(sum.data(), out.dims());
    Tensor sink = wide;
    for (int i = 0; i < ctx.num_inputs(); ++i) {
      BroadcastBinary<float, T, float>(wide, ctx.input(i), sink, [](float x, T y) { return x + static_cast<float>(y); });
    }
    for (int64_t i = 0; i < out.size(); ++i) out.data<T>()[i] = T(sum[i] * scale);
  }
}

absl::Status RunSum(RunContext& ctx) {
  return DispatchFloat(ctx.input(0).dtype(), [&]<class T>() {
    SumInputs<T>(ctx, 1);
    return absl::OkStatus();
  });
}
absl::Status RunMean(RunContext& ctx) {
  return DispatchFloat(ctx.input(0).dtype(), [&]<class T>() {
    using C = Compute<T>;
    SumInputs<T>(ctx, C(1) / static_cast<C>(ctx.num_inputs()));
    return absl::OkStatus();
  });
}

// min(max(x, lo), hi): NaN passes, and where lo > hi everything is hi.
// The largest finite number of T.
template <class T>
Compute<T> Largest() {
  T largest;
  if constexpr (std::is_same_v<T, Float16>) largest.bits = 0x7bff;
  else if constexpr (std::is_same_v<T, BFloat16>) largest.bits = 0x7f7f;
  else largest = std::numeric_limits<T>::max();
  return static_cast<Compute<T>>(largest);
}
template <class T>
Compute<T> Lowest() {
  if constexpr (std::is_integral_v<T>) return std::numeric_limits<T>::lowest();
  else return -Largest<T>();
}

absl::Status RunClip(RunContext& ctx) {
  return DispatchNumeric(ctx.input(0).dtype(), [&]<class T>() -> absl::Status {
    using C = Compute<T>;
    for (int i = 1; i < 3; ++i) {
      if (ctx.HasInput(i) && ctx.input(i).size() != 1) return Invalid("input ", i, " has ", ctx.input(i).size(), " elements, expected 1");
    }
    // The specification's defaults are finite: infinities are clipped too.
    const C lo = ctx.HasInput(1) ? static_cast<C>(*ctx.input(1).data<T>()) : Lowest<T>();
    const C hi = ctx.HasInput(2) ? static_cast<C>(*ctx.input(2).data<T>()) : Largest<T>();
    MapElements<T, T>(ctx.input(0), ctx.output(0), 1, [=](T x) {
      const C v = static_cast<C>(x), raised = v < lo ? lo : v;
      return T(hi < raised ? hi : raised);
    });
    return absl::OkStatus();
  });
}

absl::Status RunWhere(RunContext& ctx) {
  const Tensor &condition = ctx.input(0), &x = ctx.input(1), &y = ctx.input(2);
  Tensor& out = ctx.output(0);
  return DispatchSize(out.dtype(), [&]<class T>() {
    const BroadcastLoop<3> loop(out.dims(), {&condition.dims(), &x.dims(), &y.dims()});
    const int64_t sc = loop.inner_stride(0), sx = loop.inner_stride(1), sy = loop.inner_stride(2);
    loop.Run(2, [&](int64_t at, const std::array<int64_t, 3>& from, int64_t count) {
      const uint8_t* c = condition.data<uint8_t>() + from[0];
      const T *p = x.data<T>() + from[1], *q = y.data<T>() + from[2];
      T* r = out.data<T>() + at;
      for (int64_t i = 0; i < count; ++i) r[i] = c[i * sc] != 0 ? p[i * sx] : q[i * sy];
    });
    return absl::OkStatus();
  });
}

struct NotEqual {
  bool operator()(bool x, bool y) const { return x != y; }
};

constexpr Kernel kKernels[] = {
    {.op = &ops::Add, .name = "ref", .run = &RunAdd},
    {.op = &ops::Sub, .name = "ref", .run = &RunSub},
    {.op = &ops::Mul, .name = "ref", .run = &RunMul},
    {.op = &ops::Div, .name = "ref", .run = &RunDiv},
    {.op = &ops::Mod, .name = "ref", .run = &RunMod},
    {.op = &ops::Pow, .name = "ref", .run = &RunPow},
    {.op = &ops::BitShift, .name = "ref", .run = &RunBitShift},
    {.op = &ops::BitwiseAnd, .name = "ref", .run = &RunBitwise<std::bit_and<>>},
    {.op = &ops::BitwiseOr, .name = "ref", .run = &RunBitwise<std::bit_or<>>},
    {.op = &ops::BitwiseXor, .name = "ref", .run = &RunBitwise<std::bit_xor<>>},
    {.op = &ops::And, .name = "ref", .run = &RunLogical<std::logical_and<>>},
    {.op = &ops::Or, .name = "ref", .run = &RunLogical<std::logical_or<>>},
    {.op = &ops::Xor, .name = "ref", .run = &RunLogical<NotEqual>},
    {.op = &ops::Equal, .name = "ref", .run = &RunComparison<std::equal_to<>>},
    {.op = &ops::Less, .name = "ref", .run = &RunComparison<std::less<>>},
    {.op = &ops::LessOrEqual, .name = "ref", .run = &RunComparison<std::less_equal<>>},
    {.op = &ops::Greater, .name = "ref", .run = &RunComparison<std::greater<>>},
    {.op = &ops::GreaterOrEqual, .name = "ref", .run = &RunComparison<std::greater_equal<>>},
    {.op = &ops::PRelu, .name = "ref", .run = &RunPRelu},
    {.op = &ops::Max, .name = "ref", .run = &RunMax},
    {.op = &ops::Min, .name = "ref", .run = &RunMin},
    {.op = &ops::Sum, .name = "ref", .run = &RunSum},
    {.op = &ops::Mean, .name = "ref", .run = &RunMean},
    {.op = &ops::Clip, .name = "ref", .run = &RunClip},
    {.op = &ops::Where, .name = "ref", .run = &RunWhere},
};

}  // namespace

absl::Span<const Kernel> RefBinary() { return kKernels; }

}  // namespace weft
