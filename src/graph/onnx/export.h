// From a Model to an ONNX file.
#ifndef WEFT_GRAPH_ONNX_EXPORT_H_
#define WEFT_GRAPH_ONNX_EXPORT_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "weft/tensor.h"

namespace weft {

struct ExportOptions {
  // Of ONNX's own ops; 0: the model's own, or the lowest above it that has every op in the form the graph holds.
  int64_t opset = 0;
  bool allow_weft_ops = false;  // ops of the domain weft, which no other runtime knows
  // Puts the weights into a file of this name beside the model; empty: inside it, unless they are too large for one message.
  std::string external_data;
  std::map<std::string, Tensor> defaults;  // of inputs that a run may leave out
};

// Writes `path`, and the file with its weights where there is one; each is written whole or not at all. Names of inputs, outputs and symbolic
// dims stay what they are, as do the metadata. Constants of bodies become initialisers of the graph, each once.
// Errors: Unsupported (ops of weft that are not allowed, a form that the wanted opset lacks), PermissionDenied (the file cannot be written).
absl::Status ExportModel(const Model& model, const std::string& path, const ExportOptions& options = {});

}  // namespace weft

#endif  // WEFT_GRAPH_ONNX_EXPORT_H_
