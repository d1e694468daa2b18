// NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss.
#include "graph/ops/loss.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/kernel.h"
#include "kernels/ref/indices.h"

namespace weft {
namespace {

// Scores [N,C,d1,...] as N blocks of C planes.
struct Samples {
  int64_t batch, classes, plane;
  explicit Samples(const Tensor& scores)
      : batch(scores.dim(0)), classes(scores.dim(1)), plane(Product(absl::MakeConstSpan(scores.dims()).subspan(2))) {}
  int64_t count() const { return batch * plane; }
  // Where class 0 of sample i stands; the others follow a plane apart.
  int64_t Offset(int64_t i) const { return i / plane * classes * plane + i % plane; }
};

// From log-probabilities to output 0.
template <class T>
absl::Status Reduce(RunContext& ctx, const T* log_probabilities, const Samples& samples) {
  const auto& attrs = ctx.attrs<LossAttrs>();
  const std::vector<int64_t> targets = ReadInts(ctx.input(1));
  std::vector<double> weights(samples.classes, 1.0);
  if (ctx.HasInput(2)) ReadElements(ctx.input(2), 0, samples.classes, weights.data());
  std::vector<double> losses(samples.count(), 0.0);
  double sum = 0, weight_sum = 0;
  for (int64_t i = 0; i < samples.count(); ++i) {
    const int64_t target = targets[i];
    if (target == attrs.ignore_index) continue;
    if (target < 0 || target >= samples.classes) return IndexOutOfRange(target, 1, samples.classes);
    losses[i] = -weights[target] * log_probabilities[samples.Offset(i) + target * samples.plane];
    sum += losses[i];
    weight_sum += weights[target];
  }
  if (attrs.reduction == "none") {
    WriteElements(losses.data(), samples.count(), ctx.output(0), 0);
  } else {
    const double loss = attrs.reduction == "sum" ? sum : sum / weight_sum;
    WriteElements(&loss, 1, ctx.output(0), 0);
  }
  return absl::OkStatus();
}

absl::Status RunNegativeLogLikelihoodLoss(RunContext& ctx) {
  return DispatchWide(ctx.input(0).dtype(), [&]<class T>() -> absl::Status {
    WEFT_ASSIGN_OR_RETURN(const Tensor x, Widen<T>(ctx.input(0)));
    return Reduce(ctx, x.data<const T>(), Samples(x));
  });
}

absl::Status RunSoftmaxCrossEntropyLoss(RunContext& ctx) {
  return DispatchWide(ctx.input(0).dtype(), [&]<class T>() -> absl::Status {
    WEFT_ASSIGN_OR_RETURN(const Tensor x, Widen<T>(ctx.input(0)));
    const Samples samples(x);
    Tensor y;
    if (ctx.HasOutput(1)) {
      WEFT_ASSIGN_OR_RETURN(y, WideOutput<T>(ctx.output(1)));
    } else {
      WEFT_ASSIGN_OR_RETURN(y, Tensor::AllocateUninitialized(DTypeOf<T>::value, x.dims()));
    }
    ParallelFor(samples.classes == 0 ? 0 : samples.count(), 20 * samples.classes, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* scores = x.data<const T>() + samples.Offset(i);
        T* logs = y.data<T>() + samples.Offset(i);
        T largest = scores[0];
        for (int64_t c = 1; c < samples.classes; ++c) largest = std::max(largest, scores[c * samples.plane]);
        double sum = 0;
        for (int64_t c = 0; c < samples.classes; ++c) sum += std::exp(scores[c * samples.plane] - largest);
        const T log_sum = static_cast<T>(std::log(sum));
        for (int64_t c = 0; c < samples.classes; ++c) logs[c * samples.plane] = scores[c * samples.plane] - largest - log_sum;
      }
    });
    WEFT_RETURN_IF_ERROR(Reduce(ctx, y.data<const T>(), samples));
    if (ctx.HasOutput(1)) Narrow<T>(y, ctx.output(1));
    return absl::OkStatus();
  });
}

}  // namespace

absl::Span<const Kernel> RefLoss() {
  static constexpr Kernel kernels[] = {
      {.op = &ops::NegativeLogLikelihoodLoss, .name = "ref", .run = &RunNegativeLogLikelihoodLoss},
      {.op = &ops::SoftmaxCrossEntropyLoss, .name = "ref", .run = &RunSoftmaxCrossEntropyLoss},
  };
  return kernels;
}

}  // namespace weft
