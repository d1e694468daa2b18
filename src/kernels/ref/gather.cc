// Gather, GatherElements, GatherND. Indices are checked before anything is read.
#include "graph/ops/shape.h"

#include <algorithm>

#include "kernels/kernel.h"
#include "kernels/ref/dispatch.h"
#include "kernels/ref/indices.h"
#include "kernels/ref/strided.h"
#include "kernels/ref/take.h"

namespace weft {
namespace {

// Blocks of `block` elements: block i of `to` is the one of `from` that begins at offset(i).
template <class T, class Offset>
void GatherBlocks(const T* from, T* to, int64_t count, int64_t block, Offset offset) {
  ParallelFor(count, block + 4, [&](int64_t begin, int64_t end) {
    if (block == 1) {
      for (int64_t i = begin; i < end; ++i) to[i] = from[offset(i)];
    } else {
      for (int64_t i = begin; i < end; ++i) std::copy_n(from + offset(i), block, to + i * block);
    }
  });
}

absl::Status RunGather(RunContext& ctx) {
  const Tensor& data = ctx.input(0);
  WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(ctx.attrs<GatherAttrs>().axis, data.rank()));
  std::vector<int64_t> indices = ReadInts(ctx.input(1));
  for (int64_t& index : indices) {
    WEFT_ASSIGN_OR_RETURN(index, ResolveIndex(index, axis, data.dim(axis)));
  }
  TakeSlices(data, axis, indices, ctx.output(0));
  return absl::OkStatus();
}

absl::Status RunGatherElements(RunContext& ctx) {
  const Tensor& data = ctx.input(0);
  Tensor& out = ctx.output(0);
  WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(ctx.attrs<GatherElementsAttrs>().axis, data.rank()));
  std::vector<int64_t> indices = ReadInts(ctx.input(1));
  for (int64_t& index : indices) {
    WEFT_ASSIGN_OR_RETURN(index, ResolveIndex(index, axis, data.dim(axis)));
  }
  if (out.size() == 0) return absl::OkStatus();
  // Row by row along the last axis; `step` is what an index moves by.
  const int last = data.rank() - 1;
  const Dims strides = StridesOf(data.dims());
  const int64_t step = strides[axis], row_size = out.dim(last), own = axis == last ? 0 : 1;
  return DispatchSize(data.dtype(), [&]<class T>() {
    ParallelFor(out.size() / row_size, 2 * row_size, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        int64_t rest = row, base = 0;
        for (int i = last - 1; i >= 0; --i) {
          if (i != axis) base += rest % out.dim(i) * strides[i];
          rest /= out.dim(i);
        }
        const T* from = data.data<const T>() + base;
        const int64_t* index = indices.data() + row * row_size;
        T* to = out.data<T>() + row * row_size;
        for (int64_t i = 0; i < row_size; ++i) to[i] = from[index[i] * step + i * own];
      }
    });
    return absl::OkStatus();
  });
}

absl::Status RunGatherND(RunContext& ctx) {
  const Tensor &data = ctx.input(0), &index_tensor = ctx.input(1);
  Tensor& out = ctx.output(0);
  const auto batch = static_cast<int>(ctx.attrs<GatherNDAttrs>().batch_dims);
  const int64_t k = index_tensor.dim(index_tensor.rank() - 1), tuples = index_tensor.size() / k;
  int64_t batches = 1;
  for (int i = 0; i < batch; ++i) batches *= data.dim(i);
  const Dims strides = StridesOf(data.dims());
  const int64_t per_batch = batches == 0 ? 0 : tuples / batches, whole = batches == 0 ? 0 : data.size() / batches;
  std::vector<int64_t> offsets(tuples);
  const int64_t* index = index_tensor.data<const int64_t>();
  for (int64_t i = 0; i < tuples; ++i) {
    offsets[i] = i / per_batch * whole;
    for (int64_t j = 0; j < k; ++j) {
      const auto axis = batch + static_cast<int>(j);
      WEFT_ASSIGN_OR_RETURN(const int64_t at, ResolveIndex(*index++, axis, data.dim(axis)));
      offsets[i] += at * strides[axis];
    }
  }
  if (out.size() == 0) return absl::OkStatus();
  const int64_t block = strides[batch + k - 1];
  return DispatchSize(data.dtype(), [&]<class T>() {
    GatherBlocks(data.data<const T>(), out.data<T>(), tuples, block, [&](int64_t i) { return offsets[i]; });
    return absl::OkStatus();
  });
}

}  // namespace

void TakeSlices(const Tensor& data, int axis, absl::Span<const int64_t> indices, Tensor& out) {
  if (out.size() == 0) return;
  const int64_t block = StridesOf(data.dims())[axis], whole = block * data.dim(axis);
  const auto picks = static_cast<int64_t>(indices.size());
  DispatchSize(data.dtype(), [&]<class T>() {
    const int64_t outer = data.size() / whole;
    if (outer == 1) {
      GatherBlocks(data.data<const T>(), out.data<T>(), picks, block, [&](int64_t i) { return indices[i] * block; });
    } else {
      GatherBlocks(data.data<const T>(), out.data<T>(), outer * picks, block,
                   [&](int64_t i) { return i / picks * whole + indices[i % picks] * block; });
    }
    return absl::OkStatus();
  }).IgnoreError();
}

absl::Span<const Kernel> RefGather() {
  static constexpr Kernel kernels[] = {
      {.op = &ops::Gather, .name = "ref", .run = &RunGather},
      {.op = &ops::GatherElements, .name = "ref", .run = &RunGatherElements},
      {.op = &ops::GatherND, .name = "ref", .run = &RunGatherND},
  };
  return kernels;
}

}  // namespace weft
