// Attributes of QuantizeLinear and DequantizeLinear, and where each element finds its scale.
#ifndef WEFT_GRAPH_OPS_QUANTIZATION_H_
#define WEFT_GRAPH_OPS_QUANTIZATION_H_

#include <cstdint>

#include "absl/types/span.h"
#include "graph/attributes.h"

namespace weft {

struct QuantizeLinearAttrs {
  int64_t axis = 1;
  int64_t block_size = 0;
  int64_t output_dtype = 0;  // a value of TensorProto.DataType
  int64_t precision = 0;     // a value of TensorProto.DataType
  bool saturate = true;
};
WEFT_ATTRS(QuantizeLinearAttrs, Field<&QuantizeLinearAttrs::axis>("axis"), Field<&QuantizeLinearAttrs::block_size>("block_size"),
           Field<&QuantizeLinearAttrs::output_dtype>("output_dtype"), Field<&QuantizeLinearAttrs::precision>("precision"),
           Field<&QuantizeLinearAttrs::saturate>("saturate"));

struct DequantizeLinearAttrs {
  int64_t axis = 1;
  int64_t block_size = 0;
  int64_t output_dtype = 0;  // a value of TensorProto.DataType
};
WEFT_ATTRS(DequantizeLinearAttrs, Field<&DequantizeLinearAttrs::axis>("axis"),
           Field<&DequantizeLinearAttrs::block_size>("block_size"),
           Field<&DequantizeLinearAttrs::output_dtype>("output_dtype"));

// Element (o, d, i) of a tensor seen as [outer, size, inner] takes scale and zero point number
//   0                                        where they hold for the whole tensor
//   d                                        for an axis
//   (o * blocks() + d / block) * inner + i   for blocks along an axis
struct QuantizationGrid {
  int64_t outer = 1, size = 1, inner = 1;
  int64_t block = 1;
  bool blocked = false, whole = false;

  int64_t blocks() const { return (size + block - 1) / block; }
  // The scale numbers of elements [begin, begin + count).
  void ScaleIndices(int64_t begin, int64_t count, int64_t* indices) const;
};

// Shapes and attributes have passed inference.
QuantizationGrid ResolveQuantization(absl::Span<const int64_t> x, absl::Span<const int64_t> scale, int64_t axis, int64_t block_size);

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_QUANTIZATION_H_
