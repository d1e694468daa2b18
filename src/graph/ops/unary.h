// Attributes of ops on one tensor, element by element.
#ifndef WEFT_GRAPH_OPS_UNARY_H_
#define WEFT_GRAPH_OPS_UNARY_H_

#include <cstdint>
#include <string>

#include "graph/attributes.h"

namespace weft {

struct LeakyReluAttrs { float alpha = 0.01f; };
WEFT_ATTRS(LeakyReluAttrs, Field<&LeakyReluAttrs::alpha>("alpha"));

// Elu, Celu, ThresholdedRelu, Swish.
struct AlphaOneAttrs { float alpha = 1.0f; };
WEFT_ATTRS(AlphaOneAttrs, Field<&AlphaOneAttrs::alpha>("alpha"));

struct SeluAttrs {
  float alpha = 1.67326319217681884765625f;
  float gamma = 1.05070102214813232421875f;
};
WEFT_ATTRS(SeluAttrs, Field<&SeluAttrs::alpha>("alpha"), Field<&SeluAttrs::gamma>("gamma"));

struct HardSigmoidAttrs { float alpha = 0.2f; float beta = 0.5f; };
WEFT_ATTRS(HardSigmoidAttrs, Field<&HardSigmoidAttrs::alpha>("alpha"), Field<&HardSigmoidAttrs::beta>("beta"));

struct GeluAttrs { std::string approximate = "none"; };
WEFT_ATTRS(GeluAttrs, Field<&GeluAttrs::approximate>("approximate"));

struct ShrinkAttrs { float bias = 0.0f; float lambd = 0.5f; };
WEFT_ATTRS(ShrinkAttrs, Field<&ShrinkAttrs::bias>("bias"), Field<&ShrinkAttrs::lambd>("lambd"));

struct IsInfAttrs { int64_t detect_negative = 1; int64_t detect_positive = 1; };
WEFT_ATTRS(IsInfAttrs, Field<&IsInfAttrs::detect_negative>("detect_negative"), Field<&IsInfAttrs::detect_positive>("detect_positive"));

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_UNARY_H_
