#include "graph/ops/ml.h"

namespace weft {

absl::StatusOr<Rows> RowsOf(InferContext& ctx, int i, std::string_view operand) {
  const Shape& shape = ctx.shape(i);
  if (!shape.has_rank()) return Rows{ctx.FreshDim(), ctx.FreshDim()};
  if (shape.rank() == 1) return Rows{1, shape[0]};
  WEFT_RETURN_IF_ERROR(ctx.CheckRank(i, operand, 2));
  return Rows{shape[0], shape[1]};
}

absl::StatusOr<PostTransform> PostTransformFromName(std::string_view name) {
  if (name == "NONE") return PostTransform::kNone;
  if (name == "SOFTMAX") return PostTransform::kSoftmax;
  if (name == "LOGISTIC") return PostTransform::kLogistic;
  if (name == "SOFTMAX_ZERO") return PostTransform::kSoftmaxZero;
  if (name == "PROBIT") return PostTransform::kProbit;
  return Invalid("post_transform is '", name, "', expected NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT");
}

absl::StatusOr<ClassLabels> ClassLabelsOf(const std::vector<int64_t>& ints, const std::vector<std::string>& strings) {
  if (ints.empty() == strings.empty()) {
    return Invalid("there are ", ints.size(), " integers and ", strings.size(), " strings as class labels, expected one of the two lists");
  }
  if (ints.empty()) return ClassLabels{DType::kString, static_cast<int64_t>(strings.size())};
  return ClassLabels{DType::kInt64, static_cast<int64_t>(ints.size())};
}

}  // namespace weft
