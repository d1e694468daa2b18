// What a pass is, and what it is given.
#ifndef WEFT_PASSES_PASS_H_
#define WEFT_PASSES_PASS_H_

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "graph/infer.h"
#include "weft/value.h"

namespace weft {

// How far a pass may move a result.
enum class NumericClass : uint8_t {
  kExact,         // not a bit, signs of zero and NaN included
  kReassociates,  // sums and products in another order: rounding alone
  kApproximates,  // another formula, to within a stated bound
};
std::string_view NumericClassName(NumericClass numeric);

// Runs one node on constants; the runtime provides it, so that passes know no kernel.
using Evaluator =
    std::function<absl::StatusOr<std::vector<Value>>(const Op& op, const Attrs& attrs, absl::Span<const Value> inputs, int num_outputs)>;

// One pass over one graph; regions are visited by the driver, innermost first.
struct PassContext {
  const Evaluator& evaluate;
  const KnownElements& known;  // elements of small integer tensors, as inferred before the pass
  bool standard_only = false;  // make no ops of the domain weft
  int64_t rewrites = 0;        // how many places changed
  int64_t rewrites_left = 0;   // --stop-after: a pass asks Allow() before each rewrite

  // Counts a rewrite that is about to be made; false once the limit is reached.
  bool Allow() {
    if (rewrites_left == 0) return false;
    --rewrites_left;
    ++rewrites;
    return true;
  }
  // The rewrite that was allowed last could not be made.
  void TakeBack() {
    --rewrites;
    ++rewrites_left;
  }
};

struct Pass {
  std::string_view name;  // a verb: what --disable-pass takes
  absl::Status (*run)(Graph& graph, PassContext& ctx);
  int level;  // the lowest --opt-level that runs it
  NumericClass numeric;
};

}  // namespace weft

#endif  // WEFT_PASSES_PASS_H_
