// Attributes of the ops that write into a copy of a tensor by index.
#ifndef WEFT_GRAPH_OPS_SCATTER_H_
#define WEFT_GRAPH_OPS_SCATTER_H_

#include <cstdint>
#include <string>

#include "graph/attributes.h"

namespace weft {

struct ScatterElementsAttrs { int64_t axis = 0; std::string reduction = "none"; };
WEFT_ATTRS(ScatterElementsAttrs, Field<&ScatterElementsAttrs::axis>("axis"), Field<&ScatterElementsAttrs::reduction>("reduction"));

struct ScatterNDAttrs { std::string reduction = "none"; };
WEFT_ATTRS(ScatterNDAttrs, Field<&ScatterNDAttrs::reduction>("reduction"));

struct TensorScatterAttrs { int64_t axis = -2; std::string mode = "linear"; };
WEFT_ATTRS(TensorScatterAttrs, Field<&TensorScatterAttrs::axis>("axis"), Field<&TensorScatterAttrs::mode>("mode"));

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_SCATTER_H_
