// MultiHeadAttention of the domain com.microsoft. Computed in float.
#include "graph/ops/multi_head_attention.h"

#include "kernels/kernel.h"
#include "kernels/ref/attention.h"
#include "kernels/ref/indices.h"

namespace weft {
namespace {

using I = MhaInputs;

// Where the heads of queries, keys or values stand: a tensor and the layout in it.
struct Source {
  const Tensor* tensor = nullptr;
  HeadLayout layout;
};
struct Sources {
  Source q, k, v;
};

// The layouts are drawn in graph/ops/multi_head_attention.cc.
Sources SourcesOf(RunContext& ctx, int64_t heads) {
  auto rows = [&](int i) { return Source{&ctx.input(i), HeadLayout::OfRows(ctx.input(i).dims(), heads)}; };
  // Part `part` of the `parts` that stand together for each head.
  auto packed = [&](int i, int part, int parts) {
    const Tensor& t = ctx.input(i);
    const int64_t size = t.dim(4);
    return Source{&t, HeadLayout::OfRows(t.dim(0), t.dim(1), heads * parts * size, heads, size, part * size, parts * size)};
  };
  if (ctx.input(I::kQuery).rank() == 5) return {packed(I::kQuery, 0, 3), packed(I::kQuery, 1, 3), packed(I::kQuery, 2, 3)};
  const Source q = rows(I::kQuery);
  const Tensor& key = ctx.input(I::kKey);
  if (key.rank() == 5) return {q, packed(I::kKey, 0, 2), packed(I::kKey, 1, 2)};
  if (key.rank() == 3) return {q, rows(I::kKey), rows(I::kValue)};
  return {q, {&key, HeadLayout::OfHeads(key.dims())}, {&ctx.input(I::kValue), HeadLayout::OfHeads(ctx.input(I::kValue).dims())}};
}

// Adds the bias [H*D] of each head from element `first` on to positions [at, T) of heads [B,H,T,D].
template <class E>
void AddBias(const Tensor& bias, int64_t first, int64_t at, Tensor& heads) {
  using C = Compute<E>;
  const int64_t length = heads.dim(2), size = heads.dim(3);
  ParallelFor(heads.dim(0) * heads.dim(1), length * size, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const E* add = bias.data<E>() + first + i % heads.dim(1) * size;
      for (int64_t s = at; s < length; ++s) {
        E* x = heads.data<E>() + (i * length + s) * size;
        for (int64_t d = 0; d < size; ++d) x[d] = E(static_cast<C>(x[d]) + static_cast<C>(add[d]));
      }
    }
  });
}

// The heads behind those of input `past` (kQuery: there are none), in `present` if that was asked for, with their bias.
template <class E>
absl::StatusOr<Tensor> Gather(RunContext& ctx, const Source& from, int past, int present, int64_t first_bias) {
  const int64_t before = past != I::kQuery && ctx.HasInput(past) ? ctx.input(past).dim(2) : 0;
  Dims dims = from.layout.dims();
  dims[2] += before;
  Tensor heads;
  if (present > 0 && ctx.HasOutput(present)) {
    heads = ctx.output(present);
  } else {
    WEFT_ASSIGN_OR_RETURN(heads, Tensor::AllocateUninitialized(from.tensor->dtype(), dims));
  }
  if (before > 0) CopyHeads(ctx.input(past), HeadLayout::OfHeads(ctx.input(past).dims()), heads, 0);
  CopyHeads(*from.tensor, from.layout, heads, before);
  // Keys and values that were computed before have theirs.
  if (ctx.HasInput(I::kBias) && (past == I::kQuery || from.tensor->rank() != 4)) AddBias<E>(ctx.input(I::kBias), first_bias, before, heads);
  return heads;
}

// What key_padding_mask and `unidirectional` add to the scores.
class Mask {
 public:
  Mask(RunContext& ctx, const AttentionShape& s) : s_(s), filter_(ctx.attrs<MultiHeadAttentionAttrs>().mask_filter_value) {
    if (ctx.attrs<MultiHeadAttentionAttrs>().unidirectional) past_ = ctx.HasInput(I::kPastKey) ? ctx.input(I::kPastKey).dim(2) : 0;
    if (!ctx.HasInput(I::kMask)) return;
    values_ = ReadInts(ctx.input(I::kMask));
    rank_ = ctx.input(I::kMask).rank();
  }

  void Apply(int64_t b, int64_t i, float* scores) const {
    const int64_t n = s_.kv_length;
    if (rank_ == 1) {
      for (int64_t j = std::clamp<int64_t>(values_[b], 0, n); j < n; ++j) scores[j] += filter_;
    } else if (rank_ > 1) {
      const int64_t* kept = values_.data() + (rank_ == 2 ? b : b * s_.q_length + i) * n;
      for (int64_t j = 0; j < n; ++j) scores[j] += kept[j] > 0 ? 0 : filter_;
    }
    if (!past_) return;
    for (int64_t j = std::clamp<int64_t>(*past_ + i + 1, 0, n); j < n; ++j) scores[j] = std::numeric_limits<float>::lowest();
  }

 private:
  AttentionShape s_;
  float filter_;
  std::optional<int64_t> past_;  // keys before the first query, where a query reads none behind its own
  std::vector<int64_t> values_;
  int rank_ = 0;  // 1: the number of keys, 2: a mask of the keys, 3: one for each query; 0: none
};

template <class E>
absl::Status RunAs(RunContext& ctx) {
  const auto& attrs = ctx.attrs<MultiHeadAttentionAttrs>();
  const Sources from = SourcesOf(ctx, attrs.num_heads);
  const int64_t hidden = attrs.num_heads * from.q.layout.size;
  WEFT_ASSIGN_OR_RETURN(Tensor q, Gather<E>(ctx, from.q, I::kQuery, 0, 0));
  WEFT_ASSIGN_OR_RETURN(Tensor k, Gather<E>(ctx, from.k, I::kPastKey, 1, hidden));
  WEFT_ASSIGN_OR_RETURN(Tensor v, Gather<E>(ctx, from.v, I::kPastValue, 2, 2 * hidden));
  WEFT_ASSIGN_OR_RETURN(q, Widen<float>(q));
  WEFT_ASSIGN_OR_RETURN(k, Widen<float>(k));
  WEFT_ASSIGN_OR_RETURN(v, Widen<float>(v));
  const AttentionShape s{.batch = q.dim(0), .q_heads = q.dim(1), .kv_heads = k.dim(1), .q_length = q.dim(2),
                         .kv_length = k.dim(2), .head_size = q.dim(3), .v_head_size = v.dim(3)};
  Tensor bias;
  if (ctx.HasInput(I::kAttentionBias)) {
    WEFT_ASSIGN_OR_RETURN(bias, Widen<float>(ctx.input(I::kAttentionBias)));
  }
  const Mask mask(ctx, s);
  const float scale = attrs.scale != 0 ? attrs.scale : 1 / std::sqrt(static_cast<float>(s.head_size));
  auto weigh = [&](int64_t b, int64_t h, int64_t i, float* scores) {
    for (int64_t j = 0; j < s.kv_length; ++j) scores[j] *= scale;
    mask.Apply(b, i, scores);
    if (!bias.empty_handle()) {
      const int64_t matrix = (bias.dim(0) == 1 ? 0 : b) * bias.dim(1) + (bias.dim(1) == 1 ? 0 : h);
      const float* add = bias.data<float>() + (matrix * s.q_length + i) * s.kv_length;
      for (int64_t j = 0; j < s.kv_length; ++j) scores[j] += add[j];
    }
    SoftmaxScores<float>(scores, s.kv_length, -std::numeric_limits<float>::infinity());
  };
  WEFT_ASSIGN_OR_RETURN(const Tensor y, WideHeads<float>(ctx.output(0), {s.batch, s.q_heads, s.q_length, s.v_head_size}));
  WEFT_RETURN_IF_ERROR(Attend<float>(s, q.data<float>(), k.data<float>(), v.data<float>(), weigh, y.data<float>()));
  return NarrowHeads<float>(y, ctx.output(0));
}

absl::Status RunMultiHeadAttention(RunContext& ctx) {
  return DispatchFloat(ctx.input(I::kQuery).dtype(), [&]<class E>() { return RunAs<E>(ctx); });
}

}  // namespace

absl::Span<const Kernel> RefMultiHeadAttention() {
  static constexpr Kernel kernels[] = {{.op = &ops::MultiHeadAttention, .name = "ref", .run = &RunMultiHeadAttention}};
  return kernels;
}

}  // namespace weft
