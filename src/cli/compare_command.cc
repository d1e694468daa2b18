// infer-cli compare: how far a model's outputs are from those of another, or from references in files.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <memory>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "cli/cli.h"
#include "cli/compare.h"
#include "cli/tensor_files.h"
#include "kernels/ref/elements.h"

namespace weft::cli {
namespace {

namespace fs = std::filesystem;

struct CompareCommand {
  std::string model, against;
  double rtol = 1e-3, atol = 1e-7, atol_of_max = 0;
  int reference_opt_level = -1;
  CommonOptions common;
};

// Of one output against its reference; both have the same type and shape, and numbers for elements.
struct Distance {
  double max_abs = 0, max_rel = 0, cosine = 1;
  int64_t nan = 0, inf = 0;  // in the output, not in the reference
};

Distance Measure(const Tensor& got, const Tensor& reference) {
  const int64_t count = got.size();
  std::vector<double> x(count), y(count);
  ReadElements(got, 0, count, x.data());
  ReadElements(reference, 0, count, y.data());
  Distance d;
  double dot = 0, xx = 0, yy = 0;
  for (int64_t i = 0; i < count; ++i) {
    d.nan += std::isnan(x[i]) && !std::isnan(y[i]);
    d.inf += std::isinf(x[i]) && !std::isinf(y[i]);
    if (!std::isfinite(x[i]) || !std::isfinite(y[i])) continue;
    const double off = std::abs(x[i] - y[i]);
    d.max_abs = std::max(d.max_abs, off);
    if (y[i] != 0) d.max_rel = std::max(d.max_rel, off / std::abs(y[i]));
    dot += x[i] * y[i];
    xx += x[i] * x[i];
    yy += y[i] * y[i];
  }
  if (xx > 0 && yy > 0) d.cosine = dot / std::sqrt(xx * yy);
  else if (xx != yy) d.cosine = 0;
  return d;
}

bool HasNumbers(const Value& value) {
  return value.is_tensor() && value.tensor().dtype() != DType::kString && value.tensor().dtype() != DType::kComplex64 &&
         value.tensor().dtype() != DType::kComplex128;
}

// The value of output `i` of the session in a folder: by manifest.json, as `infer-cli run --output-dir` writes it, or as output_I.pb of a test
// case's data set.
absl::StatusOr<Value> ReadReference(const fs::path& dir, const ValueInfo& info, size_t i) {
  if (fs::exists(dir / "manifest.json")) {
    WEFT_ASSIGN_OR_RETURN(const std::string text, ReadFile((dir / "manifest.json").string()));
    const nlohmann::json manifest = nlohmann::json::parse(text, nullptr, false);
    if (!manifest.is_object()) return Invalid((dir / "manifest.json").string(), ": is not a JSON object");
    const auto entry = manifest.find(info.name);
    if (entry == manifest.end() || !entry->is_string()) return Invalid((dir / "manifest.json").string(), ": has no file for output '", info.name, "'");
    const std::string file = entry->get<std::string>();
    if (fs::path(file).filename() != file) return Invalid((dir / "manifest.json").string(), ": '", file, "' is not a file in the folder");
    return ReadValueFile((dir / file).string(), info, {});
  }
  const std::string file = (dir / absl::StrCat("output_", i, ".pb")).string();
  if (!fs::exists(file)) return absl::NotFoundError(absl::StrCat(dir.string(), ": holds neither manifest.json nor output_", i, ".pb"));
  return ReadValueFile(file, info, {});
}

// A test case's data set brings its inputs too: those that --input does not name.
void AddInputFiles(const fs::path& dir, const Session& session, CommonOptions& options) {
  size_t i = 0;
  for (const ValueInfo& info : session.inputs()) {
    if (info.has_default) continue;
    const std::string file = (dir / absl::StrCat("input_", i++, ".pb")).string();
    if (fs::exists(file)) options.input_files.emplace(info.name, file);
  }
}

absl::StatusOr<int> Run(CompareCommand command) {
  WEFT_ASSIGN_OR_RETURN(SessionOptions options, command.common.ToSessionOptions());
  WEFT_ASSIGN_OR_RETURN(const Session session, Session::Load(command.model, options));
  const bool folder = fs::is_directory(command.against);
  if (folder) AddInputFiles(command.against, session, command.common);
  WEFT_ASSIGN_OR_RETURN(const ValueMap inputs, MakeInputs(session, command.common));
  RunOptions run_options;
  run_options.deadline = command.common.Deadline();
  run_options.seed = command.common.seed;
  ValueMap references;
  if (!folder) {
    if (command.reference_opt_level >= 0) options.opt_level = command.reference_opt_level;
    WEFT_ASSIGN_OR_RETURN(const Session other, Session::Load(command.against, options));
    WEFT_ASSIGN_OR_RETURN(references, other.Run(inputs, run_options));
  }
  WEFT_ASSIGN_OR_RETURN(const ValueMap outputs, session.Run(inputs, run_options));

  const Tolerance tolerance{.rtol = command.rtol, .atol = command.atol, .atol_of_max = command.atol_of_max};
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  int differing = 0;
  for (size_t i = 0; i < session.outputs().size(); ++i) {
    const ValueInfo& info = session.outputs()[i];
    if (folder) {
      WEFT_ASSIGN_OR_RETURN(references[info.name], ReadReference(command.against, info, i));
    } else if (!references.contains(info.name)) {
      return Invalid(command.against, ": has no output '", info.name, "'");
    }
    const Value &got = outputs.at(info.name), &reference = references.at(info.name);
    const std::optional<std::string> difference = Difference(got, reference, tolerance);
    differing += difference.has_value();
    nlohmann::ordered_json row = {{"name", info.name}, {"equal", !difference}};
    if (difference) row["difference"] = *difference;
    if (HasNumbers(got) && HasNumbers(reference) && got.tensor().dims() == reference.tensor().dims()) {
      const Distance d = Measure(got.tensor(), reference.tensor());
      row.update({{"max_abs", d.max_abs}, {"max_rel", d.max_rel}, {"cosine", d.cosine}, {"new_nan", d.nan}, {"new_inf", d.inf}});
    }
    rows.push_back(std::move(row));
  }
  if (command.common.json) {
    const nlohmann::ordered_json json = {{"model", command.model}, {"against", command.against}, {"outputs", rows}, {"differing", differing}};
    std::cout << json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
    return differing == 0 ? kDone : kCheckFailed;
  }
  for (const auto& row : rows) {
    std::cout << row["name"].get<std::string>() << "  " << (row["equal"].get<bool>() ? "within the tolerance" : "DIFFERS");
    if (row.contains("max_abs")) {
      std::cout << absl::StrFormat("  max abs %.3g  max rel %.3g  cosine %.9f", row["max_abs"].get<double>(), row["max_rel"].get<double>(), row["cosine"].get<double>());
      if (row["new_nan"].get<int64_t>() > 0) std::cout << "  " << row["new_nan"].get<int64_t>() << " NaN that the reference has not";
      if (row["new_inf"].get<int64_t>() > 0) std::cout << "  " << row["new_inf"].get<int64_t>() << " infinities that the reference has not";
    }
    if (row.contains("difference")) std::cout << "  (" << row["difference"].get<std::string>() << ")";
    std::cout << "\n";
  }
  return differing == 0 ? kDone : kCheckFailed;
}

}  // namespace

void AddCompare(CLI::App& app, int& exit_code) {
  auto command = std::make_shared<CompareCommand>();
  CLI::App* sub = app.add_subcommand("compare", "compare a model's outputs with references or with another model's");
  sub->add_option("MODEL", command->model, "an ONNX file")->required();
  sub->add_option("--against", command->against,
                  "a folder (test_data_set_K of a test case, or one that run --output-dir wrote), or a model with the same inputs and outputs; "
                  "it may be the same model")
      ->required();
  sub->add_option("--reference-opt-level", command->reference_opt_level, "--opt-level of the model behind --against; default: as for MODEL")
      ->check(CLI::Range(0, 3));
  sub->add_option("--rtol", command->rtol, "an element may be off by atol + atol-of-max * max|ref| + rtol * |ref|")->check(CLI::NonNegativeNumber)->capture_default_str();
  sub->add_option("--atol", command->atol, "see --rtol")->check(CLI::NonNegativeNumber)->capture_default_str();
  sub->add_option("--atol-of-max", command->atol_of_max, "see --rtol")->check(CLI::NonNegativeNumber)->capture_default_str();
  AddInputOptions(*sub, command->common);
  AddCommonOptions(*sub, command->common);
  sub->footer("Exit code 1 if an output differs. Infinities and NaN must stand in the same places.");
  sub->callback([command, &exit_code] {
    const absl::StatusOr<int> code = Run(*command);
    exit_code = code.ok() ? *code : Fail(code.status());
  });
}

}  // namespace weft::cli
