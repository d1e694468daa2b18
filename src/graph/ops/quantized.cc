#include "graph/ops/quantized.h"

namespace weft {
namespace {

bool MayHaveOneElement(const Shape& shape) {
  for (const Dim& d : shape.dims()) {
    if (d.is_constant() && d.constant() != 1) return false;
  }
  return true;  // unknown rank too
}

}  // namespace

absl::Status CheckPerTensor(const InferContext& ctx, int i, std::string_view operand) {
  if (!ctx.HasInput(i) || MayHaveOneElement(ctx.shape(i))) return absl::OkStatus();
  return Invalid("input ", i, " (", operand, ") has shape ", ctx.shape(i).ToString(), ", expected a scalar");
}

absl::Status CheckPerTensorOrChannel(const InferContext& ctx, int i, std::string_view operand, const Shape& of, int axis) {
  if (!ctx.HasInput(i) || MayHaveOneElement(ctx.shape(i))) return absl::OkStatus();
  const Shape& shape = ctx.shape(i);
  const bool vector = shape.rank() == 1;
  if (vector && (!of.has_rank() || !of[axis].is_constant() || of[axis] == shape[0])) return absl::OkStatus();
  return Invalid("input ", i, " (", operand, ") has shape ", shape.ToString(), ", expected a scalar or a vector of ",
                 of.has_rank() ? of[axis].ToString() : std::string("one value for each channel"));
}

}  // namespace weft
