// Every file of our own fast kernels.
#include "kernels/table.h"

namespace weft {
namespace cpu {

absl::Span<const Kernel> MapKernels();
absl::Span<const Kernel> ReduceKernels();

}  // namespace cpu

absl::Span<const Kernel* const> CpuKernels() {
  static const auto* const kernels = [] {
    auto* all = new std::vector<const Kernel*>;
    for (absl::Span<const Kernel> file : {cpu::MapKernels(), cpu::ReduceKernels()}) {
      for (const Kernel& kernel : file) all->push_back(&kernel);
    }
    return all;
  }();
  return *kernels;
}

}  // namespace weft
