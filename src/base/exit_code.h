// What an error means to those who cannot read it: infer-cli's exit codes, and the status codes of the C interface.
#ifndef WEFT_BASE_EXIT_CODE_H_
#define WEFT_BASE_EXIT_CODE_H_

#include "absl/status/status.h"

namespace weft {

enum ExitCode : int {
  kDone = 0,
  kCheckFailed = 1,  // a mismatch, a failed case
  kUsage = 2,
  kInvalid = 3,      // the model or an input
  kUnsupported = 4,  // an op, a type, a device
  kExhausted = 5,    // a limit or memory ran out
  kCancelled = 6,    // or past its deadline
  kOurBug = 70,
};
ExitCode ExitCodeOf(const absl::Status& status);

}  // namespace weft

#endif  // WEFT_BASE_EXIT_CODE_H_
