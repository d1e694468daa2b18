// Add(Conv(X, W), c) -> Conv(X, W, c) where c is a constant with one number for each output channel; a constant bias that is there
// already is added up. Add(MatMul(A, B), c) -> weft.FusedMatMul(A, B, c) where c is a constant along the last axis. All fp32.
#include <optional>

#include "base/status_macros.h"
#include "graph/ops/fused.h"
#include "passes/match.h"
#include "passes/passes.h"

namespace weft {
namespace {

// The constant as a vector where all its elements lie on `axis` of `shape`, which it does not widen.
std::optional<Tensor> AlongAxis(const Tensor& constant, const Shape& shape, int axis) {
  if (constant.dtype() != DType::kFloat32 || !shape.has_rank() || constant.rank() > shape.rank()) return std::nullopt;
  const int offset = shape.rank() - constant.rank();
  for (int i = 0; i < constant.rank(); ++i) {
    if (offset + i != axis && constant.dim(i) != 1) return std::nullopt;
  }
  if (axis < offset || !shape[axis].is_constant() || constant.dim(axis - offset) != shape[axis].constant()) return std::nullopt;
  return constant.Reshaped({constant.size()});
}

absl::Status FuseInto(Graph& graph, PassContext& ctx, NodeId add_id) {
  const GraphNode& add = graph.node(add_id);
  for (int side = 0; side < 2; ++side) {
    const ValueId middle = add.inputs[side], other = add.inputs[1 - side];
    const Tensor* constant = graph.Constant(other);
    const NodeId id = graph.value(middle).producer;
    if (constant == nullptr || id == NodeId::kNone || SoleReader(graph, middle) != add_id) continue;
    const GraphNode& node = graph.node(id);
    const Shape& shape = graph.value(middle).type.shape;
    const bool conv = node.op == &ops::Conv;
    const bool matmul = !ctx.standard_only && (node.op == &ops::MatMul || (node.op == &ops::WeftFusedMatMul && node.attrs.As<FusedMatMulAttrs>().activation.empty()));
    if ((!conv && !matmul) || !shape.has_rank() || shape.rank() < 2) continue;
    std::optional<Tensor> bias = AlongAxis(*constant, shape, conv ? 1 : shape.rank() - 1);
    if (!bias) continue;
    const ValueId before = graph.Input(id, 2);
    if (before != ValueId::kNone) {
      const Tensor* old = graph.Constant(before);
      if (old == nullptr || old->dtype() != DType::kFloat32 || old->dims() != bias->dims()) continue;
      WEFT_ASSIGN_OR_RETURN(Tensor sum, Tensor::Allocate(DType::kFloat32, bias->dims()));
      for (int64_t i = 0; i < sum.size(); ++i) sum.data<float>()[i] = old->data<float>()[i] + bias->data<float>()[i];
      bias = std::move(sum);
    }
    if (!ctx.Allow()) return absl::OkStatus();
    const ValueId bias_id = graph.AddConstant(graph.value(other).name + "_bias", *std::move(bias));
    const Attrs attrs = node.op == &ops::MatMul ? Attrs(FusedMatMulAttrs{}) : node.attrs;
    const ValueId y = graph.AddOpNode(conv ? &ops::Conv : &ops::WeftFusedMatMul, {node.inputs[0], node.inputs[1], bias_id}, attrs, add_id);
    if (!graph.ReplaceUses(add.outputs[0], y)) return Internal("the result of a product cannot be an output");
    graph.RemoveNode(add_id);
    graph.RemoveNode(id);
    return absl::OkStatus();
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status FuseBias(Graph& graph, PassContext& ctx) {
  for (NodeId id : graph.Order()) {
    if (graph.IsLive(id) && graph.node(id).op == &ops::Add) WEFT_RETURN_IF_ERROR(FuseInto(graph, ctx, id));
  }
  return absl::OkStatus();
}

}  // namespace weft
