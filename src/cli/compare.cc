#include "cli/compare.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <numeric>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/statistics.h"
#include "graph/type.h"

namespace weft::cli {
namespace {

std::string Place(const Tensor& tensor, int64_t i) {
  Dims at(tensor.rank());
  for (int axis = tensor.rank() - 1; axis >= 0; --axis) {
    at[axis] = i % tensor.dim(axis);
    i /= tensor.dim(axis);
  }
  return DimsToString(at);
}

std::optional<std::string> StringsDiffer(const Tensor& got, const Tensor& reference) {
  for (int64_t i = 0; i < got.size(); ++i) {
    const std::string &x = got.data<std::string>()[i], &y = reference.data<std::string>()[i];
    if (x != y) {
      return absl::StrCat("at ", Place(got, i), ": found \"", absl::CEscape(x), "\", expected \"", absl::CEscape(y), "\"");
    }
  }
  return std::nullopt;
}

std::optional<std::string> BytesDiffer(const Tensor& got, const Tensor& reference) {
  const size_t size = DTypeSize(got.dtype());
  for (int64_t i = 0; i < got.size(); ++i) {
    if (std::memcmp(got.data<char>() + i * size, reference.data<char>() + i * size, size) != 0) {
      return absl::StrFormat("at %s: found %.17g, expected %.17g", Place(got, i), ElementAsDouble(got, i),
                             ElementAsDouble(reference, i));
    }
  }
  return std::nullopt;
}

// Real numbers of a float tensor: one for each element, two for a complex one.
template <class Real>
std::optional<std::string> FloatsDiffer(const Tensor& got, int64_t per_element, const Tolerance& tolerance, double default_rtol,
                                        Real real_of) {
  const int64_t count = got.size() * per_element;
  double max_reference = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double y = std::abs(real_of(i).second);
    if (std::isfinite(y)) max_reference = std::max(max_reference, y);
  }
  const double rtol = tolerance.rtol.value_or(default_rtol);
  const double absolute = tolerance.atol + tolerance.atol_of_max * max_reference;
  int64_t wrong = 0, worst = -1;
  double worst_excess = 0, worst_error = 0;
  for (int64_t i = 0; i < count; ++i) {
    const auto [x, y] = real_of(i);
    if (std::isnan(x) && std::isnan(y)) continue;
    if (x == y) continue;  // infinities too
    const double error = std::abs(x - y), allowed = absolute + rtol * std::abs(y);
    if (std::isfinite(x) && std::isfinite(y) && error <= allowed) continue;
    ++wrong;
    const double excess = std::isfinite(error) ? error - allowed : INFINITY;
    if (worst < 0 || excess > worst_excess) {
      worst = i;
      worst_excess = excess;
      worst_error = error;
    }
  }
  if (wrong == 0) return std::nullopt;
  const auto [x, y] = real_of(worst);
  return absl::StrFormat("%d of %d elements differ, worst at %s: found %.9g, expected %.9g, off by %.3g, allowed %.3g", wrong,
                         count, Place(got, worst / per_element), x, y, worst_error, absolute + rtol * std::abs(y));
}

std::optional<std::string> NotBernoulli(const Tensor& got) {
  int64_t ones = 0;
  for (int64_t i = 0; i < got.size(); ++i) {
    const double x = ElementAsDouble(got, i);
    if (x != 0 && x != 1) return absl::StrFormat("at %s: found %g, expected 0 or 1", Place(got, i), x);
    ones += x == 1;
  }
  if (got.size() >= 64 && (ones == 0 || ones == got.size())) {
    return absl::StrCat("all ", got.size(), " draws are ", ones == 0 ? 0 : 1, ", expected both 0 and 1");
  }
  return std::nullopt;
}

std::optional<std::string> TensorsDiffer(const Tensor& got, const Tensor& reference, const Tolerance& tolerance) {
  if (got.dtype() != reference.dtype() || got.dims() != reference.dims()) {
    return absl::StrCat("found ", Type::OfTensor(got).ToString(), ", expected ", Type::OfTensor(reference).ToString());
  }
  if (tolerance.shape_only) return std::nullopt;
  if (tolerance.property == "bernoulli") return NotBernoulli(got);
  if (!tolerance.property.empty()) return absl::StrCat("property '", tolerance.property, "' is unknown, expected 'bernoulli'");
  if (got.dtype() == DType::kString) return StringsDiffer(got, reference);
  if (got.dtype() == DType::kComplex64 || got.dtype() == DType::kComplex128) {
    auto part = [](const Tensor& t, int64_t i) -> double {
      return t.dtype() == DType::kComplex64 ? t.data<float>()[i] : t.data<double>()[i];
    };
    return FloatsDiffer(got, 2, tolerance, 1e-3, [&](int64_t i) { return std::pair(part(got, i), part(reference, i)); });
  }
  if (!IsFloat(got.dtype())) return BytesDiffer(got, reference);
  const double default_rtol = got.dtype() == DType::kBFloat16 ? 0x1p-6 : 1e-3;
  return FloatsDiffer(got, 1, tolerance, default_rtol,
                      [&](int64_t i) { return std::pair(ElementAsDouble(got, i), ElementAsDouble(reference, i)); });
}

// The entries in the order of their keys: a map has none of its own.
Map Sorted(const Map& map) {
  std::vector<int64_t> order(map.keys.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    if (map.keys.dtype() == DType::kString) return map.keys.data<std::string>()[a] < map.keys.data<std::string>()[b];
    return ElementAsDouble(map.keys, a) < ElementAsDouble(map.keys, b);
  });
  auto pick = [&](const Tensor& from) {
    absl::StatusOr<Tensor> to = Tensor::Allocate(from.dtype(), from.dims());
    if (!to.ok()) return from;
    const size_t size = DTypeSize(from.dtype());
    for (size_t i = 0; i < order.size(); ++i) {
      if (from.dtype() == DType::kString) {
        to->data<std::string>()[i] = from.data<std::string>()[order[i]];
      } else {
        std::memcpy(to->data<char>() + i * size, from.data<char>() + order[i] * size, size);
      }
    }
    return *std::move(to);
  };
  return {pick(map.keys), pick(map.values)};
}

std::optional<std::string> MapsDiffer(const Map& got, const Map& reference, const Tolerance& tolerance) {
  const Map a = Sorted(got), b = Sorted(reference);
  if (auto keys = TensorsDiffer(a.keys, b.keys, Tolerance())) return "keys: " + *keys;
  if (auto values = TensorsDiffer(a.values, b.values, tolerance)) return "values: " + *values;
  return std::nullopt;
}

}  // namespace

std::optional<std::string> Difference(const Value& got, const Value& reference, const Tolerance& tolerance) {
  if (got.is_tensor() && reference.is_tensor()) return TensorsDiffer(got.tensor(), reference.tensor(), tolerance);
  if (got.is_map() && reference.is_map()) return MapsDiffer(got.map(), reference.map(), tolerance);
  if (got.is_sequence() && reference.is_sequence()) {
    const auto &x = got.sequence().items, &y = reference.sequence().items;
    if (x.size() != y.size()) return absl::StrCat("found a sequence of ", x.size(), ", expected ", y.size());
    for (size_t i = 0; i < x.size(); ++i) {
      if (auto difference = Difference(x[i], y[i], tolerance)) return absl::StrCat("[", i, "]: ", *difference);
    }
    return std::nullopt;
  }
  if (got.is_optional() && reference.is_optional()) {
    const auto &x = got.optional().item, &y = reference.optional().item;
    if (x.size() != y.size()) return absl::StrCat("found an optional that is ", x.empty() ? "empty" : "set", ", expected the other");
    return x.empty() ? std::nullopt : Difference(x[0], y[0], tolerance);
  }
  return absl::StrCat("found ", Type::Of(got).ToString(), ", expected ", Type::Of(reference).ToString());
}

}  // namespace weft::cli
