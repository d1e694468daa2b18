// Comparing a result with its reference, by the rules of `infer-cli test`.
#ifndef WEFT_CLI_COMPARE_H_
#define WEFT_CLI_COMPARE_H_

#include <optional>
#include <string>

#include "weft/value.h"

namespace weft::cli {

// Floats pass where |got - ref| <= atol + atol_of_max * max|ref| + rtol * |ref| (the maximum over the finite elements of the
// reference), NaN equals NaN, infinities have equal signs. Everything else is equal.
struct Tolerance {
  std::optional<double> rtol;  // default: 1e-3, 2^-6 for bfloat16
  double atol = 1e-7;
  double atol_of_max = 0;
  bool shape_only = false;     // element types and shapes alone
  std::string property;        // "bernoulli": the elements are 0 or 1, and both stand where there are many
};

// Nothing where `got` passes; otherwise what differs, with the first or worst place.
std::optional<std::string> Difference(const Value& got, const Value& reference, const Tolerance& tolerance);

}  // namespace weft::cli

#endif  // WEFT_CLI_COMPARE_H_
