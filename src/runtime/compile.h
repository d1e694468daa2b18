// Compile: from an imported model to a Program: inference, passes, inference again, lowering.
#ifndef WEFT_RUNTIME_COMPILE_H_
#define WEFT_RUNTIME_COMPILE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "runtime/program.h"
#include "weft/session.h"

namespace weft {

// Rewrites `graph` in place as `options` say and lowers it.
absl::StatusOr<std::unique_ptr<Program>> Compile(Graph& graph, const SessionOptions& options);

}  // namespace weft

#endif  // WEFT_RUNTIME_COMPILE_H_
