// Attributes of the normalisations of sums, domain com.microsoft.
#ifndef WEFT_GRAPH_OPS_SKIP_NORMALIZATION_H_
#define WEFT_GRAPH_OPS_SKIP_NORMALIZATION_H_

#include <cstdint>

#include "graph/attributes.h"

namespace weft {

// SkipLayerNormalization and SkipSimplifiedLayerNormalization.
struct SkipNormalizationAttrs {
  float epsilon = 1e-12f;
};
WEFT_ATTRS(SkipNormalizationAttrs, Field<&SkipNormalizationAttrs::epsilon>("epsilon"));

struct EmbedLayerNormalizationAttrs {
  float epsilon = 1e-12f;
  int64_t mask_index_type = 0;  // says whether output 1 is used, which the node itself says as well
};
WEFT_ATTRS(EmbedLayerNormalizationAttrs, Field<&EmbedLayerNormalizationAttrs::epsilon>("epsilon"),
           Field<&EmbedLayerNormalizationAttrs::mask_index_type>("mask_index_type"));

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_SKIP_NORMALIZATION_H_
