// Trilu: each row keeps its elements from the diagonal on, or up to it.
#include "graph/ops/trilu.h"

#include <algorithm>

#include "kernels/kernel.h"
#include "kernels/ref/dispatch.h"

namespace weft {
namespace {

absl::Status RunTrilu(RunContext& ctx) {
  const Tensor& in = ctx.input(0);
  Tensor& out = ctx.output(0);
  if (out.size() == 0) return absl::OkStatus();
  const bool upper = ctx.attrs<TriluAttrs>().upper != 0;
  const int64_t rows = in.dim(in.rank() - 2), columns = in.dim(in.rank() - 1);
  const int64_t k = ctx.HasInput(1) ? std::clamp(*ctx.input(1).data<const int64_t>(), -rows, columns) : 0;
  return DispatchSize(in.dtype(), [&]<class T>() {
    ParallelFor(in.size() / columns, columns, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const T* x = in.data<const T>() + row * columns;
        T* y = out.data<T>() + row * columns;
        // Elements before `cut` are below the upper part, or in the lower one.
        const int64_t cut = std::clamp<int64_t>(row % rows + k + (upper ? 0 : 1), 0, columns);
        if (x != y) std::copy(upper ? x + cut : x, upper ? x + columns : x + cut, upper ? y + cut : y);
        std::fill(upper ? y : y + cut, upper ? y + cut : y + columns, T());
      }
    });
    return absl::OkStatus();
  });
}

}  // namespace

absl::Span<const Kernel> RefTrilu() {
  static constexpr Kernel kernels[] = {{.op = &ops::Trilu, .name = "ref", .run = &RunTrilu}};
  return kernels;
}

}  // namespace weft
