// NonZero: counted block by block, so that every block knows where its finds belong.
#include "graph/ops/select.h"

#include <algorithm>
#include <complex>
#include <string>
#include <vector>

#include "kernels/kernel.h"
#include "kernels/ref/dispatch.h"
#include "kernels/ref/strided.h"

namespace weft {
namespace {

// Calls f with a function that says whether element i is something else than 0 (or the empty string).
template <class F>
void DispatchTruth(const Tensor& x, F f) {
  switch (x.dtype()) {
    case DType::kFloat32: return f([p = x.data<float>()](int64_t i) { return p[i] != 0; });
    case DType::kFloat64: return f([p = x.data<double>()](int64_t i) { return p[i] != 0; });
    case DType::kFloat16: case DType::kBFloat16: return f([p = x.data<uint16_t>()](int64_t i) { return (p[i] & 0x7fff) != 0; });
    case DType::kComplex64: return f([p = x.data<std::complex<float>>()](int64_t i) { return p[i] != 0.0f; });
    case DType::kComplex128: return f([p = x.data<std::complex<double>>()](int64_t i) { return p[i] != 0.0; });
    case DType::kString: return f([p = x.data<std::string>()](int64_t i) { return !p[i].empty(); });
    case DType::kUint16: case DType::kInt16: return f([p = x.data<uint16_t>()](int64_t i) { return p[i] != 0; });
    case DType::kUint32: case DType::kInt32: return f([p = x.data<uint32_t>()](int64_t i) { return p[i] != 0; });
    case DType::kUint64: case DType::kInt64: return f([p = x.data<uint64_t>()](int64_t i) { return p[i] != 0; });
    default: return f([p = x.data<uint8_t>()](int64_t i) { return p[i] != 0; });  // inference leaves bool and the bytes
  }
}

absl::Status RunNonZero(RunContext& ctx) {
  const Tensor& x = ctx.input(0);
  const int rank = x.rank();
  constexpr int64_t kBlock = 1 << 14;
  const int64_t blocks = (x.size() + kBlock - 1) / kBlock;
  std::vector<int64_t> first(blocks + 1);  // finds before each block
  absl::Status status;
  DispatchTruth(x, [&](auto is_set) {
    ParallelFor(blocks, kBlock, [&](int64_t begin, int64_t end) {
      for (int64_t block = begin; block < end; ++block) {
        int64_t count = 0;
        for (int64_t i = block * kBlock; i < std::min((block + 1) * kBlock, x.size()); ++i) count += is_set(i);
        first[block + 1] = count;
      }
    });
    for (int64_t block = 0; block < blocks; ++block) first[block + 1] += first[block];
    const int64_t total = first[blocks];
    absl::StatusOr<Tensor*> out = ctx.Allocate(0, DType::kInt64, {rank, total});
    if (!out.ok()) {
      status = out.status();
      return;
    }
    auto* to = (*out)->template data<int64_t>();  // [rank,total]
    ParallelFor(blocks, 4 * kBlock, [&](int64_t begin, int64_t end) {
      for (int64_t block = begin; block < end; ++block) {
        int64_t at = first[block];
        for (int64_t i = block * kBlock; i < std::min((block + 1) * kBlock, x.size()); ++i) {
          if (!is_set(i)) continue;
          int64_t rest = i;
          for (int axis = rank - 1; axis >= 0; --axis) {
            to[axis * total + at] = rest % x.dim(axis);
            rest /= x.dim(axis);
          }
          ++at;
        }
      }
    });
  });
  return status;
}

}  // namespace

absl::Span<const Kernel> RefSelect() {
  static constexpr Kernel kernels[] = {
      {.op = &ops::NonZero, .name = "ref", .run = &RunNonZero},
  };
  return kernels;
}

}  // namespace weft
