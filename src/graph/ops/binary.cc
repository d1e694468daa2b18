// Ops on two or more tensors with numpy broadcasting (ONNX Operators.md, Broadcasting.md).
#include "graph/ops/binary.h"

#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/dtype_sets.h"

namespace weft {
namespace {

// Elements of an integer result, where both operands' are known and broadcasting is that of vectors and scalars.
using Combine = std::optional<Dim> (*)(const Dim& a, const Dim& b);
void CombineElements(InferContext& ctx, const Shape& shape, Combine combine) {
  const auto *a = ctx.elements(0), *b = ctx.elements(1);
  if (a == nullptr || b == nullptr || !shape.has_rank() || shape.rank() > 1) return;
  if (a->size() != b->size() && a->size() != 1 && b->size() != 1) return;
  std::vector<Dim> result;
  for (size_t i = 0; i < (a->size() == 1 ? b->size() : a->size()); ++i) {
    std::optional<Dim> element = combine((*a)[a->size() == 1 ? 0 : i], (*b)[b->size() == 1 ? 0 : i]);
    if (!element) return;
    result.push_back(*std::move(element));
  }
  ctx.SetElements(0, std::move(result));
}

absl::Status InferArithmetic(InferContext& ctx, absl::Span<const DType> allowed, Combine combine = nullptr) {
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "A", allowed));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 1));
  WEFT_ASSIGN_OR_RETURN(Shape shape, ctx.Broadcast());
  const bool wide = ctx.dtype(0) == DType::kInt64 || ctx.dtype(0) == DType::kInt32;  // narrower ones wrap around
  if (combine != nullptr && wide) CombineElements(ctx, shape, combine);
  ctx.SetOutput(0, ctx.dtype(0) != DType::kUndefined ? ctx.dtype(0) : ctx.dtype(1), std::move(shape));
  return absl::OkStatus();
}

// An int32 or int64 result that would wrap is left to the run.
std::optional<Dim> Kept(Dim d) { return d; }

absl::Status InferAdd(InferContext& ctx) {
  return InferArithmetic(ctx, kNumericTypes, [](const Dim& a, const Dim& b) { return Kept(a + b); });
}
absl::Status InferSub(InferContext& ctx) {
  return InferArithmetic(ctx, kNumericTypes, [](const Dim& a, const Dim& b) { return Kept(a - b); });
}
absl::Status InferMul(InferContext& ctx) {
  return InferArithmetic(ctx, kNumericTypes, [](const Dim& a, const Dim& b) { return Kept(a * b); });
}

// ONNX integer division truncates toward zero, Dim's rounds down: they agree where neither side is negative.
absl::Status InferDiv(InferContext& ctx) {
  return InferArithmetic(ctx, kNumericTypes, [](const Dim& a, const Dim& b) -> std::optional<Dim> {
    if (b == Dim(0)) return std::nullopt;
    if (a.is_constant() && b.is_constant()) {
      if (a.constant() == INT64_MIN && b.constant() == -1) return std::nullopt;
      return Dim(a.constant() / b.constant());
    }
    if (!a.KnownNonNegative() || !b.KnownNonNegative()) return std::nullopt;
    return Dim::FloorDiv(a, b);
  });
}

absl::Status InferMod(InferContext& ctx) {
  const int64_t fmod = ctx.attrs<ModAttrs>().fmod;
  if (fmod != 0 && fmod != 1) return Invalid("attribute 'fmod' is ", fmod, ", expected 0 or 1");
  if (fmod == 1) return InferArithmetic(ctx, kNumericTypes);
  return InferArithmetic(ctx, kNumericTypes, [](const Dim& a, const Dim& b) -> std::optional<Dim> {
    if (!b.is_constant() || b.constant() == 0 || b.constant() == -1) return std::nullopt;
    return Dim::Mod(a, b);  // the sign of the divisor, as in Python
  });
}

absl::Status InferPow(InferContext& ctx) {
  static constexpr DType kBases[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16, DType::kFloat64, DType::kInt64, DType::kInt32};
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kBases));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(1, "Y", kNumericTypes));
  WEFT_ASSIGN_OR_RETURN(Shape shape, ctx.Broadcast());
  ctx.SetOutput(0, ctx.dtype(0), std::move(shape));
  return absl::OkStatus();
}

absl::Status InferBitShift(InferContext& ctx) {
  const std::string& direction = ctx.attrs<BitShiftAttrs>().direction;
  if (direction != "LEFT" && direction != "RIGHT") return Invalid("attribute 'direction' is '", direction, "', expected 'LEFT' or 'RIGHT'");
  return InferArithmetic(ctx, kIntegerTypes);
}

absl::Status InferBitwise(InferContext& ctx) { return InferArithmetic(ctx, kIntegerTypes); }

absl::Status InferLogical(InferContext& ctx, Combine combine) {
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "A", kBoolType));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(1, "B", kBoolType));
  WEFT_ASSIGN_OR_RETURN(Shape shape, ctx.Broadcast());
  CombineElements(ctx, shape, combine);
  ctx.SetOutput(0, DType::kBool, std::move(shape));
  return absl::OkStatus();
}

std::optional<bool> Truth(const Dim& d) { return d.is_constant() ? std::optional(d.constant() != 0) : std::nullopt; }

absl::Status InferAnd(InferContext& ctx) {
  return InferLogical(ctx, [](const Dim& a, const Dim& b) -> std::optional<Dim> {
    const auto x = Truth(a), y = Truth(b);
    return x && y ? std::optional(Dim(*x && *y)) : std::nullopt;
  });
}
absl::Status InferOr(InferContext& ctx) {
  return InferLogical(ctx, [](const Dim& a, const Dim& b) -> std::optional<Dim> {
    const auto x = Truth(a), y = Truth(b);
    return x && y ? std::optional(Dim(*x || *y)) : std::nullopt;
  });
}
absl::Status InferXor(InferContext& ctx) {
  return InferLogical(ctx, [](const Dim& a, const Dim& b) -> std::optional<Dim> {
    const auto x = Truth(a), y = Truth(b);
    return x && y ? std::optional(Dim(*x != *y)) : std::nullopt;
  });
}

absl::Status InferComparison(InferContext& ctx, absl::Span<const DType> allowed, Combine combine) {
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "A", allowed));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 1));
  WEFT_ASSIGN_OR_RETURN(Shape shape, ctx.Broadcast());
  CombineElements(ctx, shape, combine);
  ctx.SetOutput(0, DType::kBool, std::move(shape));
  return absl::OkStatus();
}

// A comparison is known where the difference is.
template <class Test>
std::optional<Dim> Compared(const Dim& a, const Dim& b, Test test) {
  if (a.is_constant() && b.is_constant()) return Dim(test(a.constant() < b.constant() ? -1 : a.constant() > b.constant()));
  const Dim difference = a - b;
  if (!difference.is_constant()) {
    // A dim is never negative, so it differs from any negative number: the -1 of a Reshape target.
    if (a.KnownNonNegative() && b.is_constant() && b.constant() < 0) return Dim(test(1));
    if (b.KnownNonNegative() && a.is_constant() && a.constant() < 0) return Dim(test(-1));
    return std::nullopt;
  }
  return Dim(test(difference.constant() < 0 ? -1 : difference.constant() > 0));
}

absl::Status InferEqual(InferContext& ctx) {
  static constexpr DType kAllowed[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16, DType::kFloat64, DType::kInt64,
                                       DType::kInt32,   DType::kInt16,   DType::kInt8,     DType::kUint8,   DType::kUint16,
                                       DType::kUint32,  DType::kUint64,  DType::kBool,     DType::kString};
  return InferComparison(ctx, kAllowed, [](const Dim& a, const Dim& b) { return Compared(a, b, [](int c) { return c == 0; }); });
}
absl::Status InferLess(InferContext& ctx) {
  return InferComparison(ctx, kNumericTypes, [](const Dim& a, const Dim& b) { return Compared(a, b, [](int c) { return c < 0; }); });
}
absl::Status InferLessOrEqual(InferContext& ctx) {
  return InferComparison(ctx, kNumericTypes, [](const Dim& a, const Dim& b) { return Compared(a, b, [](int c) { return c <= 0; }); });
}
absl::Status InferGreater(InferContext& ctx) {
  return InferComparison(ctx, kNumericTypes, [](const Dim& a, const Dim& b) { return Compared(a, b, [](int c) { return c > 0; }); });
}
absl::Status InferGreaterOrEqual(InferContext& ctx) {
  return InferComparison(ctx, kNumericTypes, [](const Dim& a, const Dim& b) { return Compared(a, b, [](int c) { return c >= 0; }); });
}

absl::Status InferPRelu(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kNumericTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 1));
  WEFT_RETURN_IF_ERROR(ctx.Broadcast().status());
  ctx.SetOutput(0, ctx.input(0));  // the slope broadcasts to X, not the other way
  return absl::OkStatus();
}

absl::Status InferVariadic(InferContext& ctx, absl::Span<const DType> allowed, Combine combine) {
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "data_0", allowed));
  for (int i = 1; i < ctx.num_inputs(); ++i) WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, i));
  WEFT_ASSIGN_OR_RETURN(Shape shape, ctx.Broadcast());
  if (combine != nullptr && ctx.num_inputs() == 2 && ctx.dtype(0) == DType::kInt64) CombineElements(ctx, shape, combine);
  ctx.SetOutput(0, ctx.dtype(0), std::move(shape));
  return absl::OkStatus();
}
absl::Status InferMax(InferContext& ctx) {
  return InferVariadic(ctx, kNumericTypes, [](const Dim& a, const Dim& b) { return Kept(Dim::Max(a, b)); });
}
absl::Status InferMin(InferContext& ctx) {
  return InferVariadic(ctx, kNumericTypes, [](const Dim& a, const Dim& b) { return Kept(Dim::Min(a, b)); });
}
absl::Status InferSumMean(InferContext& ctx) { return InferVariadic(ctx, kFloatTypes, nullptr); }

absl::Status InferClip(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "input", kNumericTypes));
  for (int i = 1; i < ctx.num_inputs(); ++i) {
    WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, i));
    if (!ctx.HasInput(i) || !ctx.shape(i).has_rank()) continue;
    // The specification wants a scalar; exporters also write one element of rank 1.
    const Dim count = ctx.shape(i).NumElements();
    if (count.is_constant() && count != Dim(1)) {
      return Invalid("input ", i, i == 1 ? " (min)" : " (max)", " has shape ", ctx.shape(i).ToString(), ", expected a scalar");
    }
  }
  ctx.SetOutput(0, ctx.input(0));
  return absl::OkStatus();
}

absl::Status InferWhere(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "condition", kBoolType));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(1, 2));
  WEFT_ASSIGN_OR_RETURN(Shape shape, ctx.Broadcast());
  const auto condition = ctx.ints(0);
  const auto *x = ctx.elements(1), *y = ctx.elements(2);
  if (condition && x != nullptr && y != nullptr && shape.has_rank() && shape.rank() <= 1) {
    const size_t count = std::max({condition->size(), x->size(), y->size()});
    auto fits = [&](size_t size) { return size == count || size == 1; };
    if (fits(condition->size()) && fits(x->size()) && fits(y->size()) && std::min({condition->size(), x->size(), y->size()}) > 0) {
      std::vector<Dim> chosen;
      for (size_t i = 0; i < count; ++i) {
        const bool take = (*condition)[condition->size() == 1 ? 0 : i] != 0;
        const auto& from = take ? *x : *y;
        chosen.push_back(from[from.size() == 1 ? 0 : i]);
      }
      ctx.SetElements(0, std::move(chosen));
    }
  }
  ctx.SetOutput(0, ctx.dtype(1) != DType::kUndefined ? ctx.dtype(1) : ctx.dtype(2), std::move(shape));
  return absl::OkStatus();
}

Cost OneFlop(const NodeView& node) {
  const auto dims = node.outputs[0].shape.Concrete();
  if (!dims) return {};
  return {NumElements(*dims).value_or(0)};
}

constexpr Op Binary(std::string_view name, int version, absl::Status (*infer)(InferContext&), uint32_t traits = 0) {
  return {.name = name, .since_version = version, .inputs = 2, .outputs = 1, .traits = kElementwise | traits, .in_place = 0b11,
          .infer = infer, .cost = &OneFlop};
}
constexpr Op Variadic(std::string_view name, int version, absl::Status (*infer)(InferContext&)) {
  return {.name = name, .since_version = version, .inputs = Arity(1, Arity::kVariadic), .outputs = 1,
          .traits = kElementwise | kCommutative, .infer = infer, .cost = &OneFlop};
}

}  // namespace

constinit const Op ops::Add = Binary("Add", 14, &InferAdd, kCommutative);
constinit const Op ops::Sub = Binary("Sub", 14, &InferSub);
constinit const Op ops::Mul = Binary("Mul", 14, &InferMul, kCommutative);
constinit const Op ops::Div = Binary("Div", 14, &InferDiv);
constinit const Op ops::Pow = {.name = "Pow", .since_version = 15, .inputs = 2, .outputs = 1, .traits = kElementwise, .in_place = 0b1,
                               .infer = &InferPow, .cost = &OneFlop};
constinit const Op ops::Mod = {.name = "Mod", .since_version = 28, .inputs = 2, .outputs = 1, .attrs = &kAttrSchema<ModAttrs>,
                               .traits = kElementwise, .in_place = 0b11, .infer = &InferMod, .cost = &OneFlop};
constinit const Op ops::BitShift = {.name = "BitShift", .since_version = 28, .inputs = 2, .outputs = 1,
                                    .attrs = &kAttrSchema<BitShiftAttrs>, .traits = kElementwise, .in_place = 0b11,
                                    .infer = &InferBitShift};
constinit const Op ops::BitwiseAnd = Binary("BitwiseAnd", 18, &InferBitwise, kCommutative);
constinit const Op ops::BitwiseOr = Binary("BitwiseOr", 18, &InferBitwise, kCommutative);
constinit const Op ops::BitwiseXor = Binary("BitwiseXor", 18, &InferBitwise, kCommutative);
constinit const Op ops::And = Binary("And", 7, &InferAnd, kCommutative);
constinit const Op ops::Or = Binary("Or", 7, &InferOr, kCommutative);
constinit const Op ops::Xor = Binary("Xor", 7, &InferXor, kCommutative);
constinit const Op ops::Equal = {.name = "Equal", .since_version = 19, .inputs = 2, .outputs = 1, .traits = kElementwise | kCommutative,
                                 .infer = &InferEqual};
constinit const Op ops::Less = {.name = "Less", .since_version = 13, .inputs = 2, .outputs = 1, .traits = kElementwise, .infer = &InferLess};
constinit const Op ops::LessOrEqual = {.name = "LessOrEqual", .since_version = 16, .inputs = 2, .outputs = 1, .traits = kElementwise,
                                       .infer = &InferLessOrEqual};
constinit const Op ops::Greater = {.name = "Greater", .since_version = 13, .inputs = 2, .outputs = 1, .traits = kElementwise,
                                   .infer = &InferGreater};
constinit const Op ops::GreaterOrEqual = {.name = "GreaterOrEqual", .since_version = 16, .inputs = 2, .outputs = 1,
                                          .traits = kElementwise, .infer = &InferGreaterOrEqual};
constinit const Op ops::PRelu = {.name = "PRelu", .since_version = 16, .inputs = 2, .outputs = 1, .traits = kElementwise,
                                 .in_place = 0b1, .infer = &InferPRelu, .cost = &OneFlop};
constinit const Op ops::Max = Variadic("Max", 13, &InferMax);
constinit const Op ops::Min = Variadic("Min", 13, &InferMin);
constinit const Op ops::Sum = Variadic("Sum", 13, &InferSumMean);
constinit const Op ops::Mean = Variadic("Mean", 13, &InferSumMean);
constinit const Op ops::Clip = {.name = "Clip", .since_version = 13, .inputs = Arity(1, 3), .outputs = 1, .traits = kElementwise,
                                .in_place = 0b1, .infer = &InferClip, .cost = &OneFlop};
constinit const Op ops::Where = {.name = "Where", .since_version = 16, .inputs = 3, .outputs = 1, .traits = kElementwise,
                                 .infer = &InferWhere};

}  // namespace weft
