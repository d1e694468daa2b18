// Inputs of a model: from files, or seeded random.
#include <algorithm>
#include <map>
#include <random>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/float_types.h"
#include "base/status_macros.h"
#include "cli/cli.h"
#include "cli/tensor_files.h"

namespace weft::cli {
namespace {

const ValueInfo* FindInput(const Session& session, const std::string& name) {
  for (const ValueInfo& info : session.inputs()) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

absl::Status CheckInputName(const Session& session, const std::string& name, std::string_view option) {
  if (FindInput(session, name) != nullptr) return absl::OkStatus();
  return Invalid(option, ": the model has no input '", name, "', it has: ",
                 absl::StrJoin(session.inputs(), ", ", [](std::string* out, const ValueInfo& info) { out->append(info.name); }));
}

absl::StatusOr<Dims> ConcreteDims(const ValueInfo& info, const CommonOptions& options) {
  if (auto it = options.shapes.find(info.name); it != options.shapes.end()) return it->second;
  if (!info.has_rank) {
    Warn(options, absl::StrCat("input '", info.name, "' has no shape: taken as a scalar; set it with --shape ", info.name, "=..."));
    return Dims();
  }
  Dims dims;
  for (const std::string& text : info.dims) {
    WEFT_ASSIGN_OR_RETURN(Dim dim, Dim::Parse(text));
    dim = dim.Substitute(options.dims);
    if (!dim.is_constant()) {
      Warn(options, absl::StrCat("dim '", text, "' of input '", info.name, "' is taken as 1; set it with --dim ", text,
                                 "=N or --shape ", info.name, "=..."));
      dim = Dim(1);
    }
    dims.push_back(dim.constant());
  }
  return dims;
}

absl::StatusOr<Value> RandomValue(const ValueInfo& info, const Dims& dims, const NumberRange* range, uint64_t seed) {
  if (info.kind != ValueKind::kTensor) {
    return Unsupported("input '", info.name, "' is a ", info.type, ": no random value of that type, give it with --input ",
                       info.name, "=FILE.pb");
  }
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(info.dtype == DType::kUndefined ? DType::kFloat32 : info.dtype, dims));
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal(0, 1);
  std::uniform_real_distribution<double> uniform(range != nullptr ? range->lo : 0, range != nullptr ? range->hi : 1);
  auto real = [&] { return range != nullptr ? uniform(generator) : normal(generator); };
  const auto lo = static_cast<int64_t>(range != nullptr ? range->lo : 0);
  const auto hi = static_cast<int64_t>(range != nullptr ? range->hi : 2);
  std::uniform_int_distribution<int64_t> integers(lo, std::max(lo, hi - 1));
  auto fill = [&]<class T>(T* data, auto make) {
    for (int64_t i = 0; i < tensor.size(); ++i) data[i] = static_cast<T>(make());
  };
  switch (tensor.dtype()) {
    case DType::kFloat32: fill(tensor.data<float>(), real); break;
    case DType::kFloat64: fill(tensor.data<double>(), real); break;
    case DType::kFloat16: fill(tensor.data<Float16>(), [&] { return Float16(static_cast<float>(real())); }); break;
    case DType::kBFloat16: fill(tensor.data<BFloat16>(), [&] { return BFloat16(static_cast<float>(real())); }); break;
    case DType::kComplex64: fill(tensor.data<std::complex<float>>(), [&] { return std::complex<float>(real(), real()); }); break;
    case DType::kComplex128: fill(tensor.data<std::complex<double>>(), [&] { return std::complex<double>(real(), real()); }); break;
    case DType::kInt8: case DType::kInt4: case DType::kInt2: fill(tensor.data<int8_t>(), [&] { return integers(generator); }); break;
    case DType::kUint8: case DType::kUint4: case DType::kUint2: fill(tensor.data<uint8_t>(), [&] { return integers(generator); }); break;
    case DType::kInt16: fill(tensor.data<int16_t>(), [&] { return integers(generator); }); break;
    case DType::kUint16: fill(tensor.data<uint16_t>(), [&] { return integers(generator); }); break;
    case DType::kInt32: fill(tensor.data<int32_t>(), [&] { return integers(generator); }); break;
    case DType::kUint32: fill(tensor.data<uint32_t>(), [&] { return integers(generator); }); break;
    case DType::kInt64: fill(tensor.data<int64_t>(), [&] { return integers(generator); }); break;
    case DType::kUint64: fill(tensor.data<uint64_t>(), [&] { return integers(generator); }); break;
    case DType::kBool: fill(tensor.data<bool>(), [&] { return (generator() >> 63) != 0; }); break;
    case DType::kString:
      for (int64_t i = 0; i < tensor.size(); ++i) tensor.data<std::string>()[i] = absl::StrCat("text", integers(generator));
      break;
    default:
      fill(tensor.data<uint8_t>(), [&] { return FloatToSmallFloat(tensor.dtype(), static_cast<float>(real()), true); });
      break;
  }
  return Value(std::move(tensor));
}

}  // namespace

absl::StatusOr<ValueMap> MakeInputs(const Session& session, const CommonOptions& options) {
  for (const auto& [name, dims] : options.shapes) WEFT_RETURN_IF_ERROR(CheckInputName(session, name, "--shape"));
  for (const auto& [name, range] : options.ranges) WEFT_RETURN_IF_ERROR(CheckInputName(session, name, "--input-range"));
  for (const auto& [name, file] : options.input_files) WEFT_RETURN_IF_ERROR(CheckInputName(session, name, "--input"));
  ValueMap values;
  uint64_t index = 0;
  for (const ValueInfo& info : session.inputs()) {
    const uint64_t seed = options.seed * 1000003 + index++;
    auto file = options.input_files.find(info.name);
    if (file == options.input_files.end() && info.has_default) continue;
    const std::string extension = file == options.input_files.end() ? "" : file->second.substr(std::min(file->second.rfind('.'), file->second.size()));
    Dims dims;
    if (info.kind == ValueKind::kTensor && (file == options.input_files.end() || extension == ".bin")) {
      WEFT_ASSIGN_OR_RETURN(dims, ConcreteDims(info, options));
    }
    if (file != options.input_files.end()) {
      WEFT_ASSIGN_OR_RETURN(values[info.name], ReadValueFile(file->second, info, dims));
      continue;
    }
    auto range = options.ranges.find(info.name);
    WEFT_ASSIGN_OR_RETURN(values[info.name],
                          RandomValue(info, dims, range == options.ranges.end() ? nullptr : &range->second, seed));
  }
  return values;
}

}  // namespace weft::cli
