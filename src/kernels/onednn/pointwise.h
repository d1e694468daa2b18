// A convolution of windows of one element, stride 1 and no padding: a matrix product for each image and group, all row-major.
#ifndef WEFT_KERNELS_ONEDNN_POINTWISE_H_
#define WEFT_KERNELS_ONEDNN_POINTWISE_H_

#include <memory>

#include "graph/ops/fused.h"
#include "graph/ops/spatial.h"
#include "kernels/onednn/primitive.h"

namespace weft::onednn {

struct Pointwise {
  dnnl::matmul product;  // Y[n,g] [M/g,P] (+)= W[g] [M/g,C/g] * X[n,g] [C/g,P]: P spatial elements
  dnnl::memory::desc w, x, y, scratchpad;
};

// True where that is faster than oneDNN's convolution: this product reads and writes tensors as they lie, the other has to lay them out anew,
// but is better for few spatial elements.
bool IsPointwise(const Window& window, const Dims& x, int64_t group);

// The node's inputs are X, W [M,C/g,1...] and perhaps B [M]. Throws dnnl::error.
absl::StatusOr<std::unique_ptr<Pointwise>> PlanPointwise(const NodeView& node, const FusedConvAttrs& attrs);

// Throws dnnl::error.
void RunPointwise(const Pointwise& plan, RunContext& ctx);

}  // namespace weft::onednn

#endif  // WEFT_KERNELS_ONEDNN_POINTWISE_H_
