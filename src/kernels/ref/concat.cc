// Concat, Split: each tensor is a range of the axis of the whole.
#include "graph/ops/shape.h"

#include "kernels/kernel.h"
#include "kernels/ref/elements.h"
#include "kernels/ref/strided.h"

namespace weft {
namespace {

absl::Status RunConcat(RunContext& ctx) {
  Tensor& out = ctx.output(0);
  WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(ctx.attrs<ConcatAttrs>().axis, out.rank()));
  const Dims whole = StridesOf(out.dims());
  int64_t begin = 0;
  for (int i = 0; i < ctx.num_inputs(); ++i) {
    const Tensor& part = ctx.input(i);
    CopyStrided(part, out, {.dims = part.dims(), .from_strides = StridesOf(part.dims()), .to_strides = whole,
                            .to_offset = begin * whole[axis]});
    begin += part.dim(axis);
  }
  return absl::OkStatus();
}

absl::Status RunSplit(RunContext& ctx) {
  const Tensor& in = ctx.input(0);
  WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(ctx.attrs<SplitAttrs>().axis, in.rank()));
  const int n = ctx.num_outputs();
  std::vector<int64_t> sizes(n);
  if (ctx.HasInput(1)) {
    ReadElements(ctx.input(1), 0, n, sizes.data());
  } else {
    const std::vector<Dim> parts = EqualParts(in.dim(axis), n);
    for (int i = 0; i < n; ++i) sizes[i] = parts[i].constant();
  }
  const Dims whole = StridesOf(in.dims());
  int64_t begin = 0;
  for (int i = 0; i < n; ++i) {
    if (ctx.HasOutput(i)) {
      Tensor& part = ctx.output(i);
      CopyStrided(in, part, {.dims = part.dims(), .from_strides = whole, .to_strides = StridesOf(part.dims()),
                             .from_offset = begin * whole[axis]});
    }
    begin += sizes[i];
  }
  return absl::OkStatus();
}

}  // namespace

absl::Span<const Kernel> RefConcat() {
  static constexpr Kernel kernels[] = {
      {.op = &ops::Concat, .name = "ref", .run = &RunConcat},
      {.op = &ops::Split, .name = "ref", .run = &RunSplit},
  };
  return kernels;
}

}  // namespace weft
