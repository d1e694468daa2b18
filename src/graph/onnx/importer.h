// The importer's state while it turns one ModelProto into a Model.
//
//   import.cc           files, the model's header
//   import_graph.cc     graphs and bodies: names, initialisers, order of nodes
//   import_node.cc      one node: operands, attributes, constants
//   import_function.cc  calls of model-local functions, expanded where they stand
#ifndef WEFT_GRAPH_ONNX_IMPORTER_H_
#define WEFT_GRAPH_ONNX_IMPORTER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/onnx/draft.h"
#include "graph/onnx/external_data.h"
#include "graph/onnx/import.h"
#include "onnx/onnx-ml.pb.h"

namespace weft {

class Importer {
 public:
  // Tensors' bytes are moved out of `proto`.
  Importer(onnx::ModelProto& proto, std::string_view base_dir, const ImportOptions& options)
      : proto_(proto), files_(base_dir), options_(options) {}

  absl::StatusOr<Model> Run();

 private:
  using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;
  using Opsets = absl::flat_hash_map<std::string, int64_t>;  // by domain, "" for ai.onnx

  struct Scope;

  // An attribute, and where it was written: names in a graph attribute mean what they mean there.
  struct Attribute {
    onnx::AttributeProto* proto = nullptr;
    Scope* scope = nullptr;
  };
  using Attributes = absl::flat_hash_map<std::string_view, Attribute>;

  // What names mean in a graph or in one call of a function. Names stay where they are in the protos.
  struct Scope {
    Graph* graph = nullptr;
    InferredTypes* types = nullptr;
    Scope* outer = nullptr;                     // of a body: the scope of its node; null for the main graph and for functions
    std::vector<ValueId>* captures = nullptr;   // of a body: outer values, as many as graph->captures()
    absl::flat_hash_map<std::string_view, ValueId> names;  // kNone: an operand that the call of a function omits
    absl::flat_hash_map<std::string_view, ValueId> results;  // of a function: values of the call that its results are to become
    const Attributes* attributes = nullptr;     // of a function: what references mean
    const Opsets* opsets = nullptr;
    std::string prefix;                         // of names of nodes and values in a function, "call/"
  };

  struct Function {
    onnx::FunctionProto* proto = nullptr;
    Opsets opsets;
    bool active = false;  // being expanded
  };

  // One op of one opset that is not supported, and the nodes that are such.
  struct Unsupported {
    std::vector<std::string> nodes;
    size_t more = 0;
  };

  // ---- import.cc ----
  absl::Status ReadHeader(Model& model);
  absl::Status ReadFunctions();
  absl::Status UnsupportedNodes() const;

  // ---- import_graph.cc ----
  absl::Status ReadGraph(onnx::GraphProto& proto, Scope& scope, Model* model);
  absl::Status ReadInputs(const onnx::GraphProto& proto, Scope& scope, Model* model);
  absl::Status ReadInitializers(onnx::GraphProto& proto, Scope& scope);
  absl::Status AddInitializer(Scope& scope, const std::string& name, Tensor tensor);
  // Gives every result of the nodes a value.
  absl::Status DeclareResults(const Nodes& nodes, Scope& scope);
  absl::Status ReadNodes(Nodes& nodes, Scope& scope);
  // The value of a name, taken in from outer scopes where need be; nothing for a name that nothing defines.
  std::optional<ValueId> Lookup(Scope& scope, std::string_view name);

  // ---- import_node.cc ----
  // Errors name the node; unsupported ones are put down, and the graph goes on without them.
  absl::Status ReadNode(onnx::NodeProto& proto, int index, Scope& scope);
  absl::Status BuildNode(onnx::NodeProto& proto, Draft draft, Scope& scope);
  absl::StatusOr<Draft> StartDraft(const onnx::NodeProto& proto, Scope& scope);
  // Puts attributes into the draft, bodies included.
  absl::Status ReadAttributes(onnx::NodeProto& proto, Draft& draft, Scope& scope);
  absl::StatusOr<DraftBody> ReadBody(std::string_view name, Attribute attribute, const Scope& scope);
  // What the attribute of a node stands for; no proto where it refers to one that the call leaves out.
  absl::StatusOr<Attribute> Resolve(onnx::AttributeProto& proto, Scope& scope);
  absl::StatusOr<AttrValue> ReadValue(onnx::AttributeProto& proto);
  absl::Status ReadConstant(onnx::NodeProto& proto, const Draft& draft, Scope& scope);
  // Tensors that may be read again, in functions, are kept.
  absl::StatusOr<Tensor> ReadTensor(onnx::TensorProto& proto, std::string_view what);
  absl::StatusOr<Tensor> ReadSparse(onnx::SparseTensorProto& proto, std::string_view what);

  // ---- import_function.cc ----
  // The function that a node calls; null for an op, and for the functions that an op of Weft is preferred to.
  Function* FindFunction(const onnx::NodeProto& proto);
  absl::Status ExpandCall(onnx::NodeProto& call, const Draft& draft, Function& function, Scope& scope);
  absl::Status BindAttributes(onnx::NodeProto& call, Function& function, Scope& scope, Attributes& attributes);

  onnx::ModelProto& proto_;
  ExternalFiles files_;
  const ImportOptions& options_;
  Opsets opsets_;
  std::map<std::tuple<std::string, std::string, std::string>, Function> functions_;  // by domain, name, overload
  int expanding_ = 0;            // calls we are inside of
  int64_t expanded_nodes_ = 0;   // nodes of functions read so far
  absl::flat_hash_map<const void*, Tensor> kept_tensors_;
  std::map<std::string, Unsupported> unsupported_;  // by what is not supported
};

// "" for ONNX's main domain, which has two names.
inline std::string MainDomain(const std::string& domain) { return domain == "ai.onnx" ? std::string() : domain; }

}  // namespace weft

#endif  // WEFT_GRAPH_ONNX_IMPORTER_H_
