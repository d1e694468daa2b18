// Lists of tensors: SequenceConstruct, SequenceEmpty, SequenceInsert, SequenceErase, SequenceAt, SequenceLength, ConcatFromSequence (ONNX
// Operators.md, opset 11), SplitToSequence (opset 24).
#include "graph/ops/sequence.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/op.h"
#include "graph/ops/dtype_sets.h"
#include "graph/ops/operands.h"

namespace weft {

absl::Status CheckSequence(const InferContext& ctx, int i, std::string_view operand) {
  const Type& type = ctx.input(i);
  if (type.kind == Type::Kind::kSequence || type.kind == Type::Kind::kUnknown) return absl::OkStatus();
  return Invalid("input ", i, " (", operand, ") is a ", type.ToString(), ", expected a sequence");
}

Type ItemType(InferContext& ctx, const Type& sequence) {
  if (sequence.elem == nullptr) return Type::Unknown();
  Type item = *sequence.elem;
  if (!item.is_tensor() || !item.shape.has_rank()) return item;
  for (Dim& d : item.shape.dims()) {
    if (!d.is_constant()) d = ctx.FreshDim();
  }
  return item;
}

absl::StatusOr<Type> JoinTypes(InferContext& ctx, const Type& a, const Type& b, std::string_view what) {
  if (a == b || b.kind == Type::Kind::kUnknown) return a;
  if (a.kind == Type::Kind::kUnknown) return b;
  // What may be absent at first and never is afterwards: a loop that begins with an optional.
  if ((a.kind == Type::Kind::kOptional) != (b.kind == Type::Kind::kOptional)) {
    const bool first = a.kind == Type::Kind::kOptional;
    const Type& optional = first ? a : b;
    if (optional.elem == nullptr) return optional;
    WEFT_ASSIGN_OR_RETURN(Type elem, JoinTypes(ctx, first ? *a.elem : a, first ? b : *b.elem, what));
    return Type::OfOptional(std::move(elem));
  }
  if (a.kind != b.kind || (a.dtype != b.dtype && a.dtype != DType::kUndefined && b.dtype != DType::kUndefined)) {
    return Invalid(what, " is ", a.ToString(), " in one place and ", b.ToString(), " in the other, expected one type");
  }
  if (!a.is_tensor()) {
    if (a.elem == nullptr || b.elem == nullptr) return a;
    WEFT_ASSIGN_OR_RETURN(Type elem, JoinTypes(ctx, *a.elem, *b.elem, what));
    Type joined = a;
    joined.elem = std::make_shared<const Type>(std::move(elem));
    return joined;
  }
  const DType dtype = a.dtype != DType::kUndefined ? a.dtype : b.dtype;
  if (!a.shape.has_rank() || !b.shape.has_rank() || a.shape.rank() != b.shape.rank()) return Type::OfTensor(dtype);
  std::vector<Dim> dims;
  for (int i = 0; i < a.shape.rank(); ++i) dims.push_back(a.shape[i] == b.shape[i] ? a.shape[i] : ctx.FreshDim());
  return Type::OfTensor(dtype, Shape(std::move(dims)));
}

namespace {

absl::Status CheckPosition(const InferContext& ctx, int i) {
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(i, "position", kIndexTypes));
  return CheckScalar(ctx, i, "position");
}

absl::Status InferSequenceConstruct(InferContext& ctx) {
  Type item;
  for (int i = 0; i < ctx.num_inputs(); ++i) {
    WEFT_RETURN_IF_ERROR(CheckTensor(ctx, i, "inputs"));
    WEFT_ASSIGN_OR_RETURN(item, JoinTypes(ctx, item, ctx.input(i), absl::StrCat("an item up to input ", i)));
  }
  ctx.SetOutput(0, Type::OfSequence(std::move(item)));
  return absl::OkStatus();
}

absl::Status InferSequenceEmpty(InferContext& ctx) {
  const int64_t dtype = ctx.attrs<SequenceEmptyAttrs>().dtype;
  if (dtype <= 0 || dtype >= kNumDTypes) return Invalid("attribute 'dtype' is ", dtype, ", expected the number of an element type");
  ctx.SetOutput(0, Type::OfSequence(Type::OfTensor(static_cast<DType>(dtype))));
  return absl::OkStatus();
}

absl::Status InferSequenceInsert(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckSequence(ctx, 0, "input_sequence"));
  WEFT_RETURN_IF_ERROR(CheckTensor(ctx, 1, "tensor"));
  WEFT_RETURN_IF_ERROR(CheckPosition(ctx, 2));
  WEFT_ASSIGN_OR_RETURN(Type item, JoinTypes(ctx, ItemType(ctx, ctx.input(0)), ctx.input(1), "an item"));
  ctx.SetOutput(0, Type::OfSequence(std::move(item)));
  return absl::OkStatus();
}

absl::Status InferSequenceErase(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckSequence(ctx, 0, "input_sequence"));
  WEFT_RETURN_IF_ERROR(CheckPosition(ctx, 1));
  ctx.SetOutput(0, ctx.input(0));
  return absl::OkStatus();
}

absl::Status InferSequenceAt(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckSequence(ctx, 0, "input_sequence"));
  WEFT_RETURN_IF_ERROR(CheckPosition(ctx, 1));
  ctx.SetOutput(0, ItemType(ctx, ctx.input(0)));
  return absl::OkStatus();
}

absl::Status InferSequenceLength(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckSequence(ctx, 0, "input_sequence"));
  ctx.SetOutput(0, DType::kInt64, Shape(std::vector<Dim>{}));
  return absl::OkStatus();
}

// The size of every part along the axis, where it is one and known.
absl::StatusOr<Dim> PartSize(InferContext& ctx, const std::optional<Dim>& whole) {
  if (!ctx.HasInput(1)) return Dim(1);
  const std::vector<Dim>* split = ctx.elements(1);
  if (split == nullptr || !ctx.shape(1).has_rank()) return ctx.FreshDim();
  const bool scalar = ctx.shape(1).rank() == 0;
  for (const Dim& d : *split) {
    if (d.is_constant() && d.constant() < (scalar ? 1 : 0)) {
      return Invalid("split holds ", d.constant(), ", expected sizes of at least ", scalar ? 1 : 0);
    }
  }
  if (scalar) {
    const Dim& part = (*split)[0];
    const bool even = whole && whole->is_constant() && part.is_constant() && whole->constant() % part.constant() == 0;
    return even ? part : ctx.FreshDim();
  }
  WEFT_ASSIGN_OR_RETURN(const Dim sum, SumOf(*split));
  if (whole && whole->is_constant() && sum.is_constant() && *whole != sum) {
    return Invalid("the sizes in split add up to ", sum.constant(), ", expected the size of the axis, ", whole->constant());
  }
  const bool equal = !split->empty() && split->front().is_constant() &&
                     std::all_of(split->begin(), split->end(), [&](const Dim& d) { return d == split->front(); });
  return equal ? split->front() : ctx.FreshDim();
}

absl::Status InferSplitToSequence(InferContext& ctx) {
  const auto& attrs = ctx.attrs<SplitToSequenceAttrs>();
  WEFT_RETURN_IF_ERROR(CheckTensor(ctx, 0, "input"));
  WEFT_RETURN_IF_ERROR(CheckList(ctx, 1, "split", kIndexTypes));
  const Shape& in = ctx.shape(0);
  Shape part = in;
  int axis = 0;
  if (in.has_rank()) {
    WEFT_ASSIGN_OR_RETURN(axis, InferContext::NormalizeAxis(attrs.axis, in.rank()));
  }
  WEFT_ASSIGN_OR_RETURN(const Dim size, PartSize(ctx, in.has_rank() ? std::optional(in[axis]) : std::nullopt));
  if (in.has_rank()) {
    part[axis] = size;
    if (!ctx.HasInput(1) && !attrs.keepdims) part.dims().erase(part.dims().begin() + axis);
  }
  ctx.SetOutput(0, Type::OfSequence(Type::OfTensor(ctx.dtype(0), std::move(part))));
  return absl::OkStatus();
}

absl::Status InferConcatFromSequence(InferContext& ctx) {
  const auto& attrs = ctx.attrs<ConcatFromSequenceAttrs>();
  WEFT_RETURN_IF_ERROR(CheckSequence(ctx, 0, "input_sequence"));
  Type item = ItemType(ctx, ctx.input(0));
  if (item.is_tensor() && item.shape.has_rank()) {
    const int rank = item.shape.rank() + (attrs.new_axis ? 1 : 0);
    WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(attrs.axis, rank));
    std::vector<Dim>& dims = item.shape.dims();
    if (attrs.new_axis) dims.insert(dims.begin() + axis, ctx.FreshDim());
    else dims[axis] = ctx.FreshDim();
  }
  ctx.SetOutput(0, std::move(item));
  return absl::OkStatus();
}

}  // namespace

constinit const Op ops::SequenceConstruct = {.name = "SequenceConstruct", .since_version = 11, .inputs = {1, Arity::kVariadic},
                                             .outputs = 1, .infer = &InferSequenceConstruct};
constinit const Op ops::SequenceEmpty = {.name = "SequenceEmpty", .since_version = 11, .inputs = 0, .outputs = 1,
                                         .attrs = &kAttrSchema<SequenceEmptyAttrs>, .infer = &InferSequenceEmpty};
constinit const Op ops::SequenceInsert = {.name = "SequenceInsert", .since_version = 11, .inputs = {2, 3}, .outputs = 1,
                                          .infer = &InferSequenceInsert};
constinit const Op ops::SequenceErase = {.name = "SequenceErase", .since_version = 11, .inputs = {1, 2}, .outputs = 1,
                                         .infer = &InferSequenceErase};
constinit const Op ops::SequenceAt = {.name = "SequenceAt", .since_version = 11, .inputs = 2, .outputs = 1, .infer = &InferSequenceAt};
constinit const Op ops::SequenceLength = {.name = "SequenceLength", .since_version = 11, .inputs = 1, .outputs = 1,
                                          .infer = &InferSequenceLength};
constinit const Op ops::SplitToSequence = {.name = "SplitToSequence", .since_version = 24, .inputs = {1, 2}, .outputs = 1,
                                           .attrs = &kAttrSchema<SplitToSequenceAttrs>, .infer = &InferSplitToSequence};
constinit const Op ops::ConcatFromSequence = {.name = "ConcatFromSequence", .since_version = 11, .inputs = 1, .outputs = 1,
                                              .attrs = &kAttrSchema<ConcatFromSequenceAttrs>, .infer = &InferConcatFromSequence};

}  // namespace weft
