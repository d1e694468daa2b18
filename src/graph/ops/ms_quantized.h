// Attributes of QGemm of the domain com.microsoft.
#ifndef WEFT_GRAPH_OPS_MS_QUANTIZED_H_
#define WEFT_GRAPH_OPS_MS_QUANTIZED_H_

#include "graph/attributes.h"

namespace weft {

// alpha * a_scale * b_scale * ((A' - a_zero_point) @ (B' - b_zero_point) + C), requantised where there is a y_scale.
struct QGemmAttrs {
  float alpha = 1;
  bool transA = false;
  bool transB = false;
};
WEFT_ATTRS(QGemmAttrs, Field<&QGemmAttrs::alpha>("alpha"), Field<&QGemmAttrs::transA>("transA"), Field<&QGemmAttrs::transB>("transB"));

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_MS_QUANTIZED_H_
