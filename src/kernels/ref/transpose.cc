// Transpose, DepthToSpace, SpaceToDepth: one strided copy each.
#include "graph/ops/shape.h"

#include "kernels/kernel.h"
#include "kernels/ref/strided.h"

namespace weft {
namespace {

// `from`, seen as a tensor of `dims`, with its axes in the order of `perm`.
void Permute(const Tensor& from, absl::Span<const int64_t> dims, absl::Span<const int64_t> perm, Tensor& to) {
  const Dims strides = StridesOf(dims);
  StridedCopy copy;
  for (int64_t axis : perm) {
    copy.dims.push_back(dims[axis]);
    copy.from_strides.push_back(strides[axis]);
  }
  copy.to_strides = StridesOf(copy.dims);
  CopyStrided(from, to, std::move(copy));
}

absl::Status RunTranspose(RunContext& ctx) {
  const Tensor& in = ctx.input(0);
  Permute(in, in.dims(), PermOf(ctx.attrs<TransposeAttrs>(), in.rank()), ctx.output(0));
  return absl::OkStatus();
}

absl::Status RunDepthToSpace(RunContext& ctx) {
  const auto& attrs = ctx.attrs<DepthToSpaceAttrs>();
  const Dims& in = ctx.input(0).dims();
  const int64_t block = attrs.blocksize, depth = in[1] / (block * block);
  if (attrs.mode == "DCR") {
    Permute(ctx.input(0), {in[0], block, block, depth, in[2], in[3]}, {0, 3, 4, 1, 5, 2}, ctx.output(0));
  } else {
    Permute(ctx.input(0), {in[0], depth, block, block, in[2], in[3]}, {0, 1, 4, 2, 5, 3}, ctx.output(0));
  }
  return absl::OkStatus();
}

absl::Status RunSpaceToDepth(RunContext& ctx) {
  const auto& attrs = ctx.attrs<SpaceToDepthAttrs>();
  const Dims& in = ctx.input(0).dims();
  const int64_t block = attrs.blocksize;
  const Dims blocks = {in[0], in[1], in[2] / block, block, in[3] / block, block};
  if (attrs.mode == "DCR") {
    Permute(ctx.input(0), blocks, {0, 3, 5, 1, 2, 4}, ctx.output(0));
  } else {
    Permute(ctx.input(0), blocks, {0, 1, 3, 5, 2, 4}, ctx.output(0));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Span<const Kernel> RefTranspose() {
  static constexpr Kernel kernels[] = {
      {.op = &ops::Transpose, .name = "ref", .run = &RunTranspose},
      {.op = &ops::DepthToSpace, .name = "ref", .run = &RunDepthToSpace},
      {.op = &ops::SpaceToDepth, .name = "ref", .run = &RunSpaceToDepth},
  };
  return kernels;
}

}  // namespace weft
