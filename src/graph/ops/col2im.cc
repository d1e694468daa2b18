// Col2Im (ONNX Operators.md, opset 18).
#include "graph/ops/col2im.h"

#include <utility>
#include <vector>

#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/dtype_sets.h"
#include "graph/ops/operands.h"

namespace weft {
namespace {

// How many channels there are in a column of `rows`, where a block takes `block_size` of them.
absl::StatusOr<Dim> Channels(const Dim& rows, const Dim& block_size) {
  const Dim channels = Dim::FloorDiv(rows, block_size);
  if (rows.is_constant() && block_size.is_constant() && rows.constant() % block_size.constant() != 0) {
    return Invalid("input has ", rows.constant(), " rows, expected a multiple of the block's size, ", block_size.constant());
  }
  return channels;
}

absl::Status InferCol2Im(InferContext& ctx) {
  constexpr DType kInt64Only[] = {DType::kInt64};
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "input", kNumericOrComplexTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckRank(0, "input", 3));
  WEFT_RETURN_IF_ERROR(CheckList(ctx, 1, "image_shape", kInt64Only));
  WEFT_RETURN_IF_ERROR(CheckList(ctx, 2, "block_shape", kInt64Only));
  std::optional<int64_t> n = ListLength(ctx, 1);
  if (!n) n = ListLength(ctx, 2);
  if (!n) {
    ctx.SetOutput(0, ctx.dtype(0), Shape());
    return absl::OkStatus();
  }
  if (*n < 1 || *n > kMaxRank) return Invalid("image_shape has ", *n, " elements, expected 1 to ", kMaxRank);
  const Shape& in = ctx.shape(0);  // [N, C * block, L]
  Shape out = ctx.FreshShape(static_cast<int>(*n) + 2);
  if (in.has_rank()) out[0] = in[0];
  const std::vector<Dim>*image = ctx.elements(1), *block = ctx.elements(2);
  if (image != nullptr) {
    for (int64_t i = 0; i < *n; ++i) {
      const Dim& size = (*image)[i];
      if (size.is_constant() && size.constant() < 0) return Invalid("image_shape holds ", size.constant(), ", expected sizes");
      out[static_cast<int>(i) + 2] = size;
    }
  }
  if (block != nullptr) {
    if (static_cast<int64_t>(block->size()) != *n) {
      return Invalid("image_shape has ", *n, " elements and block_shape ", block->size(), ", expected equal numbers");
    }
    const WindowSpec spec = BlocksOf(ctx.attrs<Col2ImAttrs>());
    WEFT_RETURN_IF_ERROR(CheckWindow(spec, *block));
    if (in.has_rank()) {
      WEFT_ASSIGN_OR_RETURN(const Dim block_size, ProductOf(*block));
      WEFT_ASSIGN_OR_RETURN(out[1], Channels(in[1], block_size));
    }
    if (image != nullptr) {
      WEFT_ASSIGN_OR_RETURN(const std::vector<Dim> counts, WindowOutputs(spec, *image, *block));
      WEFT_ASSIGN_OR_RETURN(const Dim count, ProductOf(counts));
      if (in.has_rank()) WEFT_RETURN_IF_ERROR(InferContext::Unify(in[2], count, "the number of blocks").status());
    }
  }
  ctx.SetOutput(0, ctx.dtype(0), std::move(out));
  return absl::OkStatus();
}

}  // namespace

constinit const Op ops::Col2Im = {.name = "Col2Im", .since_version = 18, .inputs = 3, .outputs = 1, .attrs = &kAttrSchema<Col2ImAttrs>,
                                  .infer = &InferCol2Im};

}  // namespace weft
