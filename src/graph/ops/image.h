// Attributes of ImageDecoder.
#ifndef WEFT_GRAPH_OPS_IMAGE_H_
#define WEFT_GRAPH_OPS_IMAGE_H_

#include <string>

#include "graph/attributes.h"

namespace weft {

struct ImageDecoderAttrs { std::string pixel_format = "RGB"; };  // "RGB", "BGR", "Grayscale"
WEFT_ATTRS(ImageDecoderAttrs, Field<&ImageDecoderAttrs::pixel_format>("pixel_format"));

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_IMAGE_H_
