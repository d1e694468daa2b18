// BatchNormalization, InstanceNormalization, GroupNormalization, LayerNormalization, RMSNormalization, LRN (ONNX Operators.md).
#include "kernels/ref/normalization.h"

#include "graph/op.h"
#include "graph/ops/normalization.h"
#include "kernels/kernel.h"

namespace weft {
namespace {

int64_t ProductFrom(const Dims& dims, int axis) { return Product(absl::MakeConstSpan(dims).subspan(axis)); }

absl::StatusOr<std::vector<double>> AsDoubles(const Tensor& t) {
  std::vector<double> values(t.size());
  ReadElements(t, 0, t.size(), values.data());
  return values;
}

// y = (x - mean) * factor + bias on one plane.
template <class T>
void NormalizePlane(const T* x, T* y, int64_t count, double mean, double factor, double bias) {
  const T m = static_cast<T>(mean), f = static_cast<T>(factor), b = static_cast<T>(bias);
  for (int64_t i = 0; i < count; ++i) y[i] = (x[i] - m) * f + b;
}

template <class T>
absl::Status RunBatchNormalizationAs(RunContext& ctx) {
  const auto& attrs = ctx.attrs<BatchNormalizationAttrs>();
  WEFT_ASSIGN_OR_RETURN(const Tensor x, Widen<T>(ctx.input(0)));  // [N, C, ...] or [N]
  WEFT_ASSIGN_OR_RETURN(Tensor y, WideOutput<T>(ctx.output(0)));
  WEFT_ASSIGN_OR_RETURN(const std::vector<double> scale, AsDoubles(ctx.input(1)));
  WEFT_ASSIGN_OR_RETURN(const std::vector<double> bias, AsDoubles(ctx.input(2)));
  WEFT_ASSIGN_OR_RETURN(std::vector<double> mean, AsDoubles(ctx.input(3)));
  WEFT_ASSIGN_OR_RETURN(std::vector<double> variance, AsDoubles(ctx.input(4)));
  const int64_t channels = static_cast<int64_t>(scale.size()), batch = x.dim(0), plane = x.rank() > 2 ? ProductFrom(x.dims(), 2) : 1;
  if (attrs.training_mode) {
    const double momentum = attrs.momentum;
    std::vector<double> running_mean = mean, running_variance = variance;
    ParallelFor(channels, 8 * batch * plane, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) {
        // Over the planes of a channel, which lie apart: mean of means, and the mean of variances about it.
        double sum = 0, squares = 0;
        for (int64_t n = 0; n < batch; ++n) sum += MomentsOf(x.data<T>() + (n * channels + c) * plane, plane).mean;
        const double m = sum / static_cast<double>(batch);
        for (int64_t n = 0; n < batch; ++n) {
          const Moments of_plane = MomentsOf(x.data<T>() + (n * channels + c) * plane, plane);
          squares += of_plane.variance + (of_plane.mean - m) * (of_plane.mean - m);
        }
        mean[c] = m;
        variance[c] = squares / static_cast<double>(batch);
        running_mean[c] = running_mean[c] * momentum + mean[c] * (1 - momentum);
        running_variance[c] = running_variance[c] * momentum + variance[c] * (1 - momentum);
      }
    });
    if (ctx.HasOutput(1)) WriteElements(running_mean.data(), channels, ctx.output(1), 0);
    if (ctx.HasOutput(2)) WriteElements(running_variance.data(), channels, ctx.output(2), 0);
  }
  ParallelFor(batch * channels, 3 * plane, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t c = i % channels;
      NormalizePlane(x.data<T>() + i * plane, y.data<T>() + i * plane, plane, mean[c],
                     scale[c] / std::sqrt(variance[c] + attrs.epsilon), bias[c]);
    }
  });
  Narrow<T>(y, ctx.output(0));
  return absl::OkStatus();
}

// Statistics over groups of neighbouring channels of one sample.
template <class T>
absl::Status RunGroupsAs(RunContext& ctx, int64_t groups, double epsilon) {
  WEFT_ASSIGN_OR_RETURN(const Tensor x, Widen<T>(ctx.input(0)));  // [N, C, ...]
  WEFT_ASSIGN_OR_RETURN(Tensor y, WideOutput<T>(ctx.output(0)));
  WEFT_ASSIGN_OR_RETURN(const std::vector<double> scale, AsDoubles(ctx.input(1)));
  WEFT_ASSIGN_OR_RETURN(const std::vector<double> bias, AsDoubles(ctx.input(2)));
  if (x.size() == 0) return absl::OkStatus();
  const int64_t plane = ProductFrom(x.dims(), 2), per_group = x.dim(1) / groups;
  ParallelFor(x.dim(0) * groups, 8 * per_group * plane, [&](int64_t begin, int64_t end) {
    for (int64_t g = begin; g < end; ++g) {
      const Moments m = MomentsOf(x.data<T>() + g * per_group * plane, per_group * plane);
      const double inverse = 1 / std::sqrt(m.variance + epsilon);
      for (int64_t i = g * per_group; i < (g + 1) * per_group; ++i) {
        const int64_t c = i % x.dim(1);
        NormalizePlane(x.data<T>() + i * plane, y.data<T>() + i * plane, plane, m.mean, scale[c] * inverse, bias[c]);
      }
    }
  });
  Narrow<T>(y, ctx.output(0));
  return absl::OkStatus();
}

// Statistics over the axes from `axis` on.
template <class T>
absl::Status RunLayerNormalizationAs(RunContext& ctx) {
  const auto& attrs = ctx.attrs<LayerNormalizationAttrs>();
  WEFT_ASSIGN_OR_RETURN(const Tensor x, Widen<T>(ctx.input(0)));
  WEFT_ASSIGN_OR_RETURN(Tensor y, WideOutput<T>(ctx.output(0)));
  WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(attrs.axis, x.rank()));
  const int64_t columns = ProductFrom(x.dims(), axis);
  const int64_t rows = Product(absl::MakeConstSpan(x.dims()).first(axis));
  WEFT_ASSIGN_OR_RETURN(const Periodic<T> scale, Repeat<T>(ctx.input(1), x.dims()));
  Periodic<T> bias;
  if (ctx.HasInput(2)) {
    WEFT_ASSIGN_OR_RETURN(bias, Repeat<T>(ctx.input(2), x.dims()));
  }
  std::vector<double> means(rows), inverses(rows);
  ParallelFor(rows, 8 * columns, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const T* row = x.data<T>() + r * columns;
      const Moments m = MomentsOf(row, columns);
      means[r] = m.mean;
      inverses[r] = 1 / std::sqrt(m.variance + attrs.epsilon);
      NormalizeRow(row, y.data<T>() + r * columns, r * columns, columns, static_cast<T>(m.mean), static_cast<T>(inverses[r]), scale,
                   ctx.HasInput(2) ? &bias : nullptr);
    }
  });
  if (ctx.HasOutput(1)) WriteElements(means.data(), rows, ctx.output(1), 0);
  if (ctx.HasOutput(2)) WriteElements(inverses.data(), rows, ctx.output(2), 0);
  Narrow<T>(y, ctx.output(0));
  return absl::OkStatus();
}

template <class T>
absl::Status RunRMSNormalizationAs(RunContext& ctx) {
  const auto& attrs = ctx.attrs<LayerNormalizationAttrs>();
  WEFT_ASSIGN_OR_RETURN(const Tensor x, Widen<T>(ctx.input(0)));
  WEFT_ASSIGN_OR_RETURN(Tensor y, WideOutput<T>(ctx.output(0)));
  WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(attrs.axis, x.rank()));
  WEFT_ASSIGN_OR_RETURN(const Periodic<T> scale, Repeat<T>(ctx.input(1), x.dims()));
  const int64_t columns = ProductFrom(x.dims(), axis);
  const int64_t rows = Product(absl::MakeConstSpan(x.dims()).first(axis));
  std::vector<double> inverses(rows);
  ParallelFor(rows, 4 * columns, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const T* row = x.data<T>() + r * columns;
      inverses[r] = 1 / std::sqrt(MeanSquare(row, columns) + attrs.epsilon);
      NormalizeRow(row, y.data<T>() + r * columns, r * columns, columns, T(0), static_cast<T>(inverses[r]), scale);
    }
  });
  if (ctx.HasOutput(1)) WriteElements(inverses.data(), rows, ctx.output(1), 0);
  Narrow<T>(y, ctx.output(0));
  return absl::OkStatus();
}

template <class T>
absl::Status RunLrnAs(RunContext& ctx) {
  const auto& attrs = ctx.attrs<LrnAttrs>();
  WEFT_ASSIGN_OR_RETURN(const Tensor x, Widen<T>(ctx.input(0)));  // [N, C, ...]
  WEFT_ASSIGN_OR_RETURN(Tensor y, WideOutput<T>(ctx.output(0)));
  const int64_t channels = x.dim(1), plane = ProductFrom(x.dims(), 2);
  const int64_t before = (attrs.size - 1) / 2, after = attrs.size - 1 - before;
  const double factor = static_cast<double>(attrs.alpha) / static_cast<double>(attrs.size);
  ParallelFor(x.dim(0) * channels, plane * (32 + std::min(attrs.size, channels)), [&](int64_t begin, int64_t end) {
    for (int64_t index = begin; index < end; ++index) {
      const int64_t c = index % channels, first = std::max<int64_t>(0, c - before);
      const int64_t last = after >= channels - c ? channels - 1 : c + after;
      const T* sample = x.data<T>() + (index - c) * plane;
      for (int64_t i = 0; i < plane; ++i) {
        double sum = 0;
        for (int64_t k = first; k <= last; ++k) sum += static_cast<double>(sample[k * plane + i]) * sample[k * plane + i];
        y.data<T>()[index * plane + i] = static_cast<T>(sample[c * plane + i] / std::pow(attrs.bias + factor * sum, static_cast<double>(attrs.beta)));
      }
    }
  });
  Narrow<T>(y, ctx.output(0));
  return absl::OkStatus();
}

absl::Status RunBatchNormalization(RunContext& ctx) {
  return DispatchWide(ctx.input(0).dtype(), [&]<class T>() { return RunBatchNormalizationAs<T>(ctx); });
}
absl::Status RunInstanceNormalization(RunContext& ctx) {
  return DispatchWide(ctx.input(0).dtype(), [&]<class T>() {
    return RunGroupsAs<T>(ctx, ctx.input(0).dim(1), ctx.attrs<InstanceNormalizationAttrs>().epsilon);
  });
}
absl::Status RunGroupNormalization(RunContext& ctx) {
  const auto& attrs = ctx.attrs<GroupNormalizationAttrs>();
  return DispatchWide(ctx.input(0).dtype(), [&]<class T>() { return RunGroupsAs<T>(ctx, attrs.num_groups, attrs.epsilon); });
}
absl::Status RunLayerNormalization(RunContext& ctx) {
  return DispatchWide(ctx.input(0).dtype(), [&]<class T>() { return RunLayerNormalizationAs<T>(ctx); });
}
absl::Status RunRMSNormalization(RunContext& ctx) {
  const bool wide = ctx.input(0).dtype() == DType::kFloat64 || ctx.input(1).dtype() == DType::kFloat64;
  return DispatchWide(wide ? DType::kFloat64 : DType::kFloat32, [&]<class T>() { return RunRMSNormalizationAs<T>(ctx); });
}
absl::Status RunLrn(RunContext& ctx) {
  return DispatchWide(ctx.input(0).dtype(), [&]<class T>() { return RunLrnAs<T>(ctx); });
}

}  // namespace

absl::Span<const Kernel> RefNormalization() {
  static constexpr Kernel kernels[] = {
      {.op = &ops::BatchNormalization, .name = "ref", .run = &RunBatchNormalization},
      {.op = &ops::InstanceNormalization, .name = "ref", .run = &RunInstanceNormalization},
      {.op = &ops::GroupNormalization, .name = "ref", .run = &RunGroupNormalization},
      {.op = &ops::LayerNormalization, .name = "ref", .run = &RunLayerNormalization},
      {.op = &ops::RMSNormalization, .name = "ref", .run = &RunRMSNormalization},
      {.op = &ops::SimplifiedLayerNormalization, .name = "ref", .run = &RunRMSNormalization},
      {.op = &ops::LRN, .name = "ref", .run = &RunLrn},
  };
  return kernels;
}

}  // namespace weft
