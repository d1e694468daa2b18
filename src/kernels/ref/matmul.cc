// MatMul, Gemm (ONNX Operators.md, opset 13). float16 and bfloat16 are summed in float; integers wrap around.
#include "kernels/ref/matmul.h"

#include <cmath>
#include <limits>

#include "kernels/kernel.h"
#include "kernels/ref/elements.h"

namespace weft {
namespace {

template <class Body>
absl::Status DispatchProduct(DType dtype, Body body) {
  switch (dtype) {
    case DType::kFloat64: return body.template operator()<double>();
    case DType::kInt32: case DType::kUint32: return body.template operator()<uint32_t>();
    case DType::kInt64: case DType::kUint64: return body.template operator()<uint64_t>();
    default: return body.template operator()<float>();
  }
}

template <class T>
absl::Status RunMatMulAs(RunContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const Tensor a, Widen<T>(ctx.input(0)));
  WEFT_ASSIGN_OR_RETURN(const Tensor b, Widen<T>(ctx.input(1)));
  WEFT_ASSIGN_OR_RETURN(Tensor y, WideOutput<T>(ctx.output(0)));
  RunMatMul(a.dims(), a.data<T>(), b.dims(), b.data<T>(), y.data<T>());
  Narrow<T>(y, ctx.output(0));
  return absl::OkStatus();
}

// value * factor in the tensor's own type; of integers the product is truncated, and clamped to the type's range.
template <class T>
T Scaled(T value, float factor, bool is_signed) {
  if (factor == 1) return value;
  if constexpr (std::is_floating_point_v<T>) {
    return value * static_cast<T>(factor);
  } else {
    using S = std::make_signed_t<T>;
    const double exact = (is_signed ? static_cast<double>(static_cast<S>(value)) : static_cast<double>(value)) * factor;
    if (std::isnan(exact)) return 0;
    const double top = is_signed ? std::ldexp(1.0, 8 * sizeof(T) - 1) : std::ldexp(1.0, 8 * sizeof(T));
    if (exact >= top) return is_signed ? static_cast<T>(std::numeric_limits<S>::max()) : std::numeric_limits<T>::max();
    if (exact <= (is_signed ? -top : 0.0)) return is_signed ? static_cast<T>(std::numeric_limits<S>::min()) : 0;
    return is_signed ? static_cast<T>(static_cast<S>(exact)) : static_cast<T>(exact);
  }
}

template <class T>
absl::Status RunGemmAs(RunContext& ctx) {
  const auto& attrs = ctx.attrs<GemmAttrs>();
  const bool is_signed = IsSigned(ctx.input(0).dtype());
  WEFT_ASSIGN_OR_RETURN(const Tensor a, Widen<T>(ctx.input(0)));
  WEFT_ASSIGN_OR_RETURN(const Tensor b, Widen<T>(ctx.input(1)));
  WEFT_ASSIGN_OR_RETURN(const Tensor c, ctx.HasInput(2) ? Widen<T>(ctx.input(2)) : Tensor());
  WEFT_ASSIGN_OR_RETURN(Tensor y, WideOutput<T>(ctx.output(0)));
  const int64_t m = y.dim(0), n = y.dim(1), k = a.dim(attrs.transA ? 0 : 1);
  const Matrix<T> left{a.data<T>(), attrs.transA ? 1 : k, attrs.transA ? m : 1};
  const Matrix<T> right{b.data<T>(), attrs.transB ? 1 : n, attrs.transB ? k : 1};
  BatchedGemm<T>(
      1, m, n, k, [&](int64_t) { return left; }, [&](int64_t) { return right; }, [&](int64_t) { return y.data<T>(); });

  const bool has_c = ctx.HasInput(2) && attrs.beta != 0;
  const int64_t row = has_c && c.rank() == 2 && c.dim(0) != 1 ? c.dim(1) : 0;
  const int64_t col = has_c && c.rank() >= 1 && c.dim(c.rank() - 1) != 1 ? 1 : 0;
  if (has_c || attrs.alpha != 1) {
    ParallelFor(m, 4 * n, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        T* to = y.data<T>() + i * n;
        const T* add = has_c ? c.data<T>() + i * row : nullptr;
        for (int64_t j = 0; j < n; ++j) {
          const T product = Scaled(to[j], attrs.alpha, is_signed);
          to[j] = has_c ? static_cast<T>(product + Scaled(add[j * col], attrs.beta, is_signed)) : product;
        }
      }
    });
  }
  Narrow<T>(y, ctx.output(0));
  return absl::OkStatus();
}

absl::Status RunMatMulNode(RunContext& ctx) {
  return DispatchProduct(ctx.input(0).dtype(), [&]<class T>() { return RunMatMulAs<T>(ctx); });
}
absl::Status RunGemm(RunContext& ctx) {
  return DispatchProduct(ctx.input(0).dtype(), [&]<class T>() { return RunGemmAs<T>(ctx); });
}

}  // namespace

absl::Span<const Kernel> RefMatmul() {
  static constexpr Kernel kernels[] = {
      {.op = &ops::MatMul, .name = "ref", .run = &RunMatMulNode},
      {.op = &ops::Gemm, .name = "ref", .run = &RunGemm},
  };
  return kernels;
}

}  // namespace weft
