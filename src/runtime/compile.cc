#include "runtime/compile.h"

#include "base/status_macros.h"
#include "graph/text.h"
#include "kernels/evaluate.h"
#include "passes/pipeline.h"

namespace weft {

absl::StatusOr<std::unique_ptr<Program>> Compile(Graph& graph, const SessionOptions& options) {
  PipelineOptions pipeline;
  pipeline.level = options.opt_level;
  pipeline.disabled = options.disabled_passes;
  pipeline.strict_math = options.strict_math;
  pipeline.verify = options.verify_passes;
  if (options.print_changed) {
    pipeline.on_changed = [&](const Pass& pass, const Graph& changed) {
      options.print_changed(pass.name, Print(changed, {.max_elements = 16}));
    };
  }
  WEFT_RETURN_IF_ERROR(RunPipeline(graph, pipeline, &Evaluate).status());
  LowerOptions lower;
  lower.reference_only = options.reference_kernels;
  lower.check_plans = options.check_plans;
  lower.memory_limit_bytes = options.memory_limit_bytes;
  WEFT_ASSIGN_OR_RETURN(lower.placement, ParsePlacement(options.device));
  return Program::Lower(graph, lower);
}

}  // namespace weft
