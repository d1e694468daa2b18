// Element types of tensors, numbered as ONNX's TensorProto.DataType.
#ifndef WEFT_DTYPE_H_
#define WEFT_DTYPE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "weft/export.h"

namespace weft WEFT_API {

enum class DType : uint8_t {
  kUndefined = 0,
  kFloat32 = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kFloat64 = 11,
  kUint32 = 12,
  kUint64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBFloat16 = 16,
  kFloat8E4M3FN = 17,
  kFloat8E4M3FNUZ = 18,
  kFloat8E5M2 = 19,
  kFloat8E5M2FNUZ = 20,
  kUint4 = 21,
  kInt4 = 22,
  kFloat4E2M1 = 23,
  kFloat8E8M0 = 24,
  kUint2 = 25,
  kInt2 = 26,
};

inline constexpr int kNumDTypes = 27;

// The name ONNX's textual syntax uses: "float", "int64", "bfloat16", "float8e4m3fn", ... "undefined" for kUndefined.
std::string_view DTypeName(DType dtype);
// The inverse of DTypeName; nothing for an unknown name.
std::optional<DType> DTypeFromName(std::string_view name);

// Bytes one element takes in memory. Sub-byte types (int4, uint4, int2, uint2, float4e2m1) are held one element per byte,
// the value in the low bits (sign-extended for int4 and int2); they are packed only in files. Strings: sizeof(std::string).
size_t DTypeSize(DType dtype);
// Bits one element takes in an ONNX file (4 for int4, 2 for int2, ...); 0 for strings and kUndefined.
int DTypeFileBits(DType dtype);

bool IsFloat(DType dtype);    // float16, bfloat16, float, double, every float8 and float4
bool IsInteger(DType dtype);  // signed and unsigned of every width; bool is none
bool IsSigned(DType dtype);   // signed integers and every float
bool IsComplex(DType dtype);

}  // namespace weft

#endif  // WEFT_DTYPE_H_
