// Adagrad, Adam, Momentum: every element by itself, in double.
#include "graph/ops/optimizers.h"

#include <array>
#include <cmath>

#include "kernels/kernel.h"
#include "kernels/ref/elements.h"

namespace weft {
namespace {

double LearningRate(const RunContext& ctx) {
  double rate = 0;
  ReadElements(ctx.input(0), 0, 1, &rate);
  return rate;
}
int64_t Updates(const RunContext& ctx) { return *ctx.input(1).data<const int64_t>(); }

// x = step(x, gradient, states), where `states` become the new ones, for every element of every tensor.
template <size_t kStates, class Step>
absl::Status UpdateAll(RunContext& ctx, Step step) {
  const int count = (ctx.num_inputs() - 2) / static_cast<int>(2 + kStates);
  for (int k = 0; k < count; ++k) {
    DispatchWide(ctx.input(2 + k).dtype(), [&]<class T>() {
      std::array<const T*, 2 + kStates> in;
      for (size_t g = 0; g < in.size(); ++g) in[g] = ctx.input(2 + k + static_cast<int>(g) * count).template data<const T>();
      std::array<T*, 1 + kStates> out;
      for (size_t g = 0; g < out.size(); ++g) {
        const int i = k + static_cast<int>(g) * count;
        out[g] = ctx.HasOutput(i) ? ctx.output(i).template data<T>() : nullptr;
      }
      ParallelFor(ctx.input(2 + k).size(), 20, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          std::array<double, kStates> states;
          for (size_t s = 0; s < kStates; ++s) states[s] = in[2 + s][i];
          const double x = step(in[0][i], in[1][i], states);
          if (out[0] != nullptr) out[0][i] = static_cast<T>(x);
          for (size_t s = 0; s < kStates; ++s) {
            if (out[1 + s] != nullptr) out[1 + s][i] = static_cast<T>(states[s]);
          }
        }
      });
    });
  }
  return absl::OkStatus();
}

absl::Status RunAdagrad(RunContext& ctx) {
  const AdagradAttrs& attrs = ctx.attrs<AdagradAttrs>();
  const double rate = LearningRate(ctx) / (1 + static_cast<double>(Updates(ctx)) * attrs.decay_factor);
  return UpdateAll<1>(ctx, [&](double x, double gradient, std::array<double, 1>& states) {
    auto& [squares] = states;
    gradient += attrs.norm_coefficient * x;
    squares += gradient * gradient;
    return x - rate * gradient / (std::sqrt(squares) + attrs.epsilon);
  });
}

absl::Status RunAdam(RunContext& ctx) {
  const AdamAttrs& attrs = ctx.attrs<AdamAttrs>();
  const double alpha = attrs.alpha, beta = attrs.beta;
  const auto updates = static_cast<double>(Updates(ctx));
  double rate = LearningRate(ctx);
  if (updates > 0) rate *= std::sqrt(1 - std::pow(beta, updates)) / (1 - std::pow(alpha, updates));
  return UpdateAll<2>(ctx, [&](double x, double gradient, std::array<double, 2>& states) {
    auto& [mean, squares] = states;
    gradient += attrs.norm_coefficient * x;
    mean = alpha * mean + (1 - alpha) * gradient;
    squares = beta * squares + (1 - beta) * gradient * gradient;
    return (1 - attrs.norm_coefficient_post) * (x - rate * mean / (std::sqrt(squares) + attrs.epsilon));
  });
}

absl::Status RunMomentum(RunContext& ctx) {
  const MomentumAttrs& attrs = ctx.attrs<MomentumAttrs>();
  const double rate = LearningRate(ctx), alpha = attrs.alpha, beta = Updates(ctx) > 0 ? attrs.beta : 1;
  const bool nesterov = attrs.mode == "nesterov";
  return UpdateAll<1>(ctx, [&](double x, double gradient, std::array<double, 1>& states) {
    auto& [momentum] = states;
    gradient += attrs.norm_coefficient * x;
    momentum = alpha * momentum + beta * gradient;
    return x - rate * (nesterov ? gradient + alpha * momentum : momentum);
  });
}

}  // namespace

absl::Span<const Kernel> RefOptimizers() {
  static constexpr Kernel kernels[] = {
      {.op = &ops::Adagrad, .name = "ref", .run = &RunAdagrad},
      {.op = &ops::Adam, .name = "ref", .run = &RunAdam},
      {.op = &ops::Momentum, .name = "ref", .run = &RunMomentum},
  };
  return kernels;
}

}  // namespace weft
