// Attributes of ops that draw random numbers.
#ifndef WEFT_GRAPH_OPS_RANDOM_H_
#define WEFT_GRAPH_OPS_RANDOM_H_

#include <cstdint>
#include <optional>

#include "graph/attributes.h"

namespace weft {

// Without a seed every run draws other numbers; with one, every run draws the same.
struct DropoutAttrs { std::optional<int64_t> seed; };
WEFT_ATTRS(DropoutAttrs, Field<&DropoutAttrs::seed>("seed"));

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_RANDOM_H_
