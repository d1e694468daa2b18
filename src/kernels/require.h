// What several backends refuse alike.
#ifndef WEFT_KERNELS_REQUIRE_H_
#define WEFT_KERNELS_REQUIRE_H_

#include "graph/infer.h"

namespace weft {

// Refuses everything but fp32 in inputs [0, count) that are present.
inline absl::Status RequireFloat32(const NodeView& node, int count) {
  for (int i = 0; i < count; ++i) {
    if (node.HasInput(i) && node.inputs[i].type->dtype != DType::kFloat32) {
      return Unsupported("input ", i, " is ", DTypeName(node.inputs[i].type->dtype), ", expected float");
    }
  }
  return absl::OkStatus();
}

}  // namespace weft

#endif  // WEFT_KERNELS_REQUIRE_H_
