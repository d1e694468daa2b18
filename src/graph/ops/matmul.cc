// Matrix products: MatMul, Gemm (ONNX Operators.md, opset 13), MatMulInteger (opset 10), QLinearMatMul (opset 21).
#include "graph/ops/matmul.h"

#include "graph/op.h"
#include "graph/ops/dtype_sets.h"
#include "graph/ops/quantized.h"

namespace weft {
namespace {

constexpr DType kProductTypes[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16, DType::kFloat64,
                                   DType::kInt32,   DType::kInt64,   DType::kUint32,   DType::kUint64};
constexpr DType kEightBits[] = {DType::kUint8,           DType::kInt8,       DType::kFloat8E4M3FN,
                                DType::kFloat8E4M3FNUZ, DType::kFloat8E5M2, DType::kFloat8E5M2FNUZ};
constexpr DType kScaleTypes[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16};

DType FirstKnown(const InferContext& ctx, int i, int j) { return ctx.dtype(i) != DType::kUndefined ? ctx.dtype(i) : ctx.dtype(j); }

absl::Status InferMatMul(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "A", kProductTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 1));
  WEFT_ASSIGN_OR_RETURN(Shape shape, InferMatMulShape(ctx, ctx.shape(0), ctx.shape(1)));
  ctx.SetOutput(0, FirstKnown(ctx, 0, 1), std::move(shape));
  return absl::OkStatus();
}

absl::Status InferGemm(InferContext& ctx) {
  const auto& attrs = ctx.attrs<GemmAttrs>();
  WEFT_ASSIGN_OR_RETURN(Shape shape, InferGemmShape(ctx, attrs.transA, attrs.transB));
  ctx.SetOutput(0, FirstKnown(ctx, 0, 1), std::move(shape));
  return absl::OkStatus();
}

absl::Status InferMatMulInteger(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "A", kBytes));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(1, "B", kBytes));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 2));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(1, 3));
  WEFT_RETURN_IF_ERROR(CheckPerLine(ctx, 2, "a_zero_point", ctx.shape(0), true));
  WEFT_RETURN_IF_ERROR(CheckPerLine(ctx, 3, "b_zero_point", ctx.shape(1), false));
  WEFT_ASSIGN_OR_RETURN(Shape shape, InferMatMulShape(ctx, ctx.shape(0), ctx.shape(1)));
  ctx.SetOutput(0, DType::kInt32, std::move(shape));
  return absl::OkStatus();
}

absl::Status InferQLinearMatMul(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "a", kEightBits));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(3, "b", kEightBits));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(7, "y_zero_point", kEightBits));
  for (int scale : {1, 4, 6}) WEFT_RETURN_IF_ERROR(ctx.CheckDType(scale, "a scale", kScaleTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 2));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(3, 5));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(1, 4));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(1, 6));
  WEFT_RETURN_IF_ERROR(CheckPerLine(ctx, 1, "a_scale", ctx.shape(0), true));
  WEFT_RETURN_IF_ERROR(CheckPerLine(ctx, 2, "a_zero_point", ctx.shape(0), true));
  WEFT_RETURN_IF_ERROR(CheckPerLine(ctx, 4, "b_scale", ctx.shape(3), false));
  WEFT_RETURN_IF_ERROR(CheckPerLine(ctx, 5, "b_zero_point", ctx.shape(3), false));
  WEFT_ASSIGN_OR_RETURN(Shape shape, InferMatMulShape(ctx, ctx.shape(0), ctx.shape(3)));
  WEFT_RETURN_IF_ERROR(CheckPerLine(ctx, 6, "y_scale", shape, true));
  WEFT_RETURN_IF_ERROR(CheckPerLine(ctx, 7, "y_zero_point", shape, true));
  ctx.SetOutput(0, ctx.dtype(7), std::move(shape));
  return absl::OkStatus();
}

Cost GemmCost(const NodeView& node) {
  const auto a = node.inputs[0].type->shape.Concrete();
  return a && a->size() == 2 ? MatMulCost(node, (*a)[node.attrs_as<GemmAttrs>().transA ? 0 : 1]) : Cost{};
}

}  // namespace

absl::Status CheckAddend(const InferContext& ctx, int i, const Dim& m, const Dim& n) {
  if (!ctx.HasInput(i) || !ctx.shape(i).has_rank()) return absl::OkStatus();
  const Shape& c = ctx.shape(i);
  auto fits = [](const Dim& from, const Dim& to) { return !from.is_constant() || !to.is_constant() || from == Dim(1) || from == to; };
  const int rank = c.rank();
  if (rank <= 2 && (rank < 1 || fits(c[rank - 1], n)) && (rank < 2 || fits(c[0], m))) return absl::OkStatus();
  return Invalid("input ", i, " (C) has shape ", c.ToString(), ", expected one that broadcasts to [", m.ToString(), ",", n.ToString(), "]");
}

absl::Status CheckPerLine(const InferContext& ctx, int i, std::string_view operand, const Shape& of, bool rows) {
  const Shape& shape = ctx.shape(i);
  if (!ctx.HasInput(i) || !shape.has_rank() || !of.has_rank()) return absl::OkStatus();
  if (of.rank() < 2) return CheckPerTensor(ctx, i, operand);
  if (shape.rank() <= 1) return CheckPerTensorOrChannel(ctx, i, operand, of, of.rank() - (rows ? 2 : 1));
  const int summed = of.rank() - (rows ? 1 : 2);
  bool fits = shape.rank() == of.rank(), one = true;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const Dim& d = shape[axis];
    if (d.is_constant() && d != Dim(1)) one = false;
    if (!fits) continue;
    const Dim want = axis == summed ? Dim(1) : of[axis];
    fits = !d.is_constant() || !want.is_constant() || d == want;
  }
  if (fits || one) return absl::OkStatus();
  return Invalid("input ", i, " (", operand, ") has shape ", shape.ToString(), ", expected a scalar, or one value for each ",
                 rows ? "row" : "column", " of ", of.ToString());
}

absl::StatusOr<Shape> InferMatMulShape(InferContext& ctx, const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank()) return Shape();
  if (a.rank() == 0 || b.rank() == 0) {
    return Invalid("operands have shapes ", a.ToString(), " and ", b.ToString(), ", expected no scalar");
  }
  const Dim& depth = b[b.rank() == 1 ? 0 : b.rank() - 2];
  if (absl::Status s = InferContext::Unify(a[a.rank() - 1], depth, "the inner dim of the product").status(); !s.ok()) {
    return Invalid("shapes ", a.ToString(), " and ", b.ToString(), " do not multiply: ", s.message());
  }
  const int a_batch = std::max(a.rank() - 2, 0), b_batch = std::max(b.rank() - 2, 0), batch = std::max(a_batch, b_batch);
  std::vector<Dim> out;
  for (int i = 0; i < batch; ++i) {
    const int from_a = i - (batch - a_batch), from_b = i - (batch - b_batch);
    WEFT_ASSIGN_OR_RETURN(Dim d, ctx.BroadcastDim(from_a < 0 ? Dim(1) : a[from_a], from_b < 0 ? Dim(1) : b[from_b]));
    out.push_back(std::move(d));
  }
  if (a.rank() > 1) out.push_back(a[a.rank() - 2]);
  if (b.rank() > 1) out.push_back(b[b.rank() - 1]);
  return Shape(std::move(out));
}

absl::StatusOr<Shape> InferGemmShape(InferContext& ctx, bool trans_a, bool trans_b) {
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "A", kProductTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 1));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 2));
  WEFT_RETURN_IF_ERROR(ctx.CheckRank(0, "A", 2));
  WEFT_RETURN_IF_ERROR(ctx.CheckRank(1, "B", 2));
  const Shape a = ctx.shape(0).has_rank() ? ctx.shape(0) : ctx.FreshShape(2);
  const Shape b = ctx.shape(1).has_rank() ? ctx.shape(1) : ctx.FreshShape(2);
  WEFT_RETURN_IF_ERROR(InferContext::Unify(a[trans_a ? 0 : 1], b[trans_b ? 1 : 0], "the inner dim of the product").status());
  const Dim m = a[trans_a ? 1 : 0], n = b[trans_b ? 0 : 1];
  WEFT_RETURN_IF_ERROR(CheckAddend(ctx, 2, m, n));
  return Shape{m, n};
}

Cost MatMulCost(const NodeView& node, int64_t depth) {
  auto dims = node.outputs[0].shape.Concrete();
  if (!dims) return {};
  dims->push_back(depth);
  const auto count = NumElements(*dims);
  return {count.ok() && *count < (int64_t{1} << 62) ? 2 * *count : 0};
}

Cost MatMulCost(const NodeView& node) {
  const Shape& a = node.inputs[0].type->shape;
  return a.has_rank() && a.rank() > 0 && a[a.rank() - 1].is_constant() ? MatMulCost(node, a[a.rank() - 1].constant()) : Cost{};
}

MatMulShape ResolveMatMul(absl::Span<const int64_t> a, absl::Span<const int64_t> b) {
  MatMulShape s;
  s.k = a.back();
  if (a.size() > 1) s.m = a[a.size() - 2];
  if (b.size() > 1) s.n = b.back();
  const size_t a_batch = a.size() > 2 ? a.size() - 2 : 0, b_batch = b.size() > 2 ? b.size() - 2 : 0;
  const size_t rank = std::max(a_batch, b_batch);
  s.a_matrix = s.b_matrix = {0};
  bool empty = s.m == 0 || s.n == 0;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t from_a = i < rank - a_batch ? 1 : a[i - (rank - a_batch)];
    const int64_t from_b = i < rank - b_batch ? 1 : b[i - (rank - b_batch)];
    const int64_t size = from_a == 1 ? from_b : from_a;
    s.batch.push_back(size);
    empty |= size == 0;
  }
  if (empty) {  // whatever the other dims say
    s.a_matrix = s.b_matrix = {};
    return s;
  }
  for (size_t i = 0; i < rank; ++i) {
    const int64_t from_a = i < rank - a_batch ? 1 : a[i - (rank - a_batch)];
    const int64_t from_b = i < rank - b_batch ? 1 : b[i - (rank - b_batch)];
    auto widen = [size = s.batch[i]](std::vector<int64_t>& matrices, int64_t from) {
      std::vector<int64_t> wider;
      for (int64_t matrix : matrices) {
        for (int64_t j = 0; j < size; ++j) wider.push_back(matrix * from + (from == 1 ? 0 : j));
      }
      matrices = std::move(wider);
    };
    widen(s.a_matrix, from_a);
    widen(s.b_matrix, from_b);
  }
  return s;
}

constinit const Op ops::MatMul = {.name = "MatMul", .since_version = 13, .inputs = 2, .outputs = 1, .infer = &InferMatMul,
                                  .cost = [](const NodeView& node) { return MatMulCost(node); }};
constinit const Op ops::Gemm = {.name = "Gemm", .since_version = 13, .inputs = {2, 3}, .outputs = 1,
                                .attrs = &kAttrSchema<GemmAttrs>, .infer = &InferGemm, .cost = &GemmCost};
constinit const Op ops::MatMulInteger = {.name = "MatMulInteger", .since_version = 10, .inputs = {2, 4}, .outputs = 1,
                                         .infer = &InferMatMulInteger,
                                         .cost = [](const NodeView& node) { return MatMulCost(node); }};
constinit const Op ops::QLinearMatMul = {.name = "QLinearMatMul", .since_version = 21, .inputs = 8, .outputs = 1,
                                         .infer = &InferQLinearMatMul,
                                         .cost = [](const NodeView& node) { return MatMulCost(node); }};

}  // namespace weft
