// Evaluate: one node on concrete inputs, at once, with the reference kernel. For constant folding, shape folding and tests.
#ifndef WEFT_KERNELS_EVALUATE_H_
#define WEFT_KERNELS_EVALUATE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/attributes.h"
#include "graph/op.h"
#include "weft/value.h"

namespace weft {

// Infers the output types, allocates the outputs and runs the op's reference kernel. An empty Value is an omitted input; `num_outputs`
// outputs are asked for. Ops with regions are refused (Unsupported). Errors: those of inference and of the kernel.
absl::StatusOr<std::vector<Value>> Evaluate(const Op& op, const Attrs& attrs, absl::Span<const Value> inputs, int num_outputs = 1);

}  // namespace weft

#endif  // WEFT_KERNELS_EVALUATE_H_
