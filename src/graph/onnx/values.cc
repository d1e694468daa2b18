#include "graph/onnx/values.h"

#include <utility>

#include "base/status_macros.h"
#include "graph/onnx/tensor_proto.h"
#include "onnx/onnx-data.pb.h"

namespace weft {
namespace {

absl::StatusOr<Value> FromSequence(const onnx::SequenceProto& proto);
absl::StatusOr<Value> FromOptional(const onnx::OptionalProto& proto);

// Nesting needs no limit here: protobuf's own parser stops at 100 levels.
absl::StatusOr<Value> FromMap(const onnx::MapProto& proto) {
  Map map;
  const bool strings = proto.key_type() == onnx::TensorProto::STRING;
  const int count = strings ? proto.string_keys_size() : proto.keys_size();
  WEFT_ASSIGN_OR_RETURN(map.keys, Tensor::Allocate(strings ? DType::kString : DType::kInt64, {count}));
  for (int i = 0; i < count; ++i) {
    if (strings) map.keys.data<std::string>()[i] = proto.string_keys(i);
    else map.keys.data<int64_t>()[i] = proto.keys(i);
  }
  const auto& values = proto.values().tensor_values();
  if (values.size() != count) return Invalid("a map has ", count, " keys and ", values.size(), " values");
  DType dtype = DType::kFloat32;
  for (int i = 0; i < count; ++i) {
    WEFT_ASSIGN_OR_RETURN(const Tensor value, TensorFromProto(values[i], nullptr));
    if (value.size() != 1) return Unsupported("a map's value has ", value.size(), " elements, expected 1");
    if (i == 0) {
      dtype = value.dtype();
      WEFT_ASSIGN_OR_RETURN(map.values, Tensor::Allocate(dtype, {count}));
    }
    if (value.dtype() != dtype) return Invalid("a map's values have the element types ", DTypeName(dtype), " and ", DTypeName(value.dtype()));
    if (dtype == DType::kString) {
      map.values.data<std::string>()[i] = value.data<std::string>()[0];
    } else {
      std::copy_n(value.data<char>(), DTypeSize(dtype), map.values.data<char>() + i * DTypeSize(dtype));
    }
  }
  if (count == 0) {
    WEFT_ASSIGN_OR_RETURN(map.values, Tensor::Allocate(dtype, {0}));
  }
  return Value(std::move(map));
}

absl::StatusOr<Value> FromSequence(const onnx::SequenceProto& proto) {
  Sequence sequence;
  auto add = [&](absl::StatusOr<Value> item) -> absl::Status {
    if (!item.ok()) return item.status();
    sequence.items.push_back(*std::move(item));
    return absl::OkStatus();
  };
  for (const auto& t : proto.tensor_values()) {
    WEFT_ASSIGN_OR_RETURN(Tensor tensor, TensorFromProto(t, nullptr));
    sequence.elem_dtype = tensor.dtype();
    sequence.items.push_back(std::move(tensor));
  }
  for (const auto& s : proto.sequence_values()) WEFT_RETURN_IF_ERROR(add(FromSequence(s)));
  for (const auto& m : proto.map_values()) WEFT_RETURN_IF_ERROR(add(FromMap(m)));
  for (const auto& o : proto.optional_values()) WEFT_RETURN_IF_ERROR(add(FromOptional(o)));
  if (proto.sparse_tensor_values_size() > 0) return Unsupported("a sequence of sparse tensors");
  return Value(std::move(sequence));
}

absl::StatusOr<Value> FromOptional(const onnx::OptionalProto& proto) {
  Optional optional;
  if (proto.has_tensor_value()) {
    WEFT_ASSIGN_OR_RETURN(Tensor tensor, TensorFromProto(proto.tensor_value(), nullptr));
    optional.elem_dtype = tensor.dtype();
    optional.item.push_back(std::move(tensor));
  } else if (proto.has_sequence_value()) {
    WEFT_ASSIGN_OR_RETURN(Value item, FromSequence(proto.sequence_value()));
    optional.item.push_back(std::move(item));
  } else if (proto.has_map_value()) {
    WEFT_ASSIGN_OR_RETURN(Value item, FromMap(proto.map_value()));
    optional.item.push_back(std::move(item));
  } else if (proto.has_optional_value()) {
    WEFT_ASSIGN_OR_RETURN(Value item, FromOptional(proto.optional_value()));
    optional.item.push_back(std::move(item));
  } else if (proto.has_sparse_tensor_value()) {
    return Unsupported("an optional sparse tensor");
  }
  return Value(std::move(optional));
}

template <class Proto, class Convert>
absl::StatusOr<NamedValue> Parse(std::string_view bytes, std::string_view what, Convert convert) {
  Proto proto;
  if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return Invalid("is not a serialised ", what);
  WEFT_ASSIGN_OR_RETURN(Value value, convert(proto));
  return NamedValue{proto.name(), std::move(value)};
}

absl::Status ToMap(const Map& map, onnx::MapProto& proto);
absl::Status ToSequence(const Sequence& sequence, onnx::SequenceProto& proto);

absl::Status ToOptional(const Optional& optional, onnx::OptionalProto& proto) {
  proto.set_elem_type(onnx::OptionalProto::TENSOR);
  if (optional.item.empty()) return absl::OkStatus();
  const Value& item = optional.item[0];
  if (item.is_tensor()) {
    WEFT_ASSIGN_OR_RETURN(*proto.mutable_tensor_value(), ProtoFromTensor(item.tensor(), ""));
    return absl::OkStatus();
  }
  if (item.is_sequence()) {
    proto.set_elem_type(onnx::OptionalProto::SEQUENCE);
    return ToSequence(item.sequence(), *proto.mutable_sequence_value());
  }
  if (item.is_map()) {
    proto.set_elem_type(onnx::OptionalProto::MAP);
    return ToMap(item.map(), *proto.mutable_map_value());
  }
  proto.set_elem_type(onnx::OptionalProto::OPTIONAL);
  return ToOptional(item.optional(), *proto.mutable_optional_value());
}

absl::Status ToMap(const Map& map, onnx::MapProto& proto) {
  proto.set_key_type(static_cast<int>(map.keys.dtype()));
  for (int64_t i = 0; i < map.keys.size(); ++i) {
    if (map.keys.dtype() == DType::kString) proto.add_string_keys(map.keys.data<std::string>()[i]);
    else if (map.keys.dtype() == DType::kInt64) proto.add_keys(map.keys.data<int64_t>()[i]);
    else return Unsupported("a map with keys of element type ", DTypeName(map.keys.dtype()));
  }
  proto.mutable_values()->set_elem_type(onnx::SequenceProto::TENSOR);
  const size_t size = DTypeSize(map.values.dtype());
  for (int64_t i = 0; i < map.values.size(); ++i) {
    const Tensor one = Tensor::Wrap(map.values.dtype(), {}, map.values.data<char>() + i * size);
    WEFT_ASSIGN_OR_RETURN(*proto.mutable_values()->add_tensor_values(), ProtoFromTensor(one, ""));
  }
  return absl::OkStatus();
}

absl::Status ToSequence(const Sequence& sequence, onnx::SequenceProto& proto) {
  proto.set_elem_type(onnx::SequenceProto::TENSOR);
  for (const Value& item : sequence.items) {
    if (item.is_tensor()) {
      WEFT_ASSIGN_OR_RETURN(*proto.add_tensor_values(), ProtoFromTensor(item.tensor(), ""));
    } else if (item.is_map()) {
      proto.set_elem_type(onnx::SequenceProto::MAP);
      WEFT_RETURN_IF_ERROR(ToMap(item.map(), *proto.add_map_values()));
    } else if (item.is_sequence()) {
      proto.set_elem_type(onnx::SequenceProto::SEQUENCE);
      WEFT_RETURN_IF_ERROR(ToSequence(item.sequence(), *proto.add_sequence_values()));
    } else {
      proto.set_elem_type(onnx::SequenceProto::OPTIONAL);
      WEFT_RETURN_IF_ERROR(ToOptional(item.optional(), *proto.add_optional_values()));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<NamedValue> ValueFromProtoBytes(std::string_view bytes, Type::Kind kind) {
  if (bytes.size() > INT32_MAX) return Exhausted("is larger than the 2 GiB that one protobuf message may have");
  switch (kind) {
    case Type::Kind::kSequence: return Parse<onnx::SequenceProto>(bytes, "SequenceProto", FromSequence);
    case Type::Kind::kOptional: return Parse<onnx::OptionalProto>(bytes, "OptionalProto", FromOptional);
    case Type::Kind::kMap: return Parse<onnx::MapProto>(bytes, "MapProto", FromMap);
    case Type::Kind::kTensor:
    case Type::Kind::kUnknown: break;
  }
  return Parse<onnx::TensorProto>(bytes, "TensorProto", [](const onnx::TensorProto& proto) -> absl::StatusOr<Value> {
    WEFT_ASSIGN_OR_RETURN(Tensor tensor, TensorFromProto(proto, nullptr));
    return Value(std::move(tensor));
  });
}

absl::StatusOr<std::string> ProtoBytesFromValue(const Value& value, std::string_view name) {
  if (value.is_tensor()) {
    WEFT_ASSIGN_OR_RETURN(const onnx::TensorProto proto, ProtoFromTensor(value.tensor(), name));
    return proto.SerializeAsString();
  }
  auto serialize = [&](auto& proto, const absl::Status& status) -> absl::StatusOr<std::string> {
    WEFT_RETURN_IF_ERROR(status);
    proto.set_name(std::string(name));
    return proto.SerializeAsString();
  };
  if (value.is_sequence()) {
    onnx::SequenceProto proto;
    return serialize(proto, ToSequence(value.sequence(), proto));
  }
  if (value.is_optional()) {
    onnx::OptionalProto proto;
    return serialize(proto, ToOptional(value.optional(), proto));
  }
  if (value.is_map()) {
    onnx::MapProto proto;
    return serialize(proto, ToMap(value.map(), proto));
  }
  return Invalid("an empty value has no file form");
}

}  // namespace weft
