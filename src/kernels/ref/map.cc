// ZipMap, CastMap, DictVectorizer.
#include "graph/ops/map.h"

#include <algorithm>
#include <numeric>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_format.h"
#include "kernels/kernel.h"
#include "kernels/ref/cast.h"
#include "kernels/ref/dispatch.h"

namespace weft {
namespace {

// The labels and, for each, the column of its value: of labels listed twice the last one counts.
template <class K>
absl::StatusOr<Tensor> DistinctKeys(const std::vector<K>& labels, std::vector<int64_t>& columns) {
  absl::flat_hash_map<K, size_t> place;
  std::vector<K> distinct;
  for (size_t i = 0; i < labels.size(); ++i) {
    const auto [it, is_new] = place.emplace(labels[i], distinct.size());
    if (is_new) {
      distinct.push_back(labels[i]);
      columns.push_back(0);
    }
    columns[it->second] = static_cast<int64_t>(i);
  }
  WEFT_ASSIGN_OR_RETURN(Tensor keys, Tensor::Allocate(DTypeOf<K>::value, {static_cast<int64_t>(distinct.size())}));
  std::copy(distinct.begin(), distinct.end(), keys.data<K>());
  return keys;
}

absl::Status RunZipMap(RunContext& ctx) {
  const auto& attrs = ctx.attrs<ZipMapAttrs>();
  const Tensor& x = ctx.input(0);
  const auto count = static_cast<int64_t>(std::max(attrs.classlabels_int64s.size(), attrs.classlabels_strings.size()));
  const int64_t rows = x.rank() == 1 ? 1 : x.dim(0), width = x.dim(x.rank() - 1);
  if (width != count) return Invalid("X has ", width, " columns, expected ", count, ", one for each key");
  std::vector<int64_t> columns;
  WEFT_ASSIGN_OR_RETURN(const Tensor keys, attrs.classlabels_strings.empty() ? DistinctKeys(attrs.classlabels_int64s, columns)
                                                                             : DistinctKeys(attrs.classlabels_strings, columns));
  const auto distinct = static_cast<int64_t>(columns.size());
  // The maps share their keys, and their values stand in one block.
  WEFT_ASSIGN_OR_RETURN(const Tensor values, Tensor::AllocateUninitialized(DType::kFloat32, {rows, distinct}));
  Sequence out;
  out.items.reserve(rows);
  for (int64_t row = 0; row < rows; ++row) {
    const float* from = x.data<const float>() + row * width;
    float* to = values.data<float>() + row * distinct;
    for (int64_t k = 0; k < distinct; ++k) to[k] = from[columns[k]];
    out.items.push_back(Map{keys, Tensor::Wrap(DType::kFloat32, {distinct}, to, values.owner())});
  }
  ctx.SetOutput(0, std::move(out));
  return absl::OkStatus();
}

// The run's own map: what a file calls a map may hold anything.
absl::StatusOr<const Map*> MapInput(const RunContext& ctx, DType key) {
  const Value& value = ctx.input_value(0);
  if (!value.is_map()) return Invalid("X is no map");
  const Map& map = value.map();
  if (map.keys.dtype() != key || map.keys.size() != map.values.size()) {
    return Invalid("X has ", map.keys.size(), " keys of type ", DTypeName(map.keys.dtype()), " and ", map.values.size(), " values, expected as many, and keys of type ", DTypeName(key));
  }
  return &map;
}

// Numbers as ONNX Runtime writes them here, with six digits behind the point.
absl::Status CastValues(const Tensor& from, Tensor& to) {
  if (from.dtype() != DType::kFloat32 || to.dtype() != DType::kString) return CastElements(from, to);
  for (int64_t i = 0; i < from.size(); ++i) to.data<std::string>()[i] = absl::StrFormat("%f", from.data<const float>()[i]);
  return absl::OkStatus();
}

absl::Status RunCastMap(RunContext& ctx) {
  const auto& attrs = ctx.attrs<CastMapAttrs>();
  WEFT_ASSIGN_OR_RETURN(const Map* map, MapInput(ctx, DType::kInt64));
  if (map->values.dtype() != DType::kFloat32 && map->values.dtype() != DType::kString) {
    return Invalid("X has values of type ", DTypeName(map->values.dtype()), ", expected float or string");
  }
  const int64_t count = map->keys.size();
  const int64_t* keys = map->keys.data<const int64_t>();
  const DType dtype = ctx.node().outputs[0].dtype;
  WEFT_ASSIGN_OR_RETURN(Tensor cast, Tensor::Allocate(dtype, map->values.dims()));
  WEFT_RETURN_IF_ERROR(CastValues(map->values, cast));
  std::vector<int64_t> order(count), places(count);  // element order[i] goes to places[i]
  std::iota(order.begin(), order.end(), 0);
  const bool sparse = attrs.map_form == "SPARSE";
  if (sparse) {
    for (int64_t i = 0; i < count; ++i) {
      if (keys[i] < 0 || keys[i] >= attrs.max_map) return Invalid("key ", keys[i], " of a sparse map, expected 0 to ", attrs.max_map - 1);
      places[i] = keys[i];
    }
  } else {
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return keys[a] < keys[b]; });
    std::iota(places.begin(), places.end(), 0);
    WEFT_RETURN_IF_ERROR(ctx.Allocate(0, dtype, {1, count}).status());
  }
  Tensor& out = ctx.output(0);
  return DispatchSize(dtype, [&]<class T>() {
    // What ONNX Runtime fills the places between strings with.
    const T fill = [] {
      if constexpr (std::is_same_v<T, std::string>) return std::string("0.f");
      else return T{};
    }();
    if (sparse) std::fill_n(out.data<T>(), out.size(), fill);
    for (int64_t i = 0; i < count; ++i) out.data<T>()[places[i]] = cast.data<const T>()[order[i]];
    return absl::OkStatus();
  });
}

// Keys that the vocabulary lacks take no part.
template <class K>
absl::Status Vectorize(const Map& map, const std::vector<K>& vocabulary, Tensor& out) {
  absl::flat_hash_map<K, int64_t> index;
  for (int64_t i = 0; i < map.keys.size(); ++i) index[map.keys.data<const K>()[i]] = i;
  return DispatchSize(out.dtype(), [&]<class T>() {
    for (size_t i = 0; i < vocabulary.size(); ++i) {
      auto it = index.find(vocabulary[i]);
      out.data<T>()[i] = it == index.end() ? T{} : map.values.data<const T>()[it->second];
    }
    return absl::OkStatus();
  });
}

absl::Status RunDictVectorizer(RunContext& ctx) {
  const auto& attrs = ctx.attrs<DictVectorizerAttrs>();
  Tensor& out = ctx.output(0);
  const bool strings = attrs.int64_vocabulary.empty();
  WEFT_ASSIGN_OR_RETURN(const Map* map, MapInput(ctx, strings ? DType::kString : DType::kInt64));
  if (map->values.dtype() != out.dtype()) {
    return Invalid("X has values of type ", DTypeName(map->values.dtype()), ", expected ", DTypeName(out.dtype()));
  }
  return strings ? Vectorize(*map, attrs.string_vocabulary, out) : Vectorize(*map, attrs.int64_vocabulary, out);
}

}  // namespace

absl::Span<const Kernel> RefMap() {
  static constexpr Kernel kernels[] = {
      {.op = &ops::ZipMap, .name = "ref", .run = &RunZipMap},
      {.op = &ops::CastMap, .name = "ref", .run = &RunCastMap},
      {.op = &ops::DictVectorizer, .name = "ref", .run = &RunDictVectorizer},
  };
  return kernels;
}

}  // namespace weft
