// infer-cli: runs, times, tests, shows and optimises ONNX models.
#include <cstring>
#include <filesystem>
#include <iostream>
#include <new>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/strings/str_join.h"
#include "cli/cli.h"
#include "weft/version.h"

namespace {

constexpr char kFooter[] =
    "infer-cli MODEL is infer-cli run MODEL.\n"
    "\n"
    "Examples:\n"
    "  infer-cli model.onnx                                  run once on random inputs, print the outputs\n"
    "  infer-cli run model.onnx --input x=image.npy          the same on an input of yours\n"
    "  infer-cli bench model.onnx --dim batch=8 --threads 2  latency and throughput\n"
    "  infer-cli test cases/                                 every ONNX test case beneath a folder\n"
    "  infer-cli inspect model.onnx --text                   what the model is made of\n"
    "  infer-cli optimize model.onnx -o smaller.onnx         an equal model of fewer nodes\n"
    "  infer-cli compare model.onnx --against other.onnx     how far their outputs are apart\n"
    "\n"
    "Exit codes: 0 done; 1 a check failed; 2 usage; 3 the model or an input is invalid; 4 unsupported;\n"
    "5 a limit or memory ran out; 6 cancelled or past its deadline; 70 a bug of ours.";

// A word that names no subcommand is a model where it looks like a path.
bool LooksLikePath(const std::string& word) {
  std::error_code ignored;
  return word.find('/') != std::string::npos || word.find('.') != std::string::npos || std::filesystem::exists(word, ignored);
}

int Run(int argc, char** argv) {
  CLI::App app("Weft: compiles and runs ONNX models.", "infer-cli");
  app.set_version_flag("--version", std::string("infer-cli ") + WEFT_VERSION);
  app.footer(kFooter);
  app.require_subcommand(1);
  int exit_code = weft::kDone;
  weft::cli::AddRun(app, exit_code);
  weft::cli::AddBench(app, exit_code);
  weft::cli::AddTest(app, exit_code);
  weft::cli::AddInspect(app, exit_code);
  weft::cli::AddOptimize(app, exit_code);
  weft::cli::AddCompare(app, exit_code);

  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands({})) names.push_back(sub->get_name());
  std::vector<std::string> args(argv + 1, argv + argc);
  if (!args.empty() && args[0][0] != '-' && std::find(names.begin(), names.end(), args[0]) == names.end()) {
    if (!LooksLikePath(args[0])) {
      std::cerr << "infer-cli: error: unknown subcommand '" << args[0] << "', expected " << absl::StrJoin(names, ", ")
                << " or the path of a model (see infer-cli --help)\n";
      return weft::kUsage;
    }
    args.insert(args.begin(), "run");
  }
  std::reverse(args.begin(), args.end());  // CLI11 takes them from the back
  try {
    app.parse(args);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
      app.exit(error);  // --help, --version
      return weft::kDone;
    }
    std::cerr << "infer-cli: error: " << error.what() << " (see infer-cli --help)\n";
    return weft::kUsage;
  }
  std::cout.flush();
  if (!std::cout) return weft::cli::Fail(absl::PermissionDeniedError("standard output cannot be written"));
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  // Status is the way errors travel; exceptions come only from libraries beneath us.
  try {
    return Run(argc, argv);
  } catch (const std::bad_alloc&) {
    return weft::cli::Fail(absl::ResourceExhaustedError("out of memory"));
  } catch (const std::exception& error) {
    return weft::cli::Fail(absl::InternalError(error.what()));
  }
}
