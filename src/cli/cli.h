// What the subcommands of infer-cli share: options, exit codes, messages.
#ifndef WEFT_CLI_CLI_H_
#define WEFT_CLI_CLI_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/dim.h"
#include "base/exit_code.h"
#include "weft/session.h"

namespace weft::cli {

// Of random numbers: lo <= x < hi.
struct NumberRange {
  double lo = 0, hi = 0;
};

// Options that every subcommand that loads a model takes.
struct CommonOptions {
  std::string device = "cpu";
  int threads = 0;
  int opt_level = 3;
  std::vector<std::string> disabled_passes;
  std::string math = "fast";
  std::string precision = "fp32";
  int64_t memory_limit_bytes = 0;
  double time_limit_s = 0;
  bool reference_kernels = false;
  bool check = false;
  bool print_changed = false;
  bool json = false;
  bool quiet = false;
  std::string log_level = "warning";
  std::map<std::string, Dims> shapes;              // of inputs by name
  absl::flat_hash_map<std::string, Dim> dims;      // sizes of symbols
  std::map<std::string, NumberRange> ranges;       // of random inputs
  std::map<std::string, std::string> input_files;  // by the input's name
  uint64_t seed = 0;

  absl::StatusOr<SessionOptions> ToSessionOptions() const;
  // Now plus --time-limit; nothing where there is none.
  std::optional<std::chrono::steady_clock::time_point> Deadline() const;
};
// --opt-level, --disable-pass, --math.
void AddPassOptions(CLI::App& app, int& opt_level, std::vector<std::string>& disabled_passes, std::string& math);
void AddCommonOptions(CLI::App& app, CommonOptions& options);
// --shape, --dim.
void AddShapeOptions(CLI::App& app, CommonOptions& options);
// These, --input, --input-range and --seed.
void AddInputOptions(CLI::App& app, CommonOptions& options);

// "infer-cli: error: ..." on stderr, one line; gives the exit code.
int Fail(const absl::Status& status);
// "infer-cli: warning: ..." on stderr unless quiet.
void Warn(const CommonOptions& options, std::string_view message);

// The model's inputs: from --input files where given, else seeded random. Dims nobody binds are 1, with a warning.
absl::StatusOr<ValueMap> MakeInputs(const Session& session, const CommonOptions& options);

// Each adds its subcommand to `app`; it leaves its exit code in `exit_code` when it is run.
void AddRun(CLI::App& app, int& exit_code);
void AddBench(CLI::App& app, int& exit_code);
void AddTest(CLI::App& app, int& exit_code);
void AddCompare(CLI::App& app, int& exit_code);
void AddOptimize(CLI::App& app, int& exit_code);
void AddInspect(CLI::App& app, int& exit_code);

}  // namespace weft::cli

#endif  // WEFT_CLI_CLI_H_
