// Shape and type inference: what an op's `infer` function sees and fills, and the driver over a graph.
//
// The same functions serve three times: symbolically when a model is compiled, with integers when a Plan is bound to input
// shapes, and just before a step whose shape needs values only the run has. They check what they are given: a wrong
// rank or a contradicting dim is an error with what was found and what was expected.
#ifndef WEFT_GRAPH_INFER_H_
#define WEFT_GRAPH_INFER_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/status_macros.h"
#include "graph/graph.h"

namespace weft {

// One operand as inference and kernels see it.
struct InputView {
  const Type* type = nullptr;                  // null: omitted
  const Tensor* tensor = nullptr;              // its elements, where they are known now
  const std::vector<Dim>* elements = nullptr;  // elements of an integer tensor in row-major order, symbols included, where known
};

// A node by itself: what inference and kernels see of the graph.
struct NodeView {
  const Op* op = nullptr;
  std::string_view name;
  const Attrs* attrs = nullptr;
  std::vector<InputView> inputs;
  std::vector<Type> outputs;         // kUnknown kind for an omitted one; filled by inference
  std::vector<bool> output_present;  // false: nobody asked for this optional output

  bool HasInput(int i) const { return i < static_cast<int>(inputs.size()) && inputs[i].type != nullptr; }
  bool HasOutput(int i) const { return i < static_cast<int>(output_present.size()) && output_present[i]; }
  template <class A>
  const A& attrs_as() const {
    return attrs->As<A>();
  }
  // "node 'conv1' (Conv)".
  std::string Where() const;
};

class InferContext {
 public:
  // Infers region `k` for formal inputs of these types; gives its outputs' types.
  using InferRegion = absl::FunctionRef<absl::StatusOr<std::vector<Type>>(int k, absl::Span<const Type> inputs)>;

  InferContext(NodeView& node, InferRegion infer_region, int64_t& fresh_counter)
      : node_(node), infer_region_(infer_region), fresh_(fresh_counter), elements_(node.output_present.size()) {}

  const NodeView& node() const { return node_; }
  template <class A>
  const A& attrs() const {
    return node_.attrs->As<A>();
  }

  int num_inputs() const { return static_cast<int>(node_.inputs.size()); }
  int num_outputs() const { return static_cast<int>(node_.output_present.size()); }
  bool HasInput(int i) const { return node_.HasInput(i); }
  bool HasOutput(int i) const { return node_.HasOutput(i); }
  // Unknown type for an omitted input.
  const Type& input(int i) const;
  DType dtype(int i) const { return input(i).dtype; }       // kUndefined if unknown
  const Shape& shape(int i) const { return input(i).shape; }  // unknown rank if unknown
  // Elements of an integer (or bool) tensor, where known: from a constant, or symbolically. Null otherwise.
  const std::vector<Dim>* elements(int i) const { return HasInput(i) ? node_.inputs[i].elements : nullptr; }
  // The same, where all of them are integers.
  std::optional<std::vector<int64_t>> ints(int i) const;
  // Any tensor's elements, where known now.
  const Tensor* tensor(int i) const { return HasInput(i) ? node_.inputs[i].tensor : nullptr; }

  // Outputs. Setting one that nobody asked for is allowed and ignored.
  void SetOutput(int i, Type type);
  void SetOutput(int i, DType dtype, Shape shape) { SetOutput(i, Type::OfTensor(dtype, std::move(shape))); }
  // Elements of an integer output in row-major order; dropped where there are more than kMaxElements.
  static constexpr size_t kMaxElements = 1024;
  void SetElements(int i, std::vector<Dim> elements);
  std::optional<std::vector<Dim>>& output_elements(int i) { return elements_[i]; }

  // A new symbol for a data-dependent size.
  Dim FreshDim();
  // `rank` fresh dims.
  Shape FreshShape(int rank);
  absl::StatusOr<std::vector<Type>> Region(int k, absl::Span<const Type> inputs) { return infer_region_(k, inputs); }

  // ---- Checks and rules that many ops share. Unknown types and ranks pass every check. ----
  // Errors read "input 1 (W) has rank 3, expected 4"; the driver puts the node in front.
  absl::Status CheckRank(int i, std::string_view operand, int rank) const;
  absl::Status CheckRankAtLeast(int i, std::string_view operand, int rank) const;
  absl::Status CheckDType(int i, std::string_view operand, absl::Span<const DType> allowed) const;
  // Inputs i and j have one element type.
  absl::Status CheckSameDType(int i, int j) const;
  // `axis` in [-rank, rank-1] made non-negative.
  static absl::StatusOr<int> NormalizeAxis(int64_t axis, int rank, std::string_view what = "axis");
  // Numpy broadcasting of the shapes of the given inputs (all, if empty); ONNX Broadcasting.md. Unknown rank gives unknown.
  absl::StatusOr<Shape> Broadcast(absl::Span<const int> inputs = {});
  // One axis of it: 1 gives way; equal dims stay; two different integers are an error; a symbol against an integer > 1 gives the
  // integer; two symbols not known equal give a fresh one.
  absl::StatusOr<Dim> BroadcastDim(const Dim& a, const Dim& b);
  // The dim of two axes that must agree: the known one of the two, an error where both are integers that differ.
  static absl::StatusOr<Dim> Unify(const Dim& a, const Dim& b, std::string_view what);

 private:
  NodeView& node_;
  InferRegion infer_region_;
  int64_t& fresh_;
  std::vector<std::optional<std::vector<Dim>>> elements_;
};

// What inference knows besides types: elements of small integer tensors, by value id (index of the vector).
using KnownElements = std::vector<std::optional<std::vector<Dim>>>;

// The node as it stands in the graph: `known`, where given, adds elements. Valid while graph and `known` are.
NodeView ViewOf(const Graph& graph, NodeId id, const KnownElements* known = nullptr);

// Infers every value's type in topological order, regions included, and writes it into the graph; wrong or missing types that
// the file declared are corrected. Graph inputs keep theirs.
// Errors: Invalid, annotated with the node.
absl::StatusOr<KnownElements> InferTypes(Graph& graph);

// Elements of a small integer or bool constant as Dims; nothing for other tensors or more than kMaxElements.
std::optional<std::vector<Dim>> ElementsOf(const Tensor& tensor);
// The inverse for int64, int32 and bool: nothing where a symbol is among the elements, the shape is not concrete or holds another number.
std::optional<Tensor> TensorOfElements(const Type& type, const std::vector<Dim>& elements);

}  // namespace weft

#endif  // WEFT_GRAPH_INFER_H_
