// DFT, STFT: in double, whatever the element type.
#include "graph/ops/signal.h"

#include <algorithm>
#include <atomic>
#include <bit>

#include "kernels/kernel.h"
#include "kernels/ref/elements.h"
#include "kernels/ref/fft.h"
#include "kernels/ref/indices.h"

namespace weft {
namespace {

using Complex = Fft::Complex;

// body(row, in, out, scratch) for every row, with buffers of the transform's size.
template <class Body>
absl::Status ForEachRow(const Fft& fft, int64_t rows, Body body) {
  std::atomic<bool> exhausted{false};
  const int64_t cost = 10 * fft.size() * std::bit_width(static_cast<uint64_t>(fft.size()));
  ParallelFor(rows, cost, [&](int64_t begin, int64_t end) {
    const auto buffer = Tensor::AllocateUninitialized(DType::kComplex128, {2 * fft.size() + fft.scratch_size()});
    if (!buffer.ok()) {
      exhausted.store(true, std::memory_order_relaxed);
      return;
    }
    Complex* in = buffer->data<Complex>();
    for (int64_t row = begin; row < end; ++row) body(row, in, in + fft.size(), in + 2 * fft.size());
  });
  return exhausted.load() ? Exhausted("no memory for Fourier transforms of length ", fft.size()) : absl::OkStatus();
}

// A number of `parts` parts.
template <class T>
Complex Load(const T* from, int64_t parts) {
  return {static_cast<double>(from[0]), parts == 2 ? static_cast<double>(from[1]) : 0.0};
}

// From a spectrum's first half the rest, which is its mirror image; what a real signal has no imaginary part in, loses it.
void Mirror(Complex* spectrum, int64_t n) {
  spectrum[0] = spectrum[0].real();
  if (n % 2 == 0) spectrum[n / 2] = spectrum[n / 2].real();
  for (int64_t k = n / 2 + 1; k < n; ++k) spectrum[k] = std::conj(spectrum[n - k]);
}

template <class T>
absl::Status RunDftAs(RunContext& ctx, int axis, const Fft& fft) {
  const auto& attrs = ctx.attrs<DftAttrs>();
  WEFT_ASSIGN_OR_RETURN(const Tensor x, Widen<T>(ctx.input(0)));
  WEFT_ASSIGN_OR_RETURN(Tensor y, WideOutput<T>(ctx.output(0)));
  const int64_t n = fft.size(), parts = x.dim(x.rank() - 1), out_parts = y.dim(y.rank() - 1);
  const int64_t inner = Product(absl::MakeConstSpan(x.dims()).subspan(axis + 1, x.rank() - axis - 2));
  const int64_t outer = Product(absl::MakeConstSpan(x.dims()).first(axis));
  const bool to_real = attrs.inverse && attrs.onesided;
  const int64_t size = x.dim(axis), used = std::min(size, to_real ? n / 2 + 1 : n), out_size = y.dim(axis);
  WEFT_RETURN_IF_ERROR(ForEachRow(fft, outer * inner, [&](int64_t row, Complex* in, Complex* out, Complex* scratch) {
    const T* from = x.data<const T>() + (row / inner * size * inner + row % inner) * parts;
    T* to = y.data<T>() + (row / inner * out_size * inner + row % inner) * out_parts;
    for (int64_t i = 0; i < used; ++i) in[i] = Load(from + i * inner * parts, parts);
    std::fill(in + used, in + n, Complex());
    if (to_real) Mirror(in, n);
    if (attrs.inverse) fft.Inverse(in, out, scratch);
    else fft.Forward(in, out, scratch);
    for (int64_t i = 0; i < out_size; ++i) {
      to[i * inner * out_parts] = static_cast<T>(out[i].real());
      if (out_parts == 2) to[i * inner * out_parts + 1] = static_cast<T>(out[i].imag());
    }
  }));
  Narrow<T>(y, ctx.output(0));
  return absl::OkStatus();
}

absl::Status RunDft(RunContext& ctx) {
  const auto& attrs = ctx.attrs<DftAttrs>();
  const Tensor& x = ctx.input(0);
  if (ctx.output(0).size() == 0) return absl::OkStatus();
  WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(ctx.HasInput(2) ? ReadInts(ctx.input(2))[0] : -2, x.rank()));
  int64_t n = attrs.inverse && attrs.onesided ? 2 * (x.dim(axis) - 1) : x.dim(axis);
  if (ctx.HasInput(1)) n = ReadInts(ctx.input(1))[0];
  WEFT_ASSIGN_OR_RETURN(const Fft fft, Fft::Create(n));
  return DispatchWide(x.dtype(), [&]<class T>() { return RunDftAs<T>(ctx, axis, fft); });
}

template <class T>
absl::Status RunStftAs(RunContext& ctx, int64_t step, const Fft& fft) {
  WEFT_ASSIGN_OR_RETURN(const Tensor x, Widen<T>(ctx.input(0)));  // [batch, length, parts]
  WEFT_ASSIGN_OR_RETURN(Tensor y, WideOutput<T>(ctx.output(0)));  // [batch, frames, bins, 2]
  const int64_t n = fft.size(), parts = x.rank() == 3 ? x.dim(2) : 1, frames = y.dim(1), bins = y.dim(2);
  std::vector<double> window(n, 1.0);
  if (ctx.HasInput(2)) ReadElements(ctx.input(2), 0, n, window.data());
  WEFT_RETURN_IF_ERROR(ForEachRow(fft, x.dim(0) * frames, [&](int64_t row, Complex* in, Complex* out, Complex* scratch) {
    const T* from = x.data<const T>() + (row / frames * x.dim(1) + row % frames * step) * parts;
    for (int64_t i = 0; i < n; ++i) in[i] = Load(from + i * parts, parts) * window[i];
    fft.Forward(in, out, scratch);
    T* to = y.data<T>() + row * bins * 2;
    for (int64_t i = 0; i < bins; ++i) {
      to[2 * i] = static_cast<T>(out[i].real());
      to[2 * i + 1] = static_cast<T>(out[i].imag());
    }
  }));
  Narrow<T>(y, ctx.output(0));
  return absl::OkStatus();
}

absl::Status RunStft(RunContext& ctx) {
  const Tensor& x = ctx.input(0);
  if (ctx.output(0).size() == 0) return absl::OkStatus();
  const int64_t step = ReadInts(ctx.input(1))[0];
  int64_t n = ctx.HasInput(2) ? ctx.input(2).size() : x.dim(1);
  if (ctx.HasInput(3)) n = ReadInts(ctx.input(3))[0];
  WEFT_ASSIGN_OR_RETURN(const Fft fft, Fft::Create(n));
  return DispatchWide(x.dtype(), [&]<class T>() { return RunStftAs<T>(ctx, step, fft); });
}

}  // namespace

absl::Span<const Kernel> RefSignal() {
  static constexpr Kernel kernels[] = {
      {.op = &ops::DFT, .name = "ref", .run = &RunDft},
      {.op = &ops::STFT, .name = "ref", .run = &RunStft},
  };
  return kernels;
}

}  // namespace weft
