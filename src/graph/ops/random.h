// Attributes of ops that draw random numbers.
#ifndef WEFT_GRAPH_OPS_RANDOM_H_
#define WEFT_GRAPH_OPS_RANDOM_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/attributes.h"

namespace weft {

// In all of them: without a seed every run may draw other numbers; with one, every run draws the same.

struct DropoutAttrs { std::optional<int64_t> seed; };
WEFT_ATTRS(DropoutAttrs, Field<&DropoutAttrs::seed>("seed"));

// dtype is an ONNX element type here and below; absent, where it may be, it is that of the input.
struct RandomNormalAttrs {
  int64_t dtype = 1;
  float mean = 0, scale = 1;  // scale is the standard deviation
  std::optional<float> seed;
  std::vector<int64_t> shape;
};
WEFT_ATTRS(RandomNormalAttrs, Field<&RandomNormalAttrs::dtype>("dtype"), Field<&RandomNormalAttrs::mean>("mean"),
           Field<&RandomNormalAttrs::scale>("scale"), Field<&RandomNormalAttrs::seed>("seed"),
           RequiredField<&RandomNormalAttrs::shape>("shape"));

struct RandomNormalLikeAttrs {
  std::optional<int64_t> dtype;
  float mean = 0, scale = 1;
  std::optional<float> seed;
};
WEFT_ATTRS(RandomNormalLikeAttrs, Field<&RandomNormalLikeAttrs::dtype>("dtype"), Field<&RandomNormalLikeAttrs::mean>("mean"),
           Field<&RandomNormalLikeAttrs::scale>("scale"), Field<&RandomNormalLikeAttrs::seed>("seed"));

struct RandomUniformAttrs {
  int64_t dtype = 1;
  float high = 1, low = 0;
  std::optional<float> seed;
  std::vector<int64_t> shape;
};
WEFT_ATTRS(RandomUniformAttrs, Field<&RandomUniformAttrs::dtype>("dtype"), Field<&RandomUniformAttrs::high>("high"),
           Field<&RandomUniformAttrs::low>("low"), Field<&RandomUniformAttrs::seed>("seed"),
           RequiredField<&RandomUniformAttrs::shape>("shape"));

struct RandomUniformLikeAttrs {
  std::optional<int64_t> dtype;
  float high = 1, low = 0;
  std::optional<float> seed;
};
WEFT_ATTRS(RandomUniformLikeAttrs, Field<&RandomUniformLikeAttrs::dtype>("dtype"), Field<&RandomUniformLikeAttrs::high>("high"),
           Field<&RandomUniformLikeAttrs::low>("low"), Field<&RandomUniformLikeAttrs::seed>("seed"));

struct BernoulliAttrs {
  std::optional<int64_t> dtype;
  std::optional<float> seed;
};
WEFT_ATTRS(BernoulliAttrs, Field<&BernoulliAttrs::dtype>("dtype"), Field<&BernoulliAttrs::seed>("seed"));

struct MultinomialAttrs {
  int64_t dtype = 6;
  int64_t sample_size = 1;
  std::optional<float> seed;
};
WEFT_ATTRS(MultinomialAttrs, Field<&MultinomialAttrs::dtype>("dtype"), Field<&MultinomialAttrs::sample_size>("sample_size"),
           Field<&MultinomialAttrs::seed>("seed"));

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_RANDOM_H_
