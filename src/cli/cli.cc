#include "cli/cli.h"

#include <algorithm>
#include <functional>
#include <iostream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "passes/pipeline.h"

namespace weft::cli {
namespace {

// "1x3x224x224" or "1,3,224,224", sizes of at least 0.
bool ParseDims(const std::string& text, Dims& dims) {
  for (absl::string_view part : absl::StrSplit(text, absl::ByAnyChar("x,"))) {
    int64_t size = 0;
    if (!absl::SimpleAtoi(part, &size) || size < 0) return false;
    dims.push_back(size);
  }
  return true;
}

// An option of values NAME=REST, split at the first '='; `take` refuses a REST of another form than `form`, and a NAME that it has.
void AddAssignments(CLI::App& app, const std::string& option, const std::string& form, const std::string& help,
                    std::function<bool(const std::string& name, const std::string& rest)> take) {
  const CLI::callback_t parse = [=](const CLI::results_t& texts) {
    for (const std::string& text : texts) {
      const size_t equals = text.find('=');
      if (equals == std::string::npos || equals == 0 || !take(text.substr(0, equals), text.substr(equals + 1))) {
        throw CLI::ValidationError(option, "is '" + text + "', expected NAME=" + form + ", each NAME once");
      }
    }
    return true;
  };
  app.add_option(option, parse, help)->type_name("NAME=" + form)->take_all()->allow_extra_args(false);
}

std::string UnknownPass(const std::string& name) {
  if (FindPass(name) != nullptr) return "";
  std::vector<std::string> names;
  for (const Pass& pass : Passes()) names.emplace_back(pass.name);
  return absl::StrCat("no pass is named '", name, "', expected one of ", absl::StrJoin(names, ", "));
}

}  // namespace

absl::StatusOr<SessionOptions> CommonOptions::ToSessionOptions() const {
  if (precision != "fp32") return Unsupported("precision ", precision, " is not available, expected fp32");
  SessionOptions options;
  options.device = device;
  options.threads = threads;
  options.opt_level = opt_level;
  options.disabled_passes = disabled_passes;
  options.strict_math = math == "strict";
  options.reference_kernels = reference_kernels;
  options.check_plans = check;
  options.verify_passes = check;
  if (print_changed) {
    options.print_changed = [](std::string_view pass, const std::string& graph) {
      std::cerr << "# after " << pass << "\n" << graph << "\n";
    };
  }
  options.memory_limit_bytes = memory_limit_bytes;
  return options;
}

std::optional<std::chrono::steady_clock::time_point> CommonOptions::Deadline() const {
  if (time_limit_s <= 0) return std::nullopt;
  return std::chrono::steady_clock::now() +
         std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(time_limit_s));
}

void AddPassOptions(CLI::App& app, int& opt_level, std::vector<std::string>& disabled_passes, std::string& math) {
  app.add_option("--math", math, "strict: only rewrites that change no bit of the result")
      ->check(CLI::IsMember({"fast", "strict"}))
      ->capture_default_str();
  app.add_option("--opt-level", opt_level, "0: no passes; 3: all")->check(CLI::Range(0, 3))->capture_default_str();
  app.add_option("--disable-pass", disabled_passes, "leaves one pass out; may be repeated")
      ->check(CLI::Validator(&UnknownPass, ""))
      ->allow_extra_args(false);
}

void AddCommonOptions(CLI::App& app, CommonOptions& options) {
  app.add_option("--device", options.device, "where to run: cpu; or, to test with, emulated (memory of its own behind a queue) or cpu+emulated (both)")->capture_default_str();
  app.add_option("--threads", options.threads, "threads that all runs share; 0: as many as this process may use")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--precision", options.precision, "fp32 (as the model has it)")
      ->check(CLI::IsMember({"fp32", "bf16", "fp16", "int8"}))
      ->capture_default_str();
  AddPassOptions(app, options.opt_level, options.disabled_passes, options.math);
  app.add_option("--memory-limit", options.memory_limit_bytes, "bytes a plan's arena may take (exit 5 beyond); 0: no limit")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--time-limit", options.time_limit_s, "seconds a run may take (exit 6 beyond); 0: no limit")
      ->check(CLI::Range(0.0, 1e9));
  app.add_flag("--reference", options.reference_kernels, "only the plain reference kernels");
  app.add_flag("--check", options.check, "validate every memory plan, and the graph behind every pass");
  app.add_flag("--print-changed", options.print_changed, "print the graph on standard error behind each pass that changed it");
  app.add_flag("--json", options.json, "results as JSON on standard output");
  app.add_flag("--quiet", options.quiet, "no warnings and no progress");
  app.add_option("--log-level", options.log_level, "error, warning or info")->check(CLI::IsMember({"error", "warning", "info"}))
      ->capture_default_str();
}

void AddShapeOptions(CLI::App& app, CommonOptions& options) {
  AddAssignments(app, "--shape", "1x3x224x224", "the dims of an input; may be repeated",
                 [&options](const std::string& name, const std::string& text) {
                   Dims dims;
                   const bool ok = text.empty() || ParseDims(text, dims);
                   return ok && options.shapes.emplace(name, std::move(dims)).second;
                 });
  AddAssignments(app, "--dim", "4", "the size of a symbolic dim, e.g. batch=4; may be repeated",
                 [&options](const std::string& name, const std::string& text) {
                   Dims size;
                   return ParseDims(text, size) && size.size() == 1 && options.dims.emplace(name, Dim(size[0])).second;
                 });
}

void AddInputOptions(CLI::App& app, CommonOptions& options) {
  AddShapeOptions(app, options);
  AddAssignments(app, "--input", "FILE", "the input NAME from a .npy, .npz, .pb or raw .bin file; may be repeated. Inputs without a file are random",
                 [&options](const std::string& name, const std::string& file) { return options.input_files.emplace(name, file).second; });
  AddAssignments(app, "--input-range", "lo:hi", "random integers from lo to hi - 1, floats uniform; may be repeated",
                 [&options](const std::string& name, const std::string& text) {
                   const std::vector<std::string> ends = absl::StrSplit(text, ':');
                   NumberRange range;
                   const bool ok = ends.size() == 2 && absl::SimpleAtod(ends[0], &range.lo) && absl::SimpleAtod(ends[1], &range.hi) &&
                                   range.lo < range.hi;
                   return ok && options.ranges.emplace(name, range).second;
                 });
  app.add_option("--seed", options.seed, "of the random inputs")->capture_default_str();
}

int Fail(const absl::Status& status) {
  // One line, whatever a message quotes from a file.
  std::string message(status.message());
  std::replace_if(message.begin(), message.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  std::cout.flush();
  std::cerr << "infer-cli: error: " << message << std::endl;
  return ExitCodeOf(status);
}

void Warn(const CommonOptions& options, std::string_view message) {
  if (!options.quiet && options.log_level != "error") std::cerr << "infer-cli: warning: " << message << "\n";
}

}  // namespace weft::cli
