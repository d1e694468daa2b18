// SkipLayerNormalization, SkipSimplifiedLayerNormalization, EmbedLayerNormalization of the domain com.microsoft. The sums of float16 and
// bfloat16 are normalised as the floats they are, before they are rounded.
#include "graph/ops/skip_normalization.h"

#include <memory>
#include <string_view>

#include "kernels/kernel.h"
#include "kernels/ref/normalization.h"

namespace weft {
namespace {

// y = (x - mean) / sqrt(variance + epsilon) * gamma + beta over the last axis; the mean counts as 0 where `simplified`. beta may be null,
// and so may the statistics of each row.
template <class T>
void NormalizeRows(const Tensor& x, Tensor& y, float epsilon, bool simplified, const Periodic<T>& gamma, const Periodic<T>* beta,
                   float* means, float* inverses) {
  const int64_t columns = x.dim(x.rank() - 1);
  if (x.size() == 0) return;
  ParallelFor(x.size() / columns, 8 * columns, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const T* row = x.data<T>() + r * columns;
      const Moments m = simplified ? Moments{0, MeanSquare(row, columns)} : MomentsOf(row, columns);
      const double inverse = 1 / std::sqrt(m.variance + epsilon);
      NormalizeRow(row, y.data<T>() + r * columns, 0, columns, static_cast<T>(m.mean), static_cast<T>(inverse), gamma, beta);
      if (means != nullptr) means[r] = static_cast<float>(m.mean);
      if (inverses != nullptr) inverses[r] = static_cast<float>(inverse);
    }
  });
}

// Input i over the last axis of `dims`; null where it is omitted.
template <class T>
absl::StatusOr<std::unique_ptr<Periodic<T>>> VectorInput(const RunContext& ctx, int i, absl::Span<const int64_t> dims) {
  if (!ctx.HasInput(i)) return nullptr;
  WEFT_ASSIGN_OR_RETURN(Periodic<T> values, Repeat<T>(ctx.input(i), dims));
  return std::make_unique<Periodic<T>>(std::move(values));
}

template <class T>
absl::Status RunSkipAs(RunContext& ctx, bool simplified) {
  const int bias_input = simplified ? 3 : 4;
  WEFT_ASSIGN_OR_RETURN(const Tensor x, Widen<T>(ctx.input(0)));
  const Dims& dims = x.dims();
  WEFT_ASSIGN_OR_RETURN(const Periodic<T> skip, Repeat<T>(ctx.input(1), dims));
  WEFT_ASSIGN_OR_RETURN(const Periodic<T> gamma, Repeat<T>(ctx.input(2), dims));
  WEFT_ASSIGN_OR_RETURN(const auto beta, simplified ? nullptr : VectorInput<T>(ctx, 3, dims));
  WEFT_ASSIGN_OR_RETURN(const auto bias, VectorInput<T>(ctx, bias_input, dims));
  WEFT_ASSIGN_OR_RETURN(Tensor sum, ctx.HasOutput(3) ? WideOutput<T>(ctx.output(3)) : Tensor::AllocateUninitialized(DTypeOf<T>::value, dims));
  WEFT_ASSIGN_OR_RETURN(Tensor y, WideOutput<T>(ctx.output(0)));
  ParallelFor(x.size(), 3, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      sum.data<T>()[i] = x.data<T>()[i] + skip.values.template data<T>()[i % skip.period];
      if (bias != nullptr) sum.data<T>()[i] += bias->values.template data<T>()[i % bias->period];
    }
  });
  NormalizeRows(sum, y, ctx.attrs<SkipNormalizationAttrs>().epsilon, simplified, gamma, beta.get(),
                ctx.HasOutput(1) ? ctx.output(1).data<float>() : nullptr, ctx.HasOutput(2) ? ctx.output(2).data<float>() : nullptr);
  Narrow<T>(y, ctx.output(0));
  if (ctx.HasOutput(3)) Narrow<T>(sum, ctx.output(3));
  return absl::OkStatus();
}

absl::Status RunSkipLayerNormalization(RunContext& ctx) {
  return DispatchWide(ctx.input(0).dtype(), [&]<class T>() { return RunSkipAs<T>(ctx, false); });
}
absl::Status RunSkipSimplifiedLayerNormalization(RunContext& ctx) {
  return DispatchWide(ctx.input(0).dtype(), [&]<class T>() { return RunSkipAs<T>(ctx, true); });
}

// sum[r] += table[ids(r)] for each of `rows` rows. Errors: an id out of range.
template <class T, class Ids>
absl::Status AddRows(const Tensor& embedding, std::string_view what, Ids ids, Tensor& sum, int64_t rows) {
  WEFT_ASSIGN_OR_RETURN(const Tensor table, Widen<T>(embedding));
  const int64_t count = table.dim(0), columns = table.dim(1);
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t id = ids(r);
    if (id < 0 || id >= count) return Invalid(what, " holds ", id, ", expected a row of an embedding of ", count, " rows");
    for (int64_t i = 0; i < columns; ++i) sum.data<T>()[r * columns + i] += table.data<T>()[id * columns + i];
  }
  return absl::OkStatus();
}

template <class T>
absl::Status RunEmbedAs(RunContext& ctx) {
  const Tensor& ids = ctx.input(0);
  const int64_t rows = ids.size(), length = ids.dim(1);
  WEFT_ASSIGN_OR_RETURN(Tensor y, WideOutput<T>(ctx.output(0)));
  WEFT_ASSIGN_OR_RETURN(Tensor sum, Tensor::Allocate(DTypeOf<T>::value, y.dims()));
  const auto at = [](const Tensor& t) { return [data = t.data<const int32_t>(), size = t.size()](int64_t r) { return int64_t{data[r % size]}; }; };
  WEFT_RETURN_IF_ERROR(AddRows<T>(ctx.input(2), "input_ids", at(ids), sum, rows));
  if (ctx.HasInput(8)) {
    WEFT_RETURN_IF_ERROR(AddRows<T>(ctx.input(3), "position_ids", at(ctx.input(8)), sum, rows));
  } else {
    WEFT_RETURN_IF_ERROR(AddRows<T>(ctx.input(3), "the sequence", [&](int64_t r) { return r % length; }, sum, rows));
  }
  if (ctx.HasInput(1)) WEFT_RETURN_IF_ERROR(AddRows<T>(ctx.input(4), "segment_ids", at(ctx.input(1)), sum, rows));
  WEFT_ASSIGN_OR_RETURN(const Periodic<T> gamma, Repeat<T>(ctx.input(5), y.dims()));
  WEFT_ASSIGN_OR_RETURN(const Periodic<T> beta, Repeat<T>(ctx.input(6), y.dims()));
  NormalizeRows(sum, y, ctx.attrs<EmbedLayerNormalizationAttrs>().epsilon, false, gamma, &beta, nullptr, nullptr);
  Narrow<T>(y, ctx.output(0));
  if (ctx.HasOutput(1)) {  // how many positions of each sequence the mask keeps
    for (int64_t b = 0; b < ids.dim(0); ++b) {
      int32_t kept = 0;
      for (int64_t i = 0; ctx.HasInput(7) && i < length; ++i) kept += ctx.input(7).data<int32_t>()[b * length + i] == 1;
      ctx.output(1).data<int32_t>()[b] = kept;
    }
  }
  if (ctx.HasOutput(2)) WriteElements(sum.data<T>(), sum.size(), ctx.output(2), 0);
  return absl::OkStatus();
}

absl::Status RunEmbedLayerNormalization(RunContext& ctx) {
  return DispatchWide(ctx.input(2).dtype(), [&]<class T>() { return RunEmbedAs<T>(ctx); });
}

}  // namespace

absl::Span<const Kernel> RefSkipNormalization() {
  static constexpr Kernel kernels[] = {
      {.op = &ops::SkipLayerNormalization, .name = "ref", .run = &RunSkipLayerNormalization},
      {.op = &ops::SkipSimplifiedLayerNormalization, .name = "ref", .run = &RunSkipSimplifiedLayerNormalization},
      {.op = &ops::EmbedLayerNormalization, .name = "ref", .run = &RunEmbedLayerNormalization},
  };
  return kernels;
}

}  // namespace weft
