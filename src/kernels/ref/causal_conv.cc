// CausalConvWithState. Sums are rounded to the element type once, and again behind the activation.
#include "graph/ops/causal_conv.h"

#include <algorithm>
#include <cmath>

#include "kernels/kernel.h"
#include "kernels/ref/dispatch.h"

namespace weft {
namespace {

// Channels are rows: [B,C,L], a state [B,C,k-1] in front of each.
template <class E>
void ConvRow(const E* state, const E* x, int64_t length, const E* weight, int64_t k, Compute<E> bias, bool silu, E* y, Compute<E>* line) {
  using C = Compute<E>;
  for (int64_t i = 0; i < k - 1; ++i) line[i] = state != nullptr ? static_cast<C>(state[i]) : C(0);
  for (int64_t i = 0; i < length; ++i) line[k - 1 + i] = static_cast<C>(x[i]);
  for (int64_t i = 0; i < length; ++i) {
    C sum = bias;
    for (int64_t j = 0; j < k; ++j) sum += static_cast<C>(weight[j]) * line[i + j];
    y[i] = E(sum);
    if (silu) {
      const C rounded = static_cast<C>(y[i]);
      y[i] = E(rounded * (1 / (1 + std::exp(-rounded))));
    }
  }
}

absl::Status RunCausalConv(RunContext& ctx) {
  const Tensor &x = ctx.input(0), &weight = ctx.input(1);
  const bool silu = ctx.attrs<CausalConvAttrs>().activation != "none";
  const int64_t channels = x.dim(1), length = x.dim(2), k = weight.dim(2), kept = k - 1;
  return DispatchFloat(x.dtype(), [&]<class E>() {
    using C = Compute<E>;
    const E* biases = ctx.HasInput(2) ? ctx.input(2).data<E>() : nullptr;
    const E* past = ctx.HasInput(3) ? ctx.input(3).data<E>() : nullptr;
    E *y = ctx.output(0).data<E>(), *present = ctx.HasOutput(1) ? ctx.output(1).data<E>() : nullptr;
    ParallelFor(x.dim(0) * channels, 2 * (length + 1) * k, [&](int64_t begin, int64_t end) {
      std::vector<C> line(length + kept);
      for (int64_t row = begin; row < end; ++row) {
        const E *state = past != nullptr ? past + row * kept : nullptr, *from = x.data<E>() + row * length;
        const int64_t channel = row % channels;
        const C bias = biases != nullptr ? static_cast<C>(biases[channel]) : C(0);
        ConvRow(state, from, length, weight.data<E>() + channel * k, k, bias, silu, y + row * length, line.data());
        // The end of the state and the row, joined.
        if (present != nullptr) std::transform(line.end() - kept, line.end(), present + row * kept, [](C v) { return E(v); });
      }
    });
    return absl::OkStatus();
  });
}

}  // namespace

absl::Span<const Kernel> RefCausalConv() {
  static constexpr Kernel kernels[] = {{.op = &ops::CausalConvWithState, .name = "ref", .run = &RunCausalConv}};
  return kernels;
}

}  // namespace weft
