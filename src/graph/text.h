// Graphs and models as text: ParseGraph(Print(g)) equals g (graph/equal.h), bit for bit, for every graph that Verify
// accepts.
//
//   digits (float[N,64] x) => (float[N,10] y)
//   <
//      float[64,10] w = {0.5, -1, ...},
//      float[N,10] t
//   >
//   {
//      t = MatMul (x, w)
//      [last] y = Softmax <axis: int = 1> (t)
//   }
//
// The syntax is ONNX's own (what onnx.parser reads), and the text holds the graph's form of every op: the newest.
// Behind the inputs and outputs stand constants and types of other values; either may be left out, and so may
// attributes that have their default. What the syntax leaves open, and where it is short of something:
//
// - Names that are no identifiers, or read like a type, are quoted; in quotes \ takes the next character as it is. So
//   are dims that are neither integers nor identifiers: float["2*N"]. `?` is a fresh symbol. A scalar is `float`,
//   unknown rank `float[]`.
// - Elements are what TensorProto's typed fields hold: integers in decimal, float and double in the fewest digits that
//   read back the same, 16- and 8-bit floats by their bits, 4- and 2-bit types packed into bytes, complex numbers as
//   two elements.
// - NaNs other than ONNX's `nan` and `-nan` are written by their bits, as 0x7f800001. (Not read by onnx.parser.)
// - A body reads a value of the outer scopes by its name; the innermost scope that defines the name wins. Where a name
//   is taken in between, ^x looks for x from the next outer scope on, ^^x from the one after. (ONNX has no such names;
//   not read by onnx.parser.) Captures themselves are not written: a body has those it reads, in the order in which it
//   reads them.
// - A graph printed by itself lists its captures in brackets behind its inputs: `body (int64 i) [float[2] x] => (...)`.
//   (Not read by onnx.parser.)
// - A tensor type of unknown element type is `undefined`, an unknown type inside another is `unknown`. (Neither read by
//   onnx.parser.)
// - A body's name may be quoted too; onnx.parser reads none but identifiers there.
// - An input with a default, `(float x = {1})`, or an initialiser with an input's name, is a constant, listed in
//   Model::overridable.
//
// Functions, attribute references, overloads, sparse and opaque types and external data are refused.
#ifndef WEFT_GRAPH_TEXT_H_
#define WEFT_GRAPH_TEXT_H_

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "graph/graph.h"

namespace weft {

struct PrintOptions {
  // Write the types of values that are neither inputs nor outputs of their graph.
  bool intermediate_types = true;
  // Tensors of more elements are written as {...}; such a text is for reading only.
  int64_t max_elements = std::numeric_limits<int64_t>::max();
};

std::string Print(const Graph& graph, const PrintOptions& options = {});
std::string PrintModel(const Model& model, const PrintOptions& options = {});

// The record of an op, null where there is none.
using OpLookup = const Op* (*)(std::string_view domain, std::string_view name);

// The graph's nodes pass VerifyNode and stand in the order of the text; types are those that the text gives.
// Errors: Invalid or Unsupported, "3:14: found ')', expected ...", by line and column from 1.
absl::StatusOr<Graph> ParseGraph(std::string_view text, OpLookup find_op = &FindOp);
// The part before the graph, `<ir_version: 10, opset_import: ["" : 23]>`, may be left out.
absl::StatusOr<Model> ParseModel(std::string_view text, OpLookup find_op = &FindOp);

}  // namespace weft

#endif  // WEFT_GRAPH_TEXT_H_
