// Checks that the quantised ops share.
#ifndef WEFT_GRAPH_OPS_QUANTIZED_H_
#define WEFT_GRAPH_OPS_QUANTIZED_H_

#include <string_view>

#include "graph/infer.h"

namespace weft {

// Input i (if present) has one element: a scale or zero point of a whole tensor. Rank 0, or any rank of ones.
absl::Status CheckPerTensor(const InferContext& ctx, int i, std::string_view operand);

// Input i (if present) has one element, or is a vector with one for each index along `axis` of the tensor of shape `of`.
absl::Status CheckPerTensorOrChannel(const InferContext& ctx, int i, std::string_view operand, const Shape& of, int axis);

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_QUANTIZED_H_
