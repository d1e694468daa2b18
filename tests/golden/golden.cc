#include "golden.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "graph/equal.h"
#include "graph/infer.h"
#include "graph/verify.h"
#include "runtime/executor.h"
#include "runtime/program.h"
#include "values.h"

namespace weft {
namespace {

constexpr std::string_view kUnchanged = "unchanged";

struct Case {
  std::string header;  // the lines of //
  std::string before;
  int line = 0;  // of the header, from 1
  int before_line = 0;
  bool has_after = false;
  std::string after;
  int after_line = 0;

  std::string_view name() const {
    std::string_view first = std::string_view(header).substr(2);
    first = first.substr(0, first.find('\n'));
    return ToStd(absl::StripAsciiWhitespace(ToAbsl(first)));
  }
};

// ---- The file ----

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return absl::NotFoundError(absl::StrCat(path, ": cannot be read"));
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string Trimmed(const std::string& text) { return std::string(absl::StripAsciiWhitespace(text)); }

absl::StatusOr<std::vector<Case>> ParseCases(const std::string& path, const std::string& text) {
  std::vector<Case> cases;
  enum { kHeader, kBefore, kAfter } part = kAfter;
  int number = 0;
  for (absl::string_view raw : absl::StrSplit(text, '\n')) {
    ++number;
    const std::string line(raw);
    if (line.rfind("//", 0) == 0) {
      if (part != kHeader) {
        cases.push_back({.line = number});
        part = kHeader;
      }
      absl::StrAppend(&cases.back().header, cases.back().header.empty() ? "" : "\n", line);
      continue;
    }
    if (cases.empty()) {
      if (Trimmed(line).empty()) continue;
      return Invalid(path, ":", number, ": found '", line, "', expected a case, which begins with a line of //");
    }
    Case& current = cases.back();
    if (part == kHeader) {
      part = kBefore;
      current.before_line = number;
    }
    if (line == "---") {
      if (current.has_after) return Invalid(path, ":", number, ": found a second ---, expected the next case");
      current.has_after = true;
      current.after_line = number + 1;
      part = kAfter;
      continue;
    }
    absl::StrAppend(part == kAfter ? &current.after : &current.before, line, "\n");
  }
  if (cases.empty()) return Invalid(path, ": has no cases");
  return cases;
}

std::string WriteCases(const std::vector<Case>& cases) {
  return absl::StrJoin(cases, "\n", [](std::string* out, const Case& c) {
    absl::StrAppend(out, c.header, "\n", Trimmed(c.before), "\n---\n", Trimmed(c.after), "\n");
  });
}

// ---- One case ----

// The text at `line` of its file: errors then say where.
absl::StatusOr<Graph> Load(const std::string& text, int line, OpLookup find_op) {
  WEFT_ASSIGN_OR_RETURN(Graph graph, ParseGraph(std::string(line - 1, '\n') + text, find_op));
  WEFT_RETURN_IF_ERROR(InferTypes(graph).status());
  WEFT_RETURN_IF_ERROR(Verify(graph));
  return graph;
}

std::string Brief(const Graph& graph) { return Print(graph, {.intermediate_types = false}); }

absl::Status CompareInterfaces(const Graph& before, const Graph& after) {
  auto describe = [](const Graph& g, const std::vector<ValueId>& values, bool types) {
    return absl::StrJoin(values, ", ", [&](std::string* out, ValueId id) {
      absl::StrAppend(out, g.value(id).name, types ? " " : "", types ? g.value(id).type.ToString() : "");
    });
  };
  for (const bool inputs : {true, false}) {
    const std::string was = describe(before, inputs ? before.inputs() : before.outputs(), inputs);
    const std::string is = describe(after, inputs ? after.inputs() : after.outputs(), inputs);
    if (was != is)
      return Internal("the pass changed the graph's ", inputs ? "inputs" : "outputs", " from (", was, ") to (", is,
                      ")");
  }
  return absl::OkStatus();
}

absl::Status CompareResults(const Graph& before, const Graph& after, const GoldenPass& pass) {
  std::vector<InputStyle> styles = {{.seed = 1}, {.seed = 2, .symbol_size = 1}};
  // The tensors of tests are small: it takes many rounds until every operand has had a -0 beside something else.
  const bool exact = pass.numeric == NumericClass::kExact;
  for (uint64_t seed = 3; seed < (exact ? 24 : 6); ++seed) {
    styles.push_back({.seed = seed, .min_int = -4, .max_int = 4, .special_floats = exact});
  }
  absl::Status refused;
  int taken = 0;
  for (const InputStyle& style : styles) {
    WEFT_ASSIGN_OR_RETURN(const std::vector<Value> inputs, RandomInputs(before, style));
    const auto expected = pass.evaluate(before, inputs);
    if (!expected.ok()) {
      refused = expected.status();
      continue;
    }
    ++taken;
    const auto found = pass.evaluate(after, inputs);
    if (!found.ok()) return Annotate(found.status(), "the graph behind the pass does not run");
    if (found->size() != expected->size()) return Internal(found->size(), " outputs, expected ", expected->size());
    for (size_t i = 0; i < expected->size(); ++i) {
      const std::string difference = CompareValues((*expected)[i], (*found)[i], pass.numeric);
      if (difference.empty()) continue;
      return Internal("the pass changed what the graph computes (inputs of seed ", style.seed, "): output '",
                      before.value(before.outputs()[i]).name, "' ", difference);
    }
  }
  return taken > 0 ? absl::OkStatus() : Annotate(refused, "the graph before the pass does not run");
}

// Runs the pass on `c` and checks everything but the text; `result` is the text.
absl::Status RunCase(const Case& c, const GoldenPass& pass, std::string& result) {
  WEFT_ASSIGN_OR_RETURN(const Graph before, Load(c.before, c.before_line, pass.find_op));
  Graph after = before.Clone();
  WEFT_RETURN_IF_ERROR(Annotate(pass.run(after), "the pass failed"));
  // Types must be right as the pass left them; fresh symbols are then counted from the start again, as in a text that
  // is read.
  WEFT_RETURN_IF_ERROR(Annotate(Verify(after), "the graph behind the pass"));
  WEFT_RETURN_IF_ERROR(InferTypes(after).status());
  WEFT_RETURN_IF_ERROR(CompareInterfaces(before, after));
  result = Equal(before, after) ? std::string(kUnchanged) : Brief(after);

  Graph again = after.Clone();
  WEFT_RETURN_IF_ERROR(Annotate(pass.run(again), "the pass failed on its own result"));
  WEFT_RETURN_IF_ERROR(Annotate(Verify(again), "the graph behind a second run of the pass"));
  WEFT_RETURN_IF_ERROR(InferTypes(again).status());
  if (const std::string difference = Difference(after, again); !difference.empty()) {
    return Internal("a second run of the pass changed the graph (", difference, ") to\n", Brief(again));
  }
  if (pass.evaluate == nullptr || result == kUnchanged) return absl::OkStatus();
  return CompareResults(before, after, pass);
}

absl::Status CompareText(const Case& c, const GoldenPass& pass, const std::string& result) {
  if (!c.has_after) return Invalid("has no --- and no expected text");
  std::string expected = Trimmed(c.after);
  if (expected != kUnchanged) {
    WEFT_ASSIGN_OR_RETURN(const Graph graph, Load(c.after, c.after_line, pass.find_op));
    expected = Brief(graph);
  }
  if (expected == result) return absl::OkStatus();
  return Internal("the pass gave\n", result, "expected\n", expected);
}

}  // namespace

absl::StatusOr<std::vector<Value>> EvaluateWithReference(const Graph& graph, std::vector<Value> inputs) {
  WEFT_ASSIGN_OR_RETURN(const std::unique_ptr<Program> program,
                        Program::Lower(graph, {.reference_only = true, .check_plans = true}));
  std::vector<const Value*> pointers;
  for (const Value& value : inputs) pointers.push_back(&value);
  return Execution(*program).Run(pointers, RunControl());
}

absl::StatusOr<GoldenResult> RunGolden(const std::string& path, const GoldenPass& pass, bool update) {
  WEFT_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  WEFT_ASSIGN_OR_RETURN(std::vector<Case> cases, ParseCases(path, text));
  GoldenResult golden;
  for (Case& c : cases) {
    ++golden.cases;
    std::string result;
    absl::Status status = RunCase(c, pass, result);
    if (status.ok() && !update) status = CompareText(c, pass, result);
    if (status.ok() && update && !CompareText(c, pass, result).ok()) c.after = result;
    if (!status.ok()) {
      golden.failures.push_back(absl::StrCat(path, ":", c.line, ": case '", ToAbsl(c.name()), "': ", status.message()));
    }
  }
  if (!update || WriteCases(cases) == text) return golden;
  std::ofstream out(path, std::ios::binary);
  if (!(out << WriteCases(cases)).flush())
    return absl::PermissionDeniedError(absl::StrCat(path, ": cannot be written"));
  golden.rewritten = true;
  return golden;
}

bool UpdateGolden() {
  const char* update = std::getenv("UPDATE_GOLDEN");
  return update != nullptr && std::string_view(update) == "1";
}

}  // namespace weft
