#include "passes/pipeline.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "graph/verify.h"
#include "passes/passes.h"

namespace weft {
namespace {

using N = NumericClass;

constexpr Pass kPasses[] = {
    {"fold-constants", &FoldConstants, 1, N::kExact},
    {"remove-identities", &RemoveIdentities, 1, N::kExact},
    {"cancel-transposes", &CancelTransposes, 1, N::kExact},
    {"merge-common-subexpressions", &MergeCommonSubexpressions, 1, N::kExact},
    {"remove-dead-nodes", &RemoveDeadNodes, 1, N::kExact},
    {"fold-batch-norm", &FoldBatchNorm, 2, N::kReassociates},
    {"fold-transpose-into-matmul", &FoldTransposeIntoMatMul, 2, N::kReassociates},
    {"fuse-bias", &FuseBias, 2, N::kReassociates},
    {"fuse-activation", &FuseActivation, 2, N::kApproximates},
};

// A pass may open the way for an earlier one; real models settle in two rounds.
constexpr int kMaxRounds = 4;

// Regions first. `elements` of a region's captures are not known here: constants of the outer scope were made constants inside at import.
absl::Status RunOnRegions(const Pass& pass, Graph& graph, const Evaluator& evaluate, bool standard_only, int64_t& rewrites, int64_t& left) {
  for (NodeId id : graph.Order()) {
    for (size_t k = 0; k < graph.node(id).regions.size(); ++k) {
      Graph& body = graph.region_graph(id, static_cast<int>(k));
      WEFT_RETURN_IF_ERROR(RunOnRegions(pass, body, evaluate, standard_only, rewrites, left));
      KnownElements known(body.num_values());
      for (int v = 0; v < body.num_values(); ++v) {
        if (body.value(ValueId{v}).is_constant()) known[v] = ElementsOf(body.value(ValueId{v}).constant);
      }
      PassContext ctx{evaluate, known, standard_only, 0, left};
      WEFT_RETURN_IF_ERROR(pass.run(body, ctx));
      rewrites += ctx.rewrites;
      left = ctx.rewrites_left;
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::string_view NumericClassName(NumericClass numeric) {
  switch (numeric) {
    case NumericClass::kExact: return "exact";
    case NumericClass::kReassociates: return "reassociates";
    case NumericClass::kApproximates: return "approximates";
  }
  return "unknown";
}

absl::Span<const Pass> Passes() { return kPasses; }

const Pass* FindPass(std::string_view name) {
  for (const Pass& pass : kPasses) {
    if (pass.name == name) return &pass;
  }
  return nullptr;
}

absl::StatusOr<int64_t> RunPass(const Pass& pass, Graph& graph, const Evaluator& evaluate, int64_t rewrites_left, bool standard_only) {
  WEFT_ASSIGN_OR_RETURN(const KnownElements known, InferTypes(graph));
  int64_t rewrites = 0;
  WEFT_RETURN_IF_ERROR(RunOnRegions(pass, graph, evaluate, standard_only, rewrites, rewrites_left));
  PassContext ctx{evaluate, known, standard_only, 0, rewrites_left};
  WEFT_RETURN_IF_ERROR(pass.run(graph, ctx));
  rewrites += ctx.rewrites;
  if (rewrites > 0) WEFT_RETURN_IF_ERROR(InferTypes(graph).status());
  return rewrites;
}

absl::StatusOr<std::vector<PassReport>> RunPipeline(Graph& graph, const PipelineOptions& options, const Evaluator& evaluate) {
  for (const std::string& name : options.disabled) {
    if (FindPass(name) != nullptr) continue;
    return Invalid("no pass is named '", name, "', expected one of ",
                   absl::StrJoin(kPasses, ", ", [](std::string* out, const Pass& pass) { out->append(pass.name); }));
  }
  WEFT_RETURN_IF_ERROR(InferTypes(graph).status());
  if (options.verify) WEFT_RETURN_IF_ERROR(Annotate(Verify(graph), "before the passes"));
  std::vector<PassReport> reports;
  for (const Pass& pass : kPasses) {
    const bool off = pass.level > options.level || (options.strict_math && pass.numeric != N::kExact) ||
                     std::find(options.disabled.begin(), options.disabled.end(), pass.name) != options.disabled.end();
    if (!off) reports.push_back({pass.name});
  }
  int64_t left = options.stop_after;
  for (int round = 0; round < kMaxRounds; ++round) {
    int64_t changed = 0;
    for (PassReport& report : reports) {
      const Pass& pass = *FindPass(report.name);
      const auto start = std::chrono::steady_clock::now();
      absl::StatusOr<int64_t> rewrites = RunPass(pass, graph, evaluate, left, options.standard_only);
      if (!rewrites.ok()) return Annotate(rewrites.status(), absl::StrCat("pass ", ToAbsl(pass.name)).c_str());
      report.ms += std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
      report.rewrites += *rewrites;
      changed += *rewrites;
      left -= *rewrites;
      if (*rewrites == 0) continue;
      if (options.verify) WEFT_RETURN_IF_ERROR(Annotate(Verify(graph), pass.name));
      if (options.on_changed) options.on_changed(pass, graph);
    }
    if (changed == 0) break;
  }
  return reports;
}

}  // namespace weft
