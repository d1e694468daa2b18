// OneHot: filled with the off value, then one element for each index is set.
#include "graph/ops/one_hot.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "kernels/kernel.h"
#include "kernels/ref/cast.h"
#include "kernels/ref/dispatch.h"
#include "kernels/ref/elements.h"
#include "kernels/ref/strided.h"

namespace weft {
namespace {

// Indices as int64, floats cut; what int64 has no room for becomes its largest number, which is no index either.
std::vector<int64_t> ReadIndices(const Tensor& tensor) {
  std::vector<int64_t> indices(tensor.size());
  DispatchNumeric(tensor.dtype(), [&]<class T>() {
    const T* from = tensor.data<const T>();
    for (size_t i = 0; i < indices.size(); ++i) {
      if constexpr (std::is_integral_v<T>) {
        indices[i] = std::is_same_v<T, uint64_t> && from[i] > static_cast<T>(std::numeric_limits<T>::max() / 2)
                         ? std::numeric_limits<int64_t>::max()
                         : static_cast<int64_t>(from[i]);
      } else {
        indices[i] = TruncateToInt64(static_cast<double>(from[i]));
      }
    }
    return absl::OkStatus();
  }).IgnoreError();
  return indices;
}

absl::Status RunOneHot(RunContext& ctx) {
  const Tensor& values = ctx.input(2);
  Tensor& out = ctx.output(0);
  WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(ctx.attrs<OneHotAttrs>().axis, out.rank()));
  const int64_t depth = out.dim(axis), inner = StridesOf(out.dims())[axis];
  const std::vector<int64_t> indices = ReadIndices(ctx.input(0));
  return DispatchSize(values.dtype(), [&]<class T>() {
    const T off = values.data<const T>()[0], on = values.data<const T>()[1];
    T* to = out.data<T>();  // [outer,depth,inner]
    ParallelFor(out.size(), 1, [&](int64_t begin, int64_t end) { std::fill(to + begin, to + end, off); });
    for (size_t i = 0; i < indices.size(); ++i) {
      const int64_t index = indices[i] < 0 ? indices[i] + depth : indices[i];
      if (index >= 0 && index < depth) to[(i / inner * depth + index) * inner + i % inner] = on;
    }
    return absl::OkStatus();
  });
}

}  // namespace

absl::Span<const Kernel> RefOneHot() {
  static constexpr Kernel kernels[] = {{.op = &ops::OneHot, .name = "ref", .run = &RunOneHot}};
  return kernels;
}

}  // namespace weft
