// Attributes of ReverseSequence.
#ifndef WEFT_GRAPH_OPS_REVERSE_SEQUENCE_H_
#define WEFT_GRAPH_OPS_REVERSE_SEQUENCE_H_

#include <cstdint>

#include "graph/attributes.h"

namespace weft {

struct ReverseSequenceAttrs { int64_t batch_axis = 1; int64_t time_axis = 0; };
WEFT_ATTRS(ReverseSequenceAttrs, Field<&ReverseSequenceAttrs::batch_axis>("batch_axis"), Field<&ReverseSequenceAttrs::time_axis>("time_axis"));

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_REVERSE_SEQUENCE_H_
