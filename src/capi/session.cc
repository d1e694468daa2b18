// Sessions, their options and their runs.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "base/status_macros.h"
#include "capi/handles.h"
#include "weft/version.h"

namespace weft::capi {
namespace {

static_assert(static_cast<int>(WEFT_USAGE) == kUsage && static_cast<int>(WEFT_INVALID) == kInvalid &&
              static_cast<int>(WEFT_UNSUPPORTED) == kUnsupported && static_cast<int>(WEFT_EXHAUSTED) == kExhausted &&
              static_cast<int>(WEFT_CANCELLED) == kCancelled && static_cast<int>(WEFT_BUG) == kOurBug);

thread_local std::string last_error;
thread_local const char* last_error_text = "";

const ValueInfo& InfoOf(const weft_value_info* info) { return *reinterpret_cast<const ValueInfo*>(info); }
const weft_value_info* At(const std::vector<ValueInfo>& infos, size_t index) {
  return index < infos.size() ? reinterpret_cast<const weft_value_info*>(&infos[index]) : nullptr;
}

weft_status GiveSession(absl::StatusOr<Session> loaded, weft_session** session) {
  if (!loaded.ok()) return Report(loaded.status());
  *session = new weft_session{*std::move(loaded)};
  return WEFT_OK;
}

RunOptions ToRunOptions(const weft_run_options* options) {
  RunOptions run;
  if (options == nullptr) return run;
  run.seed = options->seed;
  run.cancelled = &options->cancelled;
  using Clock = std::chrono::steady_clock;
  const auto now = Clock::now();
  const std::chrono::duration<double> limit(options->time_limit_s);
  // A limit beyond what the clock counts is none.
  if (limit.count() > 0 && limit < (Clock::time_point::max() - now) / 2) {
    run.deadline = now + std::chrono::duration_cast<Clock::duration>(limit);
  }
  return run;
}

absl::StatusOr<ValueMap> Feeds(const char* const* names, const weft_value* const* inputs, size_t count) {
  ValueMap feeds;
  for (size_t i = 0; i < count; ++i) {
    if (!feeds.emplace(names[i], inputs[i]->value).second) return Invalid("input '", names[i], "' is given twice");
  }
  return feeds;
}

// The outputs that have memory of the caller's.
absl::StatusOr<TensorMap> Places(const std::vector<std::string>& names, weft_value* const* outputs) {
  TensorMap places;
  for (size_t i = 0; i < names.size(); ++i) {
    if (outputs[i] == nullptr) continue;
    if (!outputs[i]->value.is_tensor()) return Invalid("the memory for output '", names[i], "' is no tensor");
    if (!places.emplace(names[i], outputs[i]->value.tensor()).second) return Invalid("output '", names[i], "' is given two memories");
  }
  return places;
}

absl::Status Run(const Session& session, const weft_run_options* options, ValueMap feeds, const std::vector<std::string>& names,
                 weft_value** outputs) {
  WEFT_ASSIGN_OR_RETURN(TensorMap places, Places(names, outputs));
  WEFT_ASSIGN_OR_RETURN(const Binding binding, session.Bind(std::move(feeds), std::move(places)));
  WEFT_ASSIGN_OR_RETURN(const ValueMap results, binding.Run(ToRunOptions(options)));
  std::vector<std::unique_ptr<weft_value>> made(names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    const auto it = results.find(names[i]);
    if (it == results.end()) return Invalid("the model has no output '", names[i], "'");
    if (outputs[i] == nullptr) made[i].reset(new weft_value{it->second});
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (made[i] != nullptr) outputs[i] = made[i].release();
  }
  return absl::OkStatus();
}

}  // namespace

weft_status Fail(weft_status code, std::string_view message) noexcept {
  try {
    last_error = message;
    // One line, whatever the message quotes from a file.
    std::replace_if(last_error.begin(), last_error.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
    last_error_text = last_error.c_str();
  } catch (...) {
    last_error_text = "out of memory";
  }
  return code;
}

}  // namespace weft::capi

using weft::ValueInfo;
using weft::capi::At;
using weft::capi::Fail;
using weft::capi::Guard;
using weft::capi::InfoOf;
using weft::capi::Report;

extern "C" {

const char* weft_version(void) { return WEFT_VERSION; }
const char* weft_last_error(void) { return weft::capi::last_error_text; }

weft_status weft_options_create(weft_options** options) {
  WEFT_CAPI_GIVES(options);
  return Guard([&] {
    *options = new weft_options();
    return WEFT_OK;
  });
}

void weft_options_free(weft_options* options) { delete options; }

weft_status weft_options_set_device(weft_options* options, const char* device) {
  WEFT_CAPI_NEEDS(options);
  WEFT_CAPI_NEEDS(device);
  return Guard([&] {
    options->options.device = device;
    return WEFT_OK;
  });
}

weft_status weft_options_set_threads(weft_options* options, int threads) {
  WEFT_CAPI_NEEDS(options);
  if (threads < 0) return Fail(WEFT_USAGE, "the number of threads is negative");
  options->options.threads = threads;
  return WEFT_OK;
}

weft_status weft_options_set_opt_level(weft_options* options, int level) {
  WEFT_CAPI_NEEDS(options);
  if (level < 0 || level > 3) return Fail(WEFT_USAGE, "the level of optimisation is not from 0 to 3");
  options->options.opt_level = level;
  return WEFT_OK;
}

weft_status weft_options_disable_pass(weft_options* options, const char* pass) {
  WEFT_CAPI_NEEDS(options);
  WEFT_CAPI_NEEDS(pass);
  return Guard([&] {
    options->options.disabled_passes.emplace_back(pass);
    return WEFT_OK;
  });
}

weft_status weft_options_set_strict_math(weft_options* options, int strict) {
  WEFT_CAPI_NEEDS(options);
  options->options.strict_math = strict != 0;
  return WEFT_OK;
}

weft_status weft_options_set_reference_kernels(weft_options* options, int reference) {
  WEFT_CAPI_NEEDS(options);
  options->options.reference_kernels = reference != 0;
  return WEFT_OK;
}

weft_status weft_options_set_memory_limit(weft_options* options, int64_t bytes) {
  WEFT_CAPI_NEEDS(options);
  if (bytes < 0) return Fail(WEFT_USAGE, "the memory limit is negative");
  options->options.memory_limit_bytes = bytes;
  return WEFT_OK;
}

weft_status weft_session_load(const char* path, const weft_options* options, weft_session** session) {
  WEFT_CAPI_GIVES(session);
  WEFT_CAPI_NEEDS(path);
  return Guard([&] {
    return weft::capi::GiveSession(weft::Session::Load(path, options == nullptr ? weft::SessionOptions() : options->options), session);
  });
}

weft_status weft_session_load_from_memory(const void* bytes, size_t size, const char* base_dir, const weft_options* options,
                                          weft_session** session) {
  WEFT_CAPI_GIVES(session);
  WEFT_CAPI_NEEDS(bytes);
  return Guard([&] {
    return weft::capi::GiveSession(
        weft::Session::LoadFromMemory(std::string_view(static_cast<const char*>(bytes), size),
                                      options == nullptr ? weft::SessionOptions() : options->options, base_dir == nullptr ? "" : base_dir),
        session);
  });
}

void weft_session_free(weft_session* session) { delete session; }

size_t weft_session_input_count(const weft_session* session) { return session == nullptr ? 0 : session->session.inputs().size(); }
size_t weft_session_output_count(const weft_session* session) { return session == nullptr ? 0 : session->session.outputs().size(); }
const weft_value_info* weft_session_input(const weft_session* session, size_t index) {
  return session == nullptr ? nullptr : At(session->session.inputs(), index);
}
const weft_value_info* weft_session_output(const weft_session* session, size_t index) {
  return session == nullptr ? nullptr : At(session->session.outputs(), index);
}

const char* weft_value_info_name(const weft_value_info* info) { return info == nullptr ? nullptr : InfoOf(info).name.c_str(); }
const char* weft_value_info_type(const weft_value_info* info) { return info == nullptr ? nullptr : InfoOf(info).type.c_str(); }
weft_kind weft_value_info_kind(const weft_value_info* info) {
  return info == nullptr ? WEFT_KIND_UNKNOWN : static_cast<weft_kind>(InfoOf(info).kind);
}
weft_dtype weft_value_info_dtype(const weft_value_info* info) {
  return info == nullptr ? WEFT_UNDEFINED : static_cast<weft_dtype>(InfoOf(info).dtype);
}
int weft_value_info_rank(const weft_value_info* info) {
  return info == nullptr || !InfoOf(info).has_rank ? -1 : static_cast<int>(InfoOf(info).dims.size());
}
const char* weft_value_info_dim_text(const weft_value_info* info, size_t axis) {
  return info == nullptr || axis >= InfoOf(info).dims.size() ? nullptr : InfoOf(info).dims[axis].c_str();
}
int64_t weft_value_info_dim(const weft_value_info* info, size_t axis) {
  const char* text = weft_value_info_dim_text(info, axis);
  int64_t size = -1;
  return text != nullptr && absl::SimpleAtoi(text, &size) ? size : -1;
}
int weft_value_info_has_default(const weft_value_info* info) { return info != nullptr && InfoOf(info).has_default; }

weft_status weft_run_options_create(weft_run_options** options) {
  WEFT_CAPI_GIVES(options);
  return Guard([&] {
    *options = new weft_run_options();
    return WEFT_OK;
  });
}

void weft_run_options_free(weft_run_options* options) { delete options; }

weft_status weft_run_options_set_seed(weft_run_options* options, uint64_t seed) {
  WEFT_CAPI_NEEDS(options);
  options->seed = seed;
  return WEFT_OK;
}

weft_status weft_run_options_set_time_limit(weft_run_options* options, double seconds) {
  WEFT_CAPI_NEEDS(options);
  if (!(seconds >= 0)) return Fail(WEFT_USAGE, "the time limit is not a number of seconds from 0");
  options->time_limit_s = seconds;
  return WEFT_OK;
}

weft_status weft_run_options_set_cancelled(weft_run_options* options, int cancelled) {
  WEFT_CAPI_NEEDS(options);
  options->cancelled = cancelled != 0;
  return WEFT_OK;
}

weft_status weft_session_run(const weft_session* session, const weft_run_options* options, const char* const* input_names,
                             const weft_value* const* inputs, size_t input_count, const char* const* output_names, weft_value** outputs,
                             size_t output_count) {
  WEFT_CAPI_NEEDS(session);
  if (input_count > 0) {
    WEFT_CAPI_NEEDS(input_names);
    WEFT_CAPI_NEEDS(inputs);
  }
  if (output_count > 0) WEFT_CAPI_NEEDS(outputs);
  for (size_t i = 0; i < input_count; ++i) {
    WEFT_CAPI_NEEDS(input_names[i]);
    WEFT_CAPI_NEEDS(inputs[i]);
  }
  return Guard([&]() -> weft_status {
    std::vector<std::string> names;
    if (output_names == nullptr) {
      for (const ValueInfo& info : session->session.outputs()) names.push_back(info.name);
      if (names.size() != output_count) {
        return Fail(WEFT_USAGE, absl::StrCat("the model has ", names.size(), " outputs, found room for ", output_count));
      }
    } else {
      for (size_t i = 0; i < output_count; ++i) {
        WEFT_CAPI_NEEDS(output_names[i]);
        names.emplace_back(output_names[i]);
      }
    }
    absl::StatusOr<weft::ValueMap> feeds = weft::capi::Feeds(input_names, inputs, input_count);
    if (!feeds.ok()) return Report(feeds.status());
    return Report(weft::capi::Run(session->session, options, *std::move(feeds), names, outputs));
  });
}

}  // extern "C"
