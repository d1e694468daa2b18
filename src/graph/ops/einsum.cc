// Einsum (ONNX Operators.md, opset 28).
#include "graph/ops/einsum.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/dtype_sets.h"

namespace weft {
namespace {

absl::StatusOr<EinsumTerm> ParseTerm(std::string_view text) {
  EinsumTerm term;
  for (size_t i = 0; i < text.size(); ++i) {
    if (absl::ascii_isalpha(static_cast<unsigned char>(text[i]))) {
      term.letters += text[i];
    } else if (text.substr(i, 3) == "..." && term.ellipsis < 0) {
      term.ellipsis = static_cast<int>(term.letters.size());
      i += 2;
    } else {
      return Invalid("equation has a term '", text, "', expected letters and at most one ellipsis");
    }
  }
  return term;
}

// The letters that stand once in all of the inputs, sorted, behind the ellipsis.
EinsumTerm ImplicitOutput(const std::vector<EinsumTerm>& inputs) {
  std::map<char, int> count;
  EinsumTerm output;
  for (const EinsumTerm& term : inputs) {
    for (char letter : term.letters) ++count[letter];
    if (term.ellipsis >= 0) output.ellipsis = 0;
  }
  for (const auto& [letter, n] : count) {
    if (n == 1) output.letters += letter;
  }
  return output;
}

absl::Status CheckOutput(const EinsumEquation& equation) {
  std::set<char> known;
  for (const EinsumTerm& term : equation.inputs) known.insert(term.letters.begin(), term.letters.end());
  for (char letter : equation.output.letters) {
    if (known.count(letter) == 0) {
      return Invalid("equation has '", std::string_view(&letter, 1), "' twice in its output or in no input, expected each letter once");
    }
    known.erase(letter);
  }
  const bool ellipsis = std::any_of(equation.inputs.begin(), equation.inputs.end(), [](const EinsumTerm& term) { return term.ellipsis >= 0; });
  if (equation.output.ellipsis >= 0 && !ellipsis) return Invalid("equation has an ellipsis in its output and in no input");
  return absl::OkStatus();
}

// How many axes the ellipsis stands for, 0 where there is none; nothing where no input that has one is of known rank.
absl::StatusOr<std::optional<int>> EllipsisRank(const InferContext& ctx, const EinsumEquation& equation) {
  std::optional<int> rank;
  bool open = false;
  for (int i = 0; i < ctx.num_inputs(); ++i) {
    const EinsumTerm& term = equation.inputs[i];
    const auto letters = static_cast<int>(term.letters.size());
    const std::string operand = absl::StrCat("Inputs[", i, "]");
    if (term.ellipsis < 0) {
      WEFT_RETURN_IF_ERROR(ctx.CheckRank(i, operand, letters));
      continue;
    }
    WEFT_RETURN_IF_ERROR(ctx.CheckRankAtLeast(i, operand, letters));
    if (!ctx.shape(i).has_rank()) {
      open = true;
      continue;
    }
    const int axes = ctx.shape(i).rank() - letters;
    if (rank && *rank != axes) return Invalid("equation's ellipsis stands for ", *rank, " axes in one input and ", axes, " in another, expected equal");
    rank = axes;
  }
  if (!rank && !open) rank = 0;
  return rank;
}

// The size of each label: as far as it is known, or where a tensor has 1 of it, that of the others.
absl::StatusOr<std::map<int, Dim>> LabelSizes(InferContext& ctx, const EinsumEquation& equation, int ellipsis_rank) {
  std::map<int, Dim> sizes;
  for (int i = 0; i < ctx.num_inputs(); ++i) {
    if (!ctx.shape(i).has_rank()) continue;
    const std::vector<int> labels = LabelsOf(equation.inputs[i], ellipsis_rank);
    std::map<int, Dim> own;  // a letter that stands twice in a term names a diagonal
    for (size_t axis = 0; axis < labels.size(); ++axis) {
      const auto [at, added] = own.emplace(labels[axis], ctx.shape(i)[static_cast<int>(axis)]);
      if (added) continue;
      WEFT_ASSIGN_OR_RETURN(at->second, InferContext::Unify(at->second, ctx.shape(i)[static_cast<int>(axis)], "the size of a diagonal"));
    }
    for (const auto& [label, size] : own) {
      const auto [at, added] = sizes.emplace(label, size);
      if (added) continue;
      WEFT_ASSIGN_OR_RETURN(at->second, ctx.BroadcastDim(at->second, size));
    }
  }
  return sizes;
}

absl::Status InferEinsum(InferContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const EinsumEquation equation, ParseEinsum(ctx.attrs<EinsumAttrs>().equation));
  if (static_cast<int>(equation.inputs.size()) != ctx.num_inputs()) {
    return Invalid("equation '", ctx.attrs<EinsumAttrs>().equation, "' has ", equation.inputs.size(), " inputs, the node ", ctx.num_inputs());
  }
  for (int i = 0; i < ctx.num_inputs(); ++i) {
    WEFT_RETURN_IF_ERROR(ctx.CheckDType(i, absl::StrCat("Inputs[", i, "]"), kNumericTypes));
    WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, i));
  }
  WEFT_ASSIGN_OR_RETURN(const std::optional<int> ellipsis_rank, EllipsisRank(ctx, equation));
  if (!ellipsis_rank) {
    ctx.SetOutput(0, ctx.dtype(0), Shape());
    return absl::OkStatus();
  }
  WEFT_ASSIGN_OR_RETURN(const auto sizes, LabelSizes(ctx, equation, *ellipsis_rank));
  std::vector<Dim> dims;
  for (int label : LabelsOf(equation.output, *ellipsis_rank)) {
    const auto size = sizes.find(label);
    dims.push_back(size == sizes.end() ? ctx.FreshDim() : size->second);
  }
  ctx.SetOutput(0, ctx.dtype(0), Shape(std::move(dims)));
  return absl::OkStatus();
}

// Pair by pair from the left, a multiply-add for each combination of the labels of both; labels that nothing further asks for go.
Cost EinsumCost(const NodeView& node) {
  const auto equation = ParseEinsum(node.attrs_as<EinsumAttrs>().equation);
  if (!equation.ok() || equation->inputs.size() != node.inputs.size()) return {};
  std::map<int, double> sizes;
  std::vector<std::set<int>> terms;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const auto dims = node.inputs[i].type->shape.Concrete();
    if (!dims) return {};
    const EinsumTerm& term = equation->inputs[i];
    const std::vector<int> labels = LabelsOf(term, static_cast<int>(dims->size() - term.letters.size()));
    for (size_t axis = 0; axis < labels.size(); ++axis) {
      double& size = sizes.emplace(labels[axis], 1).first->second;
      if ((*dims)[axis] != 1) size = static_cast<double>((*dims)[axis]);
    }
    terms.emplace_back(labels.begin(), labels.end());
  }
  std::set<int> wanted(equation->output.letters.begin(), equation->output.letters.end());
  double flops = 0;
  std::set<int> current = terms.front();
  for (size_t i = 1; i < terms.size(); ++i) {
    current.insert(terms[i].begin(), terms[i].end());
    double combinations = 2;
    for (int label : current) combinations *= sizes[label];
    flops += combinations;
    std::set<int> later = wanted;
    for (size_t k = i + 1; k < terms.size(); ++k) later.insert(terms[k].begin(), terms[k].end());
    for (auto label = current.begin(); label != current.end();) {
      label = *label >= kEllipsisLabel || later.count(*label) > 0 ? std::next(label) : current.erase(label);
    }
  }
  return {flops < 0x1p62 ? static_cast<int64_t>(flops) : 0};
}

}  // namespace

absl::StatusOr<EinsumEquation> ParseEinsum(std::string_view equation) {
  std::string text(equation);
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const size_t arrow = text.find("->");
  EinsumEquation parsed;
  for (absl::string_view term : absl::StrSplit(text.substr(0, arrow), ',')) {
    WEFT_ASSIGN_OR_RETURN(EinsumTerm input, ParseTerm(std::string_view(term.data(), term.size())));
    parsed.inputs.push_back(std::move(input));
  }
  if (arrow == std::string::npos) {
    parsed.output = ImplicitOutput(parsed.inputs);
  } else {
    WEFT_ASSIGN_OR_RETURN(parsed.output, ParseTerm(std::string_view(text).substr(arrow + 2)));
  }
  WEFT_RETURN_IF_ERROR(CheckOutput(parsed));
  return parsed;
}

std::vector<int> LabelsOf(const EinsumTerm& term, int ellipsis_rank) {
  std::vector<int> labels(term.letters.begin(), term.letters.end());
  if (term.ellipsis < 0) return labels;
  std::vector<int> axes(ellipsis_rank);
  for (int k = 0; k < ellipsis_rank; ++k) axes[k] = kEllipsisLabel + k;
  labels.insert(labels.begin() + term.ellipsis, axes.begin(), axes.end());
  return labels;
}

constinit const Op ops::Einsum = {.name = "Einsum", .since_version = 28, .inputs = Arity(1, Arity::kVariadic), .outputs = 1,
                                  .attrs = &kAttrSchema<EinsumAttrs>, .infer = &InferEinsum, .cost = &EinsumCost};

}  // namespace weft
