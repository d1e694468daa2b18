// RotaryEmbedding (ONNX Operators.md, opset 23), and that of the domain com.microsoft (ONNX Runtime, ContribOperators.md).
#include "graph/ops/rotary_embedding.h"

#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/attention.h"
#include "graph/ops/expect_shape.h"

namespace weft {
namespace {

constexpr DType kAllowed[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16};
constexpr DType kInt64Only[] = {DType::kInt64};

// Where the operands stand.
struct Operands {
  int cos, sin, position_ids;
};
// What X says of itself.
struct Heads {
  Dim batch, length, size;
};

// X is input 0. `num_heads` 0: the heads are twice as wide as the caches.
absl::StatusOr<Heads> HeadsOf(const InferContext& ctx, int64_t num_heads, const Shape& cos) {
  const Shape& x = ctx.shape(0);
  if (num_heads < 0) return Invalid("num_heads is ", num_heads, ", expected 0 or more");
  if (x.rank() == 4) {
    if (num_heads > 0) WEFT_RETURN_IF_ERROR(InferContext::Unify(x[1], num_heads, "axis 1 of X and num_heads").status());
    return Heads{x[0], x[2], x[3]};
  }
  if (x.rank() != 3) return Invalid("input 0 (X) has rank ", x.rank(), ", expected 3 or 4");
  if (num_heads > 0) {
    WEFT_ASSIGN_OR_RETURN(const Dim size, HeadSize(x[2], num_heads, "X"));
    return Heads{x[0], x[1], size};
  }
  const Dim size = Dim(2) * cos[cos.rank() - 1];
  if (size.is_constant() && x[2].is_constant() && (size.constant() == 0 || x[2].constant() % size.constant() != 0)) {
    return Invalid("input 0 (X) has shape ", x.ToString(), ", expected a multiple of ", size.constant(), " in the last axis");
  }
  return Heads{x[0], x[1], size};
}

absl::Status CheckRotaryDim(int64_t rotary, const Dim& size) {
  if (rotary == 0) {
    if (!size.is_constant() || size.constant() % 2 == 0) return absl::OkStatus();
    return Invalid("the head size is ", size.constant(), ", expected an even number");
  }
  if (rotary < 0 || rotary % 2 != 0) return Invalid("rotary_embedding_dim is ", rotary, ", expected an even number");
  if (!size.is_constant() || rotary <= size.constant()) return absl::OkStatus();
  return Invalid("rotary_embedding_dim is ", rotary, ", expected at most the head size, ", size.constant());
}

absl::Status InferRotary(InferContext& ctx, const Operands& at, int64_t num_heads, int64_t rotary, bool heads_by_width) {
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kAllowed));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, at.cos));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, at.sin));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(at.position_ids, "position_ids", kInt64Only));
  ctx.SetOutput(0, ctx.input(0));
  WEFT_ASSIGN_OR_RETURN(const Shape cos, ShapeOfRank(ctx, at.cos, "cos_cache", ctx.HasInput(at.position_ids) ? 2 : 3));
  if (!ctx.shape(0).has_rank()) return absl::OkStatus();
  if (num_heads == 0 && !heads_by_width && ctx.shape(0).rank() == 3) return Invalid("has no num_heads, which X of rank 3 needs");
  WEFT_ASSIGN_OR_RETURN(const Heads x, HeadsOf(ctx, num_heads, cos));
  WEFT_RETURN_IF_ERROR(CheckRotaryDim(rotary, x.size));
  const Dim half = rotary > 0 ? Dim(rotary / 2) : Dim::FloorDiv(x.size, 2);
  std::vector<Dim> caches = {x.batch, x.length, half};
  if (ctx.HasInput(at.position_ids)) {
    caches = {cos[0], half};
    // ONNX Runtime's op takes the first position alone as well.
    const Shape& ids = ctx.shape(at.position_ids);
    if (heads_by_width && ids.has_rank() && ids.rank() == 1) {
      WEFT_RETURN_IF_ERROR(ExpectShape(ctx, at.position_ids, "position_ids", {1}));
    } else {
      WEFT_RETURN_IF_ERROR(ExpectShape(ctx, at.position_ids, "position_ids", {x.batch, x.length}));
    }
  }
  WEFT_RETURN_IF_ERROR(ExpectShape(ctx, at.cos, "cos_cache", caches));
  return ExpectShape(ctx, at.sin, "sin_cache", caches);
}

absl::Status InferRotaryEmbedding(InferContext& ctx) {
  const auto& attrs = ctx.attrs<RotaryEmbeddingAttrs>();
  return InferRotary(ctx, {.cos = 1, .sin = 2, .position_ids = 3}, attrs.num_heads, attrs.rotary_embedding_dim, false);
}

absl::Status InferMsRotaryEmbedding(InferContext& ctx) {
  const auto& attrs = ctx.attrs<MsRotaryEmbeddingAttrs>();
  if (attrs.scale != 1) return Unsupported("scale is ", attrs.scale, ", expected 1");
  if (attrs.rotary_embedding_dim > 0 && attrs.num_heads == 0 && ctx.shape(0).has_rank() && ctx.shape(0).rank() == 3) {
    return Invalid("has rotary_embedding_dim and no num_heads, which input of rank 3 needs");
  }
  return InferRotary(ctx, {.cos = 2, .sin = 3, .position_ids = 1}, attrs.num_heads, attrs.rotary_embedding_dim, true);
}

// Six operations for a pair.
Cost ThreeEach(const NodeView& node) {
  const auto dims = node.outputs[0].shape.Concrete();
  return {dims ? 3 * NumElements(*dims).value_or(0) : 0};
}

}  // namespace

constinit const Op ops::RotaryEmbedding = {.name = "RotaryEmbedding", .since_version = 23, .inputs = {3, 4}, .outputs = 1,
                                           .attrs = &kAttrSchema<RotaryEmbeddingAttrs>, .in_place = 0b1,
                                           .infer = &InferRotaryEmbedding, .cost = &ThreeEach};
constinit const Op ops::MsRotaryEmbedding = {.domain = "com.microsoft", .name = "RotaryEmbedding", .inputs = 4, .outputs = 1,
                                             .attrs = &kAttrSchema<MsRotaryEmbeddingAttrs>, .in_place = 0b1,
                                             .infer = &InferMsRotaryEmbedding, .cost = &ThreeEach};

}  // namespace weft
