// Attributes of ops that make a tensor from a few numbers.
#ifndef WEFT_GRAPH_OPS_GENERATE_H_
#define WEFT_GRAPH_OPS_GENERATE_H_

#include <cstdint>
#include <optional>

#include "graph/attributes.h"

namespace weft {

// The element type (an ONNX number) in which float16 and bfloat16 ranges are computed.
struct RangeAttrs { int64_t stash_type = 1; };
WEFT_ATTRS(RangeAttrs, Field<&RangeAttrs::stash_type>("stash_type"));

struct EyeLikeAttrs { std::optional<int64_t> dtype; int64_t k = 0; };
WEFT_ATTRS(EyeLikeAttrs, Field<&EyeLikeAttrs::dtype>("dtype"), Field<&EyeLikeAttrs::k>("k"));

// HannWindow, HammingWindow, BlackmanWindow.
struct WindowAttrs { int64_t output_datatype = 1; int64_t periodic = 1; };
WEFT_ATTRS(WindowAttrs, Field<&WindowAttrs::output_datatype>("output_datatype"), Field<&WindowAttrs::periodic>("periodic"));

struct MelWeightMatrixAttrs { int64_t output_datatype = 1; };
WEFT_ATTRS(MelWeightMatrixAttrs, Field<&MelWeightMatrixAttrs::output_datatype>("output_datatype"));

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_GENERATE_H_
