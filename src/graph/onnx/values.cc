#include "graph/onnx/values.h"

#include <climits>
#include <utility>

#include "base/status_macros.h"
#include "graph/onnx/tensor_proto.h"
#include "onnx/onnx-data.pb.h"

namespace weft {
namespace {

// The element type of the first tensor found going inwards.
DType InnerDType(const Value& value) {
  if (value.is_tensor()) return value.tensor().dtype();
  if (value.is_sequence()) return value.sequence().elem_dtype;
  if (value.is_optional()) return value.optional().elem_dtype;
  return DType::kUndefined;
}

// ---- From protos ----

absl::StatusOr<Value> FromProto(onnx::TensorProto& proto) {
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, TensorFromProto(proto, nullptr, "tensor"));
  return Value(std::move(tensor));
}

absl::StatusOr<Value> FromProto(onnx::SparseTensorProto& proto) {
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, TensorFromSparseProto(proto, nullptr, "sparse tensor"));
  return Value(std::move(tensor));
}

absl::StatusOr<Value> FromProto(onnx::MapProto& proto);
absl::StatusOr<Value> FromProto(onnx::OptionalProto& proto);

absl::StatusOr<Value> FromProto(onnx::SequenceProto& proto) {
  Sequence sequence;
  auto append = [&sequence](auto& items) -> absl::Status {
    for (auto& item : items) {
      WEFT_ASSIGN_OR_RETURN(Value value, FromProto(item));
      if (sequence.items.empty()) sequence.elem_dtype = InnerDType(value);
      if (sequence.elem_dtype != InnerDType(value)) {
        return Invalid("sequence holds ", DTypeName(sequence.elem_dtype), " and ", DTypeName(InnerDType(value)), ", expected one element type");
      }
      sequence.items.push_back(std::move(value));
    }
    return absl::OkStatus();
  };
  const int filled = (proto.tensor_values_size() > 0) + (proto.sparse_tensor_values_size() > 0) + (proto.sequence_values_size() > 0) +
                     (proto.map_values_size() > 0) + (proto.optional_values_size() > 0);
  if (filled > 1) return Invalid("sequence holds values of several kinds, expected one");
  WEFT_RETURN_IF_ERROR(append(*proto.mutable_tensor_values()));
  WEFT_RETURN_IF_ERROR(append(*proto.mutable_sparse_tensor_values()));
  WEFT_RETURN_IF_ERROR(append(*proto.mutable_sequence_values()));
  WEFT_RETURN_IF_ERROR(append(*proto.mutable_map_values()));
  WEFT_RETURN_IF_ERROR(append(*proto.mutable_optional_values()));
  return Value(std::move(sequence));
}

absl::StatusOr<Value> FromProto(onnx::OptionalProto& proto) {
  Optional optional;
  auto hold = [&optional](auto& item) -> absl::Status {
    WEFT_ASSIGN_OR_RETURN(Value value, FromProto(item));
    optional.elem_dtype = InnerDType(value);
    optional.item.push_back(std::move(value));
    return absl::OkStatus();
  };
  if (proto.has_tensor_value()) WEFT_RETURN_IF_ERROR(hold(*proto.mutable_tensor_value()));
  if (proto.has_sparse_tensor_value()) WEFT_RETURN_IF_ERROR(hold(*proto.mutable_sparse_tensor_value()));
  if (proto.has_sequence_value()) WEFT_RETURN_IF_ERROR(hold(*proto.mutable_sequence_value()));
  if (proto.has_map_value()) WEFT_RETURN_IF_ERROR(hold(*proto.mutable_map_value()));
  if (proto.has_optional_value()) WEFT_RETURN_IF_ERROR(hold(*proto.mutable_optional_value()));
  if (optional.item.size() > 1) return Invalid("optional holds ", optional.item.size(), " values, expected at most one");
  return Value(std::move(optional));
}

// The tensors' elements in one row; tensors of one element each, of any rank.
absl::StatusOr<Tensor> Joined(const Sequence& sequence) {
  const DType dtype = sequence.items.empty() ? DType::kFloat32 : sequence.elem_dtype;
  WEFT_ASSIGN_OR_RETURN(Tensor joined, Tensor::Allocate(dtype, {static_cast<int64_t>(sequence.items.size())}));
  for (size_t i = 0; i < sequence.items.size(); ++i) {
    const Value& item = sequence.items[i];
    if (!item.is_tensor() || item.tensor().size() != 1) return Unsupported("map holds values that are no single elements");
    if (dtype == DType::kString) {
      joined.data<std::string>()[i] = item.tensor().data<std::string>()[0];
    } else {
      const size_t size = DTypeSize(dtype);
      std::copy_n(item.tensor().data<char>(), size, joined.data<char>() + i * size);
    }
  }
  return joined;
}

template <class T, class Keys>
absl::StatusOr<Tensor> IntegerKeys(const Keys& keys) {
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(DTypeOf<T>::value, {static_cast<int64_t>(keys.size())}));
  for (int i = 0; i < keys.size(); ++i) {
    tensor.data<T>()[i] = static_cast<T>(keys[i]);
    if (static_cast<int64_t>(tensor.data<T>()[i]) != keys[i]) return Invalid("map key ", keys[i], " does not fit ", DTypeName(DTypeOf<T>::value));
  }
  return tensor;
}

absl::StatusOr<Tensor> KeysFromProto(const onnx::MapProto& proto) {
  WEFT_ASSIGN_OR_RETURN(const DType dtype, DTypeFromNumber(proto.key_type()));
  if (dtype == DType::kString) {
    WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(dtype, {int64_t{proto.string_keys_size()}}));
    for (int i = 0; i < proto.string_keys_size(); ++i) tensor.data<std::string>()[i] = proto.string_keys(i);
    return tensor;
  }
  switch (dtype) {
    case DType::kInt8: return IntegerKeys<int8_t>(proto.keys());
    case DType::kInt16: return IntegerKeys<int16_t>(proto.keys());
    case DType::kInt32: return IntegerKeys<int32_t>(proto.keys());
    case DType::kInt64: return IntegerKeys<int64_t>(proto.keys());
    case DType::kUint8: return IntegerKeys<uint8_t>(proto.keys());
    case DType::kUint16: return IntegerKeys<uint16_t>(proto.keys());
    case DType::kUint32: return IntegerKeys<uint32_t>(proto.keys());
    case DType::kUint64: return IntegerKeys<uint64_t>(proto.keys());
    default: return Invalid("map has keys of type ", DTypeName(dtype), ", expected integers or strings");
  }
}

absl::StatusOr<Value> FromProto(onnx::MapProto& proto) {
  Map map;
  WEFT_ASSIGN_OR_RETURN(map.keys, KeysFromProto(proto));
  WEFT_ASSIGN_OR_RETURN(const Value values, FromProto(*proto.mutable_values()));
  // One tensor of all values, or one tensor each.
  const Sequence& sequence = values.sequence();
  const bool one_tensor = sequence.items.size() == 1 && sequence.items[0].is_tensor() && sequence.items[0].tensor().rank() == 1;
  if (one_tensor) {
    map.values = sequence.items[0].tensor();
  } else {
    WEFT_ASSIGN_OR_RETURN(map.values, Joined(sequence));
  }
  if (map.keys.size() != map.values.size()) return Invalid("map has ", map.keys.size(), " keys and ", map.values.size(), " values");
  return Value(std::move(map));
}

template <class Proto>
absl::StatusOr<NamedValue> Parse(std::string_view bytes, std::string_view what) {
  Proto proto;
  if (bytes.size() > INT_MAX) return Invalid("has ", bytes.size(), " bytes, expected at most 2 GiB");
  if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return Invalid("is not an ONNX ", what);
  NamedValue named;
  named.name = proto.name();
  WEFT_ASSIGN_OR_RETURN(named.value, FromProto(proto));
  return named;
}

// ---- To protos ----

absl::Status FillMap(const Map& map, onnx::MapProto& proto) {
  const Tensor& keys = map.keys;
  proto.set_key_type(static_cast<int>(keys.dtype()));
  for (int64_t i = 0; i < keys.size(); ++i) {
    switch (keys.dtype()) {
      case DType::kString: proto.add_string_keys(keys.data<std::string>()[i]); break;
      case DType::kInt8: proto.add_keys(keys.data<int8_t>()[i]); break;
      case DType::kInt16: proto.add_keys(keys.data<int16_t>()[i]); break;
      case DType::kInt32: proto.add_keys(keys.data<int32_t>()[i]); break;
      case DType::kInt64: proto.add_keys(keys.data<int64_t>()[i]); break;
      case DType::kUint8: proto.add_keys(keys.data<uint8_t>()[i]); break;
      case DType::kUint16: proto.add_keys(keys.data<uint16_t>()[i]); break;
      case DType::kUint32: proto.add_keys(keys.data<uint32_t>()[i]); break;
      case DType::kUint64: proto.add_keys(static_cast<int64_t>(keys.data<uint64_t>()[i])); break;
      default: return Invalid("map has keys of type ", DTypeName(keys.dtype()), ", expected integers or strings");
    }
  }
  proto.mutable_values()->set_elem_type(onnx::SequenceProto::TENSOR);
  *proto.mutable_values()->add_tensor_values() = ProtoFromTensor(map.values, "");
  return absl::OkStatus();
}

absl::Status FillOptional(const Optional& optional, onnx::OptionalProto& proto);

absl::Status FillSequence(const Sequence& sequence, onnx::SequenceProto& proto) {
  proto.set_elem_type(onnx::SequenceProto::TENSOR);
  for (const Value& item : sequence.items) {
    if (item.is_tensor()) {
      *proto.add_tensor_values() = ProtoFromTensor(item.tensor(), "");
    } else if (item.is_sequence()) {
      proto.set_elem_type(onnx::SequenceProto::SEQUENCE);
      WEFT_RETURN_IF_ERROR(FillSequence(item.sequence(), *proto.add_sequence_values()));
    } else if (item.is_map()) {
      proto.set_elem_type(onnx::SequenceProto::MAP);
      WEFT_RETURN_IF_ERROR(FillMap(item.map(), *proto.add_map_values()));
    } else if (item.is_optional()) {
      proto.set_elem_type(onnx::SequenceProto::OPTIONAL);
      WEFT_RETURN_IF_ERROR(FillOptional(item.optional(), *proto.add_optional_values()));
    } else {
      return Invalid("sequence holds nothing where a value was expected");
    }
  }
  return absl::OkStatus();
}

absl::Status FillOptional(const Optional& optional, onnx::OptionalProto& proto) {
  proto.set_elem_type(onnx::OptionalProto::UNDEFINED);
  if (optional.item.empty()) return absl::OkStatus();
  const Value& item = optional.item[0];
  if (item.is_tensor()) {
    proto.set_elem_type(onnx::OptionalProto::TENSOR);
    *proto.mutable_tensor_value() = ProtoFromTensor(item.tensor(), "");
  } else if (item.is_sequence()) {
    proto.set_elem_type(onnx::OptionalProto::SEQUENCE);
    WEFT_RETURN_IF_ERROR(FillSequence(item.sequence(), *proto.mutable_sequence_value()));
  } else if (item.is_map()) {
    proto.set_elem_type(onnx::OptionalProto::MAP);
    WEFT_RETURN_IF_ERROR(FillMap(item.map(), *proto.mutable_map_value()));
  } else if (item.is_optional()) {
    proto.set_elem_type(onnx::OptionalProto::OPTIONAL);
    WEFT_RETURN_IF_ERROR(FillOptional(item.optional(), *proto.mutable_optional_value()));
  }
  return absl::OkStatus();
}

template <class Proto>
absl::StatusOr<std::string> Serialize(Proto proto, std::string_view name) {
  if (!name.empty()) proto.set_name(std::string(name));
  if (proto.ByteSizeLong() > INT_MAX) return Exhausted("value of ", proto.ByteSizeLong(), " bytes, expected at most 2 GiB in one file");
  return proto.SerializeAsString();
}

}  // namespace

absl::StatusOr<NamedValue> ValueFromProtoBytes(std::string_view bytes, Type::Kind kind) {
  switch (kind) {
    case Type::Kind::kSequence: return Parse<onnx::SequenceProto>(bytes, "sequence");
    case Type::Kind::kOptional: return Parse<onnx::OptionalProto>(bytes, "optional");
    case Type::Kind::kMap: return Parse<onnx::MapProto>(bytes, "map");
    case Type::Kind::kTensor:
    case Type::Kind::kUnknown: break;
  }
  return Parse<onnx::TensorProto>(bytes, "tensor");
}

absl::StatusOr<std::string> ProtoBytesFromValue(const Value& value, std::string_view name) {
  if (value.is_tensor()) return Serialize(ProtoFromTensor(value.tensor(), name), name);
  if (value.is_sequence()) {
    onnx::SequenceProto proto;
    WEFT_RETURN_IF_ERROR(FillSequence(value.sequence(), proto));
    return Serialize(std::move(proto), name);
  }
  if (value.is_map()) {
    onnx::MapProto proto;
    WEFT_RETURN_IF_ERROR(FillMap(value.map(), proto));
    return Serialize(std::move(proto), name);
  }
  if (value.is_optional()) {
    onnx::OptionalProto proto;
    WEFT_RETURN_IF_ERROR(FillOptional(value.optional(), proto));
    return Serialize(std::move(proto), name);
  }
  return Invalid("there is no value to write");
}

}  // namespace weft
