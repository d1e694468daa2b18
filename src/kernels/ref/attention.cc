// Attention. Every step is rounded to the element type, as by the ops of the specification's function body.
#include "kernels/ref/attention.h"

#include "graph/ops/attention.h"
#include "kernels/kernel.h"
#include "kernels/ref/indices.h"

namespace weft {
namespace {

enum Inputs { kQ, kK, kV, kMask, kPastKey, kPastValue, kNonpad };

HeadLayout LayoutOf(const Tensor& t, const std::optional<int64_t>& heads) {
  return t.rank() == 4 ? HeadLayout::OfHeads(t.dims()) : HeadLayout::OfRows(t.dims(), *heads);
}

// Past positions, if any, then those of input `i`: [B,H,T,D], the output `present` where that was asked for.
absl::StatusOr<Tensor> JoinPast(RunContext& ctx, int i, int past, int present, const HeadLayout& layout) {
  const int64_t before = ctx.HasInput(past) ? ctx.input(past).dim(2) : 0;
  if (before == 0 && ctx.input(i).rank() == 4 && !ctx.HasOutput(present)) return ctx.input(i);
  Tensor joined;
  if (ctx.HasOutput(present)) {
    joined = ctx.output(present);
  } else {
    const Dims dims = {layout.batch, layout.heads, before + layout.length, layout.size};
    WEFT_ASSIGN_OR_RETURN(joined, Tensor::AllocateUninitialized(ctx.input(i).dtype(), dims));
  }
  if (before > 0) CopyHeads(ctx.input(past), HeadLayout::OfHeads(ctx.input(past).dims()), joined, 0);
  CopyHeads(ctx.input(i), layout, joined, before);
  return joined;
}

// Which keys a query may read, and what is added to its scores.
template <class T>
class Bias {
 public:
  template <class E>
  static absl::StatusOr<Bias> Of(RunContext& ctx, const AttentionShape& s) {
    Bias bias(ctx.attrs<AttentionAttrs>(), s);
    if (ctx.HasInput(kPastKey)) bias.offset_ = ctx.input(kPastKey).dim(2);
    if (ctx.HasInput(kNonpad)) {
      bias.lengths_ = ReadInts(ctx.input(kNonpad));
      for (int64_t length : bias.lengths_) {
        if (length >= 0 && length <= s.kv_length) continue;
        return Invalid("nonpad_kv_seqlen holds ", length, ", expected values in [0, ", s.kv_length, "]");
      }
    }
    if (ctx.HasInput(kMask)) WEFT_RETURN_IF_ERROR(bias.template ReadMask<E>(ctx.input(kMask)));
    return bias;
  }

  // Adds what belongs to row i of head h; keys out of reach get -inf. False where no key is left.
  template <class E>
  bool Apply(int64_t b, int64_t h, int64_t i, T* row) const {
    const int64_t end = s_.kv_length, at = i + (lengths_.empty() ? offset_ : lengths_[b] - s_.q_length);
    int64_t low = 0, high = lengths_.empty() ? end : lengths_[b];
    if (attrs_.is_causal) high = std::min(high, at + 1);
    if (attrs_.right_window_size >= 0 && attrs_.right_window_size < end - at) high = std::min(high, at + attrs_.right_window_size + 1);
    if (attrs_.left_window_size >= 0 && attrs_.left_window_size < at) low = at - attrs_.left_window_size;
    high = std::max<int64_t>(high, 0);
    low = std::min(low, high);
    constexpr T kNever = -std::numeric_limits<T>::infinity();
    bool any = mask_.empty_handle() && low < high;
    if (!mask_.empty_handle()) {
      high = std::max(low, std::min(high, mask_length_));
      const T* mask = mask_.data<T>() + b * steps_[0] + h * steps_[1] + i * steps_[2];
      for (int64_t j = low; j < high; ++j) {
        any |= mask[j] != kNever;
        row[j] = mask[j] == kNever ? kNever : RoundAs<E>(row[j] + mask[j]);
      }
    }
    std::fill(row, row + low, kNever);
    std::fill(row + high, row + end, kNever);
    return any;
  }

 private:
  Bias(const AttentionAttrs& attrs, const AttentionShape& s) : attrs_(attrs), s_(s) {}

  template <class E>
  absl::Status ReadMask(const Tensor& mask) {
    WEFT_ASSIGN_OR_RETURN(mask_, Tensor::AllocateUninitialized(DTypeOf<T>::value, mask.dims()));
    ReadElements(mask, 0, mask.size(), mask_.template data<T>());
    const bool is_bool = mask.dtype() == DType::kBool;
    for (T& v : mask_.template span<T>()) v = !is_bool ? RoundAs<E>(v) : v != 0 ? T(0) : -std::numeric_limits<T>::infinity();
    mask_length_ = mask.dim(mask.rank() - 1);
    int64_t step = mask_length_;
    for (int axis = mask.rank() - 2, to = 2; axis >= 0; --axis, --to) {
      if (mask.dim(axis) != 1) steps_[to] = step;
      step *= mask.dim(axis);
    }
    return absl::OkStatus();
  }

  const AttentionAttrs& attrs_;
  AttentionShape s_;
  int64_t offset_ = 0;            // keys before the first query
  std::vector<int64_t> lengths_;  // of each batch's keys; empty: all of them
  Tensor mask_;                   // additive; empty handle: none
  int64_t mask_length_ = 0;
  int64_t steps_[3] = {};  // from one batch, head, row of it to the next
};

template <class E>
absl::Status RunAttentionAs(RunContext& ctx) {
  using T = Compute<E>;
  const auto& attrs = ctx.attrs<AttentionAttrs>();
  const HeadLayout q = LayoutOf(ctx.input(kQ), attrs.q_num_heads);
  WEFT_ASSIGN_OR_RETURN(const Tensor keys, JoinPast(ctx, kK, kPastKey, 1, LayoutOf(ctx.input(kK), attrs.kv_num_heads)));
  WEFT_ASSIGN_OR_RETURN(const Tensor values, JoinPast(ctx, kV, kPastValue, 2, LayoutOf(ctx.input(kV), attrs.kv_num_heads)));
  const AttentionShape s{.batch = q.batch, .q_heads = q.heads, .kv_heads = keys.dim(1), .q_length = q.length,
                         .kv_length = keys.dim(2), .head_size = q.size, .v_head_size = values.dim(3)};
  Tensor queries = ctx.input(kQ);
  if (queries.rank() == 3) {
    WEFT_ASSIGN_OR_RETURN(queries, Tensor::AllocateUninitialized(queries.dtype(), q.dims()));
    CopyHeads(ctx.input(kQ), q, queries, 0);
  }
  const T scale = attrs.scale ? T(*attrs.scale) : 1 / std::sqrt(static_cast<T>(q.size));
  const T factor = RoundAs<E>(std::sqrt(scale));
  WEFT_ASSIGN_OR_RETURN(queries, ScaleHeads<E>(queries, factor));
  WEFT_ASSIGN_OR_RETURN(const Tensor scaled_keys, ScaleHeads<E>(keys, factor));
  WEFT_ASSIGN_OR_RETURN(const Tensor wide_values, Widen<T>(values));
  WEFT_ASSIGN_OR_RETURN(const Bias<T> bias, Bias<T>::template Of<E>(ctx, s));

  const T softcap = RoundAs<E>(T(attrs.softcap));
  const SoftmaxFn<T> softmax = SoftmaxIn<T>(attrs.softmax_precision ? static_cast<DType>(*attrs.softmax_precision) : DTypeOf<E>::value);
  E* shown = ctx.HasOutput(3) ? ctx.output(3).data<E>() : nullptr;
  auto weigh = [&](int64_t b, int64_t h, int64_t i, T* row) {
    auto show = [&](int64_t mode) {
      if (shown == nullptr || mode != attrs.qk_matmul_output_mode) return;
      E* to = shown + ((b * s.q_heads + h) * s.q_length + i) * s.kv_length;
      for (int64_t j = 0; j < s.kv_length; ++j) to[j] = E(row[j]);
    };
    for (int64_t j = 0; j < s.kv_length; ++j) row[j] = RoundAs<E>(row[j]);
    show(0);
    if (softcap > 0) {
      for (int64_t j = 0; j < s.kv_length; ++j) row[j] = RoundAs<E>(RoundAs<E>(std::tanh(RoundAs<E>(row[j] / softcap))) * softcap);
    }
    show(1);
    const bool any = bias.template Apply<E>(b, h, i, row);
    show(2);
    if (any) softmax(row, s.kv_length, -std::numeric_limits<T>::infinity());
    else std::fill(row, row + s.kv_length, T(0));
    for (int64_t j = 0; j < s.kv_length; ++j) row[j] = RoundAs<E>(row[j]);
    show(3);
  };

  Dims dims = q.dims();
  dims[3] = s.v_head_size;
  WEFT_ASSIGN_OR_RETURN(const Tensor y, WideHeads<T>(ctx.output(0), dims));
  WEFT_RETURN_IF_ERROR(Attend<T>(s, queries.data<T>(), scaled_keys.data<T>(), wide_values.data<T>(), weigh, y.data<T>()));
  return NarrowHeads<T>(y, ctx.output(0));
}

absl::Status RunAttention(RunContext& ctx) {
  return DispatchFloat(ctx.input(kQ).dtype(), [&]<class E>() { return RunAttentionAs<E>(ctx); });
}

}  // namespace

absl::Span<const Kernel> RefAttention() {
  static constexpr Kernel kernels[] = {{.op = &ops::Attention, .name = "ref", .run = &RunAttention}};
  return kernels;
}

}  // namespace weft
