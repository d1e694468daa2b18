// infer-cli test: ONNX test cases, any depth of folders: model.onnx, test_data_set_K/input_I.pb and output_I.pb, tolerance.json.
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "cli/cli.h"
#include "cli/compare.h"
#include "cli/tensor_files.h"
#include "graph/onnx/values.h"

namespace weft::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// What a case with an expect.txt may take; see Isolated.
constexpr double kRefusalSeconds = 10;
constexpr int64_t kRefusalBytes = int64_t{1} << 30;

struct TestCommand {
  std::vector<std::string> dirs;
  std::string skip_list;
  int concurrency = 1;
  bool child = false;  // set in the process that runs one case for its parent
  CommonOptions common;
};

struct DataSet {
  std::string name;
  ValueMap inputs;
  std::vector<NamedValue> outputs;
};

absl::StatusOr<Json> ReadJson(const fs::path& path) {
  WEFT_ASSIGN_OR_RETURN(const std::string text, ReadFile(path.string()));
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object()) return Invalid(path.string(), ": is not a JSON object");
  return json;
}

absl::StatusOr<Tolerance> ReadTolerance(const fs::path& dir) {
  Tolerance tolerance;
  const fs::path path = dir / "tolerance.json";
  if (!fs::exists(path)) return tolerance;
  WEFT_ASSIGN_OR_RETURN(const Json json, ReadJson(path));
  auto number = [&](const char* key, auto& to) {
    if (json.contains(key) && json[key].is_number()) to = json[key].get<double>();
  };
  number("rtol", tolerance.rtol);
  number("atol", tolerance.atol);
  number("atol_of_max", tolerance.atol_of_max);
  if (json.contains("shape_only")) tolerance.shape_only = json["shape_only"] == true;
  if (json.contains("property") && json["property"].is_string()) tolerance.property = json["property"].get<std::string>();
  return tolerance;
}

// Folders with a model.onnx, sorted; links to folders are not followed.
std::vector<fs::path> FindCases(const fs::path& dir) {
  std::vector<fs::path> cases;
  std::error_code error;
  if (fs::exists(dir / "model.onnx", error)) cases.push_back(dir);
  for (fs::recursive_directory_iterator it(dir, fs::directory_options::skip_permission_denied, error), end; it != end;
       it.increment(error)) {
    if (!error && it->is_directory(error) && fs::exists(it->path() / "model.onnx", error)) cases.push_back(it->path());
  }
  std::sort(cases.begin(), cases.end());
  return cases;
}

// PREFIX_0.pb, PREFIX_1.pb, ... by number.
std::map<int, fs::path> NumberedFiles(const fs::path& dir, const std::string& prefix) {
  std::map<int, fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(dir, error), end; it != end; it.increment(error)) {
    const std::string stem = it->path().stem().string();
    if (it->path().extension() != ".pb" || stem.rfind(prefix + "_", 0) != 0) continue;
    const std::string digits = stem.substr(prefix.size() + 1);
    if (digits.empty() || digits.size() > 6 || digits.find_first_not_of("0123456789") != std::string::npos) continue;
    files[std::stoi(digits)] = it->path();
  }
  return files;
}

absl::StatusOr<NamedValue> ReadValue(const fs::path& path, ValueKind kind) {
  WEFT_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path.string()));
  absl::StatusOr<NamedValue> value = ValueFromProtoBytes(bytes, kind);
  if (!value.ok()) return Annotate(value.status(), path.string());
  return value;
}

// The name a proto carries (field 8 of TensorProto, 1 of the others) decides which input a file feeds; before that is known the type at
// the file's position says how to read it.
absl::StatusOr<ValueMap> ReadInputs(const Session& session, const fs::path& dir) {
  std::vector<const ValueInfo*> positional;
  for (const ValueInfo& info : session.inputs()) {
    if (!info.has_default) positional.push_back(&info);
  }
  ValueMap inputs;
  for (const auto& [number, path] : NumberedFiles(dir, "input")) {
    const ValueInfo* at = number < static_cast<int>(positional.size()) ? positional[number] : nullptr;
    WEFT_ASSIGN_OR_RETURN(NamedValue file, ReadValue(path, at != nullptr ? at->kind : ValueKind::kTensor));
    const ValueInfo* target = at;
    for (const ValueInfo& info : session.inputs()) {
      if (!file.name.empty() && info.name == file.name) target = &info;
    }
    if (target == nullptr) return Invalid(path.string(), ": feeds no input of the model ('", file.name, "', position ", number, ")");
    if (at != nullptr && target->kind != at->kind) {
      WEFT_ASSIGN_OR_RETURN(file, ReadValue(path, target->kind));
    }
    inputs[target->name] = std::move(file.value);
  }
  return inputs;
}

absl::StatusOr<std::vector<NamedValue>> ReadOutputs(const Session& session, const fs::path& dir) {
  std::vector<NamedValue> outputs;
  for (const auto& [number, path] : NumberedFiles(dir, "output")) {
    const bool by_position = number < static_cast<int>(session.outputs().size());
    const ValueKind kind = by_position ? session.outputs()[number].kind : ValueKind::kTensor;
    WEFT_ASSIGN_OR_RETURN(NamedValue file, ReadValue(path, kind));
    const bool named = std::any_of(session.outputs().begin(), session.outputs().end(),
                                   [&](const ValueInfo& info) { return info.name == file.name; });
    if (!named) {
      if (!by_position) return Invalid(path.string(), ": is the reference of no output of the model");
      file.name = session.outputs()[number].name;
    }
    outputs.push_back(std::move(file));
  }
  return outputs;
}

absl::StatusOr<std::vector<DataSet>> ReadDataSets(const Session& session, const fs::path& dir) {
  std::set<std::pair<int, fs::path>> folders;  // by number
  for (const fs::directory_entry& entry : fs::directory_iterator(dir)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory() && name.rfind("test_data_set_", 0) == 0) folders.emplace(std::atoi(name.c_str() + 14), entry.path());
  }
  std::vector<DataSet> sets;
  for (const auto& [number, path] : folders) {
    DataSet set;
    set.name = path.filename().string();
    WEFT_ASSIGN_OR_RETURN(set.inputs, ReadInputs(session, path));
    WEFT_ASSIGN_OR_RETURN(set.outputs, ReadOutputs(session, path));
    sets.push_back(std::move(set));
  }
  return sets;
}

absl::Status RunSet(const Session& session, const DataSet& set, const Tolerance& tolerance, const TestCommand& command) {
  RunOptions options;
  options.deadline = command.common.Deadline();
  absl::StatusOr<ValueMap> outputs = session.Run(set.inputs, options);
  if (!outputs.ok()) return Annotate(outputs.status(), set.name);
  for (const NamedValue& reference : set.outputs) {
    if (auto difference = Difference(outputs->at(reference.name), reference.value, tolerance)) {
      return absl::AbortedError(absl::StrCat(set.name, ": output '", reference.name, "': ", *difference));
    }
  }
  return absl::OkStatus();
}

// All data sets in one session: in order, twice; or shuffled over threads. Aborted: a value is wrong.
absl::Status RunCase(const fs::path& dir, const TestCommand& command, bool outputs_required) {
  WEFT_ASSIGN_OR_RETURN(const Tolerance tolerance, ReadTolerance(dir));
  WEFT_ASSIGN_OR_RETURN(const SessionOptions options, command.common.ToSessionOptions());
  WEFT_ASSIGN_OR_RETURN(const Session session, Session::Load((dir / "model.onnx").string(), options));
  WEFT_ASSIGN_OR_RETURN(std::vector<DataSet> sets, ReadDataSets(session, dir));
  if (sets.empty() && !outputs_required) sets.emplace_back();  // a model that is to be refused may come without data
  if (sets.empty()) return Invalid(dir.string(), ": has no test_data_set_K folder");
  for (const DataSet& set : sets) {
    if (outputs_required && set.outputs.empty()) return Invalid(dir.string(), ": ", set.name, " has no output_K.pb");
  }
  std::vector<const DataSet*> order;
  for (int round = 0; round < 2 * command.concurrency; ++round) {
    for (const DataSet& set : sets) order.push_back(&set);
  }
  if (command.concurrency == 1) {
    for (const DataSet* set : order) WEFT_RETURN_IF_ERROR(RunSet(session, *set, tolerance, command));
    return absl::OkStatus();
  }
  std::shuffle(order.begin(), order.end(), std::mt19937(0));
  std::atomic<size_t> next{0};
  std::mutex mutex;
  absl::Status failure;
  std::vector<std::thread> threads;
  for (int t = 0; t < command.concurrency; ++t) {
    threads.emplace_back([&] {
      for (size_t i; (i = next.fetch_add(1)) < order.size();) {
        absl::Status status = RunSet(session, *order[i], tolerance, command);
        if (status.ok()) continue;
        std::lock_guard lock(mutex);
        if (failure.ok()) failure = std::move(status);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return failure;
}

bool IsRefusal(int exit_code) { return exit_code == kInvalid || exit_code == kUnsupported || exit_code == kExhausted; }

struct ChildResult {
  bool timed_out = false;
  int signal = 0;
  int exit_code = 0;
  int64_t peak_bytes = 0;
  std::string error;  // what it wrote to standard error
};

// Runs one case in a process of its own, so that a crash, a hang or a flood of memory is seen and outlived.
absl::StatusOr<ChildResult> RunChild(const fs::path& dir, const TestCommand& command) {
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) return Internal("no pipe: ", std::strerror(errno));
  std::vector<std::string> args = {"infer-cli", "test", "--child", "--opt-level", std::to_string(command.common.opt_level),
                                   "--threads", std::to_string(command.common.threads), "--math", command.common.math,
                                   "--device", command.common.device, "--precision", command.common.precision,
                                   "--memory-limit", std::to_string(command.common.memory_limit_bytes),
                                   "--time-limit", absl::StrFormat("%.17g", command.common.time_limit_s)};
  for (const std::string& pass : command.common.disabled_passes) args.insert(args.end(), {"--disable-pass", pass});
  if (command.common.reference_kernels) args.push_back("--reference");
  if (command.common.check) args.push_back("--check");
  args.insert(args.end(), {"--concurrency", std::to_string(command.concurrency), dir.string()});
  std::vector<char*> argv;
  for (std::string& arg : args) argv.push_back(arg.data());
  argv.push_back(nullptr);
  const pid_t pid = fork();
  if (pid < 0) return Internal("no process: ", std::strerror(errno));
  if (pid == 0) {
    dup2(pipe_ends[1], STDERR_FILENO);
    const int null = open("/dev/null", O_RDWR);
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    execv("/proc/self/exe", argv.data());
    _exit(127);
  }
  close(pipe_ends[1]);
  ChildResult result;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(kRefusalSeconds);
  char block[4096];
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    pollfd waiting{pipe_ends[0], POLLIN, 0};
    const int ready = left > 0 ? poll(&waiting, 1, static_cast<int>(left)) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      result.timed_out = true;
      kill(pid, SIGKILL);
      break;
    }
    const ssize_t got = read(pipe_ends[0], block, sizeof block);
    if (got <= 0) break;
    if (result.error.size() < 1 << 16) result.error.append(block, got);
  }
  close(pipe_ends[0]);
  int status = 0;
  rusage usage{};
  while (wait4(pid, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  result.peak_bytes = int64_t{usage.ru_maxrss} * 1024;
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  return result;
}

// A case with an expect.txt: refused (exit code 3, 4 or 5, one line), or, where case.json allows it, run with the right values.
std::optional<std::string> Isolated(const fs::path& dir, const TestCommand& command) {
  std::string expect = "error";
  if (fs::exists(dir / "case.json")) {
    absl::StatusOr<Json> json = ReadJson(dir / "case.json");
    if (!json.ok()) return std::string(json.status().message());
    if (json->contains("expect") && (*json)["expect"].is_string()) expect = (*json)["expect"].get<std::string>();
  }
  absl::StatusOr<ChildResult> child = RunChild(dir, command);
  if (!child.ok()) return std::string(child.status().message());
  if (child->timed_out) return absl::StrFormat("no end within %g s", kRefusalSeconds);
  if (child->signal != 0) return absl::StrCat("crashed: ", strsignal(child->signal));
  if (child->peak_bytes > kRefusalBytes) {
    return absl::StrCat("took ", child->peak_bytes, " bytes of memory, expected at most ", kRefusalBytes);
  }
  std::string error = child->error.substr(0, child->error.find('\n'));
  if (IsRefusal(child->exit_code)) {
    if (std::count(child->error.begin(), child->error.end(), '\n') != 1) return "refused with more than one line: " + error;
    return std::nullopt;
  }
  if (child->exit_code == kDone) {
    if (expect == "error") return "ran, expected a refusal";
    return std::nullopt;
  }
  return absl::StrCat("ended with exit code ", child->exit_code, ": ", error);
}

absl::StatusOr<std::map<std::string, std::string>> ReadSkipList(const std::string& path) {
  std::map<std::string, std::string> reasons;
  if (path.empty()) return reasons;
  WEFT_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    const size_t space = line.find_first_of(" \t");
    const size_t reason = space == std::string::npos ? space : line.find_first_not_of(" \t", space);
    if (reason == std::string::npos) {
      return Invalid(path, ":", number, ": '", line, "' has no reason, expected: NAME REASON");
    }
    reasons[line.substr(0, space)] = line.substr(reason);
  }
  return reasons;
}

std::string OneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

absl::StatusOr<int> Test(const TestCommand& command) {
  if (command.child) {
    const absl::Status status = RunCase(command.dirs.at(0), command, false);
    if (absl::IsAborted(status)) {
      std::cerr << status.message() << "\n";
      return kCheckFailed;
    }
    return status.ok() ? kDone : Fail(status);
  }
  WEFT_ASSIGN_OR_RETURN(const auto skips, ReadSkipList(command.skip_list));
  std::vector<fs::path> cases;
  for (const std::string& dir : command.dirs) {
    if (!fs::is_directory(dir)) return Invalid(dir, ": is not a folder");
    std::vector<fs::path> found = FindCases(dir);
    if (found.empty()) return Invalid(dir, ": holds no case (a folder with model.onnx)");
    cases.insert(cases.end(), found.begin(), found.end());
  }
  int passed = 0, failed = 0, skipped = 0;
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  std::set<std::string> unused;
  for (const auto& [name, reason] : skips) unused.insert(name);
  for (const fs::path& dir : cases) {
    const std::string name = dir.filename().string();
    std::string verdict, reason;
    const auto start = std::chrono::steady_clock::now();
    if (auto skip = skips.find(name); skip != skips.end()) {
      ++skipped;
      verdict = "SKIPPED";
      reason = skip->second;
      unused.erase(name);
    } else {
      std::optional<std::string> fault;
      if (fs::exists(dir / "expect.txt")) {
        fault = Isolated(dir, command);
      } else if (absl::Status status = RunCase(dir, command, true); !status.ok()) {
        fault = std::string(status.message());
      }
      verdict = fault ? "FAILED" : "ok";
      reason = fault.value_or("");
      ++(fault ? failed : passed);
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (command.common.json) {
      json.push_back({{"case", dir.string()}, {"verdict", verdict}, {"reason", reason}, {"seconds", seconds}});
    } else {
      std::cout << absl::StrFormat("%-7s %s%s%s", verdict, dir.string(), reason.empty() ? "" : ": ", OneLine(reason)) << std::endl;
    }
  }
  for (const std::string& name : unused) Warn(command.common, absl::StrCat("skip list: no case is named '", name, "'"));
  if (command.common.json) {
    const nlohmann::ordered_json all = {{"cases", json}, {"passed", passed}, {"failed", failed}, {"skipped", skipped}};
    std::cout << all.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
  } else {
    std::cout << passed << " passed, " << failed << " failed, " << skipped << " skipped" << std::endl;
  }
  return failed > 0 || passed == 0 ? kCheckFailed : kDone;
}

}  // namespace

void AddTest(CLI::App& app, int& exit_code) {
  auto command = std::make_shared<TestCommand>();
  CLI::App* sub = app.add_subcommand("test", "run ONNX test cases and compare with their references");
  sub->add_option("DIR", command->dirs, "folders of cases, any depth")->required();
  sub->add_option("--skip-list", command->skip_list, "a file of lines NAME REASON: cases to leave out");
  sub->add_option("--concurrency", command->concurrency, "runs each case's data sets shuffled over this many threads")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  sub->add_flag("--child", command->child)->group("");
  AddCommonOptions(*sub, command->common);
  sub->footer(
      "A case is a folder with model.onnx and test_data_set_K/{input,output}_I.pb; all its data sets run in one session, in order,\n"
      "twice. Shapes and element types must be equal; floats by |got - ref| <= atol + atol_of_max * max|ref| + rtol * |ref|\n"
      "(rtol 1e-3, 2^-6 for bfloat16; atol 1e-7), or as tolerance.json {\"rtol\", \"atol\", \"atol_of_max\", \"shape_only\",\n"
      "\"property\"} says; everything else exactly. A case with expect.txt must be refused with one line and exit code 3, 4 or 5\n"
      "within 10 s and 1 GiB, or, where case.json's \"expect\" is no-crash or error-or-outputs, may run.\n"
      "Exit code 1 if any case failed or none passed.");
  sub->callback([command, &exit_code] {
    absl::StatusOr<int> code = Test(*command);
    exit_code = code.ok() ? *code : Fail(code.status());
  });
}

}  // namespace weft::cli
