// Every file of reference kernels, one line each.
#include "kernels/table.h"

namespace weft {

#define WEFT_REF_KERNELS(file) absl::Span<const Kernel> Ref##file();
#include "kernels/ref/files.def"
#undef WEFT_REF_KERNELS

absl::Span<const Kernel* const> RefKernels() {
  static const auto* const kernels = [] {
    auto* all = new std::vector<const Kernel*>;
    auto add = [all](absl::Span<const Kernel> file) {
      for (const Kernel& kernel : file) all->push_back(&kernel);
    };
#define WEFT_REF_KERNELS(file) add(Ref##file());
#include "kernels/ref/files.def"
#undef WEFT_REF_KERNELS
    return all;
  }();
  return *kernels;
}

}  // namespace weft
