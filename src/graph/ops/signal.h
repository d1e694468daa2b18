// Attributes of Fourier transforms.
#ifndef WEFT_GRAPH_OPS_SIGNAL_H_
#define WEFT_GRAPH_OPS_SIGNAL_H_

#include "graph/attributes.h"

namespace weft {

struct DftAttrs {
  bool inverse = false;
  bool onesided = false;  // a real signal: its spectrum is given to the middle
};
WEFT_ATTRS(DftAttrs, Field<&DftAttrs::inverse>("inverse"), Field<&DftAttrs::onesided>("onesided"));

struct StftAttrs {
  bool onesided = true;
};
WEFT_ATTRS(StftAttrs, Field<&StftAttrs::onesided>("onesided"));

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_SIGNAL_H_
