// Attributes of ops that reduce or scan along axes.
#ifndef WEFT_GRAPH_OPS_REDUCE_H_
#define WEFT_GRAPH_OPS_REDUCE_H_

#include <cstdint>

#include "graph/attributes.h"

namespace weft {

struct ReduceAttrs { int64_t keepdims = 1; int64_t noop_with_empty_axes = 0; };
WEFT_ATTRS(ReduceAttrs, Field<&ReduceAttrs::keepdims>("keepdims"), Field<&ReduceAttrs::noop_with_empty_axes>("noop_with_empty_axes"));

struct ArgAttrs { int64_t axis = 0; int64_t keepdims = 1; int64_t select_last_index = 0; };
WEFT_ATTRS(ArgAttrs, Field<&ArgAttrs::axis>("axis"), Field<&ArgAttrs::keepdims>("keepdims"), Field<&ArgAttrs::select_last_index>("select_last_index"));

struct CumAttrs { int64_t exclusive = 0; int64_t reverse = 0; };
WEFT_ATTRS(CumAttrs, Field<&CumAttrs::exclusive>("exclusive"), Field<&CumAttrs::reverse>("reverse"));

// Softmax, LogSoftmax, Hardmax.
struct SoftmaxAttrs { int64_t axis = -1; };
WEFT_ATTRS(SoftmaxAttrs, Field<&SoftmaxAttrs::axis>("axis"));

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_REDUCE_H_
