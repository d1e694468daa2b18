// MatMulNBits of the domain com.microsoft (ONNX Runtime, ContribOperators.md).
#include "graph/ops/matmul_nbits.h"

#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/dtype_sets.h"
#include "graph/ops/matmul.h"

namespace weft {
namespace {

absl::Status CheckAttrs(const MatMulNBitsAttrs& attrs) {
  constexpr int64_t kMost = int64_t{1} << 30;
  if (attrs.K < 1 || attrs.N < 1 || attrs.K > kMost || attrs.N > kMost) {
    return Invalid("K is ", attrs.K, " and N is ", attrs.N, ", expected values in [1, ", kMost, "]");
  }
  if (attrs.bits != 2 && attrs.bits != 4 && attrs.bits != 8) return Unsupported("bits is ", attrs.bits, ", expected 2, 4 or 8");
  if (attrs.block_size < 16 || attrs.block_size > kMost || (attrs.block_size & (attrs.block_size - 1)) != 0) {
    return Invalid("block_size is ", attrs.block_size, ", expected a power of two of 16 or more");
  }
  if (attrs.weight_prepacked != 0) {
    return Unsupported("weight_prepacked is ", attrs.weight_prepacked, ", a layout for certain GPUs, expected 0");
  }
  return absl::OkStatus();
}

// Input i (if present) has `count` elements, in whatever shape; or `other` elements, if that is not 0.
absl::Status CheckCount(const InferContext& ctx, int i, std::string_view operand, int64_t count, int64_t other = 0) {
  if (!ctx.HasInput(i) || !ctx.shape(i).has_rank()) return absl::OkStatus();
  const Dim found = ctx.shape(i).NumElements();
  if (!found.is_constant() || found.constant() == count || (other != 0 && found.constant() == other)) return absl::OkStatus();
  return Invalid("input ", i, " (", operand, ") has shape ", ctx.shape(i).ToString(), ", expected ", count, " elements");
}

absl::Status InferMatMulNBits(InferContext& ctx) {
  const auto& attrs = ctx.attrs<MatMulNBitsAttrs>();
  WEFT_RETURN_IF_ERROR(CheckAttrs(attrs));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "A", kFloatTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(1, "B", {DType::kUint8}));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 2));
  const bool packed_zeros = ctx.dtype(3) == DType::kUint8;
  if (!packed_zeros) WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 3));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(4, "g_idx", {DType::kInt32}));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 5));
  WEFT_RETURN_IF_ERROR(ctx.CheckRankAtLeast(0, "A", 1));
  WEFT_RETURN_IF_ERROR(CheckCount(ctx, 1, "B", attrs.N * attrs.row_bytes()));
  WEFT_RETURN_IF_ERROR(CheckCount(ctx, 2, "scales", attrs.N * attrs.blocks()));
  if (ctx.dtype(3) != DType::kUndefined) {
    WEFT_RETURN_IF_ERROR(CheckCount(ctx, 3, "zero_points", attrs.N * (packed_zeros ? attrs.zero_row_bytes() : attrs.blocks())));
  }
  // Groups may be listed for a K padded to whole blocks.
  WEFT_RETURN_IF_ERROR(CheckCount(ctx, 4, "g_idx", attrs.K, attrs.blocks() * attrs.block_size));
  WEFT_RETURN_IF_ERROR(CheckCount(ctx, 5, "bias", attrs.N));
  Shape shape = ctx.shape(0);
  if (shape.has_rank()) {
    Dim& last = shape[shape.rank() - 1];
    WEFT_RETURN_IF_ERROR(InferContext::Unify(last, attrs.K, "the last dim of A and K").status());
    last = attrs.N;
  }
  ctx.SetOutput(0, ctx.dtype(0), std::move(shape));
  return absl::OkStatus();
}

Cost MatMulNBitsCost(const NodeView& node) { return MatMulCost(node, node.attrs_as<MatMulNBitsAttrs>().K); }

}  // namespace

constinit const Op ops::MatMulNBits = {.domain = "com.microsoft", .name = "MatMulNBits", .inputs = {3, 6}, .outputs = 1,
                                       .attrs = &kAttrSchema<MatMulNBitsAttrs>, .infer = &InferMatMulNBits, .cost = &MatMulNBitsCost};

}  // namespace weft
