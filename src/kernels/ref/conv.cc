// Conv, ConvTranspose, DeformConv (ONNX Operators.md, opset 22): direct sums.
#include "kernels/ref/conv.h"

#include <cmath>

#include "graph/ops/conv.h"
#include "kernels/kernel.h"
#include "kernels/ref/elements.h"

namespace weft {
namespace {

absl::Span<const int64_t> SpatialDims(const Tensor& t) { return absl::MakeConstSpan(t.dims()).subspan(2); }

// Input i as T; an empty handle where it is omitted.
template <class T>
absl::StatusOr<Tensor> WideInput(const RunContext& ctx, int i) {
  return ctx.HasInput(i) ? Widen<T>(ctx.input(i)) : Tensor();
}

template <class T>
absl::Status RunConvAs(RunContext& ctx) {
  const auto& attrs = ctx.attrs<ConvAttrs>();
  WEFT_ASSIGN_OR_RETURN(const Window window, ResolveWindow(SpecOf(attrs), SpatialDims(ctx.input(0)), SpatialDims(ctx.input(1))));
  WEFT_ASSIGN_OR_RETURN(const Tensor x, Widen<T>(ctx.input(0)));
  WEFT_ASSIGN_OR_RETURN(const Tensor w, Widen<T>(ctx.input(1)));
  WEFT_ASSIGN_OR_RETURN(const Tensor bias, WideInput<T>(ctx, 2));
  WEFT_ASSIGN_OR_RETURN(Tensor y, WideOutput<T>(ctx.output(0)));
  RunConvolution<T>({.x = x.data<T>(), .w = w.data<T>(), .bias = bias.data<T>(), .y = y.data<T>(), .n = x.dim(0), .c = x.dim(1),
                     .m = w.dim(0), .group = attrs.group, .window = &window});
  Narrow<T>(y, ctx.output(0));
  return absl::OkStatus();
}

// Along the last axis: input i in [lo, hi) meets output `out` + (i - lo) * stride at this tap.
struct TransposedTap {
  int64_t tap, out, lo, hi;
};

std::vector<TransposedTap> TransposedColumnTaps(const Window& w) {
  const int last = w.rank() - 1;
  const int64_t stride = w.strides[last];
  std::vector<TransposedTap> taps;
  for (int64_t k = 0; k < w.kernel[last]; ++k) {
    const int64_t shift = k * w.dilations[last] - w.pads_begin[last];  // output of input 0
    const int64_t lo = shift >= 0 ? 0 : CeilDivide(-shift, stride);
    const int64_t hi = std::min(w.in[last], FloorDivide(w.out[last] - 1 - shift, stride) + 1);
    if (lo < hi) taps.push_back({k, shift + lo * stride, lo, hi});
  }
  return taps;
}

template <class T>
absl::Status RunConvTransposeAs(RunContext& ctx) {
  const auto& attrs = ctx.attrs<ConvTransposeAttrs>();
  WEFT_ASSIGN_OR_RETURN(const Window win, ResolveTransposed(SpecOf(attrs), SpatialDims(ctx.input(0)), SpatialDims(ctx.input(1))));
  WEFT_ASSIGN_OR_RETURN(const Tensor x, Widen<T>(ctx.input(0)));   // [N, C, in...]
  WEFT_ASSIGN_OR_RETURN(const Tensor w, Widen<T>(ctx.input(1)));   // [C, M/group, kernel...]
  WEFT_ASSIGN_OR_RETURN(const Tensor bias, WideInput<T>(ctx, 2));  // [M]
  WEFT_ASSIGN_OR_RETURN(Tensor y, WideOutput<T>(ctx.output(0)));   // [N, M, out...]
  if (y.size() == 0) return absl::OkStatus();

  const int last = win.rank() - 1;
  const int64_t channels = x.dim(1), mg = w.dim(1), m_all = y.dim(1), cg = channels / attrs.group;
  const int64_t in_plane = Product(win.in), out_plane = Product(win.out), kernel = Product(win.kernel);
  const int64_t in_width = win.in[last], out_width = win.out[last], stride = win.strides[last], rows = out_plane / out_width;
  const auto columns = TransposedColumnTaps(win);
  ParallelFor(x.dim(0) * rows * m_all, 2 * in_width * cg * kernel, [&](int64_t begin, int64_t end) {
    std::vector<RowTap> taps;
    int64_t taps_of = -1;
    for (int64_t index = begin; index < end; ++index) {
      const int64_t m = index % m_all, row = index / m_all % rows, n = index / m_all / rows;
      if (row != taps_of) {
        taps = TransposedRowTaps(win, row);
        taps_of = row;
      }
      T* to_row = y.data<T>() + (n * m_all + m) * out_plane + row * out_width;
      std::fill(to_row, to_row + out_width, ctx.HasInput(2) ? bias.data<T>()[m] : T(0));
      for (int64_t c = m / mg * cg; c < (m / mg + 1) * cg; ++c) {
        const T* plane = x.data<T>() + (n * channels + c) * in_plane;
        const T* weights = w.data<T>() + (c * mg + m % mg) * kernel;
        for (const RowTap& r : taps) {
          for (const TransposedTap& t : columns) {
            const T weight = weights[r.tap * win.kernel[last] + t.tap];
            const T* from = plane + r.row * in_width + t.lo;
            T* to = to_row + t.out;
            for (int64_t i = 0; i < t.hi - t.lo; ++i) to[i * stride] += weight * from[i];
          }
        }
      }
    }
  });
  Narrow<T>(y, ctx.output(0));
  return absl::OkStatus();
}

// One corner of the cell of inputs around a sampling point.
template <class T>
struct Corner {
  int64_t index;  // into the input plane
  T weight;
};

// Corners inside the input of the cell around `at` (one coordinate per axis) with their multilinear weights.
template <class T>
void FindCorners(const Window& w, const T* at, std::vector<Corner<T>>& corners) {
  corners.assign(1, {0, T(1)});
  std::vector<Corner<T>> wider;
  for (int axis = 0; axis < w.rank(); ++axis) {
    wider.clear();
    if (at[axis] > T(-1) && at[axis] < static_cast<T>(w.in[axis])) {  // false for NaN
      const T floor = std::floor(at[axis]);
      const int64_t low = static_cast<int64_t>(floor);
      const T above = at[axis] - floor;
      for (const Corner<T>& c : corners) {
        if (low >= 0) wider.push_back({c.index * w.in[axis] + low, c.weight * (1 - above)});
        if (low + 1 < w.in[axis]) wider.push_back({c.index * w.in[axis] + low + 1, c.weight * above});
      }
    }
    corners.swap(wider);
  }
}

template <class T>
absl::Status RunDeformConvAs(RunContext& ctx) {
  const auto& attrs = ctx.attrs<DeformConvAttrs>();
  WEFT_ASSIGN_OR_RETURN(const Window win, ResolveWindow(SpecOf(attrs), SpatialDims(ctx.input(0)), SpatialDims(ctx.input(1))));
  WEFT_ASSIGN_OR_RETURN(const Tensor x, Widen<T>(ctx.input(0)));       // [N, C, in...]
  WEFT_ASSIGN_OR_RETURN(const Tensor w, Widen<T>(ctx.input(1)));       // [M, C/group, kernel...]
  WEFT_ASSIGN_OR_RETURN(const Tensor offset, Widen<T>(ctx.input(2)));  // [N, offset_group, kernel..., n, out...]
  WEFT_ASSIGN_OR_RETURN(const Tensor bias, WideInput<T>(ctx, 3));      // [M]
  WEFT_ASSIGN_OR_RETURN(const Tensor mask, WideInput<T>(ctx, 4));      // [N, offset_group, kernel..., out...]
  WEFT_ASSIGN_OR_RETURN(Tensor y, WideOutput<T>(ctx.output(0)));       // [N, M, out...]

  const int rank = win.rank();
  const int64_t channels = x.dim(1), m_all = w.dim(0), cg = w.dim(1), mg = m_all / attrs.group;
  const int64_t per_offset_group = channels / attrs.offset_group;
  const int64_t in_plane = Product(win.in), out_plane = Product(win.out), kernel = Product(win.kernel);
  ParallelFor(x.dim(0) * out_plane, 2 * kernel * (m_all * cg + channels), [&](int64_t begin, int64_t end) {
    std::vector<T> column(channels * kernel), at(rank);  // column: [C, kernel...] as sampled for one output position
    std::vector<Corner<T>> corners;
    for (int64_t index = begin; index < end; ++index) {
      const int64_t n = index / out_plane, position = index % out_plane;
      for (int64_t g = 0; g < attrs.offset_group; ++g) {
        for (int64_t k = 0; k < kernel; ++k) {
          const int64_t tap = (n * attrs.offset_group + g) * kernel + k;
          for (int64_t axis = rank - 1, o = position, rest = k; axis >= 0; --axis) {
            at[axis] = static_cast<T>(o % win.out[axis] * win.strides[axis] - win.pads_begin[axis] +
                                      rest % win.kernel[axis] * win.dilations[axis]) +
                       offset.data<T>()[(tap * rank + axis) * out_plane + position];
            o /= win.out[axis];
            rest /= win.kernel[axis];
          }
          FindCorners(win, at.data(), corners);
          const T scale = ctx.HasInput(4) ? mask.data<T>()[tap * out_plane + position] : T(1);
          for (int64_t c = g * per_offset_group; c < (g + 1) * per_offset_group; ++c) {
            const T* plane = x.data<T>() + (n * channels + c) * in_plane;
            T sample = 0;
            for (const Corner<T>& corner : corners) sample += corner.weight * plane[corner.index];
            column[c * kernel + k] = sample * scale;
          }
        }
      }
      for (int64_t m = 0; m < m_all; ++m) {
        const T* weights = w.data<T>() + m * cg * kernel;
        const T* samples = column.data() + m / mg * cg * kernel;
        T sum = ctx.HasInput(3) ? bias.data<T>()[m] : T(0);
        for (int64_t i = 0; i < cg * kernel; ++i) sum += weights[i] * samples[i];
        y.data<T>()[(n * m_all + m) * out_plane + position] = sum;
      }
    }
  });
  Narrow<T>(y, ctx.output(0));
  return absl::OkStatus();
}

absl::Status RunConv(RunContext& ctx) {
  return DispatchWide(ctx.input(0).dtype(), [&]<class T>() { return RunConvAs<T>(ctx); });
}
absl::Status RunConvTranspose(RunContext& ctx) {
  return DispatchWide(ctx.input(0).dtype(), [&]<class T>() { return RunConvTransposeAs<T>(ctx); });
}
absl::Status RunDeformConv(RunContext& ctx) {
  return DispatchWide(ctx.input(0).dtype(), [&]<class T>() { return RunDeformConvAs<T>(ctx); });
}

}  // namespace

absl::Span<const Kernel> RefConv() {
  static constexpr Kernel kernels[] = {
      {.op = &ops::Conv, .name = "ref", .run = &RunConv},
      {.op = &ops::ConvTranspose, .name = "ref", .run = &RunConvTranspose},
      {.op = &ops::DeformConv, .name = "ref", .run = &RunDeformConv},
  };
  return kernels;
}

}  // namespace weft
