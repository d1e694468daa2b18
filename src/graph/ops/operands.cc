#include "graph/ops/operands.h"

#include <algorithm>
#include <utility>

namespace weft {

absl::Status CheckTensor(const InferContext& ctx, int i, std::string_view operand) {
  if (!ctx.HasInput(i)) return absl::OkStatus();
  const Type& type = ctx.input(i);
  if (type.is_tensor() || type.kind == Type::Kind::kUnknown) return absl::OkStatus();
  return Invalid("input ", i, " (", operand, ") is a ", type.ToString(), ", expected a tensor");
}

absl::Status CheckList(const InferContext& ctx, int i, std::string_view operand, absl::Span<const DType> allowed) {
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(i, operand, allowed));
  if (!ctx.HasInput(i) || !ctx.shape(i).has_rank() || ctx.shape(i).rank() <= 1) return absl::OkStatus();
  return Invalid("input ", i, " (", operand, ") has shape ", ctx.shape(i).ToString(), ", expected one axis");
}

std::optional<int64_t> ListLength(const InferContext& ctx, int i) {
  if (!ctx.HasInput(i) || !ctx.shape(i).has_rank()) return std::nullopt;
  if (ctx.shape(i).rank() == 0) return 1;
  const Dim& length = ctx.shape(i)[0];
  return length.is_constant() ? std::optional(length.constant()) : std::nullopt;
}

absl::Status CheckScalar(const InferContext& ctx, int i, std::string_view operand) {
  if (!ctx.HasInput(i) || !ctx.shape(i).has_rank()) return absl::OkStatus();
  for (const Dim& d : ctx.shape(i).dims()) {
    if (d.is_constant() && d != Dim(1)) {
      return Invalid("input ", i, " (", operand, ") has shape ", ctx.shape(i).ToString(), ", expected a single element");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<int>> NormalizeAxes(absl::Span<const int64_t> axes, int rank, std::string_view what) {
  std::vector<int> normal;
  std::vector<bool> seen(rank);
  for (int64_t axis : axes) {
    WEFT_ASSIGN_OR_RETURN(const int a, InferContext::NormalizeAxis(axis, rank, what));
    if (seen[a]) return Invalid(what, " names axis ", a, " twice");
    seen[a] = true;
    normal.push_back(a);
  }
  return normal;
}

namespace {

template <class Combine>
absl::StatusOr<Dim> Fold(absl::Span<const Dim> dims, Dim start, Combine combine) {
  Dim result = std::move(start);
  bool integers = true;
  for (const Dim& d : dims) {
    integers &= d.is_constant();
    result = combine(result, d);
  }
  if (integers && !result.is_constant()) return Invalid("the size of an axis of the result exceeds 64 bits");
  return result;
}

}  // namespace

absl::StatusOr<Dim> ProductOf(absl::Span<const Dim> dims) {
  if (std::find(dims.begin(), dims.end(), Dim(0)) != dims.end()) return Dim(0);
  return Fold(dims, 1, [](const Dim& a, const Dim& b) { return a * b; });
}

absl::StatusOr<Dim> SumOf(absl::Span<const Dim> dims) {
  return Fold(dims, 0, [](const Dim& a, const Dim& b) { return a + b; });
}

void PassElements(InferContext& ctx) {
  if (const std::vector<Dim>* known = ctx.elements(0)) ctx.SetElements(0, *known);
}

void PassStridedElements(InferContext& ctx, absl::Span<const int64_t> dims, int64_t offset, absl::Span<const int64_t> strides) {
  const std::vector<Dim>* known = ctx.elements(0);
  const absl::StatusOr<int64_t> count = NumElements(dims);
  if (known == nullptr || !count.ok() || *count > static_cast<int64_t>(InferContext::kMaxElements)) return;
  std::vector<Dim> elements;
  elements.reserve(*count);
  for (int64_t i = 0; i < *count; ++i) {
    int64_t at = offset, rest = i;
    for (size_t axis = dims.size(); axis-- > 0;) {
      at += rest % dims[axis] * strides[axis];
      rest /= dims[axis];
    }
    elements.push_back((*known)[at]);
  }
  ctx.SetElements(0, std::move(elements));
}

Dims RowMajorStrides(absl::Span<const int64_t> dims) {
  Dims strides(dims.size(), 0);
  int64_t stride = 1;
  for (size_t axis = dims.size(); axis-- > 0;) {
    strides[axis] = stride;
    if (__builtin_mul_overflow(stride, std::max<int64_t>(dims[axis], 1), &stride)) return Dims(dims.size(), 0);
  }
  return strides;
}

}  // namespace weft
