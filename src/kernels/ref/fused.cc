// weft.FusedConv, weft.FusedMatMul as what they stand for: one standard op after another.
#include "graph/ops/fused.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "graph/ops/shape.h"
#include "graph/ops/unary.h"
#include "kernels/evaluate.h"
#include "kernels/kernel.h"

namespace weft {
namespace {

absl::StatusOr<Value> Activate(Value x, const std::string& activation, float alpha, float beta) {
  if (activation.empty()) return x;
  const Op* op = FindOp("", activation);
  std::vector<Value> inputs = {x};
  Attrs attrs(op->attrs);
  if (activation == "Clip") {
    for (const float bound : {alpha, beta}) {
      WEFT_ASSIGN_OR_RETURN(Tensor scalar, Tensor::Allocate(DType::kFloat32, {}));
      *scalar.data<float>() = bound;
      WEFT_ASSIGN_OR_RETURN(std::vector<Value> like, Evaluate(ops::CastLike, Attrs(ops::CastLike.attrs), {Value(scalar), x}));
      inputs.push_back(like[0]);
    }
  } else if (activation == "LeakyRelu") {
    attrs = Attrs(LeakyReluAttrs{alpha});
  } else if (activation == "HardSigmoid") {
    attrs = Attrs(HardSigmoidAttrs{alpha, beta});
  }
  WEFT_ASSIGN_OR_RETURN(std::vector<Value> y, Evaluate(*op, attrs, inputs));
  return std::move(y[0]);
}

void CopyTo(Tensor& to, const Value& from) { std::memcpy(to.data(), from.tensor().data(), to.bytes()); }

absl::Status RunFusedConv(RunContext& ctx) {
  const auto& attrs = ctx.attrs<FusedConvAttrs>();
  std::vector<Value> inputs = {ctx.input_value(0), ctx.input_value(1)};
  if (ctx.HasInput(2)) inputs.push_back(ctx.input_value(2));
  WEFT_ASSIGN_OR_RETURN(std::vector<Value> y, Evaluate(ops::Conv, attrs.conv(), inputs));
  WEFT_ASSIGN_OR_RETURN(const Value activated, Activate(std::move(y[0]), attrs.activation, attrs.alpha, attrs.beta));
  CopyTo(ctx.output(0), activated);
  return absl::OkStatus();
}

absl::StatusOr<Value> SwapLastTwo(const Value& x) {
  std::vector<int64_t> perm(x.tensor().rank());
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  WEFT_ASSIGN_OR_RETURN(std::vector<Value> y, Evaluate(ops::Transpose, TransposeAttrs{perm}, {x}));
  return std::move(y[0]);
}

absl::Status RunFusedMatMul(RunContext& ctx) {
  const auto& attrs = ctx.attrs<FusedMatMulAttrs>();
  Value a = ctx.input_value(0), b = ctx.input_value(1);
  if (attrs.transA) {
    WEFT_ASSIGN_OR_RETURN(a, SwapLastTwo(a));
  }
  if (attrs.transB) {
    WEFT_ASSIGN_OR_RETURN(b, SwapLastTwo(b));
  }
  WEFT_ASSIGN_OR_RETURN(std::vector<Value> y, Evaluate(ops::MatMul, Attrs(), {a, b}));
  if (ctx.HasInput(2)) {
    WEFT_ASSIGN_OR_RETURN(y, Evaluate(ops::Add, Attrs(), {y[0], ctx.input_value(2)}));
  }
  WEFT_ASSIGN_OR_RETURN(const Value activated, Activate(std::move(y[0]), attrs.activation, attrs.alpha, attrs.beta));
  CopyTo(ctx.output(0), activated);
  return absl::OkStatus();
}

constexpr Kernel kKernels[] = {
    {.op = &ops::WeftFusedConv, .name = "ref", .run = &RunFusedConv},
    {.op = &ops::WeftFusedMatMul, .name = "ref", .run = &RunFusedMatMul},
};

}  // namespace

absl::Span<const Kernel> RefFused() { return kKernels; }

}  // namespace weft
