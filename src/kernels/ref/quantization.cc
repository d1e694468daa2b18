// QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear (ONNX Operators.md). Sums and quotients are formed in double, where they
// are exact or, for quotients and products of floats, round as the narrower type would.
#include "graph/ops/quantization.h"

#include <cmath>

#include "graph/op.h"
#include "kernels/kernel.h"
#include "kernels/ref/elements.h"
#include "kernels/ref/quantize.h"

namespace weft {
namespace {

constexpr int64_t kChunk = 512;

// Scales and zero points as doubles, and where each element finds its own.
struct Parameters {
  QuantizationGrid grid;
  std::vector<double> scales, zeros;

  void Fill(int64_t begin, int64_t count, double* scale, double* zero) const {
    int64_t indices[kChunk];
    grid.ScaleIndices(begin, count, indices);
    for (int64_t i = 0; i < count; ++i) {
      scale[i] = scales[indices[i]];
      zero[i] = zeros[indices[i]];
    }
  }
};

Parameters ParametersOf(const RunContext& ctx, int64_t axis, int64_t block_size) {
  Parameters p;
  const Tensor& scale = ctx.input(1);
  p.grid = ResolveQuantization(ctx.input(0).dims(), scale.dims(), axis, block_size);
  p.scales.resize(scale.size());
  p.zeros.resize(scale.size(), 0.0);
  ReadElements(scale, 0, scale.size(), p.scales.data());
  if (ctx.HasInput(2)) ReadElements(ctx.input(2), 0, ctx.input(2).size(), p.zeros.data());
  return p;
}

// Rounds values to a float type; the integers and double keep them.
void RoundTo(DType dtype, double* values, int64_t count) {
  switch (dtype) {
    case DType::kFloat32: case DType::kFloat8E8M0:
      for (int64_t i = 0; i < count; ++i) values[i] = static_cast<float>(values[i]);
      return;
    case DType::kFloat16:
      for (int64_t i = 0; i < count; ++i) values[i] = Float16(static_cast<float>(values[i]));
      return;
    case DType::kBFloat16:
      for (int64_t i = 0; i < count; ++i) values[i] = BFloat16(static_cast<float>(values[i]));
      return;
    default: return;
  }
}

absl::Status RunQuantizeLinear(RunContext& ctx) {
  const auto& attrs = ctx.attrs<QuantizeLinearAttrs>();
  const Tensor& x = ctx.input(0);
  Tensor& y = ctx.output(0);
  const DType precision = attrs.precision != 0 ? static_cast<DType>(attrs.precision) : ctx.input(1).dtype();
  Parameters p = ParametersOf(ctx, attrs.axis, attrs.block_size);
  RoundTo(precision, p.scales.data(), static_cast<int64_t>(p.scales.size()));
  ParallelFor(x.size(), 16, [&](int64_t begin, int64_t end) {
    double values[kChunk], scale[kChunk], zero[kChunk];
    for (; begin < end; begin += kChunk) {
      const int64_t count = std::min(kChunk, end - begin);
      ReadElements(x, begin, count, values);
      RoundTo(precision, values, count);
      p.Fill(begin, count, scale, zero);
      for (int64_t i = 0; i < count; ++i) values[i] /= scale[i];
      RoundTo(precision, values, count);
      StoreQuantized(values, zero, count, attrs.saturate, y, begin);
    }
  });
  return absl::OkStatus();
}

absl::Status RunDequantizeLinear(RunContext& ctx) {
  const auto& attrs = ctx.attrs<DequantizeLinearAttrs>();
  const Tensor& x = ctx.input(0);
  Tensor& y = ctx.output(0);
  const Parameters p = ParametersOf(ctx, attrs.axis, attrs.block_size);
  ParallelFor(x.size(), 12, [&](int64_t begin, int64_t end) {
    double values[kChunk], scale[kChunk], zero[kChunk];
    float result[kChunk];
    for (; begin < end; begin += kChunk) {
      const int64_t count = std::min(kChunk, end - begin);
      ReadElements(x, begin, count, values);
      p.Fill(begin, count, scale, zero);
      for (int64_t i = 0; i < count; ++i) result[i] = static_cast<float>(static_cast<float>(values[i] - zero[i]) * scale[i]);
      WriteElements(result, count, y, begin);
    }
  });
  return absl::OkStatus();
}

absl::Status RunDynamicQuantizeLinear(RunContext& ctx) {
  const float* x = ctx.input(0).data<float>();
  const int64_t size = ctx.input(0).size();
  float lowest = 0, highest = 0;
  for (int64_t i = 0; i < size; ++i) {
    lowest = std::min(lowest, x[i]);
    highest = std::max(highest, x[i]);
  }
  // A tensor of zeros has any scale.
  const float scale = (highest == lowest ? 1.0f : highest - lowest) / 255.0f;
  const double zero = std::nearbyint(std::clamp(-lowest / scale, 0.0f, 255.0f));
  const double zero_point = zero >= 0 ? zero : 0;
  if (ctx.HasOutput(1)) *ctx.output(1).data<float>() = scale;
  if (ctx.HasOutput(2)) *ctx.output(2).data<uint8_t>() = static_cast<uint8_t>(zero_point);
  ParallelFor(size, 8, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const double scaled = x[i] / scale;
      StoreQuantized(&scaled, &zero_point, 1, true, ctx.output(0), i);
    }
  });
  return absl::OkStatus();
}

}  // namespace

absl::Span<const Kernel> RefQuantization() {
  static constexpr Kernel kernels[] = {
      {.op = &ops::QuantizeLinear, .name = "ref", .run = &RunQuantizeLinear},
      {.op = &ops::DequantizeLinear, .name = "ref", .run = &RunDequantizeLinear},
      {.op = &ops::DynamicQuantizeLinear, .name = "ref", .run = &RunDynamicQuantizeLinear},
  };
  return kernels;
}

}  // namespace weft
