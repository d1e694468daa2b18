// Random inputs for graphs, and the comparison of what two graphs make of them.
#ifndef WEFT_TESTS_GOLDEN_VALUES_H_
#define WEFT_TESTS_GOLDEN_VALUES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "passes/pass.h"
#include "weft/value.h"

namespace weft {

struct InputStyle {
  uint64_t seed = 0;
  // Sizes of symbols: 0 gives each of them another one from 2 on, anything else is the size of all.
  int64_t symbol_size = 0;
  int64_t min_int = 0, max_int = 1;
  bool special_floats = false;  // some are zero, -0, infinite, NaN, the least and the largest
};

// One value for each input of the graph. Errors: an input whose type is unknown, or a map.
absl::StatusOr<std::vector<Value>> RandomInputs(const Graph& graph, const InputStyle& style);

// "" where `found` agrees with `expected`, else what differs first.
std::string CompareValues(const Value& expected, const Value& found, NumericClass numeric);

}  // namespace weft

#endif  // WEFT_TESTS_GOLDEN_VALUES_H_
