#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "base/status_macros.h"
#include "graph/onnx/lift_steps.h"

namespace weft::lift_steps {

// classes_strings lists the strings of the numbers 0, 1, ...; the operand's type says which way the mapping goes.
absl::Status LabelEncoderTables2(Draft& node, Lift& lift) {
  WEFT_ASSIGN_OR_RETURN(std::optional<std::vector<std::string>> classes, node.Take<std::vector<std::string>>("classes_strings"));
  if (!classes) return Invalid("attribute 'classes_strings' is missing");
  std::vector<int64_t> numbers(classes->size());
  std::iota(numbers.begin(), numbers.end(), 0);
  const DType dtype = lift.DTypeOf(node.Input(0));
  if (dtype != DType::kString && dtype != DType::kInt64) {
    return Unsupported("version 1 with an operand of type ", DTypeName(dtype), ", expected string or int64");
  }
  const bool to_numbers = dtype == DType::kString;
  node.attrs[to_numbers ? "keys_strings" : "values_strings"] = *std::move(classes);
  node.attrs[to_numbers ? "values_int64s" : "keys_int64s"] = std::move(numbers);
  return absl::OkStatus();
}

// Its attributes name values of the graph that it differentiates, not operands.
absl::Status RefuseGradient(Draft&, Lift&) {
  return Unsupported("differentiates a part of the graph: Weft has no automatic differentiation, it runs models and does not train them");
}

}  // namespace weft::lift_steps
