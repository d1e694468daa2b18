// Attributes of OneHot.
#ifndef WEFT_GRAPH_OPS_ONE_HOT_H_
#define WEFT_GRAPH_OPS_ONE_HOT_H_

#include <cstdint>

#include "graph/attributes.h"

namespace weft {

struct OneHotAttrs { int64_t axis = -1; };
WEFT_ATTRS(OneHotAttrs, Field<&OneHotAttrs::axis>("axis"));

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_ONE_HOT_H_
