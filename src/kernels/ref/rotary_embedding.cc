// RotaryEmbedding, ONNX's and that of the domain com.microsoft.
#include "kernels/ref/rotary_embedding.h"

#include <numeric>

#include "graph/ops/rotary_embedding.h"
#include "kernels/kernel.h"
#include "kernels/ref/indices.h"

namespace weft {
namespace {

// Row rows[b*S + s] of the caches holds the angle of position s of batch b.
absl::Status RunRotary(RunContext& ctx, const Tensor& cos, const Tensor& sin, const std::vector<int64_t>& rows, int64_t heads,
                       bool interleaved) {
  const Tensor& x = ctx.input(0);
  Tensor& y = ctx.output(0);
  const HeadLayout layout = x.rank() == 4 ? HeadLayout::OfHeads(x.dims()) : HeadLayout::OfRows(x.dims(), heads);
  const int64_t half = cos.dim(cos.rank() - 1);
  return DispatchFloat(x.dtype(), [&]<class E>() {
    const E *from = x.data<E>(), *cos_rows = cos.data<E>(), *sin_rows = sin.data<E>();
    E* to = y.data<E>();
    ParallelFor(layout.batch * layout.length, 6 * layout.heads * layout.size, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t base = i / layout.length * layout.batch_step + i % layout.length * layout.position_step;
        for (int64_t h = 0; h < layout.heads; ++h) {
          const int64_t at = base + h * layout.head_step;
          Rotate(cos_rows + rows[i] * half, sin_rows + rows[i] * half, half, interleaved, from + at, to + at);
          if (to != from) std::copy(from + at + 2 * half, from + at + layout.size, to + at + 2 * half);
        }
      }
    });
    return absl::OkStatus();
  });
}

absl::StatusOr<std::vector<int64_t>> RowsOf(const Tensor& position_ids, const Tensor& cache) {
  std::vector<int64_t> rows = ReadInts(position_ids);
  for (int64_t row : rows) {
    if (row < 0 || row >= cache.dim(0)) return Invalid("position_ids holds ", row, ", expected values in [0, ", cache.dim(0), ")");
  }
  return rows;
}

absl::Status RunRotaryEmbedding(RunContext& ctx) {
  const auto& attrs = ctx.attrs<RotaryEmbeddingAttrs>();
  const Tensor &x = ctx.input(0), &cos = ctx.input(1);
  std::vector<int64_t> rows;
  if (ctx.HasInput(3)) {
    WEFT_ASSIGN_OR_RETURN(rows, RowsOf(ctx.input(3), cos));
  } else {
    rows.resize(x.dim(0) * x.dim(x.rank() - 2));
    std::iota(rows.begin(), rows.end(), 0);
  }
  return RunRotary(ctx, cos, ctx.input(2), rows, attrs.num_heads, attrs.interleaved);
}

absl::Status RunMsRotaryEmbedding(RunContext& ctx) {
  const auto& attrs = ctx.attrs<MsRotaryEmbeddingAttrs>();
  const Tensor &x = ctx.input(0), &position_ids = ctx.input(1), &cos = ctx.input(2);
  const int64_t length = x.dim(x.rank() - 2);
  const int64_t heads = attrs.num_heads > 0 || x.rank() == 4 ? attrs.num_heads : x.dim(2) / (2 * cos.dim(1));
  std::vector<int64_t> rows;
  if (position_ids.rank() == 1) {  // of the first token; the others follow it
    const int64_t first = *position_ids.data<int64_t>();
    if (first < 0 || first > cos.dim(0) - length) {
      return Invalid("position_ids holds ", first, ", expected a value in [0, ", cos.dim(0) - length, "] for ", length, " positions");
    }
    rows.resize(x.dim(0) * length);
    for (int64_t i = 0; i < x.dim(0) * length; ++i) rows[i] = first + i % length;
  } else {
    WEFT_ASSIGN_OR_RETURN(rows, RowsOf(position_ids, cos));
  }
  return RunRotary(ctx, cos, ctx.input(3), rows, heads, attrs.interleaved);
}

}  // namespace

absl::Span<const Kernel> RefRotaryEmbedding() {
  static constexpr Kernel kernels[] = {
      {.op = &ops::RotaryEmbedding, .name = "ref", .run = &RunRotaryEmbedding},
      {.op = &ops::MsRotaryEmbedding, .name = "ref", .run = &RunMsRotaryEmbedding},
  };
  return kernels;
}

}  // namespace weft
