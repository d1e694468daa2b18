#include "kernels/table.h"

namespace weft {

std::vector<const Kernel*> KernelsFor(const Op& op, bool reference_only) {
  std::vector<const Kernel*> found;
  auto add = [&](absl::Span<const Kernel* const> kernels) {
    for (const Kernel* kernel : kernels) {
      if (kernel->op == &op) found.push_back(kernel);
    }
  };
  if (!reference_only) {
    add(OnednnKernels());
    add(CpuKernels());
  }
  add(RefKernels());
  return found;
}

}  // namespace weft
