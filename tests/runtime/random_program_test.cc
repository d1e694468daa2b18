// Random graphs of views, steps that may overwrite their input, and outputs anywhere: every way of running them gives what evaluating node
// after node gives, where nothing shares memory.
#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kernels/evaluate.h"
#include "run_text.h"

namespace weft {
namespace {

constexpr int64_t kSizes[] = {0, 1, 2, 3};

// A graph of values [2,N], [N,2] and [2*N] of two inputs and a constant; a branch and a size of the run among its nodes.
class RandomText {
 public:
  explicit RandomText(uint64_t seed) : random_(seed) {}

  std::string Next() {
    for (const char* name : {"x", "r"}) values_[0].push_back(name);
    values_[1].push_back("f");
    const int nodes = 3 + Below(12);
    for (int i = 0; i < nodes; ++i) AddNode(absl::StrCat("v", i));
    std::vector<std::string> outputs;
    for (int i = 0, n = 1 + Below(6); i < n; ++i) {
      const int form = Form();
      outputs.push_back(absl::StrCat("float[] ", Pick(form)));
    }
    return absl::StrCat("g (float[2,N] x, float[2,N] r, float[M] f, bool c, int64[2] wide) => (", absl::StrJoin(outputs, ", "),
                        ")\n< int64[1] flat = {-1}, int64[2] rows = {2, -1} >\n{\n", nodes_, "}\n");
  }

 private:
  int Below(int n) { return static_cast<int>(random_() % n); }
  // 0: [2,N], 1: [2*N].
  int Form() { return Below(2); }
  // Mostly a recent value: chains are where memory is handed on.
  const std::string& Pick(int form) {
    const std::vector<std::string>& all = values_[form];
    return all[all.size() - 1 - (Below(3) == 0 ? random_() % all.size() : random_() % std::min<size_t>(2, all.size()))];
  }

  void AddNode(const std::string& name) {
    const int form = Form();
    const std::string a = Pick(form), b = Pick(form);
    int result = form;
    switch (Below(9)) {
      case 0: Add(name, " = Neg (", a, ")"); break;
      case 1: Add(name, " = Relu (", a, ")"); break;
      case 2: Add(name, " = Add (", a, ", ", b, ")"); break;
      case 3: Add(name, " = Mul (", a, ", ", a, ")"); break;
      case 4: Add(name, " = Identity (", a, ")"); break;
      case 5:  // a view, of a size known or not
      case 6:
        result = 1 - form;
        Add(name, " = Reshape <allowzero = 1> (", a, ", ", form == 0 ? "flat" : Below(3) == 0 ? "wide" : "rows", ")");
        break;
      case 7:
        Add(name, " = If (c) <then_branch = t () => (float[] p) { p = Identity (", a, ") }, else_branch = e () => (float[] q) { q = Neg (", b, ") }>");
        break;
      default: Add(name, " = Max (", a, ", ", b, ")"); break;
    }
    values_[result].push_back(name);
  }

  template <class... Parts>
  void Add(const Parts&... parts) {
    absl::StrAppend(&nodes_, "  ", parts..., "\n");
  }

  std::mt19937_64 random_;
  std::vector<std::string> values_[2];
  std::string nodes_;
};

// The graph's outputs, every node evaluated by itself. `inputs`: the formal inputs, then the captures.
std::vector<Value> EvaluateAll(const Graph& graph, const std::vector<Value>& inputs) {
  std::map<ValueId, Value> values;
  const size_t formal = graph.inputs().size();
  for (size_t i = 0; i < inputs.size(); ++i) values[i < formal ? graph.inputs()[i] : graph.captures()[i - formal]] = inputs[i];
  auto all = [&](const std::vector<ValueId>& ids) {
    std::vector<Value> out;
    for (ValueId id : ids) out.push_back(graph.value(id).is_constant() ? Value(graph.value(id).constant) : values.at(id));
    return out;
  };
  for (NodeId id : graph.Order()) {
    const GraphNode& node = graph.node(id);
    const std::vector<Value> operands = all(node.inputs);
    if (node.op == &ops::If) {
      const Region& branch = node.regions[*operands[0].tensor().data<bool>() ? 0 : 1];
      values[node.outputs[0]] = EvaluateAll(*branch.graph, all(branch.captures))[0];
    } else {
      values[node.outputs[0]] = Evaluate(*node.op, node.attrs, operands)->at(0);
    }
  }
  std::vector<Value> outputs;
  for (const Value& value : all(graph.outputs())) outputs.push_back(Value(*value.tensor().Clone()));
  return outputs;
}

std::vector<Value> InputsOf(int64_t n, bool condition, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Value> inputs;
  for (const Dims& dims : {Dims{2, n}, Dims{2, n}, Dims{2 * n}}) {
    Tensor t = *Tensor::Allocate(DType::kFloat32, dims);
    for (int64_t i = 0; i < t.size(); ++i) t.data<float>()[i] = static_cast<float>(static_cast<int>(random() % 7) - 3);
    inputs.push_back(t);
  }
  inputs.push_back(Tensor::Scalar<bool>(condition));
  inputs.push_back(Tensor::Of<int64_t>({2}, {2, n}));
  return inputs;
}

TEST(RandomProgram, EveryWayGivesWhatNodeByNodeGives) {
  for (uint64_t seed = 0; seed < 1500; ++seed) {
    const std::string text = RandomText(seed).Next();
    SCOPED_TRACE(text);
    auto graph = ParseGraph(text);
    ASSERT_TRUE(graph.ok()) << graph.status();
    for (const Way& way : Ways()) {
      auto program = CompileText(text, way.options);
      ASSERT_TRUE(program.ok()) << way.name << ": " << program.status();
      Execution execution(**program);
      std::vector<std::pair<std::vector<Value>, std::vector<Value>>> earlier;  // results must outlive later runs
      for (int run = 0; run < 6; ++run) {
        const std::vector<Value> inputs = InputsOf(kSizes[run % 4], run % 3 != 0, seed + run);
        auto found = RunOn(execution, inputs);
        ASSERT_TRUE(found.ok()) << way.name << ": " << found.status();
        earlier.emplace_back(EvaluateAll(*graph, InputsOf(kSizes[run % 4], run % 3 != 0, seed + run)), *std::move(found));
        for (const auto& [expected, results] : earlier) {
          for (size_t i = 0; i < expected.size(); ++i) {
            ASSERT_EQ(CompareValues(expected[i], results[i], NumericClass::kExact), "") << way.name << ", run " << run << ", output " << i;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace weft
