// The QLinear ops of the domain com.microsoft as what they stand for: dequantised, computed in float, quantised.
#include "graph/ops/qlinear.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "graph/ops/pool.h"
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

double ZeroPoint(const RunContext& ctx, int i) {
  double zero_point = 0;
  if (ctx.HasInput(i)) ReadElements(ctx.input(i), 0, 1, &zero_point);
  return zero_point;
}

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

// Output 0 = saturate(round(values * factor + zero_point)): where `together` is false the zero point is added to the rounded product, as
// QuantizeLinear does it. Ties differ where it is odd.
void Store(RunContext& ctx, const Value& values, double factor, double zero_point, bool together) {
  const float* from = values.tensor().data<float>();
  const double before = together ? zero_point : 0, after = together ? 0 : zero_point;
  ParallelFor(values.tensor().size(), 8, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const double scaled = from[i] * factor + before;
      StoreQuantized(&scaled, &after, 1, true, ctx.output(0), i);
    }
  });
}

template <const Op& op>
absl::Status RunBinary(RunContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const Value a, Dequantized(ctx, 0));
  WEFT_ASSIGN_OR_RETURN(const Value b, Dequantized(ctx, 3));
  WEFT_ASSIGN_OR_RETURN(const Value c, Only(op, Attrs(), {a, b}));
  Store(ctx, c, 1.0 / *ctx.input(6).data<float>(), ZeroPoint(ctx, 7), true);
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

// The last axis moved to place 1, or back.
absl::StatusOr<Value> MoveChannels(const Value& x, bool to_front) {
  std::vector<int64_t> perm(x.tensor().rank());
  std::iota(perm.begin(), perm.end(), 0);
  if (to_front) {
    std::rotate(perm.begin() + 1, perm.end() - 1, perm.end());
  } else {
    std::rotate(perm.begin() + 1, perm.begin() + 2, perm.end());
  }
  return Only(ops::Transpose, TransposeAttrs{std::move(perm)}, {x});
}

// Means of integers, scaled at the end: a mean halfway between two bytes is seen to be one.
absl::Status RunPool(RunContext& ctx, const Op& op, const Attrs& attrs, bool channels_last) {
  WEFT_ASSIGN_OR_RETURN(Value x, Only(ops::DequantizeLinear, DequantizeLinearAttrs{},
                                      {ctx.input_value(0), Value(Tensor::Scalar<float>(1)), ScalarInput(ctx, 2)}));
  if (channels_last) {
    WEFT_ASSIGN_OR_RETURN(x, MoveChannels(x, true));
  }
  WEFT_ASSIGN_OR_RETURN(Value y, Only(op, attrs, {x}));
  if (channels_last) {
    WEFT_ASSIGN_OR_RETURN(y, MoveChannels(y, false));
  }
  const double ratio = static_cast<double>(*ctx.input(1).data<float>()) / *ctx.input(3).data<float>();
  Store(ctx, y, ratio, ZeroPoint(ctx, 4), &op == &ops::AveragePool);
  return absl::OkStatus();
}

absl::Status RunAveragePool(RunContext& ctx) {
  const auto& attrs = ctx.attrs<QLinearAveragePoolAttrs>();
  const AveragePoolAttrs pool = {.auto_pad = attrs.auto_pad, .ceil_mode = attrs.ceil_mode, .count_include_pad = attrs.count_include_pad,
                                 .kernel_shape = attrs.kernel_shape, .pads = attrs.pads, .strides = attrs.strides};
  return RunPool(ctx, ops::AveragePool, pool, attrs.channels_last);
}

absl::Status RunGlobalAveragePool(RunContext& ctx) {
  return RunPool(ctx, ops::GlobalAveragePool, Attrs(), ctx.attrs<QLinearGlobalAveragePoolAttrs>().channels_last);
}

}  // namespace

absl::Span<const Kernel> RefQlinear() {
  static constexpr Kernel kernels[] = {
      {.op = &ops::QLinearAdd, .name = "ref", .run = &RunBinary<ops::Add>},
      {.op = &ops::QLinearMul, .name = "ref", .run = &RunBinary<ops::Mul>},
      {.op = &ops::QLinearSigmoid, .name = "ref", .run = &RunUnary<ops::Sigmoid>},
      {.op = &ops::QLinearLeakyRelu, .name = "ref", .run = &RunUnary<ops::LeakyRelu>},
      {.op = &ops::QLinearSoftmax, .name = "ref", .run = &RunSoftmax},
      {.op = &ops::QLinearAveragePool, .name = "ref", .run = &RunAveragePool},
      {.op = &ops::QLinearGlobalAveragePool, .name = "ref", .run = &RunGlobalAveragePool},
      {.op = &ops::QLinearConcat, .name = "ref", .run = &RunConcat},
      {.op = &ops::QLinearWhere, .name = "ref", .run = &RunWhere},
  };
  return kernels;
}

}  // namespace weft
