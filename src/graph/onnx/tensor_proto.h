// TensorProto to Tensor and back: every element type, raw and typed fields, external data.
#ifndef WEFT_GRAPH_ONNX_TENSOR_PROTO_H_
#define WEFT_GRAPH_ONNX_TENSOR_PROTO_H_

#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "onnx/onnx-ml.pb.h"
#include "weft/tensor.h"

namespace weft {

// Files of weights beneath one folder, each mapped once. A location is a relative path without ".."; neither the file nor any folder on
// the way to it may be a link.
class ExternalData {
 public:
  // Empty: external data is refused.
  explicit ExternalData(std::string base_dir) : base_dir_(std::move(base_dir)) {}

  struct Mapping {
    const char* data = nullptr;
    int64_t bytes = 0;
    std::shared_ptr<const void> owner;  // unmaps
  };
  // Errors: InvalidArgument (a path that leaves the folder, a link, no regular file), NotFound.
  absl::StatusOr<Mapping> Open(const std::string& location);

 private:
  std::string base_dir_;
  absl::flat_hash_map<std::string, Mapping> open_;
};

// `external`: null refuses tensors whose elements stand in another file. Every size is checked against the bytes there are before memory is
// taken. Where alignment and type allow, a tensor in a mapped file shares the mapping, and one in raw_data shares the proto's bytes if
// `owner` keeps the proto alive. Errors name what was found and expected.
absl::StatusOr<Tensor> TensorFromProto(const onnx::TensorProto& proto, ExternalData* external,
                                       const std::shared_ptr<const void>& owner = nullptr);

// With raw_data, or string_data for strings; sub-byte types packed.
absl::StatusOr<onnx::TensorProto> ProtoFromTensor(const Tensor& tensor, std::string_view name);

// The element type of a proto's number; an error for one that ONNX does not have.
absl::StatusOr<DType> DTypeFromProto(int number);

}  // namespace weft

#endif  // WEFT_GRAPH_ONNX_TENSOR_PROTO_H_
