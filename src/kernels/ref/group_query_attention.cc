// GroupQueryAttention of the domain com.microsoft. Computed in float.
#include "graph/ops/group_query_attention.h"

#include "kernels/kernel.h"
#include "kernels/ref/attention.h"
#include "kernels/ref/indices.h"
#include "kernels/ref/rotary_embedding.h"

namespace weft {
namespace {

using I = GqaInputs;

// Of each batch, the positions that the cache held before, and the rows of the query that count.
struct Lengths {
  std::vector<int64_t> past, fresh;
  int64_t longest = 0;  // past and fresh together
  int64_t bound = 0;    // total_sequence_length
  bool first_prompt = false;

  int64_t total(int64_t b) const { return past[b] + fresh[b]; }
};

absl::StatusOr<Lengths> LengthsOf(RunContext& ctx, int64_t batch, int64_t length, int64_t capacity) {
  const std::vector<int64_t> seqlens = ReadInts(ctx.input(I::kSeqlensK));
  const int64_t total_length = ReadInts(ctx.input(I::kTotalLength))[0];
  std::vector<int64_t> given;
  if (ctx.HasInput(I::kQuerySeqlens)) given = ReadInts(ctx.input(I::kQuerySeqlens));
  Lengths lengths{.bound = total_length, .first_prompt = given.empty() && length == total_length};
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t total = seqlens[b] + 1;
    if (total < 1 || total > total_length) {
      return Invalid("seqlens_k holds ", seqlens[b], ", expected values in [0, ", total_length, "), as total_sequence_length says");
    }
    const int64_t fresh = !given.empty() ? given[b] : lengths.first_prompt ? std::min(length, total) : length;
    if (fresh < 0 || fresh > length || fresh > total) {
      return Invalid("the sequence of batch ", b, " has ", total, " positions, ", fresh, " of them new, expected at most ",
                     std::min(length, total));
    }
    if (total - fresh > capacity) {
      return Invalid("the sequence of batch ", b, " has ", total - fresh, " old positions, expected at most the ", capacity,
                     " of past_key");
    }
    lengths.past.push_back(total - fresh);
    lengths.fresh.push_back(fresh);
    lengths.longest = std::max(lengths.longest, total);
  }
  return lengths;
}

// Turns each head's vector by its position: position_ids, or the place in the sequence. `heads` is [B,H,S,D].
template <class E>
absl::Status RotateHeads(RunContext& ctx, const Lengths& lengths, Tensor& heads) {
  const Tensor &cos = ctx.input(I::kCos), &sin = ctx.input(I::kSin);
  const int64_t half = cos.dim(1), length = heads.dim(2), size = heads.dim(3);
  const bool interleaved = ctx.attrs<GroupQueryAttentionAttrs>().rotary_interleaved;
  std::vector<int64_t> positions(heads.dim(0) * length);
  std::vector<int64_t> given;
  if (ctx.HasInput(I::kPositionIds)) given = ReadInts(ctx.input(I::kPositionIds));
  for (int64_t i = 0; i < static_cast<int64_t>(positions.size()); ++i) {
    const int64_t b = i / length, s = i % length;
    if (given.empty()) positions[i] = lengths.past[b] + s;
    else positions[i] = lengths.first_prompt ? given[0] + s : given[i];  // of the first prompt one number is read
    if (s >= lengths.fresh[b]) {
      positions[i] = 0;  // padding
    } else if (positions[i] < 0 || positions[i] >= cos.dim(0)) {
      return Invalid("a position is ", positions[i], ", expected values in [0, ", cos.dim(0), "), the rows of cos_cache");
    }
  }
  ParallelFor(heads.dim(0) * heads.dim(1), 6 * length * size, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t s = 0; s < length; ++s) {
        const int64_t row = positions[i / heads.dim(1) * length + s];
        E* x = heads.data<E>() + (i * length + s) * size;
        Rotate(cos.data<E>() + row * half, sin.data<E>() + row * half, half, interleaved, x, x);
      }
    }
  });
  return absl::OkStatus();
}

// The heads in `from`, turned where `rotate` says so.
template <class E>
absl::StatusOr<Tensor> TakeHeads(RunContext& ctx, const Tensor& from, const HeadLayout& layout, const Lengths& lengths, bool rotate) {
  WEFT_ASSIGN_OR_RETURN(Tensor heads, Tensor::AllocateUninitialized(from.dtype(), layout.dims()));
  CopyHeads(from, layout, heads, 0);
  if (rotate) WEFT_RETURN_IF_ERROR(RotateHeads<E>(ctx, lengths, heads));
  return heads;
}

// Old positions, new ones, and zeros up to the end of `present`; all [B,H,positions,D].
template <class E>
void Append(const Tensor* past, const Tensor& fresh, const Lengths& lengths, Tensor& present) {
  const int64_t heads = present.dim(1), size = present.dim(3), room = present.dim(2) * size;
  ParallelFor(present.dim(0) * heads, room, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t old_count = lengths.past[i / heads] * size, new_count = lengths.fresh[i / heads] * size;
      E* to = present.data<E>() + i * room;
      if (past != nullptr) std::copy_n(past->data<E>() + i * past->dim(2) * size, old_count, to);
      std::copy_n(fresh.data<E>() + i * fresh.dim(2) * size, new_count, to + old_count);
      std::fill(to + old_count + new_count, to + room, E(0.0f));
    }
  });
}

template <class E>
absl::Status RunAs(RunContext& ctx) {
  const auto& attrs = ctx.attrs<GroupQueryAttentionAttrs>();
  const Tensor& query = ctx.input(I::kQuery);
  const bool packed = !ctx.HasInput(I::kKey), has_past = ctx.HasInput(I::kPastKey);
  const int64_t batch = query.dim(0), length = query.dim(1), heads = attrs.num_heads, kv_heads = attrs.kv_num_heads;
  const int64_t size = query.dim(2) / (packed ? heads + 2 * kv_heads : heads), capacity = has_past ? ctx.input(I::kPastKey).dim(2) : 0;
  WEFT_ASSIGN_OR_RETURN(const Lengths lengths, LengthsOf(ctx, batch, length, capacity));

  // The heads of the operand, or of the part of a packed query that begins with head `first`.
  auto take = [&](int input, int64_t first, int64_t count, bool rotate) {
    const Tensor& from = packed ? query : ctx.input(input);
    const HeadLayout layout = HeadLayout::OfRows(batch, length, from.dim(2), count, size, packed ? first * size : 0, size);
    return TakeHeads<E>(ctx, from, layout, lengths, rotate);
  };
  WEFT_ASSIGN_OR_RETURN(Tensor q, take(I::kQuery, 0, heads, attrs.do_rotary));
  Tensor kv[2];  // K, V
  for (int i : {0, 1}) {
    WEFT_ASSIGN_OR_RETURN(const Tensor fresh, take(I::kKey + i, heads + i * kv_heads, kv_heads, i == 0 && attrs.do_rotary));
    if (ctx.HasOutput(1 + i)) {
      kv[i] = ctx.output(1 + i);
    } else {
      WEFT_ASSIGN_OR_RETURN(kv[i], Tensor::AllocateUninitialized(query.dtype(), {batch, kv_heads, std::max(capacity, lengths.bound), size}));
    }
    Append<E>(has_past ? &ctx.input(I::kPastKey + i) : nullptr, fresh, lengths, kv[i]);
  }
  const AttentionShape shape{.batch = batch, .q_heads = heads, .kv_heads = kv_heads, .q_length = length, .kv_length = lengths.longest,
                             .head_size = size, .v_head_size = size, .kv_room = kv[0].dim(2)};
  WEFT_ASSIGN_OR_RETURN(q, Widen<float>(q));
  for (Tensor& t : kv) {
    WEFT_ASSIGN_OR_RETURN(t, Widen<float>(t));
  }
  Tensor bias, sink;
  if (ctx.HasInput(I::kBias)) {
    WEFT_ASSIGN_OR_RETURN(bias, Widen<float>(ctx.input(I::kBias)));
  }
  if (ctx.HasInput(I::kHeadSink)) {
    WEFT_ASSIGN_OR_RETURN(sink, Widen<float>(ctx.input(I::kHeadSink)));
  }
  const float scale = attrs.scale != 0 ? attrs.scale : 1 / std::sqrt(static_cast<float>(size));
  auto weigh = [&](int64_t b, int64_t h, int64_t i, float* scores) {
    const int64_t total = lengths.total(b), at = lengths.past[b] + i;
    if (i >= lengths.fresh[b]) return static_cast<void>(std::fill_n(scores, shape.kv_length, 0.0f));  // padding
    const int64_t high = attrs.causal ? at + 1 : total;
    const int64_t low = attrs.local_window_size > 0 ? std::max<int64_t>(0, high - attrs.local_window_size) : 0;
    for (int64_t j = low; j < high; ++j) scores[j] *= scale;
    if (attrs.softcap > 0) {
      for (int64_t j = low; j < high; ++j) scores[j] = std::tanh(scores[j] / attrs.softcap) * attrs.softcap;
    }
    if (!bias.empty_handle()) {
      const int64_t matrix = (bias.dim(0) == 1 ? 0 : b) * bias.dim(1) + (bias.dim(1) == 1 ? 0 : h);
      const float* add = bias.data<float>() + (matrix * length + i) * bias.dim(3);
      for (int64_t j = low; j < high; ++j) scores[j] += add[j];
    }
    constexpr float kNone = -std::numeric_limits<float>::infinity();
    const float extra = !sink.empty_handle() ? sink.data<float>()[h] : attrs.smooth_softmax ? 0.0f : kNone;
    SoftmaxScores<float>(scores + low, high - low, extra);
    std::fill(scores, scores + low, 0.0f);
    std::fill(scores + high, scores + shape.kv_length, 0.0f);
  };
  WEFT_ASSIGN_OR_RETURN(const Tensor y, WideHeads<float>(ctx.output(0), {batch, heads, length, size}));
  WEFT_RETURN_IF_ERROR(Attend<float>(shape, q.data<float>(), kv[0].data<float>(), kv[1].data<float>(), weigh, y.data<float>()));
  return NarrowHeads<float>(y, ctx.output(0));
}

absl::Status RunGroupQueryAttention(RunContext& ctx) {
  return DispatchFloat(ctx.input(I::kQuery).dtype(), [&]<class E>() { return RunAs<E>(ctx); });
}

}  // namespace

absl::Span<const Kernel> RefGroupQueryAttention() {
  static constexpr Kernel kernels[] = {{.op = &ops::GroupQueryAttention, .name = "ref", .run = &RunGroupQueryAttention}};
  return kernels;
}

}  // namespace weft
