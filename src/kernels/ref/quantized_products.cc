// ConvInteger, MatMulInteger (ONNX Operators.md, opset 10), QLinearConv (10), QLinearMatMul (21). The integer forms sum modulo 2^32; the
// requantised ones sum in double, exactly.
#include "graph/ops/conv.h"
#include "kernels/kernel.h"
#include "kernels/ref/conv.h"
#include "kernels/ref/matmul.h"
#include "kernels/ref/periodic.h"
#include "kernels/ref/quantize.h"

namespace weft {
namespace {

// t - zero as T; `zero` (null: none) broadcasts to t when its dims are taken to be `zero_dims`.
template <class T>
absl::StatusOr<Tensor> Centred(const Tensor& t, const Tensor* zero, const Dims& zero_dims) {
  WEFT_ASSIGN_OR_RETURN(Tensor wide, Tensor::AllocateUninitialized(DTypeOf<T>::value, t.dims()));
  ReadElements(t, 0, t.size(), wide.data<T>());
  if (zero == nullptr || t.size() == 0) return wide;
  WEFT_ASSIGN_OR_RETURN(const Periodic<T> shift, Repeat<T>(zero->Reshaped(zero_dims), t.dims()));
  for (int64_t i = 0; i < t.size(); ++i) wide.data<T>()[i] -= shift.values.template data<T>()[i % shift.period];
  return wide;
}

const Tensor* InputOrNull(const RunContext& ctx, int i) { return ctx.HasInput(i) ? &ctx.input(i) : nullptr; }

// A vector of one value for each output channel, as it broadcasts to [channels, ...] of `rank` axes.
Dims PerChannel(const Tensor* t, int rank) {
  Dims dims(rank, 1);
  if (t != nullptr && t->size() > 0) dims[0] = t->size();
  return dims;
}

// One value for each row (the axis before the last) or column (the last) of matrices.
Dims PerRow(const Tensor* t) {
  if (t == nullptr || t->size() == 1) return {};
  return t->rank() == 1 ? Dims{t->dim(0), 1} : t->dims();
}
Dims PerColumn(const Tensor* t) { return t == nullptr || t->size() == 1 ? Dims{} : t->dims(); }

template <class T>
absl::Status Convolve(const RunContext& ctx, const Tensor& x, const Tensor& w, T* y) {
  const auto& attrs = ctx.attrs<ConvAttrs>();
  WEFT_ASSIGN_OR_RETURN(const Window window, ResolveWindow(SpecOf(attrs), absl::MakeConstSpan(x.dims()).subspan(2),
                                                           absl::MakeConstSpan(w.dims()).subspan(2)));
  RunConvolution<T>({.x = x.data<T>(), .w = w.data<T>(), .y = y, .n = x.dim(0), .c = x.dim(1), .m = w.dim(0), .group = attrs.group,
                     .window = &window});
  return absl::OkStatus();
}

absl::Status RunConvInteger(RunContext& ctx) {
  const Tensor* w_zero = InputOrNull(ctx, 3);
  WEFT_ASSIGN_OR_RETURN(const Tensor x, Centred<uint32_t>(ctx.input(0), InputOrNull(ctx, 2), {}));
  WEFT_ASSIGN_OR_RETURN(const Tensor w, Centred<uint32_t>(ctx.input(1), w_zero, PerChannel(w_zero, ctx.input(1).rank())));
  return Convolve(ctx, x, w, ctx.output(0).data<uint32_t>());
}

absl::Status RunMatMulInteger(RunContext& ctx) {
  const Tensor *a_zero = InputOrNull(ctx, 2), *b_zero = InputOrNull(ctx, 3);
  WEFT_ASSIGN_OR_RETURN(const Tensor a, Centred<uint32_t>(ctx.input(0), a_zero, PerRow(a_zero)));
  WEFT_ASSIGN_OR_RETURN(const Tensor b, Centred<uint32_t>(ctx.input(1), b_zero, PerColumn(b_zero)));
  RunMatMul(a.dims(), a.data<uint32_t>(), b.dims(), b.data<uint32_t>(), ctx.output(0).data<uint32_t>());
  return absl::OkStatus();
}

// The operands of a requantisation, broadcast to the output: out = saturate(round(sum * (a_scale * b_scale / y_scale)) + y_zero).
struct Requantization {
  Periodic<float> a_scale, b_scale, y_scale;
  Periodic<double> y_zero;

  void Store(const double* sums, Tensor& y) const {
    ParallelFor(y.size(), 16, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const float factor = At(a_scale, i) * At(b_scale, i) / At(y_scale, i);
        const double scaled = static_cast<float>(sums[i]) * factor, zero = At(y_zero, i);
        StoreQuantized(&scaled, &zero, 1, true, y, i);
      }
    });
  }

 private:
  template <class T>
  static T At(const Periodic<T>& p, int64_t i) {
    return p.values.template data<T>()[p.period == 1 ? 0 : i % p.period];
  }
};

absl::Status RunQLinearConv(RunContext& ctx) {
  const Tensor& w_zero = ctx.input(5);
  WEFT_ASSIGN_OR_RETURN(const Tensor x, Centred<double>(ctx.input(0), &ctx.input(2), {}));
  WEFT_ASSIGN_OR_RETURN(const Tensor w, Centred<double>(ctx.input(3), &w_zero, PerChannel(&w_zero, ctx.input(3).rank())));
  Tensor& y = ctx.output(0);  // [N, M, out...]
  if (y.size() == 0) return absl::OkStatus();
  WEFT_ASSIGN_OR_RETURN(Tensor sums, Tensor::AllocateUninitialized(DType::kFloat64, y.dims()));
  WEFT_RETURN_IF_ERROR(Convolve(ctx, x, w, sums.data<double>()));
  Dims channel_dims = PerChannel(nullptr, y.rank());
  if (ctx.HasInput(8)) {
    channel_dims[1] = y.dim(1);
    WEFT_ASSIGN_OR_RETURN(const Periodic<double> bias, Repeat<double>(ctx.input(8).Reshaped(channel_dims), y.dims()));
    for (int64_t i = 0; i < y.size(); ++i) sums.data<double>()[i] += bias.values.data<double>()[i % bias.period];
  }
  channel_dims[1] = ctx.input(4).size();
  Requantization r;
  WEFT_ASSIGN_OR_RETURN(r.a_scale, Repeat<float>(ctx.input(1).Reshaped({}), y.dims()));
  WEFT_ASSIGN_OR_RETURN(r.b_scale, Repeat<float>(ctx.input(4).Reshaped(channel_dims), y.dims()));
  WEFT_ASSIGN_OR_RETURN(r.y_scale, Repeat<float>(ctx.input(6).Reshaped({}), y.dims()));
  WEFT_ASSIGN_OR_RETURN(r.y_zero, Repeat<double>(ctx.input(7).Reshaped({}), y.dims()));
  r.Store(sums.data<double>(), y);
  return absl::OkStatus();
}

absl::Status RunQLinearMatMul(RunContext& ctx) {
  const Tensor &a_zero = ctx.input(2), &b_zero = ctx.input(5);
  WEFT_ASSIGN_OR_RETURN(const Tensor a, Centred<double>(ctx.input(0), &a_zero, PerRow(&a_zero)));
  WEFT_ASSIGN_OR_RETURN(const Tensor b, Centred<double>(ctx.input(3), &b_zero, PerColumn(&b_zero)));
  Tensor& y = ctx.output(0);
  if (y.size() == 0) return absl::OkStatus();
  WEFT_ASSIGN_OR_RETURN(Tensor sums, Tensor::AllocateUninitialized(DType::kFloat64, y.dims()));
  RunMatMul(a.dims(), a.data<double>(), b.dims(), b.data<double>(), sums.data<double>());
  const MatMulShape s = ResolveMatMul(a.dims(), b.dims());
  Dims out = s.batch;  // the output with the axes that vectors lose
  out.insert(out.end(), {s.m, s.n});
  Requantization r;
  WEFT_ASSIGN_OR_RETURN(r.a_scale, Repeat<float>(ctx.input(1).Reshaped(PerRow(&ctx.input(1))), out));
  WEFT_ASSIGN_OR_RETURN(r.b_scale, Repeat<float>(ctx.input(4).Reshaped(PerColumn(&ctx.input(4))), out));
  WEFT_ASSIGN_OR_RETURN(r.y_scale, Repeat<float>(ctx.input(6).Reshaped(PerRow(&ctx.input(6))), out));
  WEFT_ASSIGN_OR_RETURN(r.y_zero, Repeat<double>(ctx.input(7).Reshaped(PerRow(&ctx.input(7))), out));
  r.Store(sums.data<double>(), y);
  return absl::OkStatus();
}

}  // namespace

absl::Span<const Kernel> RefQuantizedProducts() {
  static constexpr Kernel kernels[] = {
      {.op = &ops::ConvInteger, .name = "ref", .run = &RunConvInteger},
      {.op = &ops::MatMulInteger, .name = "ref", .run = &RunMatMulInteger},
      {.op = &ops::QLinearConv, .name = "ref", .run = &RunQLinearConv},
      {.op = &ops::QLinearMatMul, .name = "ref", .run = &RunQLinearMatMul},
  };
  return kernels;
}

}  // namespace weft
