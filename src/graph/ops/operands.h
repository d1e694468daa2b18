// Checks and rules of inference that the ops which move, index and resize tensors share.
#ifndef WEFT_GRAPH_OPS_OPERANDS_H_
#define WEFT_GRAPH_OPS_OPERANDS_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/infer.h"

namespace weft {

// Beyond any real tensor: bounds what a list in a hostile model makes us allocate.
inline constexpr int kMaxRank = 1024;

// Input i is a tensor, of any element type; passes where its type is unknown.
absl::Status CheckTensor(const InferContext& ctx, int i, std::string_view operand);
// Input i is a list of integers of an allowed type: one axis, or a scalar, which counts as a list of one.
absl::Status CheckList(const InferContext& ctx, int i, std::string_view operand, absl::Span<const DType> allowed);
// How many integers that list has, where known.
std::optional<int64_t> ListLength(const InferContext& ctx, int i);
// Input i is a single element: a scalar or dims of 1.
absl::Status CheckScalar(const InferContext& ctx, int i, std::string_view operand);

// Axes in [-rank, rank-1] made non-negative. Errors: Invalid for one outside, or named twice.
absl::StatusOr<std::vector<int>> NormalizeAxes(absl::Span<const int64_t> axes, int rank, std::string_view what = "axes");

// Product and sum of sizes. Errors: Invalid where all are integers and the result exceeds int64.
absl::StatusOr<Dim> ProductOf(absl::Span<const Dim> dims);
absl::StatusOr<Dim> SumOf(absl::Span<const Dim> dims);

// Output 0 has input 0's elements in the same order.
void PassElements(InferContext& ctx);
// Output 0's elements are input 0's at offset + sum of index * stride, for every index within `dims` in row-major order. Does nothing where
// input 0's are not known or there are too many. All of them must lie inside.
void PassStridedElements(InferContext& ctx, absl::Span<const int64_t> dims, int64_t offset, absl::Span<const int64_t> strides);
// Strides, in elements, of a dense row-major tensor; zeros where its size exceeds int64.
Dims RowMajorStrides(absl::Span<const int64_t> dims);

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_OPERANDS_H_
