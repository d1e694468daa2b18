// Attributes of the ops that pick elements by what the elements are.
#ifndef WEFT_GRAPH_OPS_SELECT_H_
#define WEFT_GRAPH_OPS_SELECT_H_

#include <cstdint>
#include <optional>

#include "graph/attributes.h"

namespace weft {

struct CompressAttrs { std::optional<int64_t> axis; };  // absent: the elements in row-major order
WEFT_ATTRS(CompressAttrs, Field<&CompressAttrs::axis>("axis"));

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_SELECT_H_
