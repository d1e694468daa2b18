// The ordered list of kernels: fastest first, reference last.
#ifndef WEFT_KERNELS_TABLE_H_
#define WEFT_KERNELS_TABLE_H_

#include <vector>

#include "absl/types/span.h"
#include "kernels/kernel.h"

namespace weft {

// Every kernel of the reference backend (src/kernels/ref): short and obviously right; the oracle, the folder and the fallback.
absl::Span<const Kernel* const> RefKernels();
// Every kernel on oneDNN (src/kernels/onednn), best first.
absl::Span<const Kernel* const> OnednnKernels();
// Our own fast kernels (src/kernels/cpu), for what oneDNN has not or does worse.
absl::Span<const Kernel* const> CpuKernels();

// The candidates for an op in order of preference; `reference_only` leaves out all but src/kernels/ref.
std::vector<const Kernel*> KernelsFor(const Op& op, bool reference_only = false);

}  // namespace weft

#endif  // WEFT_KERNELS_TABLE_H_
