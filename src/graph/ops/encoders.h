// Lookups in lists of labels: LabelEncoder, CategoryMapper, OneHotEncoder (ONNX Operators-ml.md).
#ifndef WEFT_GRAPH_OPS_ENCODERS_H_
#define WEFT_GRAPH_OPS_ENCODERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/attributes.h"

namespace weft {

// One list of keys, one of values as long, and the default of the values' type.
struct LabelEncoderAttrs {
  float default_float = -0.0f;
  int64_t default_int64 = -1;
  std::string default_string = "_Unused";
  Tensor default_tensor;
  std::vector<float> keys_floats;
  std::vector<int64_t> keys_int64s;
  std::vector<std::string> keys_strings;
  Tensor keys_tensor;
  std::vector<float> values_floats;
  std::vector<int64_t> values_int64s;
  std::vector<std::string> values_strings;
  Tensor values_tensor;
};
WEFT_ATTRS(LabelEncoderAttrs, Field<&LabelEncoderAttrs::default_float>("default_float"),
           Field<&LabelEncoderAttrs::default_int64>("default_int64"), Field<&LabelEncoderAttrs::default_string>("default_string"),
           Field<&LabelEncoderAttrs::default_tensor>("default_tensor"), Field<&LabelEncoderAttrs::keys_floats>("keys_floats"),
           Field<&LabelEncoderAttrs::keys_int64s>("keys_int64s"), Field<&LabelEncoderAttrs::keys_strings>("keys_strings"),
           Field<&LabelEncoderAttrs::keys_tensor>("keys_tensor"), Field<&LabelEncoderAttrs::values_floats>("values_floats"),
           Field<&LabelEncoderAttrs::values_int64s>("values_int64s"), Field<&LabelEncoderAttrs::values_strings>("values_strings"),
           Field<&LabelEncoderAttrs::values_tensor>("values_tensor"));

// What LabelEncoder's attributes come to: keys and values in one row each, the default a single element.
struct LabelTable {
  Tensor keys, values, fallback;
};
absl::StatusOr<LabelTable> LabelTableOf(const LabelEncoderAttrs& attrs);

// Strings to integers, or integers to strings: the operand's type says which.
struct CategoryMapperAttrs {
  std::vector<int64_t> cats_int64s;
  std::vector<std::string> cats_strings;
  int64_t default_int64 = -1;
  std::string default_string = "_Unused";
};
WEFT_ATTRS(CategoryMapperAttrs, Field<&CategoryMapperAttrs::cats_int64s>("cats_int64s"),
           Field<&CategoryMapperAttrs::cats_strings>("cats_strings"), Field<&CategoryMapperAttrs::default_int64>("default_int64"),
           Field<&CategoryMapperAttrs::default_string>("default_string"));

struct OneHotEncoderAttrs {
  std::vector<int64_t> cats_int64s;
  std::vector<std::string> cats_strings;
  bool zeros = true;  // what is no category gives zeros; otherwise it is an error
};
WEFT_ATTRS(OneHotEncoderAttrs, Field<&OneHotEncoderAttrs::cats_int64s>("cats_int64s"),
           Field<&OneHotEncoderAttrs::cats_strings>("cats_strings"), Field<&OneHotEncoderAttrs::zeros>("zeros"));

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_ENCODERS_H_
