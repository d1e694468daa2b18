// FusedConv, FusedGemm, FusedMatMul of the domain com.microsoft (ONNX Runtime, ContribOperators.md).
#include "graph/ops/ms_fused.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_join.h"
#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/dtype_sets.h"
#include "graph/ops/spatial.h"

namespace weft {
namespace {

absl::Status CheckActivation(const std::string& activation) {
  if (activation.empty() || std::find(std::begin(kMsActivations), std::end(kMsActivations), activation) != std::end(kMsActivations)) {
    return absl::OkStatus();
  }
  return Unsupported("attribute 'activation' is '", activation, "', expected '' or one of ",
                     absl::StrJoin(kMsActivations, ", ", [](std::string* out, std::string_view name) { out->append(name); }));
}

absl::Status InferFusedConv(InferContext& ctx) {
  const auto& attrs = ctx.attrs<MsFusedConvAttrs>();
  WEFT_RETURN_IF_ERROR(CheckActivation(attrs.activation));
  if (attrs.activation_params.size() > 2) {
    return Invalid("attribute 'activation_params' has ", attrs.activation_params.size(), " values, expected at most 2");
  }
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kFloatTypes));
  for (int i = 1; i < 4; ++i) WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, i));
  WEFT_ASSIGN_OR_RETURN(Shape shape, InferConvShape(ctx, 0, 1, 2, SpecOf(attrs), attrs.group));
  const Shape& z = ctx.shape(3);
  if (ctx.HasInput(3) && z.has_rank() && shape.has_rank()) {
    WEFT_RETURN_IF_ERROR(ctx.CheckRank(3, "Z", shape.rank()));
    for (int i = 0; i < shape.rank(); ++i) {
      WEFT_RETURN_IF_ERROR(InferContext::Unify(shape[i], z[i], "a dim of the convolution and of input 3 (Z)").status());
    }
  }
  ctx.SetOutput(0, ctx.dtype(0), std::move(shape));
  return absl::OkStatus();
}

absl::Status InferFusedGemm(InferContext& ctx) {
  const auto& attrs = ctx.attrs<MsFusedGemmAttrs>();
  WEFT_RETURN_IF_ERROR(CheckActivation(attrs.activation));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "A", kFloatTypes));
  WEFT_ASSIGN_OR_RETURN(Shape shape, InferGemmShape(ctx, attrs.transA, attrs.transB));
  ctx.SetOutput(0, ctx.dtype(0), std::move(shape));
  return absl::OkStatus();
}

Shape Permuted(const Shape& shape, bool trans, bool trans_batch) {
  if (!shape.has_rank()) return shape;
  const std::vector<int64_t> perm = MsMatMulPermutation(shape.rank(), trans, trans_batch);
  Shape permuted = shape;
  for (size_t i = 0; i < perm.size(); ++i) permuted[static_cast<int>(i)] = shape[static_cast<int>(perm[i])];
  return permuted;
}

absl::Status InferFusedMatMul(InferContext& ctx) {
  const auto& attrs = ctx.attrs<MsFusedMatMulAttrs>();
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "A", kFloatTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 1));
  WEFT_ASSIGN_OR_RETURN(Shape shape, InferMatMulShape(ctx, Permuted(ctx.shape(0), attrs.transA, attrs.transBatchA),
                                                      Permuted(ctx.shape(1), attrs.transB, attrs.transBatchB)));
  ctx.SetOutput(0, ctx.dtype(0), std::move(shape));
  return absl::OkStatus();
}

Cost FusedConvCost(const NodeView& node) { return ConvCost(node, 1); }

Cost FusedGemmCost(const NodeView& node) {
  const auto a = node.inputs[0].type->shape.Concrete();
  return a && a->size() == 2 ? MatMulCost(node, (*a)[node.attrs_as<MsFusedGemmAttrs>().transA ? 0 : 1]) : Cost{};
}

Cost FusedMatMulCost(const NodeView& node) {
  const auto& attrs = node.attrs_as<MsFusedMatMulAttrs>();
  const auto a = Permuted(node.inputs[0].type->shape, attrs.transA, attrs.transBatchA).Concrete();
  return a && !a->empty() ? MatMulCost(node, a->back()) : Cost{};
}

}  // namespace

std::vector<int64_t> MsMatMulPermutation(int rank, bool trans, bool trans_batch) {
  if (rank < 2) return {};
  std::vector<int64_t> perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  if (trans_batch) std::rotate(perm.begin(), perm.begin() + 1, perm.end() - 1);
  if (trans) std::swap(perm[rank - 2], perm[rank - 1]);
  return perm;
}

constinit const Op ops::FusedConv = {.domain = "com.microsoft", .name = "FusedConv", .inputs = {2, 4}, .outputs = 1,
                                     .attrs = &kAttrSchema<MsFusedConvAttrs>, .infer = &InferFusedConv, .cost = &FusedConvCost};
constinit const Op ops::FusedGemm = {.domain = "com.microsoft", .name = "FusedGemm", .inputs = {2, 3}, .outputs = 1,
                                     .attrs = &kAttrSchema<MsFusedGemmAttrs>, .infer = &InferFusedGemm, .cost = &FusedGemmCost};
constinit const Op ops::FusedMatMul = {.domain = "com.microsoft", .name = "FusedMatMul", .inputs = 2, .outputs = 1,
                                       .attrs = &kAttrSchema<MsFusedMatMulAttrs>, .infer = &InferFusedMatMul, .cost = &FusedMatMulCost};

}  // namespace weft
