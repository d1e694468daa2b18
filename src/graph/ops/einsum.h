// Einsum's equation, for inference and kernels.
//
//   "...ij, ...jk -> ...ik"    a letter names an axis; the ellipsis stands for a fixed number of axes
//   "ij,jk"                    without an output: the letters that stand once, in the order of ASCII, behind the ellipsis
#ifndef WEFT_GRAPH_OPS_EINSUM_H_
#define WEFT_GRAPH_OPS_EINSUM_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/attributes.h"

namespace weft {

struct EinsumAttrs { std::string equation; };
WEFT_ATTRS(EinsumAttrs, RequiredField<&EinsumAttrs::equation>("equation"));

struct EinsumTerm {
  std::string letters;
  int ellipsis = -1;  // how many letters stand before it; -1: there is none
};

struct EinsumEquation {
  std::vector<EinsumTerm> inputs;
  EinsumTerm output;
};

// Errors: Invalid for anything but letters, spaces, commas, ellipses and one arrow; for an output letter that stands twice, or in no
// input.
absl::StatusOr<EinsumEquation> ParseEinsum(std::string_view equation);

// A label for each axis: a letter is itself, axis k of the ellipsis is kEllipsisLabel + k. `ellipsis_rank`: the axes an ellipsis stands for.
inline constexpr int kEllipsisLabel = 256;
std::vector<int> LabelsOf(const EinsumTerm& term, int ellipsis_rank);

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_EINSUM_H_
