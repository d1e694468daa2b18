// FlexAttention: the scores of all heads at once, since its bodies see them whole.
#include "graph/ops/attention.h"
#include "kernels/kernel.h"
#include "kernels/ref/attention.h"
#include "kernels/ref/cast.h"

namespace weft {
namespace {

// Shapes that only the run knows have passed no inference: nodes with bodies are inferred at compile time alone.
absl::StatusOr<AttentionShape> ShapeOf(const Tensor& q, const Tensor& k, const Tensor& v) {
  const bool ranks = q.rank() == 4 && k.rank() == 4 && v.rank() == 4;
  if (ranks && k.dim(0) == q.dim(0) && v.dim(0) == q.dim(0) && k.dim(1) >= 1 && q.dim(1) >= k.dim(1) && q.dim(1) % k.dim(1) == 0 &&
      v.dim(1) == k.dim(1) && v.dim(2) == k.dim(2) && k.dim(3) == q.dim(3)) {
    return AttentionShape{.batch = q.dim(0), .q_heads = q.dim(1), .kv_heads = k.dim(1), .q_length = q.dim(2),
                          .kv_length = k.dim(2), .head_size = q.dim(3), .v_head_size = v.dim(3)};
  }
  return Invalid("Q has shape ", Shape::Of(q.dims()).ToString(), ", K ", Shape::Of(k.dims()).ToString(), " and V ",
                 Shape::Of(v.dims()).ToString(), ", expected [B,H*G,L,E], [B,H,S,E] and [B,H,S,F]");
}

absl::StatusOr<Tensor> CastTo(DType dtype, const Tensor& t) {
  if (t.dtype() == dtype) return t;
  WEFT_ASSIGN_OR_RETURN(Tensor out, Tensor::AllocateUninitialized(dtype, t.dims()));
  WEFT_RETURN_IF_ERROR(CastElements(t, out));
  return out;
}

// a times b or, transposed, b^T, for every key head with the query heads that read it; elements of type `dtype`.
template <class T>
absl::StatusOr<Tensor> Product(const AttentionShape& s, const Tensor& a, const Tensor& b, bool transposed, DType dtype) {
  const int64_t m = s.group() * s.q_length, k = a.dim(3), n = transposed ? b.dim(2) : b.dim(3);
  WEFT_ASSIGN_OR_RETURN(const Tensor product, Tensor::AllocateUninitialized(DTypeOf<T>::value, {s.batch, s.q_heads, s.q_length, n}));
  const T *left = a.data<T>(), *right = b.data<T>();
  BatchedGemm<T>(
      s.batch * s.kv_heads, m, n, k, [&](int64_t i) { return Matrix<T>{left + i * m * k, k, 1}; },
      [&](int64_t i) { return transposed ? Matrix<T>{right + i * n * k, 1, k} : Matrix<T>{right + i * k * n, n, 1}; },
      [&](int64_t i) { return product.data<T>() + i * m * n; });
  return CastTo(dtype, product);
}

absl::StatusOr<Tensor> Scores(RunContext& ctx, const AttentionShape& s, DType precision) {
  const std::optional<float>& given = ctx.attrs<FlexAttentionAttrs>().scale;
  const float scale = given ? *given : 1 / std::sqrt(static_cast<float>(s.head_size));
  Tensor scores;
  WEFT_RETURN_IF_ERROR(DispatchFloat(ctx.input(0).dtype(), [&]<class E>() -> absl::Status {
    const Compute<E> factor = RoundAs<E>(std::sqrt(scale));
    WEFT_ASSIGN_OR_RETURN(const Tensor q, ScaleHeads<E>(ctx.input(0), factor));
    WEFT_ASSIGN_OR_RETURN(const Tensor k, ScaleHeads<E>(ctx.input(1), factor));
    WEFT_ASSIGN_OR_RETURN(scores, Product<Compute<E>>(s, q, k, true, DTypeOf<E>::value));
    return absl::OkStatus();
  }));
  return CastTo(precision, scores);
}

// `t` through the body, which keeps its type.
absl::StatusOr<Tensor> Modify(RunContext& ctx, int region, std::string_view name, Tensor t) {
  const Dims dims = t.dims();
  const DType dtype = t.dtype();
  WEFT_ASSIGN_OR_RETURN(const std::vector<Value> results, ctx.RunRegion(region, {Value(std::move(t))}));
  if (results.size() == 1 && results[0].is_tensor() && results[0].tensor().dtype() == dtype && results[0].tensor().dims() == dims) {
    return results[0].tensor();
  }
  return Invalid(name, " returns another type or shape than ", Type::OfTensor(dtype, Shape::Of(dims)).ToString());
}

absl::Status RunFlexAttention(RunContext& ctx) {
  const DType dtype = ctx.input(0).dtype(), precision = ctx.attrs<FlexAttentionAttrs>().precision(dtype);
  WEFT_ASSIGN_OR_RETURN(const AttentionShape s, ShapeOf(ctx.input(0), ctx.input(1), ctx.input(2)));
  WEFT_ASSIGN_OR_RETURN(Tensor scores, Scores(ctx, s, precision));
  WEFT_ASSIGN_OR_RETURN(scores, Modify(ctx, 0, "score_mod", std::move(scores)));
  Tensor y;
  WEFT_RETURN_IF_ERROR(DispatchFloat(precision, [&]<class P>() -> absl::Status {
    using C = Compute<P>;
    // The body may have returned a tensor that others read: not to be overwritten.
    WEFT_ASSIGN_OR_RETURN(Tensor wide, Tensor::AllocateUninitialized(DTypeOf<C>::value, scores.dims()));
    ReadElements(scores, 0, scores.size(), wide.data<C>());
    const int64_t n = s.kv_length;
    ParallelFor(s.batch * s.q_heads * s.q_length, 30 * n + 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) SoftmaxScores<P>(wide.data<C>() + i * n, n, -std::numeric_limits<C>::infinity());
    });
    WEFT_ASSIGN_OR_RETURN(Tensor probs, CastTo(precision, wide));
    WEFT_ASSIGN_OR_RETURN(probs, Modify(ctx, 1, "prob_mod", std::move(probs)));
    WEFT_ASSIGN_OR_RETURN(probs, Widen<C>(probs));
    WEFT_ASSIGN_OR_RETURN(Tensor v, CastTo(precision, ctx.input(2)));
    WEFT_ASSIGN_OR_RETURN(v, Widen<C>(v));
    WEFT_ASSIGN_OR_RETURN(y, Product<C>(s, probs, v, false, precision));
    return absl::OkStatus();
  }));
  WEFT_ASSIGN_OR_RETURN(y, CastTo(dtype, y));
  ctx.SetOutput(0, Value(std::move(y)));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const Kernel> RefFlexAttention() {
  static constexpr Kernel kernels[] = {{.op = &ops::FlexAttention, .name = "ref", .run = &RunFlexAttention}};
  return kernels;
}

}  // namespace weft
