// What the records and kernels of the domain ai.onnx.ml share.
#ifndef WEFT_GRAPH_OPS_ML_H_
#define WEFT_GRAPH_OPS_ML_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/infer.h"

namespace weft {

// What most of them take.
inline constexpr DType kMlTypes[] = {DType::kFloat32, DType::kFloat64, DType::kInt64, DType::kInt32};

// The rows of operand i, [N,F]; a rank of 1 is one row, as in ONNX Runtime. N and F are fresh where unknown.
struct Rows {
  Dim rows, features;
};
absl::StatusOr<Rows> RowsOf(InferContext& ctx, int i, std::string_view operand);

// In the order of TreeEnsemble's numbers.
enum class PostTransform : uint8_t { kNone, kSoftmax, kLogistic, kSoftmaxZero, kProbit };
absl::StatusOr<PostTransform> PostTransformFromName(std::string_view name);

// What a classifier answers with: exactly one of the two lists may hold something.
struct ClassLabels {
  DType dtype;
  int64_t count;
};
absl::StatusOr<ClassLabels> ClassLabelsOf(const std::vector<int64_t>& ints, const std::vector<std::string>& strings);

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_ML_H_
