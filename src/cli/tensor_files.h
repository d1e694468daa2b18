// Tensors in files: .npy, .npz (numpy.lib.format), ONNX .pb, raw .bin.
#ifndef WEFT_CLI_TENSOR_FILES_H_
#define WEFT_CLI_TENSOR_FILES_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/session.h"
#include "weft/value.h"

namespace weft::cli {

absl::StatusOr<std::string> ReadFile(const std::string& path);
absl::Status WriteFile(const std::string& path, std::string_view bytes);

// Reads the file for input `info` by its ending. `dims` is the shape of a raw .bin (native byte order, sub-byte types one element a byte).
// An .npz holds the array named as the input, or just one.
absl::StatusOr<Value> ReadValueFile(const std::string& path, const ValueInfo& info, const Dims& dims);

// numpy's format, version 1.0 or 2.0. `want` settles what numpy has no name for: bfloat16 and float8 come as raw two- or one-byte items.
absl::StatusOr<Tensor> TensorFromNpy(std::string_view bytes, DType want = DType::kUndefined);
// Unimplemented for types numpy cannot hold: bfloat16, float8, sub-byte types, strings.
absl::StatusOr<std::string> NpyFromTensor(const Tensor& tensor);

// Writes `value` as DIR/NAME.npy, or .pb where numpy cannot hold it; `/`, `:` and spaces in the name become `_`. Gives the file's
// name, which is numbered where it would collide with one of `taken`, and adds it there.
absl::StatusOr<std::string> WriteValueFile(const std::string& dir, const std::string& name, const Value& value,
                                           std::vector<std::string>& taken);

}  // namespace weft::cli

#endif  // WEFT_CLI_TENSOR_FILES_H_
