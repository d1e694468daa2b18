// infer-cli inspect: what a model is made of.
#include <iostream>
#include <map>
#include <memory>

#include <nlohmann/json.hpp>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "cli/cli.h"
#include "graph/graph.h"
#include "graph/infer.h"
#include "graph/onnx/import.h"
#include "graph/text.h"
#include "runtime/compile.h"

namespace weft::cli {
namespace {

struct InspectCommand {
  std::string model;
  bool text = false;
  CommonOptions common;
};

struct Summary {
  std::map<std::string, int> op_counts;
  int64_t parameters = 0, parameter_bytes = 0, flops = 0;
  int nodes = 0;
  std::vector<std::string> without_cost;  // nodes whose FLOPs depend on dims that are not bound
};

// Parameters that several bodies share count once.
void Count(const Graph& graph, absl::flat_hash_set<const void*>& seen, Summary& summary) {
  for (int v = 0; v < graph.num_values(); ++v) {
    const GraphValue& value = graph.value(ValueId{v});
    if (!value.is_constant() || !seen.insert(value.constant.data()).second) continue;
    summary.parameters += value.constant.size();
    summary.parameter_bytes += static_cast<int64_t>(value.constant.bytes());
  }
  for (NodeId id : graph.Order()) {
    const GraphNode& node = graph.node(id);
    ++summary.op_counts[node.op->QualifiedName()];
    ++summary.nodes;
    if (node.op->cost != nullptr) {
      const NodeView view = ViewOf(graph, id);
      bool known = true;
      for (const InputView& input : view.inputs) known &= input.type == nullptr || input.type->shape.Concrete().has_value();
      if (known) summary.flops += node.op->cost(view).flops;
      else summary.without_cost.push_back(node.name);
    }
    for (const Region& region : node.regions) Count(*region.graph, seen, summary);
  }
}

// Sets input dims as --shape and --dim say.
absl::Status BindInputs(Graph& graph, const CommonOptions& options) {
  for (const auto& [name, dims] : options.shapes) {
    const auto has_name = [&, &name = name](ValueId id) { return graph.value(id).name == name; };
    if (std::none_of(graph.inputs().begin(), graph.inputs().end(), has_name)) return Invalid("--shape: the model has no input '", name, "'");
  }
  for (ValueId id : graph.inputs()) {
    Type type = graph.value(id).type;
    if (!type.is_tensor()) continue;
    if (auto it = options.shapes.find(graph.value(id).name); it != options.shapes.end()) {
      type.shape = Shape(std::vector<Dim>(it->second.begin(), it->second.end()));
    }
    if (type.shape.has_rank()) {
      for (Dim& d : type.shape.dims()) d = d.Substitute(options.dims);
    }
    graph.SetType(id, std::move(type));
  }
  return absl::OkStatus();
}

void PrintText(const Model& model, const Summary& summary, absl::string_view kernels) {
  auto edge = [&](const char* what, const std::vector<ValueId>& ids) {
    for (ValueId id : ids) std::cout << what << "  " << model.graph.value(id).name << "  " << model.graph.value(id).type.ToString() << "\n";
  };
  edge("input ", model.graph.inputs());
  for (const std::string& name : model.overridable) std::cout << "input   " << name << "  (has a default)\n";
  edge("output", model.graph.outputs());
  for (const OpsetImport& opset : model.opsets) {
    std::cout << "opset   " << (opset.domain.empty() ? "ai.onnx" : opset.domain) << " " << opset.version << "\n";
  }
  std::cout << "ir      " << model.ir_version << "\n";
  if (!model.producer_name.empty()) std::cout << "made by " << model.producer_name << " " << model.producer_version << "\n";
  for (const auto& [key, value] : model.metadata) std::cout << "meta    " << key << ": " << value.substr(0, 200) << "\n";
  std::cout << absl::StrFormat("%d nodes, %d parameters (%d bytes), %.3f GFLOP", summary.nodes, summary.parameters,
                               summary.parameter_bytes, static_cast<double>(summary.flops) / 1e9);
  if (!summary.without_cost.empty()) {
    std::cout << absl::StrFormat(" besides %d nodes of unknown shape (bind them with --dim or --shape)", summary.without_cost.size());
  }
  std::cout << "\n";
  for (const auto& [op, count] : summary.op_counts) std::cout << absl::StrFormat("%6d  %s\n", count, op);
  std::cout << kernels << "\n";
}

absl::Status Inspect(const InspectCommand& command) {
  WEFT_ASSIGN_OR_RETURN(Model model, ImportModel(command.model));
  WEFT_RETURN_IF_ERROR(BindInputs(model.graph, command.common));
  WEFT_RETURN_IF_ERROR(InferTypes(model.graph).status());
  if (command.text) {
    PrintOptions print;
    print.max_elements = 64;
    std::cout << PrintModel(model, print);
    return absl::OkStatus();
  }
  Summary summary;
  absl::flat_hash_set<const void*> seen;
  Count(model.graph, seen, summary);
  LowerOptions lower;
  lower.reference_only = command.common.reference_kernels;
  const absl::Status lowered = Program::Lower(model.graph, lower).status();
  const std::string kernels = lowered.ok() ? "every node has a kernel" : std::string(lowered.message());
  if (!command.common.json) {
    PrintText(model, summary, kernels);
    return lowered;
  }
  nlohmann::ordered_json json;
  json["model"] = command.model;
  auto edge = [&](const std::vector<ValueId>& ids) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (ValueId id : ids) list.push_back({{"name", model.graph.value(id).name}, {"type", model.graph.value(id).type.ToString()}});
    return list;
  };
  json["inputs"] = edge(model.graph.inputs());
  json["inputs_with_default"] = model.overridable;
  json["outputs"] = edge(model.graph.outputs());
  json["opsets"] = nlohmann::ordered_json::object();
  for (const OpsetImport& opset : model.opsets) json["opsets"][opset.domain.empty() ? "ai.onnx" : opset.domain] = opset.version;
  json["ir_version"] = model.ir_version;
  json["producer"] = model.producer_name;
  json["nodes"] = summary.nodes;
  json["parameters"] = summary.parameters;
  json["parameter_bytes"] = summary.parameter_bytes;
  json["flops"] = summary.flops;
  json["nodes_of_unknown_flops"] = summary.without_cost.size();
  json["ops"] = summary.op_counts;
  json["unsupported"] = lowered.ok() ? "" : std::string(lowered.message());
  std::cout << json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
  return lowered;
}

}  // namespace

void AddInspect(CLI::App& app, int& exit_code) {
  auto command = std::make_shared<InspectCommand>();
  CLI::App* sub = app.add_subcommand("inspect", "show a model's inputs, outputs, opsets, operators, parameters and FLOPs");
  sub->add_option("MODEL", command->model, "an ONNX file")->required();
  sub->add_flag("--text", command->text, "print the graph as ONNX text");
  AddShapeOptions(*sub, command->common);
  AddCommonOptions(*sub, command->common);
  sub->callback([command, &exit_code] {
    const absl::Status status = Inspect(*command);
    exit_code = status.ok() ? kDone : Fail(status);
  });
}

}  // namespace weft::cli
