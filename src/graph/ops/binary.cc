// Arithmetic on two tensors with numpy broadcasting: Add, Sub, Mul, Div (ONNX Operators.md, opset 14).
#include "graph/infer.h"
#include "graph/op.h"

namespace weft {
namespace {

absl::Status InferArithmetic(InferContext& ctx, Dim (*combine)(const Dim&, const Dim&)) {
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 1));
  WEFT_ASSIGN_OR_RETURN(Shape shape, ctx.Broadcast());
  const auto *a = ctx.elements(0), *b = ctx.elements(1);
  if (combine != nullptr && a != nullptr && b != nullptr && (a->size() == b->size() || a->size() == 1 || b->size() == 1) &&
      shape.has_rank() && shape.rank() <= 1) {
    std::vector<Dim> sum(a->size() == 1 ? b->size() : a->size());
    for (size_t i = 0; i < sum.size(); ++i) sum[i] = combine((*a)[a->size() == 1 ? 0 : i], (*b)[b->size() == 1 ? 0 : i]);
    ctx.SetElements(0, std::move(sum));
  }
  ctx.SetOutput(0, ctx.dtype(0), std::move(shape));
  return absl::OkStatus();
}

Cost OneFlopPerElement(const NodeView& node) {
  auto dims = node.outputs[0].shape.Concrete();
  if (!dims) return {};
  auto n = NumElements(*dims);
  return {n.ok() ? *n : 0};
}

// ONNX integer division truncates toward zero; Dim's floors: they agree where both sides are known non-negative.
Dim TruncatingDiv(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant() && b.constant() != 0) {
    return (a.constant() == INT64_MIN && b.constant() == -1) ? a : Dim(a.constant() / b.constant());
  }
  return Dim::FloorDiv(a, b);
}

absl::Status InferAdd(InferContext& ctx) {
  return InferArithmetic(ctx, [](const Dim& a, const Dim& b) { return a + b; });
}
absl::Status InferSub(InferContext& ctx) {
  return InferArithmetic(ctx, [](const Dim& a, const Dim& b) { return a - b; });
}
absl::Status InferMul(InferContext& ctx) {
  return InferArithmetic(ctx, [](const Dim& a, const Dim& b) { return a * b; });
}
absl::Status InferDiv(InferContext& ctx) { return InferArithmetic(ctx, TruncatingDiv); }

}  // namespace

constinit const Op ops::Add = {.name = "Add", .since_version = 14, .inputs = 2, .outputs = 1,
                               .traits = kElementwise | kCommutative, .in_place = 0b11, .infer = &InferAdd, .cost = &OneFlopPerElement};
constinit const Op ops::Sub = {.name = "Sub", .since_version = 14, .inputs = 2, .outputs = 1,
                               .traits = kElementwise, .in_place = 0b11, .infer = &InferSub, .cost = &OneFlopPerElement};
constinit const Op ops::Mul = {.name = "Mul", .since_version = 14, .inputs = 2, .outputs = 1,
                               .traits = kElementwise | kCommutative, .in_place = 0b11, .infer = &InferMul, .cost = &OneFlopPerElement};
constinit const Op ops::Div = {.name = "Div", .since_version = 14, .inputs = 2, .outputs = 1,
                               .traits = kElementwise, .in_place = 0b11, .infer = &InferDiv, .cost = &OneFlopPerElement};

}  // namespace weft
