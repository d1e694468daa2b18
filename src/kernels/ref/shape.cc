// Shape, Size, ConstantOfShape.
#include "graph/ops/shape.h"

#include <algorithm>

#include "kernels/kernel.h"
#include "kernels/ref/dispatch.h"

namespace weft {
namespace {

absl::Status RunShape(RunContext& ctx) {
  const Dims& dims = ctx.input(0).dims();
  const AxisRange range = ResolveShapeRange(ctx.attrs<ShapeAttrs>(), ctx.input(0).rank());
  std::copy(dims.begin() + range.begin, dims.begin() + range.end, ctx.output(0).data<int64_t>());
  return absl::OkStatus();
}

absl::Status RunSize(RunContext& ctx) {
  *ctx.output(0).data<int64_t>() = ctx.input(0).size();
  return absl::OkStatus();
}

absl::Status RunConstantOfShape(RunContext& ctx) {
  const auto& value = ctx.attrs<ConstantOfShapeAttrs>().value;
  Tensor& out = ctx.output(0);
  return DispatchSize(out.dtype(), [&]<class T>() {
    const T fill = value ? *value->data<const T>() : T{};
    ParallelFor(out.size(), 1, [&](int64_t begin, int64_t end) { std::fill(out.data<T>() + begin, out.data<T>() + end, fill); });
    return absl::OkStatus();
  });
}

}  // namespace

absl::Span<const Kernel> RefShape() {
  static constexpr Kernel kernels[] = {
      {.op = &ops::Shape, .name = "ref", .run = &RunShape},
      {.op = &ops::Size, .name = "ref", .run = &RunSize},
      {.op = &ops::ConstantOfShape, .name = "ref", .run = &RunConstantOfShape},
  };
  return kernels;
}

}  // namespace weft
