// What the attention kernels share: heads out of their layouts, the two products, Softmax of a row of scores.
#ifndef WEFT_KERNELS_REF_ATTENTION_H_
#define WEFT_KERNELS_REF_ATTENTION_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "kernels/ref/dispatch.h"
#include "kernels/ref/elements.h"
#include "kernels/ref/gemm.h"
#include "kernels/ref/strided.h"
#include "weft/tensor.h"

namespace weft {

struct AttentionShape {
  int64_t batch = 0;
  int64_t q_heads = 0, kv_heads = 0;  // query head h reads key head h / (q_heads / kv_heads)
  int64_t q_length = 0, kv_length = 0;
  int64_t head_size = 0, v_head_size = 0;
  int64_t kv_room = 0;  // positions from one head of K and V to the next; 0: kv_length

  int64_t group() const { return q_heads / kv_heads; }
};

// Heads in a tensor: the vector of head h at position s of batch b begins at element
// offset + b*batch_step + h*head_step + s*position_step.
struct HeadLayout {
  int64_t batch = 0, heads = 0, length = 0, size = 0;
  int64_t offset = 0, batch_step = 0, head_step = 0, position_step = 0;

  // [B,H,S,D].
  static HeadLayout OfHeads(const Dims& dims) {
    return {dims[0], dims[1], dims[2], dims[3], 0, dims[1] * dims[2] * dims[3], dims[2] * dims[3], dims[3]};
  }
  // [B,S,row], where the heads stand side by side in a row from `offset` on, each `size` wide and one `step` after another.
  static HeadLayout OfRows(int64_t batch, int64_t length, int64_t row, int64_t heads, int64_t size, int64_t offset, int64_t step) {
    return {batch, heads, length, size, offset, length * row, step, row};
  }
  static HeadLayout OfRows(const Dims& dims, int64_t heads) {
    return OfRows(dims[0], dims[1], dims[2], heads, dims[2] / heads, 0, dims[2] / heads);
  }
  Dims dims() const { return {batch, heads, length, size}; }
};

// The heads of `from` to positions [at, at + length) of `to`, [B,H,T,D] of the same element type.
inline void CopyHeads(const Tensor& from, const HeadLayout& layout, Tensor& to, int64_t at) {
  CopyStrided(from, to, {.dims = layout.dims(),
                         .from_strides = {layout.batch_step, layout.head_step, layout.position_step, 1},
                         .to_strides = StridesOf(to.dims()),
                         .from_offset = layout.offset,
                         .to_offset = at * layout.size});
}
// The inverse: [B,H,S,D] to where the layout says.
inline void StoreHeads(const Tensor& from, Tensor& to, const HeadLayout& layout) {
  CopyStrided(from, to, {.dims = layout.dims(),
                         .from_strides = StridesOf(from.dims()),
                         .to_strides = {layout.batch_step, layout.head_step, layout.position_step, 1},
                         .to_offset = layout.offset});
}

// What E's elements are computed as, rounded to E.
template <class E>
Compute<E> RoundAs(Compute<E> value) {
  if constexpr (std::is_same_v<E, Compute<E>>) return value;
  else return static_cast<Compute<E>>(E(value));
}

// `t` times `factor`, in the type that elements E are computed in; each product is rounded to E.
template <class E>
absl::StatusOr<Tensor> ScaleHeads(const Tensor& t, Compute<E> factor) {
  using C = Compute<E>;
  WEFT_ASSIGN_OR_RETURN(Tensor scaled, Tensor::AllocateUninitialized(DTypeOf<C>::value, t.dims()));
  MapElements<E, C>(t, scaled, 2, [&](E x) { return RoundAs<E>(static_cast<C>(x) * factor); });
  return scaled;
}

// For each batch, query head and position: scores = q . k over all positions of K, which `weigh` turns in place into weights, row by row
// and in parallel; y is V's rows so weighted. q: [B,Hq,S,D], k: [B,Hkv,T,D], v: [B,Hkv,T,Dv] (or more positions), y: [B,Hq,S,Dv].
// Positions of weight 0 must hold numbers: they are multiplied. The scores of a limited number of rows are held at a time.
template <class T>
absl::Status Attend(const AttentionShape& s, const T* q, const T* k, const T* v,
                    absl::FunctionRef<void(int64_t batch, int64_t head, int64_t position, T* row)> weigh, T* y) {
  constexpr int64_t kScores = int64_t{1} << 22;
  // The query heads that share a key head are one matrix: its rows are theirs, one head after the other.
  const int64_t matrices = s.batch * s.kv_heads, rows = s.group() * s.q_length, n = s.kv_length, room = s.kv_room == 0 ? n : s.kv_room;
  if (matrices == 0 || rows == 0) return absl::OkStatus();
  const int64_t rows_at_once = std::clamp<int64_t>(kScores / std::max<int64_t>(n, 1), 1, rows);
  const int64_t at_once = std::clamp<int64_t>(kScores / std::max<int64_t>(n * rows_at_once, 1), 1, matrices);
  WEFT_ASSIGN_OR_RETURN(const Tensor scratch, Tensor::AllocateUninitialized(DTypeOf<T>::value, {at_once * rows_at_once * n}));
  T* scores = scratch.data<T>();
  for (int64_t first = 0; first < matrices; first += at_once) {
    const int64_t count = std::min(at_once, matrices - first);
    for (int64_t row = 0; row < rows; row += rows_at_once) {
      const int64_t m = std::min(rows_at_once, rows - row);
      BatchedGemm<T>(
          count, m, n, s.head_size, [&](int64_t i) { return Matrix<T>{q + ((first + i) * rows + row) * s.head_size, s.head_size, 1}; },
          [&](int64_t i) { return Matrix<T>{k + (first + i) * room * s.head_size, 1, s.head_size}; },
          [&](int64_t i) { return scores + i * m * n; });
      ParallelFor(count * m, 30 * std::max<int64_t>(n, 1), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t matrix = first + i / m, at = row + i % m;
          weigh(matrix / s.kv_heads, matrix % s.kv_heads * s.group() + at / s.q_length, at % s.q_length, scores + i * n);
        }
      });
      BatchedGemm<T>(
          count, m, s.v_head_size, n, [&](int64_t i) { return Matrix<T>{scores + i * m * n, n, 1}; },
          [&](int64_t i) { return Matrix<T>{v + (first + i) * room * s.v_head_size, s.v_head_size, 1}; },
          [&](int64_t i) { return y + ((first + i) * rows + row) * s.v_head_size; });
    }
  }
  return absl::OkStatus();
}

// Softmax of n scores in place, computed as elements P are and rounded to P at each step. `sink` adds a term to the sum that has no place
// in the row: exp(sink). -inf: none.
template <class P, class T>
void SoftmaxScores(T* row, int64_t n, T sink) {
  using C = Compute<P>;
  C largest = static_cast<C>(sink);
  for (int64_t i = 0; i < n; ++i) largest = std::max(largest, RoundAs<P>(static_cast<C>(row[i])));
  auto exponential = [&](T x) { return RoundAs<P>(std::exp(RoundAs<P>(RoundAs<P>(static_cast<C>(x)) - largest))); };
  constexpr bool kFits = sizeof(C) <= sizeof(T);  // an exponential has room in the row
  C sum = std::isinf(sink) ? C(0) : exponential(sink);
  for (int64_t i = 0; i < n; ++i) {
    const C e = exponential(row[i]);
    sum += e;
    if constexpr (kFits) row[i] = e;
  }
  if (const C rounded = RoundAs<P>(sum); std::isfinite(rounded)) sum = rounded;
  for (int64_t i = 0; i < n; ++i) row[i] = static_cast<T>(RoundAs<P>((kFits ? static_cast<C>(row[i]) : exponential(row[i])) / sum));
}

// The same for the precision that is known at run time.
template <class T>
using SoftmaxFn = void (*)(T* row, int64_t n, T sink);
template <class T>
SoftmaxFn<T> SoftmaxIn(DType precision) {
  switch (precision) {
    case DType::kFloat64: return &SoftmaxScores<double, T>;
    case DType::kFloat16: return &SoftmaxScores<Float16, T>;
    case DType::kBFloat16: return &SoftmaxScores<BFloat16, T>;
    default: return &SoftmaxScores<float, T>;
  }
}

// A tensor of T to compute the heads in, [B,H,S,D], that become `out`, [B,H,S,D] or [B,S,H*D]; `out` itself where that is the same.
template <class T>
absl::StatusOr<Tensor> WideHeads(const Tensor& out, const Dims& dims) {
  if (out.dtype() == DTypeOf<T>::value && out.rank() == 4) return out;
  return Tensor::AllocateUninitialized(DTypeOf<T>::value, dims);
}
template <class T>
absl::Status NarrowHeads(const Tensor& heads, Tensor& out) {
  if (out.rank() == 4) {
    Narrow<T>(heads, out);
    return absl::OkStatus();
  }
  Tensor narrow = heads;
  if (out.dtype() != heads.dtype()) {
    WEFT_ASSIGN_OR_RETURN(narrow, Tensor::AllocateUninitialized(out.dtype(), heads.dims()));
    Narrow<T>(heads, narrow);
  }
  StoreHeads(narrow, out, HeadLayout::OfRows(out.dims(), heads.dim(1)));
  return absl::OkStatus();
}

}  // namespace weft

#endif  // WEFT_KERNELS_REF_ATTENTION_H_
