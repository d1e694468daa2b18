#include "graph/onnx/tensor_proto.h"

#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace weft {
namespace {

static_assert(std::endian::native == std::endian::little, "ONNX files are little-endian");

std::string Describe(DType dtype, absl::Span<const int64_t> dims) {
  return absl::StrCat(ToAbsl(DTypeName(dtype)), DimsToString(dims));
}

bool IsPacked(DType dtype) { return DTypeFileBits(dtype) > 0 && DTypeFileBits(dtype) < 8; }

// Bytes that `count` elements take in a file; nothing where that is more than 64 bits count.
std::optional<int64_t> FileBytes(DType dtype, int64_t count) {
  const int bits = DTypeFileBits(dtype);
  if (bits < 8) return count / (8 / bits) + (count % (8 / bits) != 0);
  int64_t bytes;
  if (__builtin_mul_overflow(count, int64_t{bits / 8}, &bytes)) return std::nullopt;
  return bytes;
}

// Elements in the layout of files, at `bytes`, into the tensor's memory.
void CopyFromFile(const uint8_t* bytes, Tensor& tensor) {
  if (!IsPacked(tensor.dtype())) {
    if (tensor.dtype() == DType::kBool) {
      for (int64_t i = 0; i < tensor.size(); ++i) tensor.data<uint8_t>()[i] = bytes[i] != 0;
    } else if (tensor.size() > 0) {
      std::memcpy(tensor.data(), bytes, tensor.bytes());
    }
    return;
  }
  const int bits = DTypeFileBits(tensor.dtype()), per_byte = 8 / bits;
  const int sign = tensor.dtype() == DType::kInt4 || tensor.dtype() == DType::kInt2 ? 1 << (bits - 1) : 0;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const int value = bytes[i / per_byte] >> (i % per_byte * bits) & ((1 << bits) - 1);
    tensor.data<int8_t>()[i] = static_cast<int8_t>((value ^ sign) - sign);
  }
}

// A bool other than 0 and 1 must not be read as a C++ bool.
bool HoldsOnlyBools(const uint8_t* bytes, int64_t count) {
  uint8_t all = 0;
  for (int64_t i = 0; i < count; ++i) all |= bytes[i];
  return all <= 1;
}

// The tensor of `bytes`, which `owner` keeps alive, without a copy where layout and alignment allow it.
absl::StatusOr<Tensor> TensorOfBytes(DType dtype, absl::Span<const int64_t> dims, int64_t count, const uint8_t* bytes,
                                     std::shared_ptr<const void> owner) {
  const size_t component = IsComplex(dtype) ? DTypeSize(dtype) / 2 : DTypeSize(dtype);
  const bool as_is = count > 0 && !IsPacked(dtype) && reinterpret_cast<uintptr_t>(bytes) % component == 0 &&
                     (dtype != DType::kBool || HoldsOnlyBools(bytes, count));
  if (as_is) return Tensor::Wrap(dtype, dims, const_cast<uint8_t*>(bytes), std::move(owner));
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::AllocateUninitialized(dtype, dims));
  CopyFromFile(bytes, tensor);
  return tensor;
}

// ---- External data ----

absl::StatusOr<int64_t> ParseSize(std::string_view key, const std::string& text) {
  int64_t value;
  if (text.empty() || text[0] < '0' || text[0] > '9' || !absl::SimpleAtoi(text, &value) || value < 0) {
    return Invalid("external data has ", key, " '", text, "', expected a number of bytes");
  }
  return value;
}

absl::StatusOr<Tensor> TensorOfExternalData(const onnx::TensorProto& proto, DType dtype, absl::Span<const int64_t> dims, int64_t count,
                                            ExternalFiles* files) {
  if (dtype == DType::kString) return Invalid("strings are external data, expected them in string_data");
  std::optional<std::string> location;
  std::optional<int64_t> offset, length;
  for (const onnx::StringStringEntryProto& entry : proto.external_data()) {
    auto parse_once = [&entry](std::optional<int64_t>& value) -> absl::Status {
      if (value) return Invalid("external data has two entries '", entry.key(), "', expected one");
      WEFT_ASSIGN_OR_RETURN(value, ParseSize(entry.key(), entry.value()));
      return absl::OkStatus();
    };
    if (entry.key() == "location") {
      if (location) return Invalid("external data has two entries 'location', expected one");
      location = entry.value();
    } else if (entry.key() == "offset") {
      WEFT_RETURN_IF_ERROR(parse_once(offset));
    } else if (entry.key() == "length") {
      WEFT_RETURN_IF_ERROR(parse_once(length));
    }
  }
  if (!location) return Invalid("external data has no location, expected a relative path");
  const std::optional<int64_t> needed = FileBytes(dtype, count);
  if (!needed) return Invalid(Describe(dtype, dims), " has more bytes than 64 bits count");
  if (length && *length != *needed) {
    return Invalid("external data has length ", *length, ", expected ", *needed, " bytes for ", Describe(dtype, dims));
  }
  if (files == nullptr) return Invalid("has external data, expected the data in this file");
  WEFT_ASSIGN_OR_RETURN(const MappedFile file, files->Map(*location));
  const uint64_t start = static_cast<uint64_t>(offset.value_or(0));
  if (start > file.size || static_cast<uint64_t>(*needed) > file.size - start) {
    return Invalid("external data '", *location, "' has ", file.size, " bytes, expected ", *needed, " at offset ", start);
  }
  return TensorOfBytes(dtype, dims, count, file.data + start, file.owner);
}

// ---- Typed fields ----

enum class Field { kNone, kFloat, kInt32, kString, kInt64, kDouble, kUint64 };

constexpr std::string_view kFieldNames[] = {"no field", "float_data", "int32_data", "string_data", "int64_data", "double_data", "uint64_data"};

Field FieldOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
    case DType::kComplex64: return Field::kFloat;
    case DType::kFloat64:
    case DType::kComplex128: return Field::kDouble;
    case DType::kInt64: return Field::kInt64;
    case DType::kUint32:
    case DType::kUint64: return Field::kUint64;
    case DType::kString: return Field::kString;
    default: return Field::kInt32;
  }
}

int FieldSize(const onnx::TensorProto& proto, Field field) {
  switch (field) {
    case Field::kNone: return 0;
    case Field::kFloat: return proto.float_data_size();
    case Field::kInt32: return proto.int32_data_size();
    case Field::kString: return proto.string_data_size();
    case Field::kInt64: return proto.int64_data_size();
    case Field::kDouble: return proto.double_data_size();
    case Field::kUint64: return proto.uint64_data_size();
  }
  return 0;
}

// int32_data holds an element each (bits of floats included), or the bytes of packed types. A value may be written signed or unsigned.
absl::Status CopyInt32Field(const onnx::TensorProto& proto, Tensor& tensor) {
  const int bits = IsPacked(tensor.dtype()) ? 8 : DTypeFileBits(tensor.dtype());
  const int64_t low = -(int64_t{1} << (bits - 1)), high = bits == 32 ? std::numeric_limits<int32_t>::max() : (int64_t{1} << bits) - 1;
  const int32_t* data = proto.int32_data().data();
  const int n = proto.int32_data_size();
  for (int i = 0; i < n; ++i) {
    if (data[i] < low || data[i] > high) {
      return Invalid("int32_data[", i, "] is ", data[i], ", which ", DTypeName(tensor.dtype()), " does not hold");
    }
  }
  if (bits == 32) {
    if (n > 0) std::memcpy(tensor.data(), data, tensor.bytes());
  } else if (bits == 16) {
    for (int i = 0; i < n; ++i) tensor.data<uint16_t>()[i] = static_cast<uint16_t>(data[i]);
  } else {
    const std::vector<uint8_t> bytes(data, data + n);
    CopyFromFile(bytes.data(), tensor);
  }
  return absl::OkStatus();
}

absl::StatusOr<Tensor> TensorOfTypedField(onnx::TensorProto& proto, DType dtype, absl::Span<const int64_t> dims, int64_t count) {
  const Field field = FieldOf(dtype);
  std::optional<int64_t> needed = count;
  if (IsPacked(dtype)) needed = FileBytes(dtype, count);
  if (IsComplex(dtype)) needed = count > std::numeric_limits<int64_t>::max() / 2 ? std::nullopt : std::optional(2 * count);
  if (!needed || FieldSize(proto, field) != *needed) {
    return Invalid(kFieldNames[static_cast<int>(field)], " has ", FieldSize(proto, field), " values, expected ",
                   needed ? absl::StrCat(*needed) : "more than 64 bits count", " for ", Describe(dtype, dims));
  }
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::AllocateUninitialized(dtype, dims));
  auto copy = [&tensor](const void* from) {
    if (tensor.size() > 0) std::memcpy(tensor.data(), from, tensor.bytes());
  };
  switch (field) {
    case Field::kFloat: copy(proto.float_data().data()); break;
    case Field::kDouble: copy(proto.double_data().data()); break;
    case Field::kInt64: copy(proto.int64_data().data()); break;
    case Field::kUint64:
      if (dtype == DType::kUint64) {
        copy(proto.uint64_data().data());
        break;
      }
      for (int64_t i = 0; i < count; ++i) {
        const uint64_t value = proto.uint64_data(static_cast<int>(i));
        if (value > std::numeric_limits<uint32_t>::max()) return Invalid("uint64_data[", i, "] is ", value, ", which uint32 does not hold");
        tensor.data<uint32_t>()[i] = static_cast<uint32_t>(value);
      }
      break;
    case Field::kString:
      for (int64_t i = 0; i < count; ++i) tensor.data<std::string>()[i] = std::move(*proto.mutable_string_data(static_cast<int>(i)));
      break;
    case Field::kInt32: WEFT_RETURN_IF_ERROR(CopyInt32Field(proto, tensor)); break;
    case Field::kNone: break;
  }
  return tensor;
}

absl::StatusOr<Tensor> TensorOfRawData(onnx::TensorProto& proto, DType dtype, absl::Span<const int64_t> dims, int64_t count) {
  const std::optional<int64_t> needed = FileBytes(dtype, count);
  const int64_t found = static_cast<int64_t>(proto.raw_data().size());
  if (!needed || found != *needed) {
    return Invalid("raw_data has ", found, " bytes, expected ", needed ? absl::StrCat(*needed) : "more than 64 bits count", " for ",
                   Describe(dtype, dims));
  }
  auto bytes = std::make_shared<const std::string>(std::move(*proto.mutable_raw_data()));
  const auto* data = reinterpret_cast<const uint8_t*>(bytes->data());
  return TensorOfBytes(dtype, dims, count, data, std::move(bytes));
}

absl::StatusOr<Tensor> FromProto(onnx::TensorProto& proto, ExternalFiles* files) {
  WEFT_ASSIGN_OR_RETURN(const DType dtype, DTypeFromNumber(proto.data_type()));
  if (proto.has_segment()) return Unsupported("is a segment of a tensor, expected a whole one");
  const absl::Span<const int64_t> dims(proto.dims().data(), proto.dims_size());
  WEFT_ASSIGN_OR_RETURN(const int64_t count, NumElements(dims));
  if (count > std::numeric_limits<int64_t>::max() / static_cast<int64_t>(DTypeSize(dtype))) {
    return Invalid(Describe(dtype, dims), " has more bytes than 64 bits count");
  }
  Field filled = Field::kNone;
  for (Field field : {Field::kFloat, Field::kInt32, Field::kString, Field::kInt64, Field::kDouble, Field::kUint64}) {
    if (FieldSize(proto, field) == 0) continue;
    if (filled != Field::kNone) {
      return Invalid("has values in ", kFieldNames[static_cast<int>(filled)], " and in ", kFieldNames[static_cast<int>(field)], ", expected one field");
    }
    filled = field;
  }
  const bool external = proto.data_location() == onnx::TensorProto::EXTERNAL;
  const bool raw = proto.has_raw_data() && (filled == Field::kNone || !proto.raw_data().empty());
  if (external && (filled != Field::kNone || !proto.raw_data().empty())) return Invalid("has external data and data of its own, expected one");
  if (external) return TensorOfExternalData(proto, dtype, dims, count, files);
  if (raw && filled != Field::kNone) return Invalid("has values in raw_data and in ", kFieldNames[static_cast<int>(filled)], ", expected one field");
  if (raw && dtype == DType::kString && count > 0) return Invalid("strings are in raw_data, expected string_data");
  if (raw && dtype != DType::kString) return TensorOfRawData(proto, dtype, dims, count);
  if (filled != Field::kNone && filled != FieldOf(dtype)) {
    return Invalid("has values in ", kFieldNames[static_cast<int>(filled)], ", expected ", kFieldNames[static_cast<int>(FieldOf(dtype))], " for ",
                   Describe(dtype, dims));
  }
  return TensorOfTypedField(proto, dtype, dims, count);
}

// ---- Sparse tensors ----

// A dense tensor may take this many bytes for each value of the sparse one, and this many in any case.
constexpr int64_t kDenseBytesPerValue = 64 << 10;
constexpr int64_t kDenseBytes = 64 << 20;

// Where value k goes. `indices` are linear ones, or one row of `dims.size()` a value.
absl::StatusOr<int64_t> SparseOffset(const Tensor& indices, int64_t k, absl::Span<const int64_t> dims, int64_t count) {
  int64_t offset = 0;
  if (indices.rank() == 1) {
    offset = indices.data<int64_t>()[k];
    if (offset < 0 || offset >= count) return Invalid("index ", offset, " is outside of ", DimsToString(dims));
    return offset;
  }
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    const int64_t index = indices.data<int64_t>()[k * dims.size() + axis];
    if (index < 0 || index >= dims[axis]) return Invalid("index ", index, " on axis ", axis, " is outside of ", DimsToString(dims));
    offset = offset * dims[axis] + index;
  }
  return offset;
}

absl::StatusOr<Tensor> FromSparseProto(onnx::SparseTensorProto& proto, ExternalFiles* files) {
  WEFT_ASSIGN_OR_RETURN(const Tensor values, FromProto(*proto.mutable_values(), files));
  WEFT_ASSIGN_OR_RETURN(const Tensor indices, FromProto(*proto.mutable_indices(), files));
  const absl::Span<const int64_t> dims(proto.dims().data(), proto.dims_size());
  WEFT_ASSIGN_OR_RETURN(const int64_t count, NumElements(dims));
  if (values.rank() != 1) return Invalid("values have rank ", values.rank(), ", expected 1");
  if (indices.dtype() != DType::kInt64) return Invalid("indices are ", DTypeName(indices.dtype()), ", expected int64");
  const bool linear = indices.rank() == 1 && indices.dim(0) == values.size();
  const bool rows = indices.rank() == 2 && indices.dim(0) == values.size() && indices.dim(1) == static_cast<int64_t>(dims.size());
  if (!linear && !rows) {
    return Invalid("indices have shape ", DimsToString(indices.dims()), ", expected [", values.size(), "] or [", values.size(), ",", dims.size(), "]");
  }
  const int64_t size = static_cast<int64_t>(DTypeSize(values.dtype()));
  if (count > kDenseBytes / size && count / kDenseBytesPerValue * size > values.size()) {
    return Exhausted(Describe(values.dtype(), dims), " with ", values.size(), " values is too sparse to be made dense");
  }
  WEFT_ASSIGN_OR_RETURN(Tensor dense, Tensor::Allocate(values.dtype(), dims));
  for (int64_t k = 0; k < values.size(); ++k) {
    WEFT_ASSIGN_OR_RETURN(const int64_t offset, SparseOffset(indices, k, dims, count));
    if (values.dtype() == DType::kString) {
      dense.data<std::string>()[offset] = values.data<std::string>()[k];
    } else {
      std::memcpy(dense.data<char>() + offset * size, values.data<char>() + k * size, size);
    }
  }
  return dense;
}

absl::StatusOr<Type> TensorTypeFromProto(const onnx::TypeProto::Tensor& proto, std::string_view name) {
  WEFT_ASSIGN_OR_RETURN(const DType dtype, DTypeFromNumber(proto.elem_type()));
  if (!proto.has_shape()) return Type::OfTensor(dtype);
  std::vector<Dim> dims;
  for (const onnx::TensorShapeProto::Dimension& dim : proto.shape().dim()) {
    if (dim.has_dim_value() && dim.dim_value() >= 0) {
      dims.emplace_back(dim.dim_value());
    } else if (dim.has_dim_param() && !dim.dim_param().empty()) {
      dims.push_back(Dim::Symbol(dim.dim_param()));
    } else {
      dims.push_back(Dim::Symbol(absl::StrCat(ToAbsl(name), ".", dims.size())));
    }
  }
  return Type::OfTensor(dtype, Shape(std::move(dims)));
}

}  // namespace

absl::StatusOr<DType> DTypeFromNumber(int number) {
  if (number == 0) return Invalid("has no element type");
  if (number > 0 && number < kNumDTypes) return static_cast<DType>(number);
  if (onnx::TensorProto::DataType_IsValid(number)) return Unsupported("has element type ", onnx::TensorProto::DataType_Name(onnx::TensorProto::DataType(number)));
  return Invalid("has element type number ", number, ", expected 1 to ", kNumDTypes - 1);
}

absl::StatusOr<Tensor> TensorFromProto(onnx::TensorProto& proto, ExternalFiles* files, std::string_view what) {
  absl::StatusOr<Tensor> tensor = FromProto(proto, files);
  if (!tensor.ok()) return Annotate(tensor.status(), what);
  return tensor;
}

absl::StatusOr<Tensor> TensorFromSparseProto(onnx::SparseTensorProto& proto, ExternalFiles* files, std::string_view what) {
  absl::StatusOr<Tensor> tensor = FromSparseProto(proto, files);
  if (!tensor.ok()) return Annotate(tensor.status(), what);
  return tensor;
}

onnx::TensorProto ProtoFromTensor(const Tensor& tensor, std::string_view name) {
  onnx::TensorProto proto;
  if (!name.empty()) proto.set_name(std::string(name));
  proto.set_data_type(static_cast<int>(tensor.dtype()));
  for (int64_t dim : tensor.dims()) proto.add_dims(dim);
  if (tensor.dtype() == DType::kString) {
    for (const std::string& s : tensor.span<std::string>()) proto.add_string_data(s);
    return proto;
  }
  std::string& raw = *proto.mutable_raw_data();
  if (!IsPacked(tensor.dtype())) {
    raw.assign(tensor.data<char>(), tensor.bytes());
    return proto;
  }
  const int bits = DTypeFileBits(tensor.dtype()), per_byte = 8 / bits;
  raw.assign(*FileBytes(tensor.dtype(), tensor.size()), '\0');
  for (int64_t i = 0; i < tensor.size(); ++i) {
    raw[i / per_byte] |= static_cast<char>((tensor.data<uint8_t>()[i] & ((1 << bits) - 1)) << (i % per_byte * bits));
  }
  return proto;
}

absl::StatusOr<Type> TypeFromProto(const onnx::TypeProto& proto, std::string_view name) {
  switch (proto.value_case()) {
    case onnx::TypeProto::kTensorType: return TensorTypeFromProto(proto.tensor_type(), name);
    case onnx::TypeProto::kSequenceType: {
      WEFT_ASSIGN_OR_RETURN(Type elem, TypeFromProto(proto.sequence_type().elem_type(), name));
      return Type::OfSequence(std::move(elem));
    }
    case onnx::TypeProto::kOptionalType: {
      WEFT_ASSIGN_OR_RETURN(Type elem, TypeFromProto(proto.optional_type().elem_type(), name));
      return Type::OfOptional(std::move(elem));
    }
    case onnx::TypeProto::kMapType: {
      WEFT_ASSIGN_OR_RETURN(const DType key, DTypeFromNumber(proto.map_type().key_type()));
      if (key != DType::kString && !IsInteger(key)) return Invalid("has map keys of type ", DTypeName(key), ", expected integers or strings");
      WEFT_ASSIGN_OR_RETURN(Type value, TypeFromProto(proto.map_type().value_type(), name));
      return Type::OfMap(key, std::move(value));
    }
    case onnx::TypeProto::kSparseTensorType: return Unsupported("is a sparse tensor");
    case onnx::TypeProto::kOpaqueType: return Unsupported("has an opaque type");
    case onnx::TypeProto::VALUE_NOT_SET: return Invalid("has no type");
  }
  return Invalid("has no type");
}

}  // namespace weft
