// LinearAttention: position by position, in float.
#include "graph/ops/linear_attention.h"

#include <cmath>

#include "kernels/kernel.h"
#include "kernels/ref/elements.h"

namespace weft {
namespace {

enum Inputs { kQuery, kKey, kValue, kPastState, kDecay, kBeta };

// One key head of one batch: its vectors of this position, and the state.
struct Step {
  int64_t d_k = 0, d_v = 0;
  const float *k = nullptr, *v = nullptr;
  const float* decay = nullptr;  // null: none
  int64_t decay_step = 0;        // 0: one for all of the key's elements
  const float* beta = nullptr;   // null: none
};

// `value` is scratch [d_v].
void Update(const Step& s, float* state, float* value) {
  for (int64_t i = 0; s.decay != nullptr && i < s.d_k; ++i) {
    const float factor = std::exp(s.decay[i * s.decay_step]);
    for (int64_t j = 0; j < s.d_v; ++j) state[i * s.d_v + j] *= factor;
  }
  std::copy(s.v, s.v + s.d_v, value);
  if (s.beta != nullptr) {
    for (int64_t i = 0; i < s.d_k; ++i) {
      for (int64_t j = 0; j < s.d_v; ++j) value[j] -= state[i * s.d_v + j] * s.k[i];
    }
    for (int64_t j = 0; j < s.d_v; ++j) value[j] *= *s.beta;
  }
  for (int64_t i = 0; i < s.d_k; ++i) {
    for (int64_t j = 0; j < s.d_v; ++j) state[i * s.d_v + j] += s.k[i] * value[j];
  }
}

void Read(const Step& s, const float* state, const float* q, float scale, float* out) {
  std::fill(out, out + s.d_v, 0.0f);
  for (int64_t i = 0; i < s.d_k; ++i) {
    for (int64_t j = 0; j < s.d_v; ++j) out[j] += q[i] * state[i * s.d_v + j];
  }
  for (int64_t j = 0; j < s.d_v; ++j) out[j] *= scale;
}

absl::StatusOr<Tensor> WidenInput(RunContext& ctx, int i) { return ctx.HasInput(i) ? Widen<float>(ctx.input(i)) : Tensor(); }

absl::Status RunLinearAttention(RunContext& ctx) {
  const auto& attrs = ctx.attrs<LinearAttentionAttrs>();
  WEFT_ASSIGN_OR_RETURN(const Tensor query, WidenInput(ctx, kQuery));
  WEFT_ASSIGN_OR_RETURN(const Tensor key, WidenInput(ctx, kKey));
  WEFT_ASSIGN_OR_RETURN(const Tensor value, WidenInput(ctx, kValue));
  WEFT_ASSIGN_OR_RETURN(const Tensor decay, WidenInput(ctx, kDecay));
  WEFT_ASSIGN_OR_RETURN(const Tensor beta, WidenInput(ctx, kBeta));
  const int64_t batch = query.dim(0), length = query.dim(1), heads = attrs.kv_num_heads, group = attrs.q_num_heads / heads;
  const int64_t d_k = query.dim(2) / attrs.q_num_heads, d_v = value.dim(2) / heads;
  WEFT_ASSIGN_OR_RETURN(Tensor states, Tensor::Allocate(DType::kFloat32, {batch, heads, d_k, d_v}));
  if (ctx.HasInput(kPastState)) ReadElements(ctx.input(kPastState), 0, states.size(), states.data<float>());
  WEFT_ASSIGN_OR_RETURN(Tensor output, WideOutput<float>(ctx.output(0)));
  const float scale = attrs.scale != 0 ? attrs.scale : 1 / std::sqrt(static_cast<float>(d_k));
  const int64_t decays = decay.empty_handle() ? 0 : decay.dim(2), betas = beta.empty_handle() ? 0 : beta.dim(2);
  ParallelFor(batch * heads, length * d_k * d_v * (group + 3), [&](int64_t begin, int64_t end) {
    std::vector<float> scratch(d_v);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t b = i / heads, h = i % heads;
      float* state = states.data<float>() + i * d_k * d_v;
      for (int64_t row = b * length; row < (b + 1) * length; ++row) {
        const int64_t at = row * heads + h;
        Step step{.d_k = d_k, .d_v = d_v, .k = key.data<float>() + at * d_k, .v = value.data<float>() + at * d_v};
        if (decays > 0) {
          step.decay_step = decays == heads ? 0 : 1;
          step.decay = decay.data<float>() + row * decays + (decays == heads ? h : h * d_k);
        }
        if (betas > 0) step.beta = beta.data<float>() + row * betas + (betas == 1 ? 0 : h);
        Update(step, state, scratch.data());
        for (int64_t head = h * group; head < (h + 1) * group; ++head) {
          const int64_t to = row * attrs.q_num_heads + head;
          Read(step, state, query.data<float>() + to * d_k, scale, output.data<float>() + to * d_v);
        }
      }
    }
  });
  Narrow<float>(output, ctx.output(0));
  if (ctx.HasOutput(1)) Narrow<float>(states, ctx.output(1));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const Kernel> RefLinearAttention() {
  static constexpr Kernel kernels[] = {{.op = &ops::LinearAttention, .name = "ref", .run = &RunLinearAttention}};
  return kernels;
}

}  // namespace weft
