// Attributes of NonMaxSuppression.
#ifndef WEFT_GRAPH_OPS_NON_MAX_SUPPRESSION_H_
#define WEFT_GRAPH_OPS_NON_MAX_SUPPRESSION_H_

#include <cstdint>

#include "graph/attributes.h"

namespace weft {

struct NonMaxSuppressionAttrs { int64_t center_point_box = 0; };
WEFT_ATTRS(NonMaxSuppressionAttrs, Field<&NonMaxSuppressionAttrs::center_point_box>("center_point_box"));

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_NON_MAX_SUPPRESSION_H_
