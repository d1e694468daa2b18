// Numbers about a tensor, for people and for JSON.
#ifndef WEFT_CLI_STATISTICS_H_
#define WEFT_CLI_STATISTICS_H_

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "weft/value.h"

namespace weft::cli {

// Element i as a double: any integer, bool, float of any width; the real part of a complex one.
double ElementAsDouble(const Tensor& tensor, int64_t i);

struct Statistics {
  int64_t finite = 0, nan = 0, inf = 0;
  double min = 0, max = 0, mean = 0, stddev = 0;  // of the finite elements
  int64_t argmax = -1;
};
// Nothing for strings and empty tensors.
std::optional<Statistics> StatisticsOf(const Tensor& tensor);

// "float[1,10]  min 0.0001  max 0.98  mean 0.1  std 0.29  argmax 3", sequences and maps in words; a few elements where there are few.
std::string Describe(const Value& value);
nlohmann::ordered_json DescribeJson(const std::string& name, const Value& value);

}  // namespace weft::cli

#endif  // WEFT_CLI_STATISTICS_H_
