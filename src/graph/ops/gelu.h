// Attributes of the GELUs of the domain com.microsoft.
#ifndef WEFT_GRAPH_OPS_GELU_H_
#define WEFT_GRAPH_OPS_GELU_H_

#include "graph/attributes.h"

namespace weft {

struct QuickGeluAttrs {
  float alpha = 1.702f;
};
WEFT_ATTRS(QuickGeluAttrs, Field<&QuickGeluAttrs::alpha>("alpha"));

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_GELU_H_
