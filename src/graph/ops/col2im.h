// Attributes of Col2Im.
#ifndef WEFT_GRAPH_OPS_COL2IM_H_
#define WEFT_GRAPH_OPS_COL2IM_H_

#include <cstdint>
#include <vector>

#include "graph/attributes.h"
#include "graph/ops/spatial.h"

namespace weft {

struct Col2ImAttrs { std::vector<int64_t> dilations, pads, strides; };
WEFT_ATTRS(Col2ImAttrs, Field<&Col2ImAttrs::dilations>("dilations"), Field<&Col2ImAttrs::pads>("pads"),
           Field<&Col2ImAttrs::strides>("strides"));

// Blocks are the windows that a convolution would move over the image.
inline WindowSpec BlocksOf(const Col2ImAttrs& attrs) {
  WindowSpec spec;
  spec.dilations = attrs.dilations;
  spec.pads = attrs.pads;
  spec.strides = attrs.strides;
  return spec;
}

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_COL2IM_H_
