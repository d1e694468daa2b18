// Attributes of FusedConv, FusedGemm, FusedMatMul of the domain com.microsoft: a product with what follows it.
#ifndef WEFT_GRAPH_OPS_MS_FUSED_H_
#define WEFT_GRAPH_OPS_MS_FUSED_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/attributes.h"
#include "graph/ops/conv.h"
#include "graph/ops/matmul.h"

namespace weft {

// `activation` is "", or one of kMsActivations; a parameter that is not given has the default of the op of that name.
inline constexpr std::string_view kMsActivations[] = {"Celu", "Clip", "Elu",     "HardSigmoid", "HardSwish", "LeakyRelu",      "Relu",
                                                      "Selu", "Sigmoid", "Softplus", "Softsign", "Tanh", "ThresholdedRelu"};

// activation(Conv(X, W, B) + Z).
struct MsFusedConvAttrs {
  std::string activation;
  std::vector<float> activation_params;  // alpha and beta, or the bounds of Clip
  std::string auto_pad = "NOTSET";
  std::vector<int64_t> dilations;
  int64_t group = 1;
  std::vector<int64_t> kernel_shape;
  std::vector<int64_t> pads;
  std::vector<int64_t> strides;

  ConvAttrs conv() const { return {auto_pad, dilations, group, kernel_shape, pads, strides}; }
};
WEFT_ATTRS(MsFusedConvAttrs, Field<&MsFusedConvAttrs::activation>("activation"),
           Field<&MsFusedConvAttrs::activation_params>("activation_params"), Field<&MsFusedConvAttrs::auto_pad>("auto_pad"),
           Field<&MsFusedConvAttrs::dilations>("dilations"), Field<&MsFusedConvAttrs::group>("group"),
           Field<&MsFusedConvAttrs::kernel_shape>("kernel_shape"), Field<&MsFusedConvAttrs::pads>("pads"),
           Field<&MsFusedConvAttrs::strides>("strides"));

// activation(Gemm(A, B, C)).
struct MsFusedGemmAttrs {
  std::string activation;
  std::optional<float> activation_alpha;
  std::optional<float> activation_beta;
  std::optional<float> activation_gamma;
  float alpha = 1;
  float beta = 1;
  bool transA = false;
  bool transB = false;

  GemmAttrs gemm() const { return {alpha, beta, transA, transB}; }
};
WEFT_ATTRS(MsFusedGemmAttrs, Field<&MsFusedGemmAttrs::activation>("activation"),
           Field<&MsFusedGemmAttrs::activation_alpha>("activation_alpha"),
           Field<&MsFusedGemmAttrs::activation_beta>("activation_beta"),
           Field<&MsFusedGemmAttrs::activation_gamma>("activation_gamma"), Field<&MsFusedGemmAttrs::alpha>("alpha"),
           Field<&MsFusedGemmAttrs::beta>("beta"), Field<&MsFusedGemmAttrs::transA>("transA"),
           Field<&MsFusedGemmAttrs::transB>("transB"));

// alpha * (A' @ B').
struct MsFusedMatMulAttrs {
  float alpha = 1;
  bool transA = false;       // A's last two axes change places; a vector stays as it is
  bool transB = false;
  bool transBatchA = false;  // A's first axis moves behind the batch, to the place before its last
  bool transBatchB = false;
};
WEFT_ATTRS(MsFusedMatMulAttrs, Field<&MsFusedMatMulAttrs::alpha>("alpha"), Field<&MsFusedMatMulAttrs::transA>("transA"),
           Field<&MsFusedMatMulAttrs::transB>("transB"), Field<&MsFusedMatMulAttrs::transBatchA>("transBatchA"),
           Field<&MsFusedMatMulAttrs::transBatchB>("transBatchB"));

// How FusedMatMul reads an operand of this rank: axis i of A' is axis perm[i] of A. Empty for a vector.
std::vector<int64_t> MsMatMulPermutation(int rank, bool trans, bool trans_batch);

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_MS_FUSED_H_
