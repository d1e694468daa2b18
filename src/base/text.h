// The one place where std::string_view meets Abseil's string_view, which Debian builds as a type of its own.
#ifndef WEFT_BASE_TEXT_H_
#define WEFT_BASE_TEXT_H_

#include <string_view>

#include "absl/strings/string_view.h"

namespace weft {

inline absl::string_view ToAbsl(std::string_view s) { return absl::string_view(s.data(), s.size()); }
inline absl::string_view ToAbsl(const std::string& s) { return absl::string_view(s.data(), s.size()); }
inline absl::string_view ToAbsl(const char* s) { return s; }
inline std::string_view ToStd(absl::string_view s) { return std::string_view(s.data(), s.size()); }

// Anything else StrCat takes passes through.
template <class T>
const T& ToAbsl(const T& value) {
  return value;
}

}  // namespace weft

#endif  // WEFT_BASE_TEXT_H_
