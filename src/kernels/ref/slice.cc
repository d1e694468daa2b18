// Slice: one strided copy.
#include "graph/ops/shape.h"

#include <numeric>

#include "kernels/kernel.h"
#include "kernels/ref/indices.h"
#include "kernels/ref/strided.h"

namespace weft {
namespace {

absl::Status RunSlice(RunContext& ctx) {
  const Tensor& in = ctx.input(0);
  Tensor& out = ctx.output(0);
  const std::vector<int64_t> starts = ReadInts(ctx.input(1)), ends = ReadInts(ctx.input(2));
  std::vector<int64_t> axes(starts.size()), steps(starts.size(), 1);
  std::iota(axes.begin(), axes.end(), 0);
  if (ctx.HasInput(3)) axes = ReadInts(ctx.input(3));
  if (ctx.HasInput(4)) steps = ReadInts(ctx.input(4));
  if (out.size() == 0) return absl::OkStatus();
  StridedCopy copy{.dims = out.dims(), .from_strides = StridesOf(in.dims()), .to_strides = StridesOf(out.dims())};
  for (size_t i = 0; i < starts.size(); ++i) {
    WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(axes[i], in.rank()));
    const SliceRange range = ResolveSlice(starts[i], ends[i], steps[i], in.dim(axis));
    copy.from_offset += range.begin * copy.from_strides[axis];
    copy.from_strides[axis] *= range.count > 1 ? range.step : 1;
  }
  CopyStrided(in, out, std::move(copy));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const Kernel> RefSlice() {
  static constexpr Kernel kernels[] = {{.op = &ops::Slice, .name = "ref", .run = &RunSlice}};
  return kernels;
}

}  // namespace weft
