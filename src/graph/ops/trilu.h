// Attributes of Trilu.
#ifndef WEFT_GRAPH_OPS_TRILU_H_
#define WEFT_GRAPH_OPS_TRILU_H_

#include <cstdint>

#include "graph/attributes.h"

namespace weft {

struct TriluAttrs { int64_t upper = 1; };
WEFT_ATTRS(TriluAttrs, Field<&TriluAttrs::upper>("upper"));

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_TRILU_H_
