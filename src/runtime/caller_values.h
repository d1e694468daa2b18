// What callers hand in: inputs, and memory for outputs, checked against the model.
#ifndef WEFT_RUNTIME_CALLER_VALUES_H_
#define WEFT_RUNTIME_CALLER_VALUES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "graph/type.h"
#include "runtime/executor.h"
#include "weft/value.h"

namespace weft {

// The input is of its declared type, as far as that is known, and its elements are where a pointer to such elements may point.
absl::Status CheckInput(const std::string& name, const Type& declared, const Value& value);
// The same of memory for an output.
absl::Status CheckOutputMemory(const std::string& name, const Type& declared, const Tensor& memory);
// No place shares bytes with another or with an input.
absl::Status CheckDisjoint(absl::Span<const OutputPlace> places, absl::Span<const std::string> input_names,
                           absl::Span<const Value* const> inputs);

}  // namespace weft

#endif  // WEFT_RUNTIME_CALLER_VALUES_H_
