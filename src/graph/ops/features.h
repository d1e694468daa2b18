// Preparation of features: ArrayFeatureExtractor, Binarizer, FeatureVectorizer, Imputer, Normalizer, Scaler (ONNX Operators-ml.md).
#ifndef WEFT_GRAPH_OPS_FEATURES_H_
#define WEFT_GRAPH_OPS_FEATURES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "graph/attributes.h"

namespace weft {

struct BinarizerAttrs {
  float threshold = 0;
};
WEFT_ATTRS(BinarizerAttrs, Field<&BinarizerAttrs::threshold>("threshold"));

struct FeatureVectorizerAttrs {
  std::vector<int64_t> inputdimensions;  // columns of each input; empty: as many as it has
};
WEFT_ATTRS(FeatureVectorizerAttrs, Field<&FeatureVectorizerAttrs::inputdimensions>("inputdimensions"));

// The lists for the operand's type count: one element for all columns, or one each.
struct ImputerAttrs {
  std::vector<float> imputed_value_floats;
  std::vector<int64_t> imputed_value_int64s;
  float replaced_value_float = 0;
  int64_t replaced_value_int64 = 0;
};
WEFT_ATTRS(ImputerAttrs, Field<&ImputerAttrs::imputed_value_floats>("imputed_value_floats"),
           Field<&ImputerAttrs::imputed_value_int64s>("imputed_value_int64s"),
           Field<&ImputerAttrs::replaced_value_float>("replaced_value_float"),
           Field<&ImputerAttrs::replaced_value_int64>("replaced_value_int64"));

struct NormalizerAttrs {
  std::string norm = "MAX";
};
WEFT_ATTRS(NormalizerAttrs, Field<&NormalizerAttrs::norm>("norm"));

// (X - offset) * scale: one element for all columns, or one each; none: 0 and 1.
struct ScalerAttrs {
  std::vector<float> offset;
  std::vector<float> scale;
};
WEFT_ATTRS(ScalerAttrs, Field<&ScalerAttrs::offset>("offset"), Field<&ScalerAttrs::scale>("scale"));

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_FEATURES_H_
