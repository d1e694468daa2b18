// Expand, Tile: a source read again and again, with stride 0.
#include "absl/strings/str_join.h"
#include "kernels/kernel.h"
#include "kernels/ref/indices.h"
#include "kernels/ref/strided.h"

namespace weft {
namespace {

absl::Status RunExpand(RunContext& ctx) {
  const Tensor& in = ctx.input(0);
  Tensor& out = ctx.output(0);
  // Where inference did not see the wanted sizes it took the input's for granted.
  const std::vector<int64_t> wanted = ReadInts(ctx.input(1));
  for (size_t i = 0; i < wanted.size(); ++i) {
    const int64_t size = out.dim(out.rank() - static_cast<int>(wanted.size() - i));
    if (wanted[i] != 1 && wanted[i] != size) {
      return Invalid("input of shape [", absl::StrJoin(in.dims(), ","), "] does not broadcast to [", absl::StrJoin(wanted, ","), "]");
    }
  }
  const Dims strides = StridesOf(in.dims());
  StridedCopy copy{.dims = out.dims(), .from_strides = Dims(out.rank(), 0), .to_strides = StridesOf(out.dims())};
  const int added = out.rank() - in.rank();
  for (int i = 0; i < in.rank(); ++i) {
    if (in.dim(i) != 1) copy.from_strides[added + i] = strides[i];
  }
  CopyStrided(in, out, std::move(copy));
  return absl::OkStatus();
}

absl::Status RunTile(RunContext& ctx) {
  const Tensor& in = ctx.input(0);
  const std::vector<int64_t> repeats = ReadInts(ctx.input(1));
  const Dims strides = StridesOf(in.dims());
  StridedCopy copy;
  for (int i = 0; i < in.rank(); ++i) {
    copy.dims.insert(copy.dims.end(), {repeats[i], in.dim(i)});
    copy.from_strides.insert(copy.from_strides.end(), {0, strides[i]});
  }
  copy.to_strides = StridesOf(copy.dims);
  CopyStrided(in, ctx.output(0), std::move(copy));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const Kernel> RefExpand() {
  static constexpr Kernel kernels[] = {
      {.op = &ops::Expand, .name = "ref", .run = &RunExpand},
      {.op = &ops::Tile, .name = "ref", .run = &RunTile},
  };
  return kernels;
}

}  // namespace weft
