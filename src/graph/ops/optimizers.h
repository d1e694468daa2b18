// Attributes of the optimisers of training (domain ai.onnx.preview.training).
#ifndef WEFT_GRAPH_OPS_OPTIMIZERS_H_
#define WEFT_GRAPH_OPS_OPTIMIZERS_H_

#include <string>

#include "graph/attributes.h"

namespace weft {

struct AdagradAttrs {
  float decay_factor = 0;
  float epsilon = 1e-6f;
  float norm_coefficient = 0;
};
WEFT_ATTRS(AdagradAttrs, Field<&AdagradAttrs::decay_factor>("decay_factor"), Field<&AdagradAttrs::epsilon>("epsilon"),
           Field<&AdagradAttrs::norm_coefficient>("norm_coefficient"));

struct AdamAttrs {
  float alpha = 0.9f;
  float beta = 0.999f;
  float epsilon = 1e-6f;
  float norm_coefficient = 0;
  float norm_coefficient_post = 0;
};
WEFT_ATTRS(AdamAttrs, Field<&AdamAttrs::alpha>("alpha"), Field<&AdamAttrs::beta>("beta"), Field<&AdamAttrs::epsilon>("epsilon"),
           Field<&AdamAttrs::norm_coefficient>("norm_coefficient"),
           Field<&AdamAttrs::norm_coefficient_post>("norm_coefficient_post"));

struct MomentumAttrs {
  float alpha = 0;
  float beta = 0;
  std::string mode;  // standard, nesterov
  float norm_coefficient = 0;
};
WEFT_ATTRS(MomentumAttrs, RequiredField<&MomentumAttrs::alpha>("alpha"), RequiredField<&MomentumAttrs::beta>("beta"),
           RequiredField<&MomentumAttrs::mode>("mode"), RequiredField<&MomentumAttrs::norm_coefficient>("norm_coefficient"));

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_OPTIMIZERS_H_
