#include "graph/onnx/tensor_proto.h"

#include <cstring>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace weft {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "ONNX's raw data is little-endian");

absl::StatusOr<DType> DTypeFromProto(int number) {
  if (number <= 0 || number >= kNumDTypes) return Unsupported("element type number ", number, ", expected 1 to ", kNumDTypes - 1);
  return static_cast<DType>(number);
}

namespace {

using onnx::TensorProto;

// Bytes that `count` elements take in a file; sub-byte types fill each byte from the low bits.
absl::StatusOr<int64_t> PackedBytes(DType dtype, int64_t count) {
  int64_t bits;
  if (__builtin_mul_overflow(count, int64_t{DTypeFileBits(dtype)}, &bits)) return Invalid("has ", count, " elements: too many");
  return bits / 8 + (bits % 8 != 0);
}

// One sub-byte element as memory holds it.
uint8_t Widen(DType dtype, uint8_t bits) {
  if (dtype == DType::kInt4) return static_cast<uint8_t>(static_cast<int8_t>(bits << 4) >> 4);
  if (dtype == DType::kInt2) return static_cast<uint8_t>(static_cast<int8_t>(bits << 6) >> 6);
  return bits;
}

void Unpack(DType dtype, const char* packed, int64_t count, uint8_t* out) {
  const int bits = DTypeFileBits(dtype), per_byte = 8 / bits;
  const auto mask = static_cast<uint8_t>((1 << bits) - 1);
  for (int64_t i = 0; i < count; ++i) {
    const auto byte = static_cast<uint8_t>(packed[i / per_byte]);
    out[i] = Widen(dtype, byte >> (i % per_byte * bits) & mask);
  }
}

// The elements as a file's bytes hold them; in place where `owner` keeps the bytes and they lie as memory wants them.
absl::StatusOr<Tensor> FromBytes(DType dtype, const Dims& dims, int64_t count, std::string_view bytes, std::string_view what,
                                 const std::shared_ptr<const void>& owner) {
  if (dtype == DType::kString) return Invalid("holds strings in ", what, ", expected string_data");
  WEFT_ASSIGN_OR_RETURN(const int64_t need, PackedBytes(dtype, count));
  if (need != static_cast<int64_t>(bytes.size())) {
    return Invalid("has ", bytes.size(), " bytes of ", what, ", expected ", need, " for ", DTypeName(dtype), DimsToString(dims));
  }
  const bool aligned = reinterpret_cast<uintptr_t>(bytes.data()) % std::min<size_t>(DTypeSize(dtype), 8) == 0;
  if (owner != nullptr && aligned && !bytes.empty() && DTypeFileBits(dtype) >= 8 && dtype != DType::kBool) {
    return Tensor::Wrap(dtype, dims, const_cast<char*>(bytes.data()), owner);  // constants are never written to
  }
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::AllocateUninitialized(dtype, dims));
  if (DTypeFileBits(dtype) < 8) {
    Unpack(dtype, bytes.data(), count, tensor.data<uint8_t>());
  } else if (dtype == DType::kBool) {
    for (int64_t i = 0; i < count; ++i) tensor.data<uint8_t>()[i] = bytes[i] != 0;
  } else if (!bytes.empty()) {
    std::memcpy(tensor.data(), bytes.data(), bytes.size());
  }
  return tensor;
}

absl::StatusOr<Tensor> FromExternal(const TensorProto& proto, DType dtype, const Dims& dims, int64_t count, ExternalData* external) {
  if (external == nullptr) return Invalid("has external data, which is allowed for initialisers of a model file alone");
  std::string location;
  int64_t offset = 0, length = -1;
  bool has_location = false;
  for (const onnx::StringStringEntryProto& entry : proto.external_data()) {
    if (entry.key() == "location") {
      location = entry.value();
      has_location = true;
    } else if (entry.key() == "offset" || entry.key() == "length") {
      int64_t& to = entry.key() == "offset" ? offset : length;
      if (!absl::SimpleAtoi(entry.value(), &to) || to < 0) {
        return Invalid("has the external data ", entry.key(), " '", entry.value(), "', expected an integer >= 0");
      }
    }
  }
  if (!has_location) return Invalid("is marked as external but gives no location");
  if (proto.has_raw_data() && !proto.raw_data().empty()) return Invalid("has both raw data and external data");
  if (dtype == DType::kString) return Invalid("holds strings in external data, expected string_data");
  WEFT_ASSIGN_OR_RETURN(const ExternalData::Mapping file, external->Open(location));
  WEFT_ASSIGN_OR_RETURN(const int64_t need, PackedBytes(dtype, count));
  if (offset > file.bytes) {
    return Invalid("begins at byte ", offset, " of '", location, "', which has ", file.bytes, " bytes");
  }
  if (length < 0) length = need;
  if (length != need) {
    return Invalid("has ", length, " bytes of external data, expected ", need, " for ", DTypeName(dtype), DimsToString(dims));
  }
  if (length > file.bytes - offset) {
    return Invalid("takes bytes ", offset, " to ", offset + length, " of '", location, "', which has ", file.bytes, " bytes");
  }
  return FromBytes(dtype, dims, count, std::string_view(file.data + offset, length), "external data", file.owner);
}

template <class T, class Field>
absl::StatusOr<Tensor> FromField(const Field& field, std::string_view name, DType dtype, const Dims& dims, int64_t count) {
  if (field.size() != count) {
    return Invalid("has ", field.size(), " elements in ", name, ", expected ", count, " for ", DTypeName(dtype), DimsToString(dims));
  }
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::AllocateUninitialized(dtype, dims));
  for (int64_t i = 0; i < count; ++i) tensor.data<T>()[i] = static_cast<T>(field[i]);
  return tensor;
}

// Two of the field's numbers make one complex element.
template <class T, class Field>
absl::StatusOr<Tensor> FromComplexField(const Field& field, std::string_view name, DType dtype, const Dims& dims, int64_t count) {
  if (field.size() / 2 != count || field.size() % 2 != 0) {
    return Invalid("has ", field.size(), " numbers in ", name, ", expected two for each of ", count, " elements");
  }
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::AllocateUninitialized(dtype, dims));
  for (int64_t i = 0; i < 2 * count; ++i) tensor.data<T>()[i] = field[i];
  return tensor;
}

// int32_data of a sub-byte type: one packed byte an entry.
absl::StatusOr<Tensor> FromPackedInts(const TensorProto& proto, DType dtype, const Dims& dims, int64_t count) {
  std::string bytes;
  for (int32_t entry : proto.int32_data()) bytes.push_back(static_cast<char>(entry));
  return FromBytes(dtype, dims, count, bytes, "int32_data", nullptr);
}

absl::StatusOr<Tensor> FromTypedFields(const TensorProto& proto, DType dtype, const Dims& dims, int64_t count) {
  switch (dtype) {
    case DType::kFloat32: return FromField<float>(proto.float_data(), "float_data", dtype, dims, count);
    case DType::kFloat64: return FromField<double>(proto.double_data(), "double_data", dtype, dims, count);
    case DType::kInt64: return FromField<int64_t>(proto.int64_data(), "int64_data", dtype, dims, count);
    case DType::kUint64: return FromField<uint64_t>(proto.uint64_data(), "uint64_data", dtype, dims, count);
    case DType::kUint32: return FromField<uint32_t>(proto.uint64_data(), "uint64_data", dtype, dims, count);
    case DType::kInt32: return FromField<int32_t>(proto.int32_data(), "int32_data", dtype, dims, count);
    case DType::kInt16: return FromField<int16_t>(proto.int32_data(), "int32_data", dtype, dims, count);
    case DType::kInt8: return FromField<int8_t>(proto.int32_data(), "int32_data", dtype, dims, count);
    case DType::kUint16:
    case DType::kFloat16:
    case DType::kBFloat16: return FromField<uint16_t>(proto.int32_data(), "int32_data", dtype, dims, count);
    case DType::kBool: return FromField<bool>(proto.int32_data(), "int32_data", dtype, dims, count);
    case DType::kUint8:
    case DType::kFloat8E4M3FN:
    case DType::kFloat8E4M3FNUZ:
    case DType::kFloat8E5M2:
    case DType::kFloat8E5M2FNUZ:
    case DType::kFloat8E8M0: return FromField<uint8_t>(proto.int32_data(), "int32_data", dtype, dims, count);
    case DType::kUint4:
    case DType::kInt4:
    case DType::kFloat4E2M1:
    case DType::kUint2:
    case DType::kInt2: return FromPackedInts(proto, dtype, dims, count);
    case DType::kComplex64: return FromComplexField<float>(proto.float_data(), "float_data", dtype, dims, count);
    case DType::kComplex128: return FromComplexField<double>(proto.double_data(), "double_data", dtype, dims, count);
    case DType::kString: return FromField<std::string>(proto.string_data(), "string_data", dtype, dims, count);
    case DType::kUndefined: break;
  }
  return Internal("unreached element type");
}

// Elements in a field that belongs to another element type would be lost without a word.
absl::Status CheckNoOtherFields(const TensorProto& proto, DType dtype) {
  struct { std::string_view name; int count; bool right; } fields[] = {
      {"float_data", proto.float_data_size(), dtype == DType::kFloat32 || dtype == DType::kComplex64},
      {"double_data", proto.double_data_size(), dtype == DType::kFloat64 || dtype == DType::kComplex128},
      {"int64_data", proto.int64_data_size(), dtype == DType::kInt64},
      {"uint64_data", proto.uint64_data_size(), dtype == DType::kUint64 || dtype == DType::kUint32},
      {"string_data", proto.string_data_size(), dtype == DType::kString},
      {"int32_data", proto.int32_data_size(),
       dtype != DType::kFloat32 && dtype != DType::kFloat64 && dtype != DType::kInt64 && dtype != DType::kUint64 &&
           dtype != DType::kUint32 && dtype != DType::kString && !IsComplex(dtype)},
  };
  for (const auto& field : fields) {
    if (field.count > 0 && !field.right) return Invalid("is of element type ", DTypeName(dtype), " but has elements in ", field.name);
    if (field.count > 0 && proto.has_raw_data() && !proto.raw_data().empty()) return Invalid("has elements in both raw_data and ", field.name);
  }
  return absl::OkStatus();
}

absl::StatusOr<Tensor> Read(const TensorProto& proto, ExternalData* external, const std::shared_ptr<const void>& owner) {
  WEFT_ASSIGN_OR_RETURN(const DType dtype, DTypeFromProto(proto.data_type()));
  const Dims dims(proto.dims().begin(), proto.dims().end());
  WEFT_ASSIGN_OR_RETURN(const int64_t count, NumElements(dims));
  if (proto.has_segment()) return Unsupported("is cut into segments");
  WEFT_RETURN_IF_ERROR(CheckNoOtherFields(proto, dtype));
  if (proto.data_location() == TensorProto::EXTERNAL) return FromExternal(proto, dtype, dims, count, external);
  if (proto.has_raw_data() && (count > 0 || !proto.raw_data().empty())) {
    return FromBytes(dtype, dims, count, proto.raw_data(), "raw_data", owner);
  }
  return FromTypedFields(proto, dtype, dims, count);
}

}  // namespace

absl::StatusOr<Tensor> TensorFromProto(const TensorProto& proto, ExternalData* external, const std::shared_ptr<const void>& owner) {
  absl::StatusOr<Tensor> tensor = Read(proto, external, owner);
  if (!tensor.ok()) return Annotate(tensor.status(), absl::StrCat("tensor '", proto.name(), "'"));
  return tensor;
}

absl::StatusOr<TensorProto> ProtoFromTensor(const Tensor& tensor, std::string_view name) {
  TensorProto proto;
  proto.set_name(std::string(name));
  proto.set_data_type(static_cast<int>(tensor.dtype()));
  for (int64_t d : tensor.dims()) proto.add_dims(d);
  if (tensor.dtype() == DType::kString) {
    for (const std::string& s : tensor.span<std::string>()) proto.add_string_data(s);
    return proto;
  }
  if (DTypeFileBits(tensor.dtype()) >= 8) {
    proto.set_raw_data(tensor.data(), tensor.bytes());
    return proto;
  }
  WEFT_ASSIGN_OR_RETURN(const int64_t bytes, PackedBytes(tensor.dtype(), tensor.size()));
  std::string packed(bytes, '\0');
  const int bits = DTypeFileBits(tensor.dtype()), per_byte = 8 / bits;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const int low = tensor.data<uint8_t>()[i] & ((1 << bits) - 1);
    packed[i / per_byte] = static_cast<char>(packed[i / per_byte] | low << (i % per_byte * bits));
  }
  proto.set_raw_data(std::move(packed));
  return proto;
}

}  // namespace weft
