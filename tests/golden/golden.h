// Golden tests of passes: text in, text out.
//
// A file holds many cases. Each is a name, a graph, a line of three dashes, and the graph that the pass makes of it, or
// the word `unchanged`:
//
//   // Two transposes that undo each other vanish.
//   g (float[2,3] x) => (y)
//   {
//      t = Transpose <perm = [1, 0]> (x)
//      u = Transpose <perm = [1, 0]> (t)
//      y = Relu (u)
//   }
//   ---
//   g (float[2,3] x) => (y)
//   {
//      y = Relu (x)
//   }
//
//   // One alone stays.
//   ...
//   ---
//   unchanged
//
// Further lines of // may follow the name. Types inside the graphs may be left out: they are inferred on both sides.
#ifndef WEFT_TESTS_GOLDEN_GOLDEN_H_
#define WEFT_TESTS_GOLDEN_GOLDEN_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/text.h"
#include "passes/pass.h"
#include "weft/value.h"

namespace weft {

// Runs a graph on one value for each of its inputs.
using GraphEvaluator = std::function<absl::StatusOr<std::vector<Value>>(const Graph& graph, std::vector<Value> inputs)>;

// Lowers the graph to reference kernels and runs it.
absl::StatusOr<std::vector<Value>> EvaluateWithReference(const Graph& graph, std::vector<Value> inputs);

struct GoldenPass {
  std::function<absl::Status(Graph&)> run;
  NumericClass numeric = NumericClass::kExact;
  GraphEvaluator evaluate = &EvaluateWithReference;
  OpLookup find_op = &FindOp;
};

struct GoldenResult {
  int cases = 0;
  std::vector<std::string> failures;  // "FILE:LINE: case 'NAME': ..."
  bool rewritten = false;
};

// Of every case: both graphs parse, infer and pass the verifier; the pass gives the second text; what it gives passes
// the verifier and has the same inputs and outputs; a second run of the pass changes nothing; and on random inputs (for
// each symbol a few sizes, seeded) the outputs of before and after agree: by pass.numeric to the bit (any NaN equals
// any NaN), or to within rounding, or to a thousandth. Inputs that `before` itself refuses are passed over, but it must
// take some. (A graph that stays as it was is not evaluated.)
//
// `update`: the expected texts are replaced by what the pass gives (and a missing one is added); everything else is
// checked all the same. Errors: the file cannot be read or written, or is not made of cases.
absl::StatusOr<GoldenResult> RunGolden(const std::string& path, const GoldenPass& pass, bool update);

// The environment asks for it: UPDATE_GOLDEN=1.
bool UpdateGolden();

}  // namespace weft

#endif  // WEFT_TESTS_GOLDEN_GOLDEN_H_
