// The QLinear ops of the domain com.microsoft as what they stand for: dequantised, computed in float, quantised.
#include "graph/ops/qlinear.h"

#include <cstring>
#include <vector>

#include "graph/ops/quantization.h"
#include "graph/ops/reduce.h"
#include "graph/ops/shape.h"
#include "graph/ops/unary.h"
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

// A scale or a zero point, of whatever rank.
Value ScalarInput(const RunContext& ctx, int i) { return ctx.HasInput(i) ? Value(ctx.input(i).Reshaped({})) : Value(); }

// Input i, whose scale and zero point follow it.
absl::StatusOr<Value> Dequantized(const RunContext& ctx, int i) {
  return Only(ops::DequantizeLinear, DequantizeLinearAttrs{}, {ctx.input_value(i), ScalarInput(ctx, i + 1), ScalarInput(ctx, i + 2)});
}

// Output 0 by the scale and zero point in inputs i and i + 1.
absl::Status Quantize(RunContext& ctx, const Value& y, int i) {
  Tensor& to = ctx.output(0);
  WEFT_ASSIGN_OR_RETURN(const Value quantized, Only(ops::QuantizeLinear, QuantizeLinearAttrs{.output_dtype = static_cast<int64_t>(to.dtype())},
                                                    {y, ScalarInput(ctx, i), ScalarInput(ctx, i + 1)}));
  if (to.size() > 0) std::memcpy(to.data(), quantized.tensor().data(), to.bytes());
  return absl::OkStatus();
}

// These round the sum with the zero point; the other ops round before they add it. Ties differ where the zero point is odd.
template <const Op& op>
absl::Status RunBinary(RunContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const Value a, Dequantized(ctx, 0));
  WEFT_ASSIGN_OR_RETURN(const Value b, Dequantized(ctx, 3));
  WEFT_ASSIGN_OR_RETURN(const Value c, Only(op, Attrs(), {a, b}));
  const float* values = c.tensor().data<float>();
  const double scale = *ctx.input(6).data<float>();
  double zero_point = 0;
  if (ctx.HasInput(7)) ReadElements(ctx.input(7), 0, 1, &zero_point);
  ParallelFor(c.tensor().size(), 8, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const double sum = values[i] / scale + zero_point, none = 0;
      StoreQuantized(&sum, &none, 1, true, ctx.output(0), i);
    }
  });
  return absl::OkStatus();
}

template <const Op& op>
absl::Status RunUnary(RunContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const Value x, Dequantized(ctx, 0));
  WEFT_ASSIGN_OR_RETURN(const Value y, Only(op, *ctx.node().attrs, {x}));
  return Quantize(ctx, y, 3);
}

absl::Status RunSoftmax(RunContext& ctx) {
  const auto& attrs = ctx.attrs<QLinearSoftmaxAttrs>();
  WEFT_ASSIGN_OR_RETURN(Value x, Dequantized(ctx, 0));
  const Dims dims = x.tensor().dims();
  WEFT_ASSIGN_OR_RETURN(int axis, InferContext::NormalizeAxis(attrs.axis, static_cast<int>(dims.size())));
  if (attrs.opset < 13) {
    const auto all = absl::MakeConstSpan(dims);
    x = Value(x.tensor().Reshaped({Product(all.first(axis)), Product(all.subspan(axis))}));
    axis = 1;
  }
  WEFT_ASSIGN_OR_RETURN(const Value y, Only(ops::Softmax, SoftmaxAttrs{axis}, {x}));
  return Quantize(ctx, y, 3);
}

absl::Status RunConcat(RunContext& ctx) {
  std::vector<Value> parts;
  for (int i = 2; i < ctx.num_inputs(); i += 3) {
    WEFT_ASSIGN_OR_RETURN(Value part, Dequantized(ctx, i));
    parts.push_back(std::move(part));
  }
  WEFT_ASSIGN_OR_RETURN(const Value whole, Only(ops::Concat, *ctx.node().attrs, parts));
  return Quantize(ctx, whole, 0);
}

absl::Status RunWhere(RunContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const Value x, Dequantized(ctx, 1));
  WEFT_ASSIGN_OR_RETURN(const Value y, Dequantized(ctx, 4));
  WEFT_ASSIGN_OR_RETURN(const Value z, Only(ops::Where, Attrs(), {ctx.input_value(0), x, y}));
  return Quantize(ctx, z, 7);
}

}  // namespace

absl::Span<const Kernel> RefQlinear() {
  static constexpr Kernel kernels[] = {
      {.op = &ops::QLinearAdd, .name = "ref", .run = &RunBinary<ops::Add>},
      {.op = &ops::QLinearMul, .name = "ref", .run = &RunBinary<ops::Mul>},
      {.op = &ops::QLinearSigmoid, .name = "ref", .run = &RunUnary<ops::Sigmoid>},
      {.op = &ops::QLinearLeakyRelu, .name = "ref", .run = &RunUnary<ops::LeakyRelu>},
      {.op = &ops::QLinearSoftmax, .name = "ref", .run = &RunSoftmax},
      {.op = &ops::QLinearConcat, .name = "ref", .run = &RunConcat},
      {.op = &ops::QLinearWhere, .name = "ref", .run = &RunWhere},
  };
  return kernels;
}

}  // namespace weft
