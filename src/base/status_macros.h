// Early return on errors, and the error categories that decide infer-cli's exit code.
#ifndef WEFT_BASE_STATUS_MACROS_H_
#define WEFT_BASE_STATUS_MACROS_H_

#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/text.h"

// Returns from the enclosing function where `expr` (an absl::Status) is an error.
#define WEFT_RETURN_IF_ERROR(expr)             \
  do {                                         \
    if (absl::Status weft_status_ = (expr); !weft_status_.ok()) return weft_status_; \
  } while (false)

// WEFT_ASSIGN_OR_RETURN(Tensor t, Allocate(...)): declares or assigns the value, or returns the error.
#define WEFT_ASSIGN_OR_RETURN(lhs, expr) WEFT_ASSIGN_OR_RETURN_(WEFT_CONCAT_(weft_statusor_, __LINE__), lhs, expr)
#define WEFT_ASSIGN_OR_RETURN_(var, lhs, expr) \
  auto var = (expr);                           \
  if (!var.ok()) return var.status();          \
  lhs = *std::move(var)
#define WEFT_CONCAT_(a, b) WEFT_CONCAT2_(a, b)
#define WEFT_CONCAT2_(a, b) a##b

namespace weft {

// The categories of the whole product; infer-cli maps them to exit codes 3, 4 and 5 (design: see docs/architecture.md).
//   Invalid:     the model or an input is wrong (exit 3)
//   Unsupported: right, but Weft does not do it (exit 4)
//   Exhausted:   a limit or memory ran out (exit 5)
template <class... Args>
absl::Status Invalid(const Args&... args) {
  return absl::InvalidArgumentError(absl::StrCat(ToAbsl(args)...));
}
template <class... Args>
absl::Status Unsupported(const Args&... args) {
  return absl::UnimplementedError(absl::StrCat(ToAbsl(args)...));
}
template <class... Args>
absl::Status Exhausted(const Args&... args) {
  return absl::ResourceExhaustedError(absl::StrCat(ToAbsl(args)...));
}
// A broken invariant of our own (exit 70).
template <class... Args>
absl::Status Internal(const Args&... args) {
  return absl::InternalError(absl::StrCat(ToAbsl(args)...));
}

// `status` with "`where`: " before its message.
inline absl::Status Annotate(const absl::Status& status, std::string_view where) {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(ToAbsl(where), ": ", status.message()));
}

}  // namespace weft

#endif  // WEFT_BASE_STATUS_MACROS_H_
