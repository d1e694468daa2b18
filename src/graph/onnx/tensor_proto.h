// Tensors and types between ONNX's protos and ours.
#ifndef WEFT_GRAPH_ONNX_TENSOR_PROTO_H_
#define WEFT_GRAPH_ONNX_TENSOR_PROTO_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "graph/onnx/external_data.h"
#include "graph/type.h"
#include "onnx/onnx-ml.pb.h"
#include "weft/tensor.h"

namespace weft {

// The tensor, its element count and payload checked against its dims. raw_data is moved out of `proto` where that saves a copy; external
// data is mapped (`files` null: refused). `what` begins every error: "initializer 'w'".
absl::StatusOr<Tensor> TensorFromProto(onnx::TensorProto& proto, ExternalFiles* files, std::string_view what);

// Sparse form to a dense tensor. Errors: also ResourceExhausted where a few values would fill a tensor out of proportion.
absl::StatusOr<Tensor> TensorFromSparseProto(onnx::SparseTensorProto& proto, ExternalFiles* files, std::string_view what);

// Everything but strings goes into raw_data.
onnx::TensorProto ProtoFromTensor(const Tensor& tensor, std::string_view name);

// Errors: Invalid for a missing or unknown element type, Unsupported for sparse and opaque types. A dim without a value, with an empty
// name or a negative value becomes a symbol of its own, "`name`.AXIS".
absl::StatusOr<Type> TypeFromProto(const onnx::TypeProto& proto, std::string_view name);

// The element type with this number in ONNX's files. Errors: Invalid for a number that ONNX does not know, Unsupported for one that we do not hold.
absl::StatusOr<DType> DTypeFromNumber(int number);

}  // namespace weft

#endif  // WEFT_GRAPH_ONNX_TENSOR_PROTO_H_
