#include "graph/ops/expect_shape.h"

namespace weft {

absl::Status ExpectShape(const InferContext& ctx, int i, std::string_view operand, const std::vector<Dim>& dims) {
  if (!ctx.HasInput(i) || !ctx.shape(i).has_rank()) return absl::OkStatus();
  const Shape& shape = ctx.shape(i);
  bool fits = shape.rank() == static_cast<int>(dims.size());
  for (int axis = 0; fits && axis < shape.rank(); ++axis) {
    fits = !shape[axis].is_constant() || !dims[axis].is_constant() || shape[axis] == dims[axis];
  }
  if (fits) return absl::OkStatus();
  return Invalid("input ", i, " (", operand, ") has shape ", shape.ToString(), ", expected ", Shape(dims).ToString());
}

absl::StatusOr<Shape> ShapeOfRank(InferContext& ctx, int i, std::string_view operand, int rank) {
  WEFT_RETURN_IF_ERROR(ctx.CheckRank(i, operand, rank));
  return ctx.shape(i).has_rank() ? ctx.shape(i) : ctx.FreshShape(rank);
}

}  // namespace weft
