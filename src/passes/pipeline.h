// The ordered list of passes, and the driver that runs them.
#ifndef WEFT_PASSES_PIPELINE_H_
#define WEFT_PASSES_PIPELINE_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "passes/pass.h"

namespace weft {

// Every pass, in the order in which they run.
absl::Span<const Pass> Passes();
// Null where there is none of that name.
const Pass* FindPass(std::string_view name);

struct PipelineOptions {
  int level = 3;
  std::vector<std::string> disabled;  // by name; an unknown name is an error that lists those there are
  bool strict_math = false;           // only NumericClass::kExact
  bool standard_only = false;         // no ops of the domain weft: the graph is to be written as ONNX
  bool verify = false;                // run the verifier before the first pass and behind each
  int64_t stop_after = std::numeric_limits<int64_t>::max();  // rewrites in all
  // Called behind each pass that changed something.
  std::function<void(const Pass& pass, const Graph& graph)> on_changed;
};

struct PassReport {
  std::string_view name;
  int64_t rewrites = 0;
  double ms = 0;
};

// Infers types, then runs the passes over `graph` and its regions; the list is run again while it changes something, a few times at most.
// One report for each pass that ran. Types are up to date when it returns.
absl::StatusOr<std::vector<PassReport>> RunPipeline(Graph& graph, const PipelineOptions& options, const Evaluator& evaluate);

// Runs one pass over `graph` and its regions, types up to date before and after. Gives the number of rewrites.
absl::StatusOr<int64_t> RunPass(const Pass& pass, Graph& graph, const Evaluator& evaluate,
                                int64_t rewrites_left = std::numeric_limits<int64_t>::max(), bool standard_only = false);

}  // namespace weft

#endif  // WEFT_PASSES_PIPELINE_H_
