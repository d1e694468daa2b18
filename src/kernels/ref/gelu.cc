// Gelu, BiasGelu, FastGelu, QuickGelu of the domain com.microsoft. float16 and bfloat16 are computed in float.
#include "graph/ops/gelu.h"

#include <cmath>
#include <numbers>

#include "kernels/kernel.h"
#include "kernels/ref/periodic.h"

namespace weft {
namespace {

template <class T>
T Gelu(T x) {
  return T(0.5) * x * (1 + std::erf(x / std::numbers::sqrt2_v<T>));
}
template <class T>
T TanhGelu(T x) {
  return T(0.5) * x * (1 + std::tanh(std::sqrt(2 * std::numbers::inv_pi_v<T>) * (x + T(0.044715) * x * x * x)));
}

// y = f(x + bias); `f` takes float and double.
template <class F>
absl::Status MapBiased(RunContext& ctx, F f) {
  return DispatchWide(ctx.input(0).dtype(), [&]<class T>() -> absl::Status {
    WEFT_ASSIGN_OR_RETURN(const Tensor x, Widen<T>(ctx.input(0)));
    WEFT_ASSIGN_OR_RETURN(Tensor y, WideOutput<T>(ctx.output(0)));
    if (x.size() == 0) return absl::OkStatus();
    const Tensor zero = Tensor::Of<T>({1}, {T(0)});
    WEFT_ASSIGN_OR_RETURN(const Tensor bias, ctx.HasInput(1) ? Widen<T>(ctx.input(1)) : zero);
    const int64_t width = bias.size();
    ParallelFor(x.size() / width, 32 * width, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const T* from = x.data<T>() + row * width;
        T* to = y.data<T>() + row * width;
        for (int64_t i = 0; i < width; ++i) to[i] = f(from[i] + bias.data<T>()[i]);
      }
    });
    Narrow<T>(y, ctx.output(0));
    return absl::OkStatus();
  });
}

absl::Status RunGelu(RunContext& ctx) {
  return MapBiased(ctx, [](auto x) { return Gelu(x); });
}
absl::Status RunFastGelu(RunContext& ctx) {
  return MapBiased(ctx, [](auto x) { return TanhGelu(x); });
}
absl::Status RunQuickGelu(RunContext& ctx) {
  return MapBiased(ctx, [alpha = ctx.attrs<QuickGeluAttrs>().alpha]<class T>(T x) { return x / (1 + std::exp(-T(alpha) * x)); });
}

}  // namespace

absl::Span<const Kernel> RefGelu() {
  static constexpr Kernel kernels[] = {
      {.op = &ops::MsGelu, .name = "ref", .run = &RunGelu},
      {.op = &ops::BiasGelu, .name = "ref", .run = &RunGelu},
      {.op = &ops::FastGelu, .name = "ref", .run = &RunFastGelu},
      {.op = &ops::QuickGelu, .name = "ref", .run = &RunQuickGelu},
  };
  return kernels;
}

}  // namespace weft
