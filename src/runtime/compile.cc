#include "runtime/compile.h"

#include "base/status_macros.h"
#include "graph/infer.h"

namespace weft {

absl::StatusOr<std::unique_ptr<Program>> Compile(Graph& graph, const SessionOptions& options) {
  WEFT_RETURN_IF_ERROR(InferTypes(graph).status());
  LowerOptions lower;
  lower.reference_only = options.reference_kernels;
  lower.check_plans = options.check_plans;
  lower.memory_limit_bytes = options.memory_limit_bytes;
  return Program::Lower(graph, lower);
}

}  // namespace weft
