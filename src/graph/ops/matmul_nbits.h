// Attributes of MatMulNBits of the domain com.microsoft.
#ifndef WEFT_GRAPH_OPS_MATMUL_NBITS_H_
#define WEFT_GRAPH_OPS_MATMUL_NBITS_H_

#include <cstdint>

#include "graph/attributes.h"

namespace weft {

// Y[..., N] = A[..., K] @ W' + bias, where row n of W is packed in B, one block of block_size weights after another, the lowest bits first:
//
//   W[n, k] = (B's value k of row n - zero_points[n, g]) * scales[n, g],  g = g_idx[k], or the block k / block_size
//
// Zero points of uint8 are packed as B is, each row to whole bytes; without any they are 2^(bits - 1).
struct MatMulNBitsAttrs {
  int64_t K = 0;
  int64_t N = 0;
  int64_t accuracy_level = 0;  // 4: A may be rounded to 8 bits; the other values are permissions that are not used
  int64_t bits = 4;
  int64_t block_size = 0;
  int64_t weight_prepacked = 0;

  int64_t blocks() const { return (K + block_size - 1) / block_size; }
  int64_t row_bytes() const { return blocks() * (block_size / 8 * bits); }
  int64_t zero_row_bytes() const { return (blocks() * bits + 7) / 8; }
};
WEFT_ATTRS(MatMulNBitsAttrs, RequiredField<&MatMulNBitsAttrs::K>("K"), RequiredField<&MatMulNBitsAttrs::N>("N"),
           Field<&MatMulNBitsAttrs::accuracy_level>("accuracy_level"), Field<&MatMulNBitsAttrs::bits>("bits"),
           RequiredField<&MatMulNBitsAttrs::block_size>("block_size"),
           Field<&MatMulNBitsAttrs::weight_prepacked>("weight_prepacked"));

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_MATMUL_NBITS_H_
