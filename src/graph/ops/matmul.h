// Attributes and shapes of the matrix products.
#ifndef WEFT_GRAPH_OPS_MATMUL_H_
#define WEFT_GRAPH_OPS_MATMUL_H_

#include <cstdint>
#include <string_view>

#include "graph/attributes.h"
#include "graph/infer.h"

namespace weft {

struct GemmAttrs {
  float alpha = 1;
  float beta = 1;
  bool transA = false;
  bool transB = false;
};
WEFT_ATTRS(GemmAttrs, Field<&GemmAttrs::alpha>("alpha"), Field<&GemmAttrs::beta>("beta"), Field<&GemmAttrs::transA>("transA"),
           Field<&GemmAttrs::transB>("transB"));

// The shape of numpy.matmul(a, b): a vector counts as a row on the left and as a column on the right, and its axis vanishes.
absl::StatusOr<Shape> InferMatMulShape(InferContext& ctx, const Shape& a, const Shape& b);

// The shape [m, n] of Gemm's A, B and C in inputs 0 to 2, after checking types, ranks and dims.
absl::StatusOr<Shape> InferGemmShape(InferContext& ctx, bool trans_a, bool trans_b);

// Input i (if present) is broadcast to [m, n]: each of its dims is 1 or that of the product.
absl::Status CheckAddend(const InferContext& ctx, int i, const Dim& m, const Dim& n);
// The zero point or scale in input i (if present): one element, a vector with one for each row (column) of the operand, or the operand's
// shape with 1 in place of the summed axis.
absl::Status CheckPerLine(const InferContext& ctx, int i, std::string_view operand, const Shape& of, bool rows);

// FLOPs of a product whose output has this many elements and whose sums have `depth` terms; output 0 of the node.
Cost MatMulCost(const NodeView& node, int64_t depth);
// The same where the depth is the last dim of input 0.
Cost MatMulCost(const NodeView& node);

// A matrix product on concrete shapes, after numpy's rules: `batch` holds the output's dims before the last two.
struct MatMulShape {
  Dims batch;
  int64_t m = 1, n = 1, k = 1;
  // Where in `a` and `b`, counted in matrices, each of the product(batch) products finds its operands. Empty where the
  // output has no elements.
  std::vector<int64_t> a_matrix, b_matrix;
};
// The shapes have passed InferMatMulShape.
MatMulShape ResolveMatMul(absl::Span<const int64_t> a, absl::Span<const int64_t> b);

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_MATMUL_H_
