#include "weft/dtype.h"

#include <gtest/gtest.h>

#include <string>

#include "onnx/defs/parser.h"

namespace weft {
namespace {

TEST(DType, NumbersAndNamesAreThoseOfOnnx) {
  for (int i = 1; i < kNumDTypes; ++i) {
    const std::string name(DTypeName(static_cast<DType>(i)));
    EXPECT_EQ(onnx::PrimitiveTypeNameMap::Lookup(name), i) << name;
    EXPECT_EQ(onnx::PrimitiveTypeNameMap::ToString(i), name);
  }
}

TEST(DType, NamesReadBack) {
  for (int i = 0; i < kNumDTypes; ++i)
    EXPECT_EQ(DTypeFromName(DTypeName(static_cast<DType>(i))), static_cast<DType>(i));
  for (const char* name : {"", "Float", "float32", "int", "float ", "tensor"})
    EXPECT_EQ(DTypeFromName(name), std::nullopt) << name;
}

TEST(DType, ClassesDivideTheTypes) {
  for (int i = 1; i < kNumDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    const bool other = dtype == DType::kString || dtype == DType::kBool;
    EXPECT_EQ(IsFloat(dtype) + IsInteger(dtype) + IsComplex(dtype) + other, 1) << DTypeName(dtype);
    const std::string_view name = DTypeName(dtype);
    EXPECT_EQ(IsInteger(dtype), name.find("int") != name.npos) << name;
    EXPECT_EQ(IsComplex(dtype), name.find("complex") != name.npos) << name;
    EXPECT_EQ(IsSigned(dtype), IsFloat(dtype) || name.starts_with("int")) << name;
  }
  EXPECT_FALSE(IsFloat(DType::kUndefined) || IsInteger(DType::kUndefined) || IsSigned(DType::kUndefined) ||
               IsComplex(DType::kUndefined));
}

TEST(DType, SizesFollowFromTheNames) {
  EXPECT_EQ(DTypeSize(DType::kUndefined), 0u);
  EXPECT_EQ(DTypeFileBits(DType::kUndefined), 0);
  EXPECT_EQ(DTypeSize(DType::kString), sizeof(std::string));
  EXPECT_EQ(DTypeFileBits(DType::kString), 0);
  const auto bits_of = [](std::string name) {
    if (name == "float") return 32;
    if (name == "double") return 64;
    if (name == "bool") return 8;
    return std::atoi(name.substr(name.find_first_of("0123456789")).c_str());  // float8e5m2: 8
  };
  for (int i = 1; i < kNumDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (dtype == DType::kString) continue;
    const int bits = bits_of(std::string(DTypeName(dtype)));
    EXPECT_EQ(DTypeFileBits(dtype), bits) << DTypeName(dtype);
    EXPECT_EQ(DTypeSize(dtype), static_cast<size_t>((bits + 7) / 8)) << DTypeName(dtype);
  }
}

}  // namespace
}  // namespace weft
