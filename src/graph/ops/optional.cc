// One value or none: Optional, OptionalHasElement, OptionalGetElement (ONNX Operators.md, opset 28).
#include <optional>
#include <utility>

#include "graph/op.h"
#include "graph/ops/operands.h"
#include "graph/ops/sequence.h"

namespace weft {
namespace {

bool MayBeElement(const Type& type) { return type.is_tensor() || type.kind == Type::Kind::kSequence || type.kind == Type::Kind::kUnknown; }

absl::Status InferOptional(InferContext& ctx) {
  const std::optional<Type>& type = ctx.attrs<OptionalAttrs>().type;
  if (!type && !ctx.HasInput(0)) return Invalid("has neither an input nor the attribute 'type', expected one of them");
  if (type && !MayBeElement(*type)) return Invalid("attribute 'type' is ", type->ToString(), ", expected a tensor or a sequence");
  if (!ctx.HasInput(0)) {
    ctx.SetOutput(0, Type::OfOptional(*type));
    return absl::OkStatus();
  }
  if (!MayBeElement(ctx.input(0))) return Invalid("input 0 is a ", ctx.input(0).ToString(), ", expected a tensor or a sequence");
  if (type) WEFT_RETURN_IF_ERROR(JoinTypes(ctx, *type, ctx.input(0), "the element, by attribute 'type' and by input 0,").status());
  ctx.SetOutput(0, Type::OfOptional(ctx.input(0)));
  return absl::OkStatus();
}

absl::Status CheckOptional(const InferContext& ctx) {
  if (MayBeElement(ctx.input(0)) || ctx.input(0).kind == Type::Kind::kOptional) return absl::OkStatus();
  return Invalid("input 0 is a ", ctx.input(0).ToString(), ", expected an optional, a tensor or a sequence");
}

absl::Status InferOptionalHasElement(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckOptional(ctx));
  ctx.SetOutput(0, DType::kBool, Shape(std::vector<Dim>{}));
  const Type::Kind kind = ctx.input(0).kind;
  if (!ctx.HasInput(0)) ctx.SetElements(0, {0});
  else if (kind == Type::Kind::kTensor || kind == Type::Kind::kSequence) ctx.SetElements(0, {1});
  return absl::OkStatus();
}

absl::Status InferOptionalGetElement(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckOptional(ctx));
  const Type& type = ctx.input(0);
  if (type.is_tensor()) PassElements(ctx);
  ctx.SetOutput(0, type.kind != Type::Kind::kOptional ? type : type.elem != nullptr ? *type.elem : Type::Unknown());
  return absl::OkStatus();
}

}  // namespace

constinit const Op ops::Optional = {.name = "Optional", .since_version = 28, .inputs = {0, 1}, .outputs = 1,
                                    .attrs = &kAttrSchema<OptionalAttrs>, .infer = &InferOptional};
constinit const Op ops::OptionalHasElement = {.name = "OptionalHasElement", .since_version = 28, .inputs = {0, 1}, .outputs = 1,
                                              .infer = &InferOptionalHasElement};
constinit const Op ops::OptionalGetElement = {.name = "OptionalGetElement", .since_version = 28, .inputs = 1, .outputs = 1,
                                              .infer = &InferOptionalGetElement};

}  // namespace weft
