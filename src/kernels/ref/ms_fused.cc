// FusedConv, FusedGemm, FusedMatMul of the domain com.microsoft as what they stand for: one standard op after another.
#include "graph/ops/ms_fused.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "graph/ops/shape.h"
#include "kernels/evaluate.h"
#include "kernels/kernel.h"

namespace weft {
namespace {

absl::StatusOr<Value> Only(const Op& op, const Attrs& attrs, absl::Span<const Value> inputs) {
  WEFT_ASSIGN_OR_RETURN(std::vector<Value> y, Evaluate(op, attrs, inputs));
  return std::move(y[0]);
}

// A scalar of x's element type.
absl::StatusOr<Value> ScalarLike(float value, const Value& x) {
  return Only(ops::CastLike, Attrs(ops::CastLike.attrs), {Value(Tensor::Scalar<float>(value)), x});
}

// Parameters that are not given keep the defaults of the op.
absl::StatusOr<Value> Activate(Value x, const std::string& activation, std::optional<float> alpha, std::optional<float> beta,
                               std::optional<float> gamma) {
  if (activation.empty()) return x;
  const Op* op = FindOp("", activation);
  Attrs attrs(op->attrs);
  if (op == &ops::Clip) {
    std::vector<Value> inputs = {x, Value(), Value()};
    if (alpha) {
      WEFT_ASSIGN_OR_RETURN(inputs[1], ScalarLike(*alpha, x));
    }
    if (beta) {
      WEFT_ASSIGN_OR_RETURN(inputs[2], ScalarLike(*beta, x));
    }
    return Only(*op, attrs, inputs);
  }
  for (const AttrField& field : attrs.schema().fields) {
    const std::optional<float> value = field.name == "alpha" ? alpha : field.name == "beta" ? beta : field.name == "gamma" ? gamma : std::nullopt;
    if (value) WEFT_RETURN_IF_ERROR(attrs.Set(field.name, *value));
  }
  return Only(*op, attrs, {x});
}

void CopyTo(Tensor& to, const Value& from) {
  if (to.bytes() > 0) std::memcpy(to.data(), from.tensor().data(), to.bytes());
}

absl::Status RunFusedConv(RunContext& ctx) {
  const auto& attrs = ctx.attrs<MsFusedConvAttrs>();
  std::vector<Value> inputs = {ctx.input_value(0), ctx.input_value(1)};
  if (ctx.HasInput(2)) inputs.push_back(ctx.input_value(2));
  WEFT_ASSIGN_OR_RETURN(Value y, Only(ops::Conv, attrs.conv(), inputs));
  if (ctx.HasInput(3)) {
    WEFT_ASSIGN_OR_RETURN(y, Only(ops::Add, Attrs(), {y, ctx.input_value(3)}));
  }
  const auto& p = attrs.activation_params;
  WEFT_ASSIGN_OR_RETURN(y, Activate(std::move(y), attrs.activation, p.empty() ? std::nullopt : std::optional(p[0]),
                                    p.size() < 2 ? std::nullopt : std::optional(p[1]), std::nullopt));
  CopyTo(ctx.output(0), y);
  return absl::OkStatus();
}

absl::Status RunFusedGemm(RunContext& ctx) {
  const auto& attrs = ctx.attrs<MsFusedGemmAttrs>();
  std::vector<Value> inputs = {ctx.input_value(0), ctx.input_value(1)};
  if (ctx.HasInput(2)) inputs.push_back(ctx.input_value(2));
  WEFT_ASSIGN_OR_RETURN(Value y, Only(ops::Gemm, attrs.gemm(), inputs));
  WEFT_ASSIGN_OR_RETURN(
      y, Activate(std::move(y), attrs.activation, attrs.activation_alpha, attrs.activation_beta, attrs.activation_gamma));
  CopyTo(ctx.output(0), y);
  return absl::OkStatus();
}

absl::StatusOr<Value> Permuted(const Value& x, bool trans, bool trans_batch) {
  std::vector<int64_t> perm = MsMatMulPermutation(x.tensor().rank(), trans, trans_batch);
  if (std::is_sorted(perm.begin(), perm.end())) return x;
  return Only(ops::Transpose, TransposeAttrs{std::move(perm)}, {x});
}

absl::Status RunFusedMatMul(RunContext& ctx) {
  const auto& attrs = ctx.attrs<MsFusedMatMulAttrs>();
  WEFT_ASSIGN_OR_RETURN(const Value a, Permuted(ctx.input_value(0), attrs.transA, attrs.transBatchA));
  WEFT_ASSIGN_OR_RETURN(const Value b, Permuted(ctx.input_value(1), attrs.transB, attrs.transBatchB));
  WEFT_ASSIGN_OR_RETURN(Value y, Only(ops::MatMul, Attrs(), {a, b}));
  if (attrs.alpha != 1) {
    WEFT_ASSIGN_OR_RETURN(const Value factor, ScalarLike(attrs.alpha, y));
    WEFT_ASSIGN_OR_RETURN(y, Only(ops::Mul, Attrs(), {y, factor}));
  }
  CopyTo(ctx.output(0), y);
  return absl::OkStatus();
}

}  // namespace

absl::Span<const Kernel> RefMsFused() {
  static constexpr Kernel kernels[] = {
      {.op = &ops::FusedConv, .name = "ref", .run = &RunFusedConv},
      {.op = &ops::FusedGemm, .name = "ref", .run = &RunFusedGemm},
      {.op = &ops::FusedMatMul, .name = "ref", .run = &RunFusedMatMul},
  };
  return kernels;
}

}  // namespace weft
