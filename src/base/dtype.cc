#include "weft/dtype.h"

#include <string>

namespace weft {
namespace {

struct Row {
  std::string_view name;
  uint8_t bytes;      // of one element in memory
  uint8_t file_bits;  // of one element in an ONNX file
};

constexpr Row kRows[kNumDTypes] = {
    {"undefined", 0, 0},       {"float", 4, 32},        {"uint8", 1, 8},          {"int8", 1, 8},
    {"uint16", 2, 16},         {"int16", 2, 16},        {"int32", 4, 32},         {"int64", 8, 64},
    {"string", sizeof(std::string), 0},                 {"bool", 1, 8},           {"float16", 2, 16},
    {"double", 8, 64},         {"uint32", 4, 32},       {"uint64", 8, 64},        {"complex64", 8, 64},
    {"complex128", 16, 128},   {"bfloat16", 2, 16},     {"float8e4m3fn", 1, 8},   {"float8e4m3fnuz", 1, 8},
    {"float8e5m2", 1, 8},      {"float8e5m2fnuz", 1, 8}, {"uint4", 1, 4},         {"int4", 1, 4},
    {"float4e2m1", 1, 4},      {"float8e8m0", 1, 8},    {"uint2", 1, 2},          {"int2", 1, 2},
};

const Row& RowOf(DType dtype) { return kRows[static_cast<size_t>(dtype)]; }

}  // namespace

std::string_view DTypeName(DType dtype) { return RowOf(dtype).name; }

std::optional<DType> DTypeFromName(std::string_view name) {
  for (int i = 0; i < kNumDTypes; ++i) {
    if (kRows[i].name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

size_t DTypeSize(DType dtype) { return RowOf(dtype).bytes; }

int DTypeFileBits(DType dtype) { return RowOf(dtype).file_bits; }

bool IsFloat(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
    case DType::kFloat64:
    case DType::kFloat16:
    case DType::kBFloat16:
    case DType::kFloat8E4M3FN:
    case DType::kFloat8E4M3FNUZ:
    case DType::kFloat8E5M2:
    case DType::kFloat8E5M2FNUZ:
    case DType::kFloat4E2M1:
    case DType::kFloat8E8M0:
      return true;
    default:
      return false;
  }
}

bool IsInteger(DType dtype) {
  switch (dtype) {
    case DType::kUint8:
    case DType::kInt8:
    case DType::kUint16:
    case DType::kInt16:
    case DType::kInt32:
    case DType::kInt64:
    case DType::kUint32:
    case DType::kUint64:
    case DType::kUint4:
    case DType::kInt4:
    case DType::kUint2:
    case DType::kInt2:
      return true;
    default:
      return false;
  }
}

bool IsSigned(DType dtype) {
  switch (dtype) {
    case DType::kInt8:
    case DType::kInt16:
    case DType::kInt32:
    case DType::kInt64:
    case DType::kInt4:
    case DType::kInt2:
      return true;
    default:
      return IsFloat(dtype);
  }
}

bool IsComplex(DType dtype) { return dtype == DType::kComplex64 || dtype == DType::kComplex128; }

}  // namespace weft
