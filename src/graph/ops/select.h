// Attributes of the ops that pick elements by what the elements are.
#ifndef WEFT_GRAPH_OPS_SELECT_H_
#define WEFT_GRAPH_OPS_SELECT_H_

#include <cstdint>
#include <optional>

#include "graph/attributes.h"

namespace weft {

struct CompressAttrs { std::optional<int64_t> axis; };  // absent: the elements in row-major order
WEFT_ATTRS(CompressAttrs, Field<&CompressAttrs::axis>("axis"));

struct UniqueAttrs { std::optional<int64_t> axis; int64_t sorted = 1; };  // no axis: the elements in row-major order
WEFT_ATTRS(UniqueAttrs, Field<&UniqueAttrs::axis>("axis"), Field<&UniqueAttrs::sorted>("sorted"));

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_SELECT_H_
