// weft.FusedConv, weft.FusedMatMul: a product with what follows it, made by passes.
#ifndef WEFT_GRAPH_OPS_FUSED_H_
#define WEFT_GRAPH_OPS_FUSED_H_

#include <cstdint>
#include <string>
#include <vector>

#include "graph/attributes.h"
#include "graph/ops/conv.h"

namespace weft {

// Y = activation(Conv(X, W, B)). `activation` is "", or one of the ops in kFusableActivations; alpha and beta are that op's attributes, or the
// bounds of Clip.
struct FusedConvAttrs {
  std::string auto_pad = "NOTSET";
  std::vector<int64_t> dilations;
  int64_t group = 1;
  std::vector<int64_t> kernel_shape;
  std::vector<int64_t> pads;
  std::vector<int64_t> strides;
  std::string activation;
  float alpha = 0, beta = 0;

  ConvAttrs conv() const { return {auto_pad, dilations, group, kernel_shape, pads, strides}; }
};
WEFT_ATTRS(FusedConvAttrs, Field<&FusedConvAttrs::auto_pad>("auto_pad"), Field<&FusedConvAttrs::dilations>("dilations"),
           Field<&FusedConvAttrs::group>("group"), Field<&FusedConvAttrs::kernel_shape>("kernel_shape"), Field<&FusedConvAttrs::pads>("pads"),
           Field<&FusedConvAttrs::strides>("strides"), Field<&FusedConvAttrs::activation>("activation"),
           Field<&FusedConvAttrs::alpha>("alpha"), Field<&FusedConvAttrs::beta>("beta"));

// Y = activation(A' @ B' + bias): A' is A with its last two axes swapped where transA, B' likewise; bias [N], along the last axis of Y.
struct FusedMatMulAttrs {
  bool transA = false;
  bool transB = false;
  std::string activation;
  float alpha = 0, beta = 0;
};
WEFT_ATTRS(FusedMatMulAttrs, Field<&FusedMatMulAttrs::transA>("transA"), Field<&FusedMatMulAttrs::transB>("transB"),
           Field<&FusedMatMulAttrs::activation>("activation"), Field<&FusedMatMulAttrs::alpha>("alpha"), Field<&FusedMatMulAttrs::beta>("beta"));

inline constexpr std::string_view kFusableActivations[] = {"Relu", "LeakyRelu", "Clip", "Sigmoid", "Tanh", "HardSigmoid", "HardSwish"};

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_FUSED_H_
