// Identity, Reshape, Flatten, Squeeze, Unsqueeze: copies, for where the elements cannot be shared.
#include "kernels/kernel.h"
#include "kernels/ref/strided.h"

namespace weft {
namespace {

absl::Status RunCopy(RunContext& ctx) {
  if (ctx.input_value(0).is_tensor()) {
    CopyAll(ctx.input(0), ctx.output(0));
  } else {
    ctx.SetOutput(0, ctx.input_value(0));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Span<const Kernel> RefReshape() {
  static constexpr Kernel kernels[] = {
      {.op = &ops::Identity, .name = "ref", .run = &RunCopy},  {.op = &ops::Reshape, .name = "ref", .run = &RunCopy},
      {.op = &ops::Flatten, .name = "ref", .run = &RunCopy},   {.op = &ops::Squeeze, .name = "ref", .run = &RunCopy},
      {.op = &ops::Unsqueeze, .name = "ref", .run = &RunCopy},
  };
  return kernels;
}

}  // namespace weft
