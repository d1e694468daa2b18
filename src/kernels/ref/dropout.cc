// Dropout. Training draws by the Mersenne Twister: a seed gives the numbers of NumPy's RandomState(seed).uniform, with which ONNX's own
// cases are made.
#include <cstring>
#include <random>

#include "graph/ops/random.h"
#include "kernels/kernel.h"
#include "kernels/ref/cast.h"
#include "kernels/ref/elements.h"

namespace weft {
namespace {

// In [0, 1), of 53 random bits.
double NextUniform(std::mt19937& generator) {
  const auto high = static_cast<uint32_t>(generator()) >> 5, low = static_cast<uint32_t>(generator()) >> 6;
  return (high * 0x1p26 + low) * 0x1p-53;
}

// Elements fall to 0 with probability `ratio`; those kept grow by 1 / (1 - ratio).
absl::Status DropElements(RunContext& ctx, double ratio) {
  const Tensor& x = ctx.input(0);
  Tensor& y = ctx.output(0);
  const auto& seed = ctx.attrs<DropoutAttrs>().seed;
  std::mt19937 generator(static_cast<uint32_t>(seed ? *seed : ctx.seed()));
  WEFT_ASSIGN_OR_RETURN(Tensor wide, Tensor::AllocateUninitialized(DType::kFloat64, x.dims()));
  double* values = wide.data<double>();
  ReadElements(x, 0, x.size(), values);
  bool* mask = ctx.HasOutput(1) ? ctx.output(1).data<bool>() : nullptr;
  const double scale = 1 / (1 - ratio);
  for (int64_t i = 0; i < x.size(); ++i) {
    const bool keep = NextUniform(generator) >= ratio;
    values[i] = keep ? values[i] * scale : 0;
    if (mask != nullptr) mask[i] = keep;
  }
  return CastElements(wide, y);
}

absl::Status RunDropout(RunContext& ctx) {
  double ratio = 0.5;
  bool training = false;
  if (ctx.HasInput(1)) ReadElements(ctx.input(1), 0, 1, &ratio);
  if (ctx.HasInput(2)) ReadElements(ctx.input(2), 0, 1, &training);
  if (training && !(ratio >= 0 && ratio < 1)) return Invalid("input 1 (ratio) is ", ratio, ", expected at least 0 and less than 1");
  if (training && ratio != 0) return DropElements(ctx, ratio);
  const Tensor& x = ctx.input(0);
  if (ctx.output(0).data() != x.data() && x.size() > 0) std::memcpy(ctx.output(0).data(), x.data(), x.bytes());
  if (ctx.HasOutput(1) && x.size() > 0) std::memset(ctx.output(1).data(), 1, ctx.output(1).bytes());
  return absl::OkStatus();
}

}  // namespace

absl::Span<const Kernel> RefDropout() {
  static constexpr Kernel kernels[] = {{.op = &ops::Dropout, .name = "ref", .run = &RunDropout}};
  return kernels;
}

}  // namespace weft
