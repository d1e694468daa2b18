// QGemm, MatMulIntegerToFloat, DynamicQuantizeMatMul of the domain com.microsoft as what they stand for: one standard op after another.
// Sums are those of MatMulInteger, modulo 2^32.
#include "graph/ops/ms_quantized.h"

#include <utility>
#include <vector>

#include "graph/ops/cast.h"
#include "graph/ops/shape.h"
#include "kernels/evaluate.h"
#include "kernels/kernel.h"
#include "kernels/ref/elements.h"
#include "kernels/ref/quantize.h"

namespace weft {
namespace {

absl::StatusOr<Value> Only(const Op& op, const Attrs& attrs, absl::Span<const Value> inputs) {
  WEFT_ASSIGN_OR_RETURN(std::vector<Value> y, Evaluate(op, attrs, inputs));
  return std::move(y[0]);
}

Value InputOrNone(const RunContext& ctx, int i) { return ctx.HasInput(i) ? ctx.input_value(i) : Value(); }
// A scale or a zero point of a whole tensor, of whatever rank.
Value ScalarInput(const RunContext& ctx, int i) { return ctx.HasInput(i) ? Value(ctx.input(i).Reshaped({})) : Value(); }
// One value is a scalar, of whatever rank.
Value PerColumn(const RunContext& ctx, int i) {
  return ctx.HasInput(i) && ctx.input(i).size() == 1 ? ScalarInput(ctx, i) : InputOrNone(ctx, i);
}

absl::StatusOr<Value> ToFloat(const Value& x) {
  return Only(ops::Cast, CastAttrs{.to = static_cast<int64_t>(DType::kFloat32)}, {x});
}

// float(a @ b less their zero points) * (a_scale * b_scale) + bias, in float; into output 0 in its type.
absl::Status Scale(RunContext& ctx, const std::vector<Value>& operands, const Value& a_scale, int b_scale, int bias) {
  WEFT_ASSIGN_OR_RETURN(Value y, Only(ops::MatMulInteger, Attrs(), operands));
  WEFT_ASSIGN_OR_RETURN(y, ToFloat(y));
  WEFT_ASSIGN_OR_RETURN(const Value left, ToFloat(a_scale));
  WEFT_ASSIGN_OR_RETURN(const Value right, ToFloat(PerColumn(ctx, b_scale)));
  WEFT_ASSIGN_OR_RETURN(const Value scale, Only(ops::Mul, Attrs(), {left, right}));
  WEFT_ASSIGN_OR_RETURN(y, Only(ops::Mul, Attrs(), {y, scale}));
  if (ctx.HasInput(bias)) {
    WEFT_ASSIGN_OR_RETURN(const Value wide, ToFloat(ctx.input_value(bias)));
    WEFT_ASSIGN_OR_RETURN(y, Only(ops::Add, Attrs(), {y, wide}));
  }
  WriteElements(y.tensor().data<float>(), y.tensor().size(), ctx.output(0), 0);
  return absl::OkStatus();
}

absl::Status RunMatMulIntegerToFloat(RunContext& ctx) {
  return Scale(ctx, {ctx.input_value(0), ctx.input_value(1), ScalarInput(ctx, 4), PerColumn(ctx, 5)}, ScalarInput(ctx, 2), 3, 6);
}

absl::Status RunDynamicQuantizeMatMul(RunContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const std::vector<Value> a, Evaluate(ops::DynamicQuantizeLinear, Attrs(), {ctx.input_value(0)}, 3));
  return Scale(ctx, {a[0], ctx.input_value(1), a[2], PerColumn(ctx, 3)}, a[1], 2, 4);
}

absl::StatusOr<Value> Transposed(const Value& x, bool transpose) {
  return transpose ? Only(ops::Transpose, TransposeAttrs{std::vector<int64_t>{1, 0}}, {x}) : x;
}

absl::Status RunQGemm(RunContext& ctx) {
  const auto& attrs = ctx.attrs<QGemmAttrs>();
  WEFT_ASSIGN_OR_RETURN(const Value a, Transposed(ctx.input_value(0), attrs.transA));
  WEFT_ASSIGN_OR_RETURN(const Value b, Transposed(ctx.input_value(3), attrs.transB));
  WEFT_ASSIGN_OR_RETURN(Value sums, Only(ops::MatMulInteger, Attrs(), {a, b, ScalarInput(ctx, 2), PerColumn(ctx, 5)}));
  if (ctx.HasInput(6)) {
    WEFT_ASSIGN_OR_RETURN(sums, Only(ops::Add, Attrs(), {sums, ctx.input_value(6)}));
  }
  Tensor& y = ctx.output(0);  // [M, N]
  const bool requantise = ctx.HasInput(7);
  const int64_t columns = y.dim(1), scales = ctx.input(4).size();
  const float a_scale = *ctx.input(1).data<float>(), y_scale = requantise ? *ctx.input(7).data<float>() : 1;
  double zero_point = 0;
  if (requantise) ReadElements(ctx.input(8), 0, 1, &zero_point);
  for (int64_t i = 0; i < y.size(); ++i) {
    const float factor = attrs.alpha * a_scale * ctx.input(4).data<float>()[scales == 1 ? 0 : i % columns] / y_scale;
    const float value = static_cast<float>(sums.tensor().data<int32_t>()[i]) * factor;
    const double scaled = value;
    if (requantise) {
      StoreQuantized(&scaled, &zero_point, 1, true, y, i);
    } else {
      y.data<float>()[i] = value;
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Span<const Kernel> RefMsQuantized() {
  static constexpr Kernel kernels[] = {
      {.op = &ops::QGemm, .name = "ref", .run = &RunQGemm},
      {.op = &ops::MatMulIntegerToFloat, .name = "ref", .run = &RunMatMulIntegerToFloat},
      {.op = &ops::DynamicQuantizeMatMul, .name = "ref", .run = &RunDynamicQuantizeMatMul},
  };
  return kernels;
}

}  // namespace weft
