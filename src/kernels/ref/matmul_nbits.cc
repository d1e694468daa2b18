// MatMulNBits of the domain com.microsoft: the weights of a few columns of the product are unpacked, multiplied and forgotten.
#include "graph/ops/matmul_nbits.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/kernel.h"
#include "kernels/ref/elements.h"
#include "kernels/ref/gemm.h"

namespace weft {
namespace {

// Value i of a row packed with `bits` each, the lowest bits first.
int Unpack(const uint8_t* row, int64_t i, int64_t bits) {
  const int64_t at = i * bits;
  return row[at / 8] >> at % 8 & ((1 << bits) - 1);
}

template <class T>
struct Weights {
  const MatMulNBitsAttrs& attrs;
  const uint8_t* packed;
  Tensor scales;                   // [N, blocks]
  const uint8_t* packed_zeros;     // null for none
  Tensor zeros;                    // [N, blocks]; empty for none
  const int32_t* groups;           // [K]; null where the block is the group

  // Row n, its K weights.
  void Row(int64_t n, T* to) const {
    const int64_t blocks = attrs.blocks();
    const uint8_t* row = packed + n * attrs.row_bytes();
    std::vector<T> zero(blocks, T(1 << (attrs.bits - 1)));
    for (int64_t g = 0; g < blocks; ++g) {
      if (packed_zeros != nullptr) zero[g] = T(Unpack(packed_zeros + n * attrs.zero_row_bytes(), g, attrs.bits));
      if (zeros.size() > 0) zero[g] = zeros.data<T>()[n * blocks + g];
    }
    for (int64_t k = 0; k < attrs.K; ++k) {
      const int64_t g = groups != nullptr ? groups[k] : k / attrs.block_size;
      to[k] = (T(Unpack(row, k, attrs.bits)) - zero[g]) * scales.data<T>()[n * blocks + g];
    }
  }
};

// accuracy_level 4: A in 8 bits, by blocks as the weights are, rounded to the nearest of 255 steps between -max|a| and max|a|. It is a
// permission to do so; ONNX Runtime takes it for 4 and 8 bits, and models are made and judged with its results.
template <class T>
absl::StatusOr<Tensor> InEightBits(const Tensor& a, int64_t k, int64_t block) {
  WEFT_ASSIGN_OR_RETURN(Tensor rounded, a.Clone());
  T* const x = rounded.data<T>();
  ParallelFor(a.size() / k, 8 * k, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin * k; at < end * k; at += std::min(block, k - at % k)) {
      const int64_t last = at + std::min(block, k - at % k);
      T largest = 0;
      for (int64_t i = at; i < last; ++i) largest = std::max(largest, std::abs(x[i]));
      const T step = largest / 127;
      if (step == 0 || !std::isfinite(step)) continue;
      const T inverse = 1 / step;
      for (int64_t i = at; i < last; ++i) x[i] = std::nearbyint(x[i] * inverse) * step;
    }
  });
  return rounded;
}

template <class T>
absl::Status RunAs(RunContext& ctx) {
  const auto& attrs = ctx.attrs<MatMulNBitsAttrs>();
  const bool has_zeros = ctx.HasInput(3), packed_zeros = has_zeros && ctx.input(3).dtype() == DType::kUint8;
  Weights<T> weights{.attrs = attrs,
                     .packed = ctx.input(1).data<uint8_t>(),
                     .packed_zeros = packed_zeros ? ctx.input(3).data<uint8_t>() : nullptr,
                     .groups = ctx.HasInput(4) ? ctx.input(4).data<int32_t>() : nullptr};
  WEFT_ASSIGN_OR_RETURN(weights.scales, Widen<T>(ctx.input(2)));
  if (has_zeros && !packed_zeros) {
    WEFT_ASSIGN_OR_RETURN(weights.zeros, Widen<T>(ctx.input(3)));
  }
  for (int64_t k = 0; weights.groups != nullptr && k < attrs.K; ++k) {
    if (weights.groups[k] < 0 || weights.groups[k] >= attrs.blocks()) {
      return Invalid("g_idx holds ", weights.groups[k], ", expected a value in [0, ", attrs.blocks() - 1, "]");
    }
  }
  WEFT_ASSIGN_OR_RETURN(Tensor a, Widen<T>(ctx.input(0)));                                      // [..., K]
  WEFT_ASSIGN_OR_RETURN(const Tensor bias, ctx.HasInput(5) ? Widen<T>(ctx.input(5)) : Tensor());  // [N]
  WEFT_ASSIGN_OR_RETURN(Tensor y, WideOutput<T>(ctx.output(0)));                                // [..., N]
  const int64_t rows = a.size() / attrs.K, k = attrs.K, n = attrs.N;
  if (rows == 0) return absl::OkStatus();
  if (attrs.accuracy_level == 4 && (attrs.bits == 4 || attrs.bits == 8) && weights.groups == nullptr) {
    WEFT_ASSIGN_OR_RETURN(a, InEightBits<T>(a, k, attrs.block_size));
  }
  constexpr int64_t kPanel = gemm_internal::kPanel;
  ParallelFor((n + kPanel - 1) / kPanel, (2 * rows + 8) * kPanel * k, [&](int64_t begin, int64_t end) {
    std::vector<T> panel(kPanel * k);
    for (int64_t p = begin; p < end; ++p) {
      const int64_t first = p * kPanel, columns = std::min(kPanel, n - first);
      for (int64_t j = 0; j < columns; ++j) weights.Row(first + j, panel.data() + j * k);
      T* to = y.data<T>() + first;
      gemm_internal::Block(rows, columns, k, Matrix<T>{a.data<T>(), k, 1}, Matrix<T>{panel.data(), 1, k}, to, n);
      for (int64_t i = 0; ctx.HasInput(5) && i < rows; ++i) {
        for (int64_t j = 0; j < columns; ++j) to[i * n + j] += bias.data<T>()[first + j];
      }
    }
  });
  Narrow<T>(y, ctx.output(0));
  return absl::OkStatus();
}

absl::Status Run(RunContext& ctx) {
  return DispatchWide(ctx.input(0).dtype(), [&]<class T>() { return RunAs<T>(ctx); });
}

}  // namespace

absl::Span<const Kernel> RefMatmulNBits() {
  static constexpr Kernel kernels[] = {{.op = &ops::MatMulNBits, .name = "ref", .run = &Run}};
  return kernels;
}

}  // namespace weft
