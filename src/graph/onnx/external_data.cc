#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "graph/onnx/tensor_proto.h"

namespace weft {
namespace {

// A file descriptor that closes itself.
struct Descriptor {
  int fd = -1;
  Descriptor() = default;
  explicit Descriptor(int opened) : fd(opened) {}
  Descriptor(Descriptor&& other) noexcept : fd(std::exchange(other.fd, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd, other.fd);
    return *this;
  }
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
};

absl::Status Refuse(const std::string& location, std::string_view why) {
  return Invalid("external data location '", location, "' ", why, ", expected a relative path of a file beneath the model's folder");
}

// Opens component by component from the folder, so that no link anywhere on the way is followed.
absl::StatusOr<Descriptor> OpenBeneath(const std::string& dir, const std::string& location) {
  Descriptor at(open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (at.fd < 0) return absl::NotFoundError(absl::StrCat(dir, ": ", std::strerror(errno)));
  const std::vector<std::string> parts = absl::StrSplit(location, '/');
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool last = i + 1 == parts.size();
    if (parts[i].empty() || parts[i] == "." ) {
      if (last) return Refuse(location, "names no file");
      continue;
    }
    if (parts[i] == "..") return Refuse(location, "leaves the folder");
    // O_NONBLOCK: a pipe in the place of a file must not hang the open.
    const int flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | (last ? 0 : O_DIRECTORY);
    Descriptor next(openat(at.fd, parts[i].c_str(), flags));
    if (next.fd < 0) {
      if (errno == ELOOP || errno == EMLINK) return Refuse(location, "goes through a link");
      if (errno == ENOTDIR) return Refuse(location, "goes through a link or something that is no folder");
      return absl::NotFoundError(absl::StrCat("external data '", location, "': ", std::strerror(errno)));
    }
    at = std::move(next);
  }
  return at;
}

}  // namespace

absl::StatusOr<ExternalData::Mapping> ExternalData::Open(const std::string& location) {
  if (auto it = open_.find(location); it != open_.end()) return it->second;
  if (base_dir_.empty()) return Invalid("external data '", location, "' is asked for, but the model was given without a folder");
  if (location.empty()) return Refuse(location, "is empty");
  if (location[0] == '/') return Refuse(location, "is absolute");
  if (location.find('\0') != std::string::npos || location.find('\\') != std::string::npos) {
    return Refuse(location, "holds a character that no portable path has");
  }
  WEFT_ASSIGN_OR_RETURN(const Descriptor file, OpenBeneath(base_dir_, location));
  struct stat status {};
  if (fstat(file.fd, &status) != 0 || !S_ISREG(status.st_mode)) return Refuse(location, "is no regular file");
  Mapping mapping;
  mapping.bytes = status.st_size;
  if (mapping.bytes > 0) {
    void* data = mmap(nullptr, mapping.bytes, PROT_READ, MAP_PRIVATE, file.fd, 0);
    if (data == MAP_FAILED) return Exhausted("external data '", location, "' cannot be mapped: ", std::strerror(errno));
    mapping.data = static_cast<const char*>(data);
    mapping.owner = std::shared_ptr<const void>(data, [bytes = mapping.bytes](const void* p) { munmap(const_cast<void*>(p), bytes); });
  }
  open_[location] = mapping;
  return mapping;
}

}  // namespace weft
