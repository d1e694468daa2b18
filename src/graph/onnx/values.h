// Values as ONNX files hold them: TensorProto, SequenceProto, OptionalProto, MapProto (onnx-ml.proto, onnx-data.proto).
#ifndef WEFT_GRAPH_ONNX_VALUES_H_
#define WEFT_GRAPH_ONNX_VALUES_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "graph/type.h"
#include "weft/value.h"

namespace weft {

struct NamedValue {
  std::string name;  // as the file gives it; may be empty
  Value value;
};

// Reads a serialised proto; `kind` says which one (the bytes do not; kUnknown: a tensor). Errors: InvalidArgument.
absl::StatusOr<NamedValue> ValueFromProtoBytes(std::string_view bytes, Type::Kind kind);

// The inverse. Sequences of maps are written as SequenceProto with map_values.
absl::StatusOr<std::string> ProtoBytesFromValue(const Value& value, std::string_view name);

}  // namespace weft

#endif  // WEFT_GRAPH_ONNX_VALUES_H_
