// RandomNormal, RandomUniform, their Like forms, Bernoulli, Multinomial. Element i of the output is number i of the seed.
#include "graph/ops/random.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <vector>

#include "kernels/kernel.h"
#include "kernels/ref/cast.h"
#include "kernels/ref/dispatch.h"
#include "kernels/ref/elements.h"
#include "kernels/ref/philox.h"

namespace weft {
namespace {

RandomNumbers NumbersOf(const RunContext& ctx, std::optional<float> seed) {
  return RandomNumbers(seed ? std::bit_cast<uint32_t>(*seed) : ctx.seed());
}

// out[i] = draw.operator()<T>(i).
template <class Draw>
absl::Status Fill(Tensor& out, Draw draw) {
  return DispatchFloat(out.dtype(), [&]<class T>() {
    T* to = out.data<T>();
    ParallelFor(out.size(), 100, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[i] = draw.template operator()<T>(i);
    });
    return absl::OkStatus();
  });
}

template <class T>
T Rounded(double value) {
  return T(static_cast<Compute<T>>(value));
}

template <class A>
absl::Status RunNormal(RunContext& ctx) {
  const auto& attrs = ctx.attrs<A>();
  const RandomNumbers numbers = NumbersOf(ctx, attrs.seed);
  const double mean = attrs.mean, scale = attrs.scale;
  return Fill(ctx.output(0), [=]<class T>(int64_t i) { return Rounded<T>(mean + scale * numbers.Normal(i)); });
}

// In [low, high): what rounds up to `high` begins again at `low`.
template <class A>
absl::Status RunUniform(RunContext& ctx) {
  const auto& attrs = ctx.attrs<A>();
  const RandomNumbers numbers = NumbersOf(ctx, attrs.seed);
  const double low = attrs.low, high = attrs.high;
  return Fill(ctx.output(0), [=]<class T>(int64_t i) {
    const T value = Rounded<T>(low + (high - low) * numbers.Uniform(i));
    return static_cast<double>(static_cast<Compute<T>>(value)) < high ? value : Rounded<T>(low);
  });
}

absl::Status RunBernoulli(RunContext& ctx) {
  const Tensor& input = ctx.input(0);
  const RandomNumbers numbers = NumbersOf(ctx, ctx.attrs<BernoulliAttrs>().seed);
  WEFT_ASSIGN_OR_RETURN(Tensor draws, Tensor::AllocateUninitialized(DType::kBool, input.dims()));
  std::atomic<bool> bad{false};
  ParallelFor(input.size(), 100, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      double p = 0;
      ReadElements(input, i, 1, &p);
      if (!(p >= 0 && p <= 1)) bad.store(true, std::memory_order_relaxed);
      draws.data<bool>()[i] = numbers.Uniform(i) < p;
    }
  });
  if (bad.load()) return Invalid("input 0 (input) holds a number that is no probability, expected 0 to 1");
  return CastElements(draws, ctx.output(0));
}

// Every sample looks a random height up among the running sums of a row's probabilities.
absl::Status RunMultinomial(RunContext& ctx) {
  const Tensor& input = ctx.input(0);  // [batch, classes], logarithms
  Tensor& out = ctx.output(0);         // [batch, samples]
  const int64_t classes = input.dim(1), samples = out.dim(1);
  const RandomNumbers numbers = NumbersOf(ctx, ctx.attrs<MultinomialAttrs>().seed);
  std::vector<double> sums(classes);
  WEFT_ASSIGN_OR_RETURN(Tensor drawn, Tensor::AllocateUninitialized(DType::kInt64, out.dims()));
  for (int64_t b = 0; b < input.dim(0); ++b) {
    if (ctx.Cancelled()) return absl::CancelledError("the run was cancelled");
    ReadElements(input, b * classes, classes, sums.data());
    const double largest = classes == 0 ? 0 : *std::max_element(sums.begin(), sums.end());
    double sum = 0;
    for (double& s : sums) s = sum += std::exp(s - largest);
    if (!(sum > 0 && std::isfinite(sum))) {
      return Invalid("row ", b, " of input 0 (input) holds no distribution, expected logarithms of probabilities, one of them more than -inf");
    }
    int64_t* to = drawn.data<int64_t>() + b * samples;
    ParallelFor(samples, 100, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const double height = numbers.Uniform(b * samples + i) * sum;
        // Rounding may lift the height to the sum; the first class that reaches it is the last that is possible.
        const auto at = height < sum ? std::upper_bound(sums.begin(), sums.end(), height) : std::lower_bound(sums.begin(), sums.end(), sum);
        to[i] = at - sums.begin();
      }
    });
  }
  return CastElements(drawn, out);
}

}  // namespace

absl::Span<const Kernel> RefRandom() {
  static constexpr Kernel kernels[] = {
      {.op = &ops::RandomNormal, .name = "ref", .run = &RunNormal<RandomNormalAttrs>},
      {.op = &ops::RandomNormalLike, .name = "ref", .run = &RunNormal<RandomNormalLikeAttrs>},
      {.op = &ops::RandomUniform, .name = "ref", .run = &RunUniform<RandomUniformAttrs>},
      {.op = &ops::RandomUniformLike, .name = "ref", .run = &RunUniform<RandomUniformLikeAttrs>},
      {.op = &ops::Bernoulli, .name = "ref", .run = &RunBernoulli},
      {.op = &ops::Multinomial, .name = "ref", .run = &RunMultinomial},
  };
  return kernels;
}

}  // namespace weft
