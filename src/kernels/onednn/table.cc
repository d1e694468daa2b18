// Every file of kernels on oneDNN, best first.
#include "kernels/table.h"

namespace weft {
namespace onednn {

absl::Span<const Kernel> ConvKernels();
absl::Span<const Kernel> EltwiseKernels();
absl::Span<const Kernel> MatMulKernels();
absl::Span<const Kernel> PoolKernels();
absl::Span<const Kernel> RecurrentKernels();

}  // namespace onednn

absl::Span<const Kernel* const> OnednnKernels() {
  static const auto* const kernels = [] {
    auto* all = new std::vector<const Kernel*>;
    for (absl::Span<const Kernel> file : {onednn::ConvKernels(), onednn::EltwiseKernels(), onednn::MatMulKernels(), onednn::PoolKernels(),
                                         onednn::RecurrentKernels()}) {
      for (const Kernel& kernel : file) all->push_back(&kernel);
    }
    return all;
  }();
  return *kernels;
}

}  // namespace weft
