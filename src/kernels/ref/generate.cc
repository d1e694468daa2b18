// Ops that make a tensor from a few numbers: Range, EyeLike, windows, mel filter banks.
#include "graph/ops/generate.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "kernels/kernel.h"
#include "kernels/ref/cast.h"
#include "kernels/ref/dispatch.h"
#include "kernels/ref/elements.h"

namespace weft {
namespace {

template <class T>
T ScalarOf(const Tensor& t) {
  T value{};
  ReadElements(t, 0, 1, &value);
  return value;
}

// Elements as numbers of type C: out[i] = start + i * delta, each rounded once.
template <class T, class C>
void FillRange(RunContext& ctx) {
  const C start = ScalarOf<C>(ctx.input(0)), delta = ScalarOf<C>(ctx.input(2));
  T* out = ctx.output(0).data<T>();
  ParallelFor(ctx.output(0).size(), 2, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] = static_cast<T>(static_cast<Compute<T>>(start + static_cast<C>(i) * delta));
  });
}

absl::Status RunRange(RunContext& ctx) {
  const bool in_float = ctx.attrs<RangeAttrs>().stash_type == static_cast<int64_t>(DType::kFloat32);
  switch (ctx.output(0).dtype()) {
    case DType::kFloat32: FillRange<float, double>(ctx); break;
    case DType::kFloat64: FillRange<double, double>(ctx); break;
    case DType::kFloat16: in_float ? FillRange<Float16, float>(ctx) : FillRange<Float16, double>(ctx); break;
    case DType::kBFloat16: in_float ? FillRange<BFloat16, float>(ctx) : FillRange<BFloat16, double>(ctx); break;
    case DType::kInt16: FillRange<int16_t, uint64_t>(ctx); break;
    case DType::kInt32: FillRange<int32_t, uint64_t>(ctx); break;
    default: FillRange<int64_t, uint64_t>(ctx); break;
  }
  return absl::OkStatus();
}

absl::Status RunEyeLike(RunContext& ctx) {
  Tensor& out = ctx.output(0);
  std::memset(out.data(), 0, out.bytes());
  Tensor one = Tensor::Scalar(1.0);
  WEFT_ASSIGN_OR_RETURN(Tensor typed, Tensor::Allocate(out.dtype(), {}));
  WEFT_RETURN_IF_ERROR(CastElements(one, typed));
  const int64_t rows = out.dim(0), cols = out.dim(1), k = ctx.attrs<EyeLikeAttrs>().k;
  if (k >= cols || k <= -rows) return absl::OkStatus();
  const size_t size = DTypeSize(out.dtype());
  for (int64_t i = std::max<int64_t>(0, -k); i < std::min(rows, cols - k); ++i) {
    std::memcpy(out.data<char>() + (i * cols + i + k) * size, typed.data(), size);
  }
  return absl::OkStatus();
}

// a0 - a1 cos(2 pi i / n) + a2 cos(4 pi i / n), where a symmetric window counts one step less.
absl::Status RunWindow(RunContext& ctx, double a0, double a1, double a2) {
  Tensor& out = ctx.output(0);
  WEFT_ASSIGN_OR_RETURN(Tensor window, Tensor::AllocateUninitialized(DType::kFloat64, out.dims()));
  double* w = window.data<double>();
  const int64_t steps = out.size() - (ctx.attrs<WindowAttrs>().periodic == 0 ? 1 : 0);
  ParallelFor(out.size(), 100, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(steps);
      w[i] = steps == 0 ? 1.0 : a0 - a1 * std::cos(angle) + a2 * std::cos(2 * angle);  // the one point of a symmetric window is its peak
    }
  });
  return CastElements(window, out);
}
absl::Status RunHann(RunContext& ctx) { return RunWindow(ctx, 0.5, 0.5, 0); }
absl::Status RunHamming(RunContext& ctx) { return RunWindow(ctx, 25.0 / 46, 21.0 / 46, 0); }
absl::Status RunBlackman(RunContext& ctx) { return RunWindow(ctx, 0.42, 0.5, 0.08); }

double MelOfHertz(double hertz) { return 2595 * std::log10(1 + hertz / 700); }
double HertzOfMel(double mel) { return 700 * (std::pow(10, mel / 2595) - 1); }

// Triangles over the bins of a spectrum, their corners equally spaced in mels. Corners beyond the spectrum cut a triangle off.
absl::Status RunMelWeightMatrix(RunContext& ctx) {
  Tensor& out = ctx.output(0);
  const auto dft_length = ScalarOf<int64_t>(ctx.input(1)), sample_rate = ScalarOf<int64_t>(ctx.input(2));
  if (sample_rate <= 0) return Invalid("input 2 (sample_rate) is ", sample_rate, ", expected a rate > 0");
  const double low = MelOfHertz(ScalarOf<double>(ctx.input(3))), high = MelOfHertz(ScalarOf<double>(ctx.input(4)));
  if (!std::isfinite(low) || !std::isfinite(high)) {
    return Invalid("the edges are ", ScalarOf<double>(ctx.input(3)), " and ", ScalarOf<double>(ctx.input(4)), " Hz, expected frequencies");
  }
  const int64_t bins = out.dim(0), mels = out.dim(1);
  const double step = (high - low) / static_cast<double>(mels + 2);
  auto corner = [&](int64_t i) {  // as a bin
    const double hertz = HertzOfMel(low + static_cast<double>(i) * step);
    return std::floor((static_cast<double>(dft_length) + 1) * hertz / static_cast<double>(sample_rate));
  };
  WEFT_ASSIGN_OR_RETURN(Tensor weights, Tensor::Allocate(DType::kFloat64, out.dims()));
  double* w = weights.data<double>();
  auto clamp = [bins](double bin) { return static_cast<int64_t>(std::clamp(bin, 0.0, static_cast<double>(bins))); };
  for (int64_t i = 0; i < mels; ++i) {
    const double left = corner(i), center = corner(i + 1), right = corner(i + 2);
    if (left == center) {
      if (center >= 0 && center < static_cast<double>(bins)) w[clamp(center) * mels + i] = 1;
    } else {
      for (int64_t j = clamp(left); j < clamp(center + 1); ++j) w[j * mels + i] = (static_cast<double>(j) - left) / (center - left);
    }
    for (int64_t j = clamp(center); j < clamp(right); ++j) w[j * mels + i] = (right - static_cast<double>(j)) / (right - center);
  }
  return CastElements(weights, out);
}

constexpr Kernel kKernels[] = {
    {.op = &ops::Range, .name = "ref", .run = &RunRange},
    {.op = &ops::EyeLike, .name = "ref", .run = &RunEyeLike},
    {.op = &ops::HannWindow, .name = "ref", .run = &RunHann},
    {.op = &ops::HammingWindow, .name = "ref", .run = &RunHamming},
    {.op = &ops::BlackmanWindow, .name = "ref", .run = &RunBlackman},
    {.op = &ops::MelWeightMatrix, .name = "ref", .run = &RunMelWeightMatrix},
};

}  // namespace

absl::Span<const Kernel> RefGenerate() { return kKernels; }

}  // namespace weft
