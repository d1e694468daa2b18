// A check of whole shapes that many ops share.
#ifndef WEFT_GRAPH_OPS_EXPECT_SHAPE_H_
#define WEFT_GRAPH_OPS_EXPECT_SHAPE_H_

#include <string_view>
#include <vector>

#include "graph/infer.h"

namespace weft {

// Input i, if present and of known rank, has as many axes as `dims`, and no axis is an integer that contradicts one there.
absl::Status ExpectShape(const InferContext& ctx, int i, std::string_view operand, const std::vector<Dim>& dims);

// The shape of input i where its rank is known; `rank` fresh dims otherwise. Errors: another rank, "input 1 (W) has rank ...".
absl::StatusOr<Shape> ShapeOfRank(InferContext& ctx, int i, std::string_view operand, int rank);

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_EXPECT_SHAPE_H_
