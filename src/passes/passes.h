// Every pass: one function on one graph (its regions are the driver's to visit). Names, levels and order are in pipeline.cc; what
// each rewrites stands in the first lines of its file.
#ifndef WEFT_PASSES_PASSES_H_
#define WEFT_PASSES_PASSES_H_

#include "absl/status/status.h"
#include "graph/graph.h"
#include "passes/pass.h"

namespace weft {

absl::Status FoldConstants(Graph& graph, PassContext& ctx);
absl::Status RemoveIdentities(Graph& graph, PassContext& ctx);
absl::Status CancelTransposes(Graph& graph, PassContext& ctx);
absl::Status MergeCommonSubexpressions(Graph& graph, PassContext& ctx);
absl::Status RemoveDeadNodes(Graph& graph, PassContext& ctx);
absl::Status FoldBatchNorm(Graph& graph, PassContext& ctx);
absl::Status FoldTransposeIntoMatMul(Graph& graph, PassContext& ctx);
absl::Status FuseBias(Graph& graph, PassContext& ctx);
absl::Status FuseActivation(Graph& graph, PassContext& ctx);

}  // namespace weft

#endif  // WEFT_PASSES_PASSES_H_
