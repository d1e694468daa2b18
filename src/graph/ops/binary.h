// Attributes of ops on two tensors.
#ifndef WEFT_GRAPH_OPS_BINARY_H_
#define WEFT_GRAPH_OPS_BINARY_H_

#include <cstdint>
#include <string>

#include "graph/attributes.h"

namespace weft {

struct ModAttrs { int64_t fmod = 0; };
WEFT_ATTRS(ModAttrs, Field<&ModAttrs::fmod>("fmod"));

struct BitShiftAttrs { std::string direction; };
WEFT_ATTRS(BitShiftAttrs, RequiredField<&BitShiftAttrs::direction>("direction"));

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_BINARY_H_
