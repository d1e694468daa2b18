// Attributes of the ops that make sampling grids and sample by them.
#ifndef WEFT_GRAPH_OPS_GRID_SAMPLE_H_
#define WEFT_GRAPH_OPS_GRID_SAMPLE_H_

#include <cstdint>
#include <string>

#include "graph/attributes.h"

namespace weft {

struct AffineGridAttrs { int64_t align_corners = 0; };
WEFT_ATTRS(AffineGridAttrs, Field<&AffineGridAttrs::align_corners>("align_corners"));

struct GridSampleAttrs { int64_t align_corners = 0; std::string mode = "linear"; std::string padding_mode = "zeros"; };
WEFT_ATTRS(GridSampleAttrs, Field<&GridSampleAttrs::align_corners>("align_corners"), Field<&GridSampleAttrs::mode>("mode"),
           Field<&GridSampleAttrs::padding_mode>("padding_mode"));

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_GRID_SAMPLE_H_
