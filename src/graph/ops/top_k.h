// Attributes of TopK.
#ifndef WEFT_GRAPH_OPS_TOP_K_H_
#define WEFT_GRAPH_OPS_TOP_K_H_

#include <cstdint>

#include "graph/attributes.h"

namespace weft {

struct TopKAttrs { int64_t axis = -1; int64_t largest = 1; int64_t sorted = 1; };
WEFT_ATTRS(TopKAttrs, Field<&TopKAttrs::axis>("axis"), Field<&TopKAttrs::largest>("largest"), Field<&TopKAttrs::sorted>("sorted"));

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_TOP_K_H_
