// From an ONNX file to a Model: every opset lifted to the newest form of each op, functions expanded, bodies as regions.
#ifndef WEFT_GRAPH_ONNX_IMPORT_H_
#define WEFT_GRAPH_ONNX_IMPORT_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"

namespace weft {

struct ImportOptions {
  // Initialisers that are also graph inputs are constants of the graph, listed in Model::overridable; those named here become
  // inputs instead (an input of the graph, behind those without a default).
  std::vector<std::string> overridden;
};

// Reads a file; external data is looked for beneath its folder only. Errors: NotFound, InvalidArgument (what is wrong and where),
// Unimplemented (all unsupported nodes in one message), ResourceExhausted.
absl::StatusOr<Model> ImportModel(const std::string& path, const ImportOptions& options = {});

// The same from bytes; external data is looked for beneath `base_dir`, and refused where that is empty.
absl::StatusOr<Model> ImportModelFromMemory(std::string_view bytes, const std::string& base_dir, const ImportOptions& options = {});

}  // namespace weft

#endif  // WEFT_GRAPH_ONNX_IMPORT_H_
