// Attributes of the normalisations.
#ifndef WEFT_GRAPH_OPS_NORMALIZATION_H_
#define WEFT_GRAPH_OPS_NORMALIZATION_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "graph/attributes.h"
#include "graph/infer.h"

namespace weft {

struct BatchNormalizationAttrs {
  float epsilon = 1e-5f;
  float momentum = 0.9f;
  bool training_mode = false;
};
WEFT_ATTRS(BatchNormalizationAttrs, Field<&BatchNormalizationAttrs::epsilon>("epsilon"),
           Field<&BatchNormalizationAttrs::momentum>("momentum"),
           Field<&BatchNormalizationAttrs::training_mode>("training_mode"));

struct InstanceNormalizationAttrs {
  float epsilon = 1e-5f;
};
WEFT_ATTRS(InstanceNormalizationAttrs, Field<&InstanceNormalizationAttrs::epsilon>("epsilon"));

struct GroupNormalizationAttrs {
  float epsilon = 1e-5f;
  int64_t num_groups = 0;
  int64_t stash_type = 1;
};
WEFT_ATTRS(GroupNormalizationAttrs, Field<&GroupNormalizationAttrs::epsilon>("epsilon"),
           RequiredField<&GroupNormalizationAttrs::num_groups>("num_groups"),
           Field<&GroupNormalizationAttrs::stash_type>("stash_type"));

// LayerNormalization and RMSNormalization.
struct LayerNormalizationAttrs {
  int64_t axis = -1;
  float epsilon = 1e-5f;
  int64_t stash_type = 1;
};
WEFT_ATTRS(LayerNormalizationAttrs, Field<&LayerNormalizationAttrs::axis>("axis"),
           Field<&LayerNormalizationAttrs::epsilon>("epsilon"), Field<&LayerNormalizationAttrs::stash_type>("stash_type"));

struct LrnAttrs {
  float alpha = 0.0001f;
  float beta = 0.75f;
  float bias = 1;
  int64_t size = 0;
};
WEFT_ATTRS(LrnAttrs, Field<&LrnAttrs::alpha>("alpha"), Field<&LrnAttrs::beta>("beta"), Field<&LrnAttrs::bias>("bias"),
           RequiredField<&LrnAttrs::size>("size"));

struct LpNormalizationAttrs {
  int64_t axis = -1;
  int64_t p = 2;
};
WEFT_ATTRS(LpNormalizationAttrs, Field<&LpNormalizationAttrs::axis>("axis"), Field<&LpNormalizationAttrs::p>("p"));

struct MeanVarianceNormalizationAttrs {
  std::vector<int64_t> axes = {0, 2, 3};
};
WEFT_ATTRS(MeanVarianceNormalizationAttrs, Field<&MeanVarianceNormalizationAttrs::axes>("axes"));

// Input i (if present) broadcasts to the shape of input 0 without widening it.
absl::Status CheckBroadcastsToX(const InferContext& ctx, int i, std::string_view operand);

// A mean or a standard deviation over the axes from `axis` on: `x` with those dims 1. Errors: axis out of range.
absl::StatusOr<Shape> StatisticsShape(Shape x, int64_t axis);

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_NORMALIZATION_H_
