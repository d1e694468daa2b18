// Pad, CenterCropPad: for each axis a table says where an output index comes from.
#include "graph/ops/shape.h"

#include <algorithm>
#include <numeric>

#include "kernels/kernel.h"
#include "kernels/ref/dispatch.h"
#include "kernels/ref/strided.h"
#include "kernels/ref/indices.h"

namespace weft {
namespace {

constexpr int64_t kConstant = -1;

// One axis of the output. Elements [copy_begin, copy_end) are the source's from copy_source on; the others stand in `source`, kConstant
// for the pad value.
struct AxisMap {
  std::vector<int64_t> source;
  int64_t copy_begin = 0, copy_end = 0, copy_source = 0;
};

// Index i, counted from the begin of a run of n elements, brought into the run.
int64_t Inside(int64_t i, int64_t n, std::string_view mode) {
  if (mode == "edge") return std::clamp<int64_t>(i, 0, n - 1);
  const int64_t period = mode == "wrap" ? n : std::max<int64_t>(2 * (n - 1), 1);
  i = (i % period + period) % period;
  return i < n ? i : period - i;  // reflected
}

AxisMap MapAxis(int64_t size, AxisPad pad, int64_t out_size, std::string_view mode) {
  // What cropping leaves of the axis: [begin, end).
  const int64_t begin = std::clamp<int64_t>(-std::max(pad.begin, -size), 0, size);
  const int64_t end = std::max(size - std::clamp<int64_t>(-std::max(pad.end, -size), 0, size), begin);
  // Where it lands.
  const int64_t at = std::clamp<int64_t>(std::max<int64_t>(pad.begin, 0), 0, out_size);
  AxisMap map;
  map.copy_begin = at;
  map.copy_end = std::min(at + (end - begin), out_size);
  map.copy_source = begin;
  map.source.resize(out_size);
  for (int64_t i = 0; i < out_size; ++i) {
    const bool inside = i >= map.copy_begin && i < map.copy_end;
    map.source[i] = inside              ? begin + i - at
                    : mode == "constant" ? kConstant
                                         : begin + Inside(i - at, end - begin, mode);
  }
  return map;
}

// Row by row along the last axis.
template <class T>
void FillRows(const Tensor& in, Tensor& out, const std::vector<AxisMap>& maps, const T& value) {
  const int last = out.rank() - 1;
  const Dims strides = StridesOf(in.dims());
  const AxisMap& inner = maps[last];
  const int64_t row_size = out.dim(last);
  ParallelFor(out.size() / row_size, row_size, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t rest = row, base = 0;
      bool constant = false;
      for (int axis = last - 1; axis >= 0; --axis) {
        const int64_t source = maps[axis].source[rest % out.dim(axis)];
        constant |= source == kConstant;
        base += source * strides[axis];
        rest /= out.dim(axis);
      }
      T* to = out.data<T>() + row * row_size;
      if (constant) {
        std::fill_n(to, row_size, value);
        continue;
      }
      const T* from = in.data<const T>() + base;
      auto pick = [&](int64_t i) { to[i] = inner.source[i] == kConstant ? value : from[inner.source[i]]; };
      for (int64_t i = 0; i < inner.copy_begin; ++i) pick(i);
      std::copy_n(from + inner.copy_source, inner.copy_end - inner.copy_begin, to + inner.copy_begin);
      for (int64_t i = inner.copy_end; i < row_size; ++i) pick(i);
    }
  });
}

absl::Status FillPadded(const Tensor& in, Tensor& out, absl::Span<const AxisPad> pads, std::string_view mode, const Tensor* value) {
  if (out.size() == 0) return absl::OkStatus();
  std::vector<AxisMap> maps;
  for (int axis = 0; axis < in.rank(); ++axis) maps.push_back(MapAxis(in.dim(axis), pads[axis], out.dim(axis), mode));
  return DispatchSize(in.dtype(), [&]<class T>() {
    const T pad_value = value != nullptr && value->size() > 0 ? *value->data<const T>() : T{};
    if (in.rank() == 0) {
      *out.data<T>() = *in.data<const T>();
    } else {
      FillRows<T>(in, out, maps, pad_value);
    }
    return absl::OkStatus();
  });
}

absl::Status RunPad(RunContext& ctx) {
  const Tensor& in = ctx.input(0);
  const std::vector<int64_t> values = ReadInts(ctx.input(1));
  std::vector<int64_t> axes(in.rank());
  std::iota(axes.begin(), axes.end(), 0);
  if (ctx.HasInput(3)) axes = ReadInts(ctx.input(3));
  std::vector<AxisPad> pads(in.rank());
  for (size_t i = 0; i < axes.size(); ++i) {
    WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(axes[i], in.rank()));
    pads[axis] = {values[i], values[axes.size() + i]};
  }
  return FillPadded(in, ctx.output(0), pads, ctx.attrs<PadAttrs>().mode, ctx.HasInput(2) ? &ctx.input(2) : nullptr);
}

absl::Status RunCenterCropPad(RunContext& ctx) {
  const Tensor& in = ctx.input(0);
  Tensor& out = ctx.output(0);
  std::vector<AxisPad> pads;
  for (int axis = 0; axis < in.rank(); ++axis) pads.push_back(CenterPad(in.dim(axis), out.dim(axis)));
  return FillPadded(in, out, pads, "constant", nullptr);
}

}  // namespace

absl::Span<const Kernel> RefPad() {
  static constexpr Kernel kernels[] = {
      {.op = &ops::Pad, .name = "ref", .run = &RunPad},
      {.op = &ops::CenterCropPad, .name = "ref", .run = &RunCenterCropPad},
  };
  return kernels;
}

}  // namespace weft
