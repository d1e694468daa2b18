// MatMul(Transpose(A), B) -> weft.FusedMatMul<transA>(A, B) where the transpose swaps the last two axes alone; B likewise;
// Gemm(Transpose(A), B, C) -> Gemm<!transA>(A, B, C).
#include <algorithm>

#include "base/status_macros.h"
#include "graph/ops/fused.h"
#include "graph/ops/matmul.h"
#include "graph/ops/shape.h"
#include "passes/match.h"
#include "passes/passes.h"

namespace weft {
namespace {

// What `value` is the transpose of, if a Transpose swaps just its last two axes; kNone otherwise.
ValueId BeforeSwap(const Graph& graph, ValueId value) {
  const NodeId producer = ProducerOf(graph, value, ops::Transpose);
  const Shape& shape = graph.value(value).type.shape;
  if (producer == NodeId::kNone || !shape.has_rank() || shape.rank() < 2) return ValueId::kNone;
  std::vector<int64_t> perm = PermOf(graph.node(producer).attrs.As<TransposeAttrs>(), shape.rank());
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return std::is_sorted(perm.begin(), perm.end()) ? graph.node(producer).inputs[0] : ValueId::kNone;
}

}  // namespace

absl::Status FoldTransposeIntoMatMul(Graph& graph, PassContext& ctx) {
  for (NodeId id : graph.Order()) {
    const Op* op = graph.node(id).op;
    if (op != &ops::Gemm && (ctx.standard_only || (op != &ops::MatMul && op != &ops::WeftFusedMatMul))) continue;
    const ValueId inputs[] = {graph.node(id).inputs[0], graph.node(id).inputs[1]};
    const ValueId before[] = {BeforeSwap(graph, inputs[0]), BeforeSwap(graph, inputs[1])};
    if (before[0] == ValueId::kNone && before[1] == ValueId::kNone) continue;
    // The product of a vector takes no transposed operand.
    const auto &a = graph.value(inputs[0]).type.shape, &b = graph.value(inputs[1]).type.shape;
    if (!a.has_rank() || !b.has_rank() || a.rank() < 2 || b.rank() < 2) continue;
    if (!ctx.Allow()) return absl::OkStatus();
    const bool flip[] = {before[0] != ValueId::kNone, before[1] != ValueId::kNone};
    if (op == &ops::Gemm) {
      GemmAttrs attrs = graph.node(id).attrs.As<GemmAttrs>();
      attrs.transA ^= flip[0];
      attrs.transB ^= flip[1];
      graph.SetAttrs(id, attrs);
      for (int i = 0; i < 2; ++i) {
        if (flip[i]) graph.SetInput(id, i, before[i]);
      }
    } else {
      FusedMatMulAttrs attrs;
      if (op == &ops::WeftFusedMatMul) attrs = graph.node(id).attrs.As<FusedMatMulAttrs>();
      attrs.transA ^= flip[0];
      attrs.transB ^= flip[1];
      std::vector<ValueId> operands = graph.node(id).inputs;
      for (int i = 0; i < 2; ++i) {
        if (flip[i]) operands[i] = before[i];
      }
      const ValueId y = graph.AddOpNode(&ops::WeftFusedMatMul, std::move(operands), std::move(attrs), id);
      if (!graph.ReplaceUses(graph.node(id).outputs[0], y)) return Internal("the result of a product cannot be an output");
      graph.RemoveNode(id);
    }
    for (ValueId value : inputs) {
      const NodeId producer = graph.value(value).producer;
      if (graph.value(value).uses.empty() && producer != NodeId::kNone) graph.RemoveNode(producer);
    }
  }
  return absl::OkStatus();
}

}  // namespace weft
