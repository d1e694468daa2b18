// External data: the files beside a model that hold its tensors' bytes.
#ifndef WEFT_GRAPH_ONNX_EXTERNAL_DATA_H_
#define WEFT_GRAPH_ONNX_EXTERNAL_DATA_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"

namespace weft {

// A file in memory, read-only; copies share the mapping, which lives as long as one of them.
struct MappedFile {
  std::shared_ptr<const void> owner;
  const uint8_t* data = nullptr;  // null for an empty file
  uint64_t size = 0;
};

// Maps the open regular file. `fd` stays the caller's.
absl::StatusOr<MappedFile> MapFile(int fd);

// The files beneath one folder. Each is mapped once.
class ExternalFiles {
 public:
  // `base_dir` empty: every file is refused.
  explicit ExternalFiles(std::string_view base_dir) : base_dir_(base_dir) {}

  // `location` is a relative path in the folder, with '/' between its parts and without "..". No part of it may be a symbolic link; only
  // regular files are opened. Errors: InvalidArgument, NotFound, PermissionDenied.
  absl::StatusOr<MappedFile> Map(std::string_view location);

 private:
  std::string base_dir_;
  absl::flat_hash_map<std::string, MappedFile> mapped_;
};

}  // namespace weft

#endif  // WEFT_GRAPH_ONNX_EXTERNAL_DATA_H_
