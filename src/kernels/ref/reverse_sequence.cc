// ReverseSequence: slices of one sample at one time are moved whole.
#include "graph/ops/reverse_sequence.h"

#include <algorithm>

#include "kernels/kernel.h"
#include "kernels/ref/dispatch.h"

namespace weft {
namespace {

absl::Status RunReverseSequence(RunContext& ctx) {
  const auto& attrs = ctx.attrs<ReverseSequenceAttrs>();
  const Tensor& in = ctx.input(0);
  Tensor& out = ctx.output(0);
  const auto batch_axis = static_cast<int>(attrs.batch_axis), time_axis = static_cast<int>(attrs.time_axis);
  const int64_t batch = in.dim(batch_axis), time = in.dim(time_axis);
  const absl::Span<const int64_t> lengths = ctx.input(1).span<const int64_t>();
  for (int64_t length : lengths) {
    if (length < 0 || length > time) return Invalid("sequence_lens holds ", length, ", expected 0 to the size of the time axis, ", time);
  }
  if (out.size() == 0) return absl::OkStatus();
  const int64_t block = in.size() / (batch * time);
  const int64_t batch_stride = batch_axis == 0 ? time * block : block, time_stride = time_axis == 0 ? batch * block : block;
  return DispatchSize(in.dtype(), [&]<class T>() {
    ParallelFor(batch * time, block + 4, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t n = i / time, t = i % time, from = t < lengths[n] ? lengths[n] - 1 - t : t;
        std::copy_n(in.data<const T>() + n * batch_stride + from * time_stride, block, out.data<T>() + n * batch_stride + t * time_stride);
      }
    });
    return absl::OkStatus();
  });
}

}  // namespace

absl::Span<const Kernel> RefReverseSequence() {
  static constexpr Kernel kernels[] = {{.op = &ops::ReverseSequence, .name = "ref", .run = &RunReverseSequence}};
  return kernels;
}

}  // namespace weft
