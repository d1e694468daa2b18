// Optional, OptionalHasElement, OptionalGetElement: handles change hands, elements stay where they are.
#include "graph/ops/sequence.h"

#include "kernels/kernel.h"
#include "kernels/ref/strided.h"

namespace weft {
namespace {

absl::Status RunOptional(RunContext& ctx) {
  Optional optional;
  if (const Type* tensor = ctx.node().outputs[0].InnerTensor()) optional.elem_dtype = tensor->dtype;
  if (ctx.HasInput(0)) optional.item.push_back(ctx.input_value(0));
  ctx.SetOutput(0, Value(std::move(optional)));
  return absl::OkStatus();
}

absl::Status RunOptionalHasElement(RunContext& ctx) {
  const bool empty = !ctx.HasInput(0) || (ctx.input_value(0).is_optional() && ctx.input_value(0).optional().item.empty());
  *ctx.output(0).data<bool>() = !empty;
  return absl::OkStatus();
}

absl::Status RunOptionalGetElement(RunContext& ctx) {
  if (!ctx.HasInput(0)) return Invalid("input 0 is missing, expected an element");
  const Value& value = ctx.input_value(0);
  if (value.is_tensor()) {
    CopyAll(value.tensor(), ctx.output(0));
  } else if (!value.is_optional()) {
    ctx.SetOutput(0, value);
  } else if (value.optional().item.empty()) {
    return Invalid("input 0 is an empty optional, expected one with an element");
  } else {
    ctx.SetOutput(0, value.optional().item[0]);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Span<const Kernel> RefOptional() {
  static constexpr Kernel kernels[] = {
      {.op = &ops::Optional, .name = "ref", .run = &RunOptional},
      {.op = &ops::OptionalHasElement, .name = "ref", .run = &RunOptionalHasElement},
      {.op = &ops::OptionalGetElement, .name = "ref", .run = &RunOptionalGetElement},
  };
  return kernels;
}

}  // namespace weft
