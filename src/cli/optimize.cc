// infer-cli optimize: a model in, an equal and simpler model out.
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>

#include <nlohmann/json.hpp>

#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "cli/cli.h"
#include "graph/onnx/export.h"
#include "graph/onnx/import.h"
#include "kernels/evaluate.h"
#include "passes/pipeline.h"

namespace weft::cli {
namespace {

struct OptimizeCommand {
  std::string model, output, external_data;
  int64_t opset = 0;
  bool allow_weft_ops = false, json = false, check = false;
  std::string math = "fast";
  int opt_level = 3;
  std::vector<std::string> disabled_passes;
};

int CountNodes(const Graph& graph) {
  int count = graph.num_nodes();
  for (NodeId id : graph.Order()) {
    for (const Region& region : graph.node(id).regions) count += CountNodes(*region.graph);
  }
  return count;
}

// Until IR version 4 every initialiser had to be an input as well, so that it says nothing there; from then on it means that a run may give
// another value.
constexpr int64_t kIrOfDefaults = 4;

absl::Status Run(const OptimizeCommand& command) {
  const std::filesystem::path data = std::filesystem::path(command.output).parent_path() / command.external_data;
  std::error_code ignored;
  if (!command.external_data.empty() && std::filesystem::equivalent(data, command.model, ignored)) {
    return Invalid("--external-data: ", data.string(), " is the model itself");
  }
  WEFT_ASSIGN_OR_RETURN(Model model, ImportModel(command.model));
  ExportOptions export_options;
  if (model.ir_version >= kIrOfDefaults && !model.overridable.empty()) {
    for (const std::string& name : model.overridable) {
      if (const Tensor* tensor = model.graph.Constant(model.graph.FindValue(name))) export_options.defaults[name] = *tensor;
    }
    WEFT_ASSIGN_OR_RETURN(model, ImportModel(command.model, {.overridden = model.overridable}));
  }
  const int before = CountNodes(model.graph);
  PipelineOptions pipeline;
  pipeline.level = command.opt_level;
  pipeline.disabled = command.disabled_passes;
  pipeline.strict_math = command.math == "strict";
  pipeline.standard_only = !command.allow_weft_ops;
  pipeline.verify = command.check;
  WEFT_ASSIGN_OR_RETURN(const std::vector<PassReport> reports, RunPipeline(model.graph, pipeline, &Evaluate));
  export_options.opset = command.opset;
  export_options.allow_weft_ops = command.allow_weft_ops;
  export_options.external_data = command.external_data;
  WEFT_RETURN_IF_ERROR(ExportModel(model, command.output, export_options));
  const int after = CountNodes(model.graph);
  if (command.json) {
    nlohmann::ordered_json json = {{"model", command.model}, {"output", command.output}, {"nodes_before", before}, {"nodes_after", after}};
    for (const PassReport& report : reports) json["passes"].push_back({{"name", report.name}, {"rewrites", report.rewrites}, {"ms", report.ms}});
    std::cout << json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
    return absl::OkStatus();
  }
  for (const PassReport& report : reports) {
    if (report.rewrites > 0) std::cout << absl::StrFormat("%-32s %6d rewrites  %8.1f ms\n", std::string(report.name), report.rewrites, report.ms);
  }
  std::cout << absl::StrFormat("%d nodes became %d: %s\n", before, after, command.output);
  return absl::OkStatus();
}

}  // namespace

void AddOptimize(CLI::App& app, int& exit_code) {
  auto command = std::make_shared<OptimizeCommand>();
  CLI::App* sub = app.add_subcommand("optimize", "run the passes and write the model as ONNX");
  sub->add_option("MODEL", command->model, "an ONNX file")->required();
  sub->add_option("-o,--output", command->output, "the file to write")->required();
  sub->add_option("--opset", command->opset, "of the written model; default: its own, or the lowest that has its ops in today's form")
      ->check(CLI::Range(1, 1000));
  sub->add_flag("--allow-weft-ops", command->allow_weft_ops, "fuse into ops that only Weft runs");
  sub->add_option("--external-data", command->external_data, "a file name: puts the weights there, beside the model (always beyond 1 GiB)")
      ->check([](const std::string& name) {
        return name.empty() || name.find('/') != std::string::npos || name == "." || name == ".." ? "expected the name of a file, without a folder" : "";
      });
  AddPassOptions(*sub, command->opt_level, command->disabled_passes, command->math);
  sub->add_flag("--check", command->check, "validate the graph behind every pass");
  sub->add_flag("--json", command->json, "results as JSON on standard output");
  sub->footer(
      "Names and dynamic dims of inputs and outputs and the model's metadata stay. Initialisers that are inputs too stay inputs with a default\n"
      "(from IR version 4 on; before it they are constants). Only standard ops are written unless --allow-weft-ops is given.");
  sub->callback([command, &exit_code] {
    const absl::Status status = Run(*command);
    exit_code = status.ok() ? kDone : Fail(status);
  });
}

}  // namespace weft::cli
