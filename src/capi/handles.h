// What the opaque handles of weft/c_api.h hold, and how errors cross into C.
#ifndef WEFT_CAPI_HANDLES_H_
#define WEFT_CAPI_HANDLES_H_

#include <atomic>
#include <cstdint>
#include <exception>
#include <new>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "base/exit_code.h"
#include "base/text.h"
#include "weft/c_api.h"
#include "weft/session.h"

struct weft_options {
  weft::SessionOptions options;
};

struct weft_session {
  weft::Session session;
};

struct weft_value {
  weft::Value value;
};

struct weft_run_options {
  uint64_t seed = 0;
  double time_limit_s = 0;
  std::atomic<bool> cancelled = false;
};

namespace weft::capi {

// Keeps the message for weft_last_error and gives the code.
weft_status Fail(weft_status code, std::string_view message) noexcept;

inline weft_status Report(const absl::Status& status) noexcept {
  return status.ok() ? WEFT_OK : Fail(static_cast<weft_status>(ExitCodeOf(status)), ToStd(status.message()));
}

// Runs the body of a call: what is thrown beneath us ends here.
template <class Body>
weft_status Guard(Body body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return Fail(WEFT_EXHAUSTED, "out of memory");
  } catch (const std::exception& error) {
    return Fail(WEFT_BUG, error.what());
  } catch (...) {
    return Fail(WEFT_BUG, "an exception of unknown type");
  }
}

// Hands a new value out.
inline weft_status Give(Value value, weft_value** out) {
  *out = new weft_value{std::move(value)};
  return WEFT_OK;
}

}  // namespace weft::capi

// At the head of a call: a pointer that must not be null; one that will receive a handle.
#define WEFT_CAPI_NEEDS(pointer) \
  if ((pointer) == nullptr) return ::weft::capi::Fail(WEFT_USAGE, "'" #pointer "' is NULL")
#define WEFT_CAPI_GIVES(pointer) \
  WEFT_CAPI_NEEDS(pointer);      \
  *(pointer) = nullptr

#endif  // WEFT_CAPI_HANDLES_H_
