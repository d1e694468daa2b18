// infer-cli run: one run, each output's name, type, shape and statistics.
#include <filesystem>
#include <iostream>
#include <memory>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "cli/cli.h"
#include "cli/statistics.h"
#include "cli/tensor_files.h"

namespace weft::cli {
namespace {

struct RunCommand {
  std::string model;
  std::string output_dir;
  CommonOptions common;
};

absl::Status WriteOutputs(const std::string& dir, const Session& session, const ValueMap& outputs) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) return absl::PermissionDeniedError(absl::StrCat(dir, ": cannot be made: ", error.message()));
  std::vector<std::string> taken = {"manifest.json"};
  nlohmann::ordered_json manifest;
  for (const ValueInfo& info : session.outputs()) {
    if (manifest.contains(info.name)) continue;
    WEFT_ASSIGN_OR_RETURN(manifest[info.name], WriteValueFile(dir, info.name, outputs.at(info.name), taken));
  }
  const std::string text = manifest.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
  return WriteFile((std::filesystem::path(dir) / "manifest.json").string(), text + "\n");
}

absl::Status Run(const RunCommand& command) {
  const auto deadline = command.common.Deadline();
  WEFT_ASSIGN_OR_RETURN(SessionOptions options, command.common.ToSessionOptions());
  WEFT_ASSIGN_OR_RETURN(const Session session, Session::Load(command.model, options));
  WEFT_ASSIGN_OR_RETURN(const ValueMap inputs, MakeInputs(session, command.common));
  RunOptions run_options;
  run_options.deadline = deadline;
  run_options.seed = command.common.seed;
  WEFT_ASSIGN_OR_RETURN(const ValueMap outputs, session.Run(inputs, run_options));
  if (!command.output_dir.empty()) WEFT_RETURN_IF_ERROR(WriteOutputs(command.output_dir, session, outputs));
  if (command.common.json) {
    nlohmann::ordered_json json = {{"model", command.model}, {"outputs", nlohmann::ordered_json::array()}};
    for (const ValueInfo& info : session.outputs()) json["outputs"].push_back(DescribeJson(info.name, outputs.at(info.name)));
    std::cout << json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
    return absl::OkStatus();
  }
  for (const ValueInfo& info : session.outputs()) std::cout << info.name << "  " << Describe(outputs.at(info.name)) << "\n";
  return absl::OkStatus();
}

}  // namespace

void AddRun(CLI::App& app, int& exit_code) {
  auto command = std::make_shared<RunCommand>();
  CLI::App* sub = app.add_subcommand("run", "run a model once and print its outputs");
  sub->add_option("MODEL", command->model, "an ONNX file")->required();
  AddInputOptions(*sub, command->common);
  sub->add_option("--output-dir", command->output_dir, "writes each output as NAME.npy (or .pb) and manifest.json there");
  AddCommonOptions(*sub, command->common);
  sub->callback([command, &exit_code] {
    const absl::Status status = Run(*command);
    exit_code = status.ok() ? kDone : Fail(status);
  });
}

}  // namespace weft::cli
