// Sets of element types that several op records allow.
#ifndef WEFT_GRAPH_OPS_DTYPE_SETS_H_
#define WEFT_GRAPH_OPS_DTYPE_SETS_H_

#include "weft/dtype.h"

namespace weft {

inline constexpr DType kFloatTypes[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16, DType::kFloat64};
inline constexpr DType kBytes[] = {DType::kUint8, DType::kInt8};

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_DTYPE_SETS_H_
