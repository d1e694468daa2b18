#include "base/exit_code.h"

namespace weft {

ExitCode ExitCodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk: return kDone;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kFailedPrecondition: return kInvalid;
    case absl::StatusCode::kUnimplemented: return kUnsupported;
    case absl::StatusCode::kResourceExhausted: return kExhausted;
    case absl::StatusCode::kCancelled:
    case absl::StatusCode::kDeadlineExceeded: return kCancelled;
    default: return kOurBug;
  }
}

}  // namespace weft
