#include "values.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "base/float_types.h"
#include "base/status_macros.h"

namespace weft {
namespace {

// Real part i of a float or complex tensor (two parts each) as a double.
double Part(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
    case DType::kFloat32:
    case DType::kComplex64:
      return t.data<float>()[i];
    case DType::kFloat64:
    case DType::kComplex128:
      return t.data<double>()[i];
    case DType::kFloat16:
      return t.data<Float16>()[i];
    case DType::kBFloat16:
      return t.data<BFloat16>()[i];
    default:
      return SmallFloatToFloat(t.dtype(), t.data<uint8_t>()[i]);
  }
}

void SetPart(Tensor& t, int64_t i, double value) {
  const float narrow = static_cast<float>(value);
  switch (t.dtype()) {
    case DType::kFloat32:
    case DType::kComplex64:
      t.data<float>()[i] = narrow;
      break;
    case DType::kFloat64:
    case DType::kComplex128:
      t.data<double>()[i] = value;
      break;
    case DType::kFloat16:
      t.data<Float16>()[i] = Float16(narrow);
      break;
    case DType::kBFloat16:
      t.data<BFloat16>()[i] = BFloat16(narrow);
      break;
    default:
      t.data<uint8_t>()[i] = FloatToSmallFloat(t.dtype(), narrow, /*saturate=*/true);
  }
}

int64_t NumParts(const Tensor& t) { return t.size() * (IsComplex(t.dtype()) ? 2 : 1); }

class Inputs {
 public:
  explicit Inputs(const InputStyle& style) : style_(style), random_(style.seed) {}

  absl::StatusOr<Value> Next(const Type& type) {
    switch (type.kind) {
      case Type::Kind::kTensor:
        return NextTensor(type);
      case Type::Kind::kSequence: {
        Sequence sequence;
        if (const Type* tensor = type.InnerTensor()) sequence.elem_dtype = tensor->dtype;
        for (int i = 0; i < 2; ++i) {
          WEFT_ASSIGN_OR_RETURN(Value item, Next(*type.elem));
          sequence.items.push_back(std::move(item));
        }
        return Value(std::move(sequence));
      }
      case Type::Kind::kOptional: {
        Optional optional;
        if (const Type* tensor = type.InnerTensor()) optional.elem_dtype = tensor->dtype;
        WEFT_ASSIGN_OR_RETURN(Value item, Next(*type.elem));
        optional.item.push_back(std::move(item));
        return Value(std::move(optional));
      }
      default:
        return Unsupported("no random value of type ", type.ToString());
    }
  }

 private:
  absl::StatusOr<Value> NextTensor(const Type& type) {
    // Of unknown rank: a matrix of sizes of its own.
    const Shape shape =
        type.shape.has_rank() ? type.shape : Shape({Dim::Symbol("any rows"), Dim::Symbol("any columns")});
    std::vector<int64_t> dims;
    for (const Dim& dim : shape.dims()) {
      for (const std::string& symbol : dim.Symbols()) {
        const int64_t next = static_cast<int64_t>(sizes_.size()) + 2;
        sizes_.try_emplace(symbol, style_.symbol_size == 0 ? next : style_.symbol_size);
      }
      const Dim size = dim.Substitute(sizes_);
      if (!size.is_constant() || size.constant() < 0) return Unsupported("no size for dim ", dim.ToString());
      dims.push_back(size.constant());
    }
    WEFT_ASSIGN_OR_RETURN(Tensor t, Tensor::Allocate(type.dtype, dims));
    Fill(t);
    return Value(std::move(t));
  }

  void Fill(Tensor& t) {
    if (IsFloat(t.dtype()) || IsComplex(t.dtype())) {
      for (int64_t i = 0; i < NumParts(t); ++i) SetPart(t, i, NextFloat());
      return;
    }
    for (int64_t i = 0; i < t.size(); ++i) {
      if (t.dtype() == DType::kString) {
        static constexpr const char* kWords[] = {"", "a", "b", "A b", "12"};
        t.data<std::string>()[i] = kWords[random_() % std::size(kWords)];
        continue;
      }
      const bool negative = IsSigned(t.dtype()) && t.dtype() != DType::kBool;
      const int64_t low = negative ? style_.min_int : std::max<int64_t>(0, style_.min_int);
      const int64_t high =
          t.dtype() == DType::kBool ? 1 : std::min<int64_t>(style_.max_int, DTypeFileBits(t.dtype()) == 2 ? 1 : 7);
      const int64_t value = std::uniform_int_distribution<int64_t>(std::max<int64_t>(low, -high - 1), high)(random_);
      std::memcpy(t.data<char>() + i * DTypeSize(t.dtype()), &value, DTypeSize(t.dtype()));
    }
  }

  double NextFloat() {
    constexpr double kSpecial[] = {0.0,
                                   -0.0,
                                   std::numeric_limits<float>::infinity(),
                                   -std::numeric_limits<float>::infinity(),
                                   std::numeric_limits<double>::quiet_NaN(),
                                   std::numeric_limits<float>::denorm_min(),
                                   std::numeric_limits<float>::max(),
                                   1.0};
    if (style_.special_floats && random_() % 2 == 0) return kSpecial[random_() % std::size(kSpecial)];
    return std::normal_distribution<double>()(random_);
  }

  const InputStyle& style_;
  std::mt19937_64 random_;
  absl::flat_hash_map<std::string, Dim> sizes_;
};

// The gap between 1 and the next number.
double Epsilon(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
    case DType::kComplex64:
      return std::numeric_limits<float>::epsilon();
    case DType::kFloat64:
    case DType::kComplex128:
      return std::numeric_limits<double>::epsilon();
    case DType::kFloat16:
      return 1.0 / 1024;
    case DType::kBFloat16:
      return 1.0 / 128;
    case DType::kFloat8E5M2:
    case DType::kFloat8E5M2FNUZ:
      return 0.25;
    case DType::kFloat4E2M1:
      return 0.5;
    case DType::kFloat8E8M0:
      return 1.0;
    default:
      return 0.125;  // three bits of mantissa
  }
}

std::string CompareParts(const Tensor& expected, const Tensor& found, NumericClass numeric) {
  double largest = 1;
  for (int64_t i = 0; i < NumParts(expected); ++i) {
    if (std::isfinite(Part(expected, i))) largest = std::max(largest, std::abs(Part(expected, i)));
  }
  const double epsilon = Epsilon(expected.dtype());
  double tolerance = 0;
  if (numeric == NumericClass::kReassociates) tolerance = 32 * epsilon * largest;
  if (numeric == NumericClass::kApproximates) tolerance = std::max(1e-3, 32 * epsilon) * largest;
  for (int64_t i = 0; i < NumParts(expected); ++i) {
    const double a = Part(expected, i), b = Part(found, i);
    if (std::isnan(a) && std::isnan(b)) continue;
    const bool same = a == b && std::signbit(a) == std::signbit(b);
    if (same || (tolerance > 0 && (a == b || std::abs(a - b) <= tolerance))) continue;
    return absl::StrCat("element ", i / (IsComplex(expected.dtype()) ? 2 : 1), " is ", b,
                        std::signbit(b) && b == 0 ? " (negative)" : "", ", expected ", a,
                        std::signbit(a) && a == 0 ? " (negative)" : "",
                        tolerance > 0 ? absl::StrCat(" to within ", tolerance) : "");
  }
  return "";
}

std::string CompareTensors(const Tensor& expected, const Tensor& found, NumericClass numeric) {
  const Type type = Type::OfTensor(expected), other = Type::OfTensor(found);
  if (type != other) return absl::StrCat("is ", other.ToString(), ", expected ", type.ToString());
  if (IsFloat(type.dtype) || IsComplex(type.dtype)) return CompareParts(expected, found, numeric);
  return BitwiseEqual(expected, found) ? "" : "has other elements";
}

std::string CompareItems(const std::vector<Value>& expected, const std::vector<Value>& found, NumericClass numeric) {
  if (expected.size() != found.size()) return absl::StrCat("has ", found.size(), " items, expected ", expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    if (std::string d = CompareValues(expected[i], found[i], numeric); !d.empty())
      return absl::StrCat("item ", i, " ", d);
  }
  return "";
}

}  // namespace

absl::StatusOr<std::vector<Value>> RandomInputs(const Graph& graph, const InputStyle& style) {
  Inputs inputs(style);
  std::vector<Value> values;
  for (ValueId id : graph.inputs()) {
    auto value = inputs.Next(graph.value(id).type);
    if (!value.ok()) return Annotate(value.status(), absl::StrCat("input '", graph.value(id).name, "'"));
    values.push_back(*std::move(value));
  }
  return values;
}

std::string CompareValues(const Value& expected, const Value& found, NumericClass numeric) {
  if (expected.empty() && found.empty()) return "";
  if (expected.is_tensor() && found.is_tensor()) return CompareTensors(expected.tensor(), found.tensor(), numeric);
  if (expected.is_sequence() && found.is_sequence()) {
    return CompareItems(expected.sequence().items, found.sequence().items, numeric);
  }
  if (expected.is_optional() && found.is_optional())
    return CompareItems(expected.optional().item, found.optional().item, numeric);
  if (expected.is_map() && found.is_map()) {
    if (std::string d = CompareTensors(expected.map().keys, found.map().keys, numeric); !d.empty()) return "keys: " + d;
    return CompareTensors(expected.map().values, found.map().values, numeric);
  }
  return "is another kind of value";
}

}  // namespace weft
