// NonZero, Compress.
#include "graph/ops/select.h"

#include <algorithm>
#include <complex>
#include <string>
#include <vector>

#include "kernels/kernel.h"
#include "kernels/ref/dispatch.h"
#include "kernels/ref/indices.h"
#include "kernels/ref/take.h"

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

// Counted block by block, so that every block knows where its finds belong.
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

absl::Status RunCompress(RunContext& ctx) {
  const Tensor &in = ctx.input(0), &condition = ctx.input(1);
  const std::optional<int64_t> attr = ctx.attrs<CompressAttrs>().axis;
  int axis = 0;
  if (attr) {
    WEFT_ASSIGN_OR_RETURN(axis, InferContext::NormalizeAxis(*attr, in.rank()));
  }
  const Tensor data = attr ? in : in.Reshaped({in.size()});
  std::vector<int64_t> picks;
  for (int64_t i = 0; i < condition.size(); ++i) {
    if (!condition.data<const bool>()[i]) continue;
    if (i >= data.dim(axis)) return IndexOutOfRange(i, axis, data.dim(axis));
    picks.push_back(i);
  }
  Dims dims = data.dims();
  dims[axis] = static_cast<int64_t>(picks.size());
  WEFT_ASSIGN_OR_RETURN(Tensor* out, ctx.Allocate(0, in.dtype(), dims));
  TakeSlices(data, axis, picks, *out);
  return absl::OkStatus();
}

}  // namespace

absl::Span<const Kernel> RefSelect() {
  static constexpr Kernel kernels[] = {
      {.op = &ops::Compress, .name = "ref", .run = &RunCompress},
      {.op = &ops::NonZero, .name = "ref", .run = &RunNonZero},
  };
  return kernels;
}

}  // namespace weft
