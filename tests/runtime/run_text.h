// Graphs given as text (graph/text.h), compiled and run in every way there is: a test states the outputs once.
#ifndef WEFT_TESTS_RUNTIME_RUN_TEXT_H_
#define WEFT_TESTS_RUNTIME_RUN_TEXT_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "../golden/values.h"
#include "graph/text.h"
#include "runtime/compile.h"
#include "runtime/executor.h"
#include "weft/session.h"

namespace weft {

struct Way {
  std::string name;
  SessionOptions options;
};

// With all passes, without any, without any on the reference kernels, and with some or all steps on a device of its own memory; every plan and
// every graph is validated.
inline std::vector<Way> Ways() {
  SessionOptions options;
  options.check_plans = options.verify_passes = true;
  std::vector<Way> ways = {{"all passes", options}, {"no passes", options}, {"reference kernels", options}, {"device", options}, {"two devices", options}};
  for (size_t i = 1; i < ways.size(); ++i) ways[i].options.opt_level = 0;
  ways[2].options.reference_kernels = true;
  ways[3].options.device = "emulated";
  ways[4].options.device = "cpu+emulated";
  return ways;
}

inline absl::StatusOr<std::unique_ptr<Program>> CompileText(std::string_view text, const SessionOptions& options = {}) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  if (!graph.ok()) return graph.status();
  return Compile(*graph, options);
}

inline absl::StatusOr<std::vector<Value>> RunOn(Execution& execution, const std::vector<Value>& inputs, const RunControl& control = {}) {
  std::vector<const Value*> pointers;
  for (const Value& value : inputs) pointers.push_back(&value);
  return execution.Run(pointers, control);
}

// Runs the graph in every way, twice each in one execution, and compares the outputs, to the bit.
inline void ExpectOutputs(std::string_view text, const std::vector<Value>& inputs, const std::vector<Value>& expected) {
  for (const Way& way : Ways()) {
    SCOPED_TRACE(way.name);
    absl::StatusOr<std::unique_ptr<Program>> program = CompileText(text, way.options);
    ASSERT_TRUE(program.ok()) << program.status();
    std::vector<Tensor> before;
    for (const Value& value : inputs) before.push_back(*value.tensor().Clone());
    Execution execution(**program);
    for (int run = 0; run < 2; ++run) {
      absl::StatusOr<std::vector<Value>> outputs = RunOn(execution, inputs);
      ASSERT_TRUE(outputs.ok()) << outputs.status();
      ASSERT_EQ(outputs->size(), expected.size());
      for (size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(CompareValues(expected[i], (*outputs)[i], NumericClass::kExact), "") << "output " << i << " of run " << run;
      }
      for (size_t i = 0; i < inputs.size(); ++i) EXPECT_TRUE(BitwiseEqual(inputs[i].tensor(), before[i])) << "input " << i << " was written";
    }
  }
}

}  // namespace weft

#endif  // WEFT_TESTS_RUNTIME_RUN_TEXT_H_
