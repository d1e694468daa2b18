#include "graph/onnx/external_data.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"

namespace weft {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

absl::Status OpenError(int error, std::string_view location) {
  if (error == ENOENT) return absl::NotFoundError(absl::StrCat("external data '", ToAbsl(location), "' does not exist"));
  if (error == ELOOP) return Invalid("external data '", location, "' goes through a symbolic link, expected none in its path");
  if (error == ENOTDIR) return Invalid("external data '", location, "' goes through a link or a file, expected folders only");
  return absl::PermissionDeniedError(absl::StrCat("external data '", ToAbsl(location), "' cannot be opened: ", std::strerror(error)));
}

// The parts of a relative path that stays beneath its start.
absl::StatusOr<std::vector<std::string>> Parts(std::string_view location) {
  if (location.empty()) return Invalid("external data has an empty location, expected a relative path");
  if (location.find('\0') != std::string_view::npos) return Invalid("external data location holds a NUL byte, expected a relative path");
  if (location.front() == '/') {
    return Invalid("external data location '", location, "' is absolute, expected a path beneath the model's folder");
  }
  std::vector<std::string> parts;
  for (absl::string_view part : absl::StrSplit(ToAbsl(location), '/')) {
    if (part == "..") {
      return Invalid("external data location '", location, "' leaves the model's folder, expected a path beneath it");
    }
    if (!part.empty() && part != ".") parts.emplace_back(part);
  }
  if (parts.empty()) return Invalid("external data location '", location, "' names no file, expected a relative path");
  return parts;
}

}  // namespace

absl::StatusOr<MappedFile> MapFile(int fd) {
  struct stat info;
  if (fstat(fd, &info) != 0) return Internal("fstat: ", std::strerror(errno));
  if (S_ISDIR(info.st_mode)) return Invalid("is a directory, expected a file");
  if (!S_ISREG(info.st_mode)) return Invalid("is no regular file");
  MappedFile file;
  file.size = static_cast<uint64_t>(info.st_size);
  if (file.size == 0) return file;
  void* data = mmap(nullptr, file.size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED) return Exhausted("cannot be mapped into memory: ", std::strerror(errno));
  file.owner = std::shared_ptr<const void>(data, [size = file.size](const void* p) { munmap(const_cast<void*>(p), size); });
  file.data = static_cast<const uint8_t*>(data);
  return file;
}

absl::StatusOr<MappedFile> ExternalFiles::Map(std::string_view location) {
  if (auto it = mapped_.find(ToAbsl(location)); it != mapped_.end()) return it->second;
  WEFT_ASSIGN_OR_RETURN(const std::vector<std::string> parts, Parts(location));
  if (base_dir_.empty()) {
    return Invalid("external data '", location, "' cannot be read: the model came without a folder");
  }
  Descriptor at(open(base_dir_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (at.get() < 0) return OpenError(errno, base_dir_);
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    at = Descriptor(openat(at.get(), parts[i].c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (at.get() < 0) return OpenError(errno, location);
  }
  // Non-blocking, so that a pipe does not make us wait before it is refused.
  const Descriptor fd(openat(at.get(), parts.back().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (fd.get() < 0) return OpenError(errno, location);
  absl::StatusOr<MappedFile> file = MapFile(fd.get());
  if (!file.ok()) return Annotate(file.status(), absl::StrCat("external data '", ToAbsl(location), "'"));
  mapped_.emplace(location, *file);
  return file;
}

}  // namespace weft
