// ArrayFeatureExtractor, Binarizer, FeatureVectorizer, Imputer, Normalizer, Scaler.
#include "graph/ops/features.h"

#include <algorithm>
#include <cmath>

#include "kernels/kernel.h"
#include "kernels/ref/dispatch.h"
#include "kernels/ref/elements.h"

namespace weft {
namespace {

int64_t LastDim(const Tensor& x) { return x.rank() == 0 ? 1 : x.dim(x.rank() - 1); }

absl::Status RunArrayFeatureExtractor(RunContext& ctx) {
  const Tensor &x = ctx.input(0), &y = ctx.input(1);
  Tensor& out = ctx.output(0);
  const int64_t columns = LastDim(x), picks = y.size();
  const int64_t* index = y.data<const int64_t>();
  for (int64_t i = 0; i < picks; ++i) {
    if (index[i] < 0 || index[i] >= columns) return Invalid("index ", index[i], " is out of range, expected 0 to ", columns - 1);
  }
  if (out.size() == 0) return absl::OkStatus();
  return DispatchSize(x.dtype(), [&]<class T>() {
    ParallelFor(out.size() / picks, picks, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        for (int64_t i = 0; i < picks; ++i) out.data<T>()[row * picks + i] = x.data<const T>()[row * columns + index[i]];
      }
    });
    return absl::OkStatus();
  });
}

absl::Status RunBinarizer(RunContext& ctx) {
  const Tensor& x = ctx.input(0);
  const double threshold = ctx.attrs<BinarizerAttrs>().threshold;
  return DispatchNumeric(x.dtype(), [&]<class T>() {
    MapElements<T, T>(x, ctx.output(0), 2, [threshold](T v) { return static_cast<T>(static_cast<double>(v) > threshold ? 1 : 0); });
    return absl::OkStatus();
  });
}

// Columns that an input has beyond the size it is given are dropped, those that it lacks are zero.
absl::Status RunFeatureVectorizer(RunContext& ctx) {
  const std::vector<int64_t>& sizes = ctx.attrs<FeatureVectorizerAttrs>().inputdimensions;
  Tensor& out = ctx.output(0);  // [N,columns]
  const int64_t rows = out.dim(0), width = out.dim(1);
  std::fill_n(out.data<float>(), out.size(), 0.0f);
  int64_t at = 0;
  for (int i = 0; i < ctx.num_inputs(); ++i) {
    const Tensor& x = ctx.input(i);
    const int64_t columns = LastDim(x), size = sizes.empty() ? columns : sizes[i];
    for (int64_t row = 0; row < rows; ++row) {
      ReadElements(x, row * columns, std::min(columns, size), out.data<float>() + row * width + at);
    }
    at += size;
  }
  return absl::OkStatus();
}

template <class T, class V>
absl::Status Impute(const Tensor& x, Tensor& out, const std::vector<V>& values, V replaced) {
  const int64_t columns = LastDim(x);
  if (values.size() > 1 && static_cast<int64_t>(values.size()) != columns) {
    return Invalid("there are ", values.size(), " imputed values for ", columns, " columns");
  }
  auto is_replaced = [replaced](T v) {
    if constexpr (std::is_floating_point_v<V>) {
      if (std::isnan(replaced)) return std::isnan(v);
    }
    return v == replaced;
  };
  const T* from = x.data<const T>();
  ParallelFor(x.size(), 4, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      out.data<T>()[i] = is_replaced(from[i]) ? static_cast<T>(values[values.size() == 1 ? 0 : i % columns]) : from[i];
    }
  });
  return absl::OkStatus();
}

absl::Status RunImputer(RunContext& ctx) {
  const auto& attrs = ctx.attrs<ImputerAttrs>();
  const Tensor& x = ctx.input(0);
  return DispatchNumeric(x.dtype(), [&]<class T>() -> absl::Status {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
      return Impute<T, float>(x, ctx.output(0), attrs.imputed_value_floats, attrs.replaced_value_float);
    } else if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, int32_t>) {
      return Impute<T, int64_t>(x, ctx.output(0), attrs.imputed_value_int64s, attrs.replaced_value_int64);
    } else {
      return Unsupported("element type ", DTypeName(x.dtype()));
    }
  });
}

// What a row is divided by. The largest element counts with its sign; the sums are of absolute values and of squares.
float Divisor(absl::Span<const float> row, const std::string& norm) {
  if (row.empty()) return 0;
  if (norm == "MAX") return *std::max_element(row.begin(), row.end());
  float sum = 0;
  for (float v : row) sum += norm == "L1" ? std::abs(v) : v * v;
  return norm == "L1" ? sum : std::sqrt(sum);
}

absl::Status RunNormalizer(RunContext& ctx) {
  const std::string& norm = ctx.attrs<NormalizerAttrs>().norm;
  const Tensor& x = ctx.input(0);
  Tensor& out = ctx.output(0);
  const int64_t columns = LastDim(x), rows = columns == 0 ? 0 : x.size() / columns;
  ParallelFor(rows, 4 * columns, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      float* to = out.data<float>() + row * columns;
      ReadElements(x, row * columns, columns, to);
      const float divisor = Divisor(absl::MakeConstSpan(to, columns), norm);
      if (divisor == 0) continue;
      for (int64_t i = 0; i < columns; ++i) to[i] /= divisor;
    }
  });
  return absl::OkStatus();
}

absl::Status RunScaler(RunContext& ctx) {
  const auto& attrs = ctx.attrs<ScalerAttrs>();
  const Tensor& x = ctx.input(0);
  Tensor& out = ctx.output(0);
  const int64_t columns = LastDim(x), rows = columns == 0 ? 0 : x.size() / columns;
  // One element each for every column.
  auto spread = [columns](const std::vector<float>& list, float none) {
    return list.size() > 1 ? list : std::vector<float>(columns, list.empty() ? none : list[0]);
  };
  const std::vector<float> offset = spread(attrs.offset, 0), scale = spread(attrs.scale, 1);
  if (static_cast<int64_t>(offset.size()) != columns || static_cast<int64_t>(scale.size()) != columns) {
    return Invalid("offset and scale have ", attrs.offset.size(), " and ", attrs.scale.size(), " elements for ", columns, " columns");
  }
  ParallelFor(rows, 4 * columns, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      float* to = out.data<float>() + row * columns;
      ReadElements(x, row * columns, columns, to);
      for (int64_t i = 0; i < columns; ++i) to[i] = (to[i] - offset[i]) * scale[i];
    }
  });
  return absl::OkStatus();
}

}  // namespace

absl::Span<const Kernel> RefFeatures() {
  static constexpr Kernel kernels[] = {
      {.op = &ops::ArrayFeatureExtractor, .name = "ref", .run = &RunArrayFeatureExtractor},
      {.op = &ops::Binarizer, .name = "ref", .run = &RunBinarizer},
      {.op = &ops::FeatureVectorizer, .name = "ref", .run = &RunFeatureVectorizer},
      {.op = &ops::Imputer, .name = "ref", .run = &RunImputer},
      {.op = &ops::Normalizer, .name = "ref", .run = &RunNormalizer},
      {.op = &ops::Scaler, .name = "ref", .run = &RunScaler},
  };
  return kernels;
}

}  // namespace weft
