// Exp, Erf and Gelu of fp32, element by element.
#include "base/threads.h"
#include "graph/ops/gelu.h"
#include "graph/ops/unary.h"
#include "kernels/cpu/functions.h"
#include "kernels/kernel.h"
#include "kernels/require.h"

namespace weft::cpu {
namespace {

absl::Status Supports(const NodeView& node) { return RequireFloat32(node, 1); }

absl::Status SupportsGelu(const NodeView& node) {
  const std::string& approximate = node.attrs_as<GeluAttrs>().approximate;
  if (approximate != "none") return Unsupported("approximate is '", approximate, "', expected 'none'");
  return RequireFloat32(node, 1);
}

struct ExpFn {
  WEFT_LOOP float Of(float x) { return Exp(x); }
};
struct ErfFn {
  WEFT_LOOP float Of(float x) { return Erf(x); }
};
struct GeluFn {
  WEFT_LOOP float Of(float x) { return 0.5f * x * (1.0f + Erf(x * 0x1.6a09e6p-1f)); }
};

template <class F>
struct MapLoop {
  WEFT_LOOP void Run(const float* x, float* y, int64_t n) {
    for (int64_t i = 0; i < n; ++i) y[i] = F::Of(x[i]);
  }
};

// x and y may be the same.
template <class F>
absl::Status Run(RunContext& ctx) {
  const float* x = ctx.input(0).data<float>();
  float* y = ctx.output(0).data<float>();
  ParallelFor(ctx.input(0).size(), 8, [&](int64_t begin, int64_t end) { Vectorized<MapLoop<F>>(x + begin, y + begin, end - begin); });
  return absl::OkStatus();
}

constexpr Kernel kKernels[] = {
    {.op = &ops::Erf, .name = "cpu.map", .supports = &Supports, .run = &Run<ErfFn>},
    {.op = &ops::Exp, .name = "cpu.map", .supports = &Supports, .run = &Run<ExpFn>},
    {.op = &ops::Gelu, .name = "cpu.map", .supports = &SupportsGelu, .run = &Run<GeluFn>},
    {.op = &ops::MsGelu, .name = "cpu.map", .supports = &Supports, .run = &Run<GeluFn>},
};

}  // namespace

absl::Span<const Kernel> MapKernels() { return kKernels; }

}  // namespace weft::cpu
