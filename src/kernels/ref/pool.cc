// Pools (ONNX Operators.md, opset 22): window by window.
#include "graph/ops/pool.h"

#include <cmath>
#include <limits>

#include "graph/ops/spatial.h"
#include "kernels/kernel.h"
#include "kernels/ref/elements.h"
#include "kernels/ref/window_rows.h"

namespace weft {
namespace {

// One window over one plane of the input.
struct Placed {
  const std::vector<RowTap>& rows;  // input rows it covers
  int64_t row;                      // the output row, counted as in window_rows.h
  int64_t column;                   // the output's place in that row
  int64_t first, step, count;       // input columns: first, first + step, ...
  int64_t plane;                    // index of n * C + c
  int64_t output;                   // index of the output element
};

// Calls visit(Placed) for every output of `planes` planes, over the threads.
template <class Visit>
void ForEachWindow(const Window& w, int64_t planes, Visit visit) {
  const int last = w.rank() - 1;
  const int64_t width = w.out[last], out_plane = Product(w.out);
  if (out_plane == 0) return;
  const int64_t rows = out_plane / width;
  int64_t window = 1;  // elements it covers at most
  for (int axis = 0; axis <= last; ++axis) window *= std::min(w.kernel[axis], w.in[axis]);
  ParallelFor(rows * planes, 4 * width * window, [&](int64_t begin, int64_t end) {
    std::vector<RowTap> taps;
    int64_t taps_of = -1;
    for (int64_t index = begin; index < end; ++index) {
      const int64_t row = index / planes, plane = index % planes;
      if (row != taps_of) {
        taps = RowTaps(w, row);
        taps_of = row;
      }
      for (int64_t o = 0; o < width; ++o) {
        const TapRange range = TapsInside(w, last, o);
        visit(Placed{taps, row, o, o * w.strides[last] - w.pads_begin[last] + range.first * w.dilations[last],
                     w.dilations[last], range.last - range.first, plane, plane * out_plane + row * width + o});
      }
    }
  });
}

template <class A>
absl::StatusOr<Window> PoolWindow(const RunContext& ctx) {
  const auto& attrs = ctx.attrs<A>();
  return ResolveWindow(SpecOf(attrs), absl::MakeConstSpan(ctx.input(0).dims()).subspan(2), attrs.kernel_shape);
}

template <class T>
constexpr T Lowest() {
  return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
}

// The first of the largest elements; a NaN beats every number.
template <class T>
bool Beats(T candidate, T best) {
  return candidate > best || (candidate != candidate && best == best);
}

// The index of a plane's element with the first axis fastest, from the one with the last axis fastest.
int64_t ColumnMajor(const Window& w, int64_t index) {
  int64_t result = 0, stride = Product(w.in);
  for (int axis = w.rank() - 1; axis >= 0; --axis) {
    stride /= w.in[axis];
    result += index % w.in[axis] * stride;
    index /= w.in[axis];
  }
  return result;
}

template <class T>
absl::Status RunMaxPoolAs(RunContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const Window w, PoolWindow<MaxPoolAttrs>(ctx));
  WEFT_ASSIGN_OR_RETURN(const Tensor x, Widen<T>(ctx.input(0)));
  WEFT_ASSIGN_OR_RETURN(Tensor y, WideOutput<T>(ctx.output(0)));
  int64_t* const indices = ctx.HasOutput(1) ? ctx.output(1).data<int64_t>() : nullptr;
  const bool column_major = ctx.attrs<MaxPoolAttrs>().storage_order == 1;
  const int64_t in_plane = Product(w.in), in_width = w.in[w.rank() - 1];
  ForEachWindow(w, x.dim(0) * x.dim(1), [&](const Placed& p) {
    const T* plane = x.data<T>() + p.plane * in_plane;
    T best = Lowest<T>();
    int64_t at = -1;  // stays where the window lies in the padding
    for (const RowTap& r : p.rows) {
      for (int64_t k = 0, i = r.row * in_width + p.first; k < p.count; ++k, i += p.step) {
        if (at >= 0 && !Beats(plane[i], best)) continue;
        best = plane[i];
        at = i;
      }
    }
    y.data<T>()[p.output] = best;
    if (indices != nullptr) {
      indices[p.output] = at < 0 ? -1 : p.plane * in_plane + (column_major ? ColumnMajor(w, at) : at);
    }
  });
  if constexpr (std::is_floating_point_v<T>) Narrow<T>(y, ctx.output(0));
  return absl::OkStatus();
}

absl::Status RunMaxPool(RunContext& ctx) {
  switch (ctx.input(0).dtype()) {
    case DType::kInt8: return RunMaxPoolAs<int8_t>(ctx);
    case DType::kUint8: return RunMaxPoolAs<uint8_t>(ctx);
    default: return DispatchWide(ctx.input(0).dtype(), [&]<class T>() { return RunMaxPoolAs<T>(ctx); });
  }
}

// Taps of output `o` inside the input and its padding, on one axis: what ceil_mode adds beyond that does not count.
int64_t TapsPadded(const Window& w, int axis, int64_t o) {
  const int64_t start = o * w.strides[axis] - w.pads_begin[axis];
  return std::min(w.kernel[axis], FloorDivide(w.in[axis] + w.pads_end[axis] - 1 - start, w.dilations[axis]) + 1);
}

template <class T>
absl::Status RunAveragePoolAs(RunContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const Window w, PoolWindow<AveragePoolAttrs>(ctx));
  WEFT_ASSIGN_OR_RETURN(const Tensor x, Widen<T>(ctx.input(0)));
  WEFT_ASSIGN_OR_RETURN(Tensor y, WideOutput<T>(ctx.output(0)));
  const bool with_pads = ctx.attrs<AveragePoolAttrs>().count_include_pad;
  const int last = w.rank() - 1;
  const int64_t in_plane = Product(w.in), in_width = w.in[last];
  ForEachWindow(w, x.dim(0) * x.dim(1), [&](const Placed& p) {
    const T* plane = x.data<T>() + p.plane * in_plane;
    double sum = 0;
    for (const RowTap& r : p.rows) {
      for (int64_t k = 0, i = r.row * in_width + p.first; k < p.count; ++k, i += p.step) sum += plane[i];
    }
    double count = static_cast<double>(p.rows.size()) * static_cast<double>(p.count);
    if (with_pads) {
      count = static_cast<double>(TapsPadded(w, last, p.column));
      int64_t row = p.row;
      for (int axis = last - 1; axis >= 0; row /= w.out[axis--]) {
        count *= static_cast<double>(TapsPadded(w, axis, row % w.out[axis]));
      }
    }
    y.data<T>()[p.output] = count == 0 ? T(0) : static_cast<T>(sum / count);
  });
  Narrow<T>(y, ctx.output(0));
  return absl::OkStatus();
}

double Power(double x, int64_t p) {
  x = std::fabs(x);
  return p == 1 ? x : p == 2 ? x * x : std::pow(x, static_cast<double>(p));
}
double Root(double x, int64_t p) { return p == 1 ? x : p == 2 ? std::sqrt(x) : std::pow(x, 1.0 / static_cast<double>(p)); }

template <class T>
absl::Status RunLpPoolAs(RunContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const Window w, PoolWindow<LpPoolAttrs>(ctx));
  WEFT_ASSIGN_OR_RETURN(const Tensor x, Widen<T>(ctx.input(0)));
  WEFT_ASSIGN_OR_RETURN(Tensor y, WideOutput<T>(ctx.output(0)));
  const int64_t power = ctx.attrs<LpPoolAttrs>().p, in_plane = Product(w.in), in_width = w.in[w.rank() - 1];
  ForEachWindow(w, x.dim(0) * x.dim(1), [&](const Placed& p) {
    const T* plane = x.data<T>() + p.plane * in_plane;
    double sum = 0;
    for (const RowTap& r : p.rows) {
      for (int64_t k = 0, i = r.row * in_width + p.first; k < p.count; ++k, i += p.step) sum += Power(plane[i], power);
    }
    y.data<T>()[p.output] = static_cast<T>(Root(sum, power));
  });
  Narrow<T>(y, ctx.output(0));
  return absl::OkStatus();
}

// y[n, c] = reduce(plane, number of its elements).
template <class T, class Reduce>
absl::Status RunGlobalPool(RunContext& ctx, Reduce reduce) {
  WEFT_ASSIGN_OR_RETURN(const Tensor x, Widen<T>(ctx.input(0)));
  WEFT_ASSIGN_OR_RETURN(Tensor y, WideOutput<T>(ctx.output(0)));
  const int64_t plane = Product(absl::MakeConstSpan(x.dims()).subspan(2));
  ParallelFor(y.size(), 2 * plane, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y.data<T>()[i] = reduce(x.data<T>() + i * plane, plane);
  });
  Narrow<T>(y, ctx.output(0));
  return absl::OkStatus();
}

absl::Status RunGlobalAveragePool(RunContext& ctx) {
  return DispatchWide(ctx.input(0).dtype(), [&]<class T>() {
    return RunGlobalPool<T>(ctx, [](const T* x, int64_t count) {
      double sums[4] = {};
      int64_t i = 0;
      for (; i + 4 <= count; i += 4) {
        for (int j = 0; j < 4; ++j) sums[j] += x[i + j];
      }
      for (; i < count; ++i) sums[0] += x[i];
      return static_cast<T>((sums[0] + sums[1] + sums[2] + sums[3]) / static_cast<double>(count));
    });
  });
}

absl::Status RunGlobalMaxPool(RunContext& ctx) {
  return DispatchWide(ctx.input(0).dtype(), [&]<class T>() {
    return RunGlobalPool<T>(ctx, [](const T* x, int64_t count) {
      T best = Lowest<T>();
      for (int64_t i = 0; i < count; ++i) {
        if (Beats(x[i], best)) best = x[i];
      }
      return best;
    });
  });
}

absl::Status RunGlobalLpPool(RunContext& ctx) {
  return DispatchWide(ctx.input(0).dtype(), [&]<class T>() {
    return RunGlobalPool<T>(ctx, [p = ctx.attrs<GlobalLpPoolAttrs>().p](const T* x, int64_t count) {
      double sum = 0;
      for (int64_t i = 0; i < count; ++i) sum += Power(x[i], p);
      return static_cast<T>(Root(sum, p));
    });
  });
}

// Indices count the elements of the smallest tensor that the pool can have come from; a larger output_shape holds it in its low corner.
absl::Status RunMaxUnpool(RunContext& ctx) {
  const auto& attrs = ctx.attrs<MaxUnpoolAttrs>();
  const Tensor& x = ctx.input(0);
  const Tensor& indices = ctx.input(1);
  Tensor& y = ctx.output(0);
  WEFT_ASSIGN_OR_RETURN(const Window w,
                        ResolveTransposed(SpecOf(attrs), absl::MakeConstSpan(x.dims()).subspan(2), attrs.kernel_shape));
  Dims source = {x.dim(0), x.dim(1)};
  source.insert(source.end(), w.out.begin(), w.out.end());
  WEFT_ASSIGN_OR_RETURN(const int64_t count, NumElements(source));
  for (int axis = 0; axis < y.rank(); ++axis) {
    if (y.dim(axis) < source[axis]) return Invalid("output_shape has ", y.dim(axis), " for axis ", axis, ", expected at least ", source[axis]);
  }
  const size_t size = DTypeSize(x.dtype());
  std::fill_n(y.data<char>(), y.bytes(), 0);
  for (int64_t i = 0; i < x.size(); ++i) {
    int64_t index = indices.data<int64_t>()[i];
    if (index < 0 || index >= count) return Invalid("input 1 (I) contains ", index, ", expected indices in [0, ", count - 1, "]");
    int64_t to = 0, stride = 1;
    for (int axis = y.rank() - 1; axis >= 0; --axis) {
      to += index % source[axis] * stride;
      index /= source[axis];
      stride *= y.dim(axis);
    }
    std::copy_n(x.data<char>() + i * size, size, y.data<char>() + to * size);
  }
  return absl::OkStatus();
}

absl::Status RunAveragePool(RunContext& ctx) {
  return DispatchWide(ctx.input(0).dtype(), [&]<class T>() { return RunAveragePoolAs<T>(ctx); });
}
absl::Status RunLpPool(RunContext& ctx) {
  return DispatchWide(ctx.input(0).dtype(), [&]<class T>() { return RunLpPoolAs<T>(ctx); });
}

}  // namespace

absl::Span<const Kernel> RefPool() {
  static constexpr Kernel kernels[] = {
      {.op = &ops::MaxPool, .name = "ref", .run = &RunMaxPool},
      {.op = &ops::AveragePool, .name = "ref", .run = &RunAveragePool},
      {.op = &ops::LpPool, .name = "ref", .run = &RunLpPool},
      {.op = &ops::GlobalAveragePool, .name = "ref", .run = &RunGlobalAveragePool},
      {.op = &ops::GlobalMaxPool, .name = "ref", .run = &RunGlobalMaxPool},
      {.op = &ops::GlobalLpPool, .name = "ref", .run = &RunGlobalLpPool},
      {.op = &ops::MaxUnpool, .name = "ref", .run = &RunMaxUnpool},
  };
  return kernels;
}

}  // namespace weft
