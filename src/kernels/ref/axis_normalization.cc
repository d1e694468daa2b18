// LpNormalization, MeanVarianceNormalization.
#include <cmath>
#include <vector>

#include "graph/ops/normalization.h"
#include "graph/ops/operands.h"
#include "kernels/kernel.h"
#include "kernels/ref/elements.h"
#include "kernels/ref/normalization.h"
#include "kernels/ref/strided.h"

namespace weft {
namespace {

template <class T>
absl::Status RunLpNormalizationAs(RunContext& ctx) {
  const auto& attrs = ctx.attrs<LpNormalizationAttrs>();
  WEFT_ASSIGN_OR_RETURN(const Tensor x, Widen<T>(ctx.input(0)));
  WEFT_ASSIGN_OR_RETURN(Tensor y, WideOutput<T>(ctx.output(0)));
  WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(attrs.axis, x.rank()));
  if (x.size() == 0) return absl::OkStatus();
  const int64_t size = x.dim(axis), inner = Product(absl::MakeConstSpan(x.dims()).subspan(axis + 1));
  ParallelFor(x.size() / size, 4 * size, [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      const int64_t first = line / inner * size * inner + line % inner;
      const T* from = x.data<const T>() + first;
      T* to = y.data<T>() + first;
      double norm = 0;
      for (int64_t i = 0; i < size; ++i) {
        const double v = from[i * inner];
        norm += attrs.p == 1 ? std::abs(v) : v * v;
      }
      if (attrs.p == 2) norm = std::sqrt(norm);
      for (int64_t i = 0; i < size; ++i) to[i * inner] = norm == 0 ? 0 : static_cast<T>(from[i * inner] / norm);
    }
  });
  Narrow<T>(y, ctx.output(0));
  return absl::OkStatus();
}

absl::Status RunLpNormalization(RunContext& ctx) {
  return DispatchWide(ctx.input(0).dtype(), [&]<class T>() { return RunLpNormalizationAs<T>(ctx); });
}

// The axes that stay, then those that are reduced, so that what shares its statistics is a row.
template <class T>
absl::Status RunMeanVarianceNormalizationAs(RunContext& ctx, const std::vector<int>& order, int64_t row) {
  constexpr double kEpsilon = 1e-9;  // the specification's, on the standard deviation
  WEFT_ASSIGN_OR_RETURN(const Tensor x, Widen<T>(ctx.input(0)));
  WEFT_ASSIGN_OR_RETURN(Tensor rows, Tensor::AllocateUninitialized(x.dtype(), x.dims()));
  const Dims strides = StridesOf(x.dims());
  StridedCopy copy;
  for (int axis : order) {
    copy.dims.push_back(x.dim(axis));
    copy.from_strides.push_back(strides[axis]);
  }
  copy.to_strides = StridesOf(copy.dims);
  CopyStrided(x, rows, copy);
  ParallelFor(x.size() / row, 8 * row, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T* values = rows.data<T>() + i * row;
      const Moments m = MomentsOf(values, row);
      const double deviation = std::sqrt(m.variance) + kEpsilon;
      for (int64_t j = 0; j < row; ++j) values[j] = static_cast<T>((values[j] - m.mean) / deviation);
    }
  });
  WEFT_ASSIGN_OR_RETURN(Tensor y, WideOutput<T>(ctx.output(0)));
  std::swap(copy.from_strides, copy.to_strides);
  CopyStrided(rows, y, copy);
  Narrow<T>(y, ctx.output(0));
  return absl::OkStatus();
}

absl::Status RunMeanVarianceNormalization(RunContext& ctx) {
  const Tensor& x = ctx.input(0);
  if (x.size() == 0) return absl::OkStatus();
  WEFT_ASSIGN_OR_RETURN(const std::vector<int> axes, NormalizeAxes(ctx.attrs<MeanVarianceNormalizationAttrs>().axes, x.rank()));
  std::vector<bool> reduced(x.rank());
  for (int axis : axes) reduced[axis] = true;
  std::vector<int> order;
  int64_t row = 1;
  for (const bool wanted : {false, true}) {
    for (int axis = 0; axis < x.rank(); ++axis) {
      if (reduced[axis] != wanted) continue;
      order.push_back(axis);
      if (wanted) row *= x.dim(axis);
    }
  }
  return DispatchWide(x.dtype(), [&]<class T>() { return RunMeanVarianceNormalizationAs<T>(ctx, order, row); });
}

}  // namespace

absl::Span<const Kernel> RefAxisNormalization() {
  static constexpr Kernel kernels[] = {
      {.op = &ops::LpNormalization, .name = "ref", .run = &RunLpNormalization},
      {.op = &ops::MeanVarianceNormalization, .name = "ref", .run = &RunMeanVarianceNormalization},
  };
  return kernels;
}

}  // namespace weft
