#include "cli/statistics.h"

#include <cmath>
#include <complex>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/float_types.h"
#include "graph/type.h"

namespace weft::cli {

double ElementAsDouble(const Tensor& tensor, int64_t i) {
  switch (tensor.dtype()) {
    case DType::kFloat32: return tensor.data<float>()[i];
    case DType::kFloat64: return tensor.data<double>()[i];
    case DType::kFloat16: return tensor.data<Float16>()[i];
    case DType::kBFloat16: return tensor.data<BFloat16>()[i];
    case DType::kInt8: case DType::kInt4: case DType::kInt2: return tensor.data<int8_t>()[i];
    case DType::kUint8: case DType::kUint4: case DType::kUint2: return tensor.data<uint8_t>()[i];
    case DType::kInt16: return tensor.data<int16_t>()[i];
    case DType::kUint16: return tensor.data<uint16_t>()[i];
    case DType::kInt32: return tensor.data<int32_t>()[i];
    case DType::kUint32: return tensor.data<uint32_t>()[i];
    case DType::kInt64: return static_cast<double>(tensor.data<int64_t>()[i]);
    case DType::kUint64: return static_cast<double>(tensor.data<uint64_t>()[i]);
    case DType::kBool: return tensor.data<uint8_t>()[i] != 0;
    case DType::kComplex64: return tensor.data<std::complex<float>>()[i].real();
    case DType::kComplex128: return tensor.data<std::complex<double>>()[i].real();
    case DType::kString: case DType::kUndefined: return 0;
    default: return SmallFloatToFloat(tensor.dtype(), tensor.data<uint8_t>()[i]);
  }
}

std::optional<Statistics> StatisticsOf(const Tensor& tensor) {
  if (tensor.dtype() == DType::kString || tensor.size() == 0) return std::nullopt;
  Statistics s;
  double mean = 0, squares = 0;  // Welford's running sums
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const double x = ElementAsDouble(tensor, i);
    if (std::isnan(x)) {
      ++s.nan;
      continue;
    }
    if (std::isinf(x)) {
      ++s.inf;
      continue;
    }
    if (s.finite == 0 || x > s.max) {
      s.max = x;
      s.argmax = i;
    }
    if (s.finite == 0 || x < s.min) s.min = x;
    ++s.finite;
    const double delta = x - mean;
    mean += delta / static_cast<double>(s.finite);
    squares += delta * (x - mean);
  }
  s.mean = mean;
  s.stddev = s.finite > 0 ? std::sqrt(squares / static_cast<double>(s.finite)) : 0;
  return s;
}

namespace {

constexpr int64_t kShown = 16;

std::string ElementText(const Tensor& tensor, int64_t i) {
  switch (tensor.dtype()) {
    case DType::kString: return absl::StrCat("\"", absl::CEscape(tensor.data<std::string>()[i]), "\"");
    case DType::kBool: return tensor.data<uint8_t>()[i] != 0 ? "true" : "false";
    case DType::kInt64: return absl::StrCat(tensor.data<int64_t>()[i]);
    case DType::kUint64: return absl::StrCat(tensor.data<uint64_t>()[i]);
    case DType::kComplex64: {
      const auto c = tensor.data<std::complex<float>>()[i];
      return absl::StrFormat("%g%+gi", c.real(), c.imag());
    }
    case DType::kComplex128: {
      const auto c = tensor.data<std::complex<double>>()[i];
      return absl::StrFormat("%g%+gi", c.real(), c.imag());
    }
    default: return absl::StrFormat("%.6g", ElementAsDouble(tensor, i));
  }
}

std::string Elements(const Tensor& tensor) {
  std::string text = "{";
  for (int64_t i = 0; i < std::min(tensor.size(), kShown); ++i) absl::StrAppend(&text, i > 0 ? ", " : "", ElementText(tensor, i));
  return text + (tensor.size() > kShown ? ", ...}" : "}");
}

std::string DescribeTensor(const Tensor& tensor) {
  std::string text = Type::OfTensor(tensor).ToString();
  if (const std::optional<Statistics> s = StatisticsOf(tensor); s && tensor.size() > 1) {
    absl::StrAppendFormat(&text, "  min %.6g  max %.6g  mean %.6g  std %.6g", s->min, s->max, s->mean, s->stddev);
    // The index within the last axis: for a classifier, the class.
    const bool one_row = tensor.rank() > 0 && tensor.dim(tensor.rank() - 1) == tensor.size();
    if (one_row && s->argmax >= 0) absl::StrAppend(&text, "  argmax ", s->argmax);
    if (s->nan > 0) absl::StrAppend(&text, "  NaN ", s->nan);
    if (s->inf > 0) absl::StrAppend(&text, "  Inf ", s->inf);
  }
  if (tensor.size() <= kShown || tensor.dtype() == DType::kString) absl::StrAppend(&text, "  ", Elements(tensor));
  return text;
}

}  // namespace

std::string Describe(const Value& value) {
  if (value.is_tensor()) return DescribeTensor(value.tensor());
  if (value.is_map()) {
    const Map& map = value.map();
    std::string text = Type::Of(value).ToString() + "  {";
    for (int64_t i = 0; i < std::min(map.keys.size(), kShown); ++i) {
      absl::StrAppend(&text, i > 0 ? ", " : "", ElementText(map.keys, i), ": ", ElementText(map.values, i));
    }
    return text + (map.keys.size() > kShown ? ", ...}" : "}");
  }
  if (value.is_optional()) {
    return value.optional().item.empty() ? "optional, empty" : "optional of " + Describe(value.optional().item[0]);
  }
  if (value.is_sequence()) {
    const Sequence& sequence = value.sequence();
    std::string text = absl::StrCat("sequence of ", sequence.items.size());
    for (size_t i = 0; i < sequence.items.size() && i < 4; ++i) absl::StrAppend(&text, "\n    [", i, "] ", Describe(sequence.items[i]));
    return text + (sequence.items.size() > 4 ? "\n    ..." : "");
  }
  return "nothing";
}

nlohmann::ordered_json DescribeJson(const std::string& name, const Value& value) {
  nlohmann::ordered_json json;
  json["name"] = name;
  json["type"] = Type::Of(value).ToString();
  if (!value.is_tensor()) {
    json["text"] = Describe(value);
    return json;
  }
  const Tensor& tensor = value.tensor();
  json["dtype"] = std::string(DTypeName(tensor.dtype()));
  json["shape"] = std::vector<int64_t>(tensor.dims().begin(), tensor.dims().end());
  if (const std::optional<Statistics> s = StatisticsOf(tensor)) {
    json["min"] = s->min;
    json["max"] = s->max;
    json["mean"] = s->mean;
    json["std"] = s->stddev;
    json["argmax"] = s->argmax;
    json["nan"] = s->nan;
    json["inf"] = s->inf;
  }
  if (tensor.size() <= kShown) json["elements"] = Elements(tensor);
  return json;
}

}  // namespace weft::cli
