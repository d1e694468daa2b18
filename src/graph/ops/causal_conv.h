// Attributes of CausalConvWithState.
#ifndef WEFT_GRAPH_OPS_CAUSAL_CONV_H_
#define WEFT_GRAPH_OPS_CAUSAL_CONV_H_

#include <string>

#include "graph/attributes.h"

namespace weft {

struct CausalConvAttrs {
  std::string activation = "none";  // or "silu", which is also named "swish"
};
WEFT_ATTRS(CausalConvAttrs, Field<&CausalConvAttrs::activation>("activation"));

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_CAUSAL_CONV_H_
