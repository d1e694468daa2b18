// SwiGLU.
#include <cmath>

#include "graph/ops/unary.h"
#include "kernels/kernel.h"
#include "kernels/ref/dispatch.h"

namespace weft {
namespace {

// a * sigmoid(alpha * a) * b; the 16-bit floats are rounded after each step, as by Sigmoid, Mul and Mul.
absl::Status RunSwiGLU(RunContext& ctx) {
  return DispatchFloat(ctx.input(0).dtype(), [&]<class T>() {
    using C = Compute<T>;
    const C alpha = ctx.attrs<AlphaOneAttrs>().alpha;
    auto rounded = [](C value) { return static_cast<C>(T(value)); };
    BroadcastBinary<T, T, T>(ctx.input(0), ctx.input(1), ctx.output(0), [&](T gate, T value) {
      const C a = static_cast<C>(gate);
      return T(rounded(a * rounded(1 / (1 + std::exp(-alpha * a)))) * static_cast<C>(value));
    });
    return absl::OkStatus();
  });
}

}  // namespace

absl::Span<const Kernel> RefSwiGLU() {
  static constexpr Kernel kernels[] = {{.op = &ops::SwiGLU, .name = "ref", .run = &RunSwiGLU}};
  return kernels;
}

}  // namespace weft
