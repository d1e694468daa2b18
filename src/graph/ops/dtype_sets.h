// Sets of element types that several op records allow.
#ifndef WEFT_GRAPH_OPS_DTYPE_SETS_H_
#define WEFT_GRAPH_OPS_DTYPE_SETS_H_

#include "weft/dtype.h"

namespace weft {

inline constexpr DType kFloatTypes[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16, DType::kFloat64};
inline constexpr DType kBytes[] = {DType::kUint8, DType::kInt8};
inline constexpr DType kBoolType[] = {DType::kBool};
inline constexpr DType kIndexTypes[] = {DType::kInt64, DType::kInt32};
inline constexpr DType kIntegerTypes[] = {DType::kInt64, DType::kInt32,  DType::kInt16,  DType::kInt8,
                                          DType::kUint8, DType::kUint16, DType::kUint32, DType::kUint64};
// Every integer and float that arithmetic is defined on.
inline constexpr DType kNumericTypes[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16, DType::kFloat64,
                                          DType::kInt64,   DType::kInt32,   DType::kInt16,    DType::kInt8,
                                          DType::kUint8,   DType::kUint16,  DType::kUint32,   DType::kUint64};
inline constexpr DType kSignedTypes[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16, DType::kFloat64,
                                         DType::kInt64,   DType::kInt32,   DType::kInt16,    DType::kInt8};
inline constexpr DType kNumericOrComplexTypes[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16, DType::kFloat64,
                                                   DType::kInt64,   DType::kInt32,   DType::kInt16,    DType::kInt8,
                                                   DType::kUint8,   DType::kUint16,  DType::kUint32,   DType::kUint64,
                                                   DType::kComplex64, DType::kComplex128};
// Every element type that opset 13 had: the floats of 8 bits and what has fewer came later.
inline constexpr DType kOpset13Types[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16, DType::kFloat64,
                                          DType::kInt64,   DType::kInt32,   DType::kInt16,    DType::kInt8,
                                          DType::kUint8,   DType::kUint16,  DType::kUint32,   DType::kUint64,
                                          DType::kBool,    DType::kString,  DType::kComplex64, DType::kComplex128};

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_DTYPE_SETS_H_
