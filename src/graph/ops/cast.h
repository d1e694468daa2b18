// Attributes of conversions between element types.
#ifndef WEFT_GRAPH_OPS_CAST_H_
#define WEFT_GRAPH_OPS_CAST_H_

#include <cstdint>
#include <string>

#include "graph/attributes.h"

namespace weft {

struct CastAttrs { int64_t to = 0; int64_t saturate = 1; std::string round_mode = "up"; };
WEFT_ATTRS(CastAttrs, RequiredField<&CastAttrs::to>("to"), Field<&CastAttrs::saturate>("saturate"), Field<&CastAttrs::round_mode>("round_mode"));

struct CastLikeAttrs { int64_t saturate = 1; std::string round_mode = "up"; };
WEFT_ATTRS(CastLikeAttrs, Field<&CastLikeAttrs::saturate>("saturate"), Field<&CastLikeAttrs::round_mode>("round_mode"));

struct BitCastAttrs { int64_t to = 0; };
WEFT_ATTRS(BitCastAttrs, RequiredField<&BitCastAttrs::to>("to"));

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_CAST_H_
