// LabelEncoder, CategoryMapper, OneHotEncoder.
#include "graph/ops/encoders.h"

#include <cmath>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "kernels/kernel.h"
#include "kernels/ref/cast.h"
#include "kernels/ref/dispatch.h"

namespace weft {
namespace {

// The place of each key in its list: of a key that stands there twice, the last. NaN is a key like any other.
template <class K>
class Places {
 public:
  explicit Places(absl::Span<const K> keys) {
    for (size_t i = 0; i < keys.size(); ++i) {
      if (IsNan(keys[i])) {
        nan_ = static_cast<int64_t>(i);
      } else {
        places_[keys[i]] = static_cast<int64_t>(i);
      }
    }
  }
  // -1 for what is not in the list.
  int64_t Find(const K& key) const {
    if (IsNan(key)) return nan_;
    auto it = places_.find(key);
    return it == places_.end() ? -1 : it->second;
  }

 private:
  static bool IsNan(const K& key) {
    if constexpr (std::is_floating_point_v<K>) return std::isnan(key);
    return false;
  }

  absl::flat_hash_map<K, int64_t> places_;
  int64_t nan_ = -1;
};

template <class K>
struct LookupState : KernelState {
  explicit LookupState(absl::Span<const K> keys) : places(keys) {}
  Places<K> places;
  Tensor values, fallback;  // of LabelEncoder and CategoryMapper
};

// body.operator()<K>() for a type that keys may have.
template <class Body>
auto DispatchKey(DType dtype, Body body) {
  switch (dtype) {
    case DType::kFloat32: return body.template operator()<float>();
    case DType::kFloat64: return body.template operator()<double>();
    case DType::kInt16: return body.template operator()<int16_t>();
    case DType::kInt32: return body.template operator()<int32_t>();
    case DType::kString: return body.template operator()<std::string>();
    default: return body.template operator()<int64_t>();
  }
}

std::unique_ptr<KernelState> Prepared(const LabelTable& table) {
  return DispatchKey(table.keys.dtype(), [&]<class K>() -> std::unique_ptr<KernelState> {
    auto state = std::make_unique<LookupState<K>>(table.keys.span<const K>());
    state->values = table.values;
    state->fallback = table.fallback;
    return state;
  });
}

absl::StatusOr<std::unique_ptr<KernelState>> PrepareLabelEncoder(const NodeView& node) {
  WEFT_ASSIGN_OR_RETURN(const LabelTable table, LabelTableOf(node.attrs_as<LabelEncoderAttrs>()));
  return Prepared(table);
}

absl::StatusOr<std::unique_ptr<KernelState>> PrepareCategoryMapper(const NodeView& node) {
  const auto& attrs = node.attrs_as<CategoryMapperAttrs>();
  const auto count = static_cast<int64_t>(attrs.cats_int64s.size());
  const Tensor ints = Tensor::Of<int64_t>({count}, attrs.cats_int64s), strings = Tensor::Of<std::string>({count}, attrs.cats_strings);
  if (node.inputs[0].type->dtype == DType::kString) return Prepared({strings, ints, Tensor::Scalar(attrs.default_int64)});
  return Prepared({ints, strings, Tensor::Scalar(attrs.default_string)});
}

absl::Status RunLookup(RunContext& ctx) {
  const Tensor& x = ctx.input(0);
  Tensor& out = ctx.output(0);
  return DispatchKey(x.dtype(), [&]<class K>() {
    const auto& state = *ctx.state<LookupState<K>>();
    return DispatchSize(out.dtype(), [&]<class V>() {
      const V *values = state.values.template data<const V>(), &fallback = *state.fallback.template data<const V>();
      ParallelFor(x.size(), 32, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t place = state.places.Find(x.data<const K>()[i]);
          out.data<V>()[i] = place < 0 ? fallback : values[place];
        }
      });
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<KernelState>> PrepareOneHotEncoder(const NodeView& node) {
  const auto& attrs = node.attrs_as<OneHotEncoderAttrs>();
  if (attrs.cats_strings.empty()) return std::make_unique<LookupState<int64_t>>(attrs.cats_int64s);
  return std::make_unique<LookupState<std::string>>(attrs.cats_strings);
}

absl::Status RunOneHotEncoder(RunContext& ctx) {
  const bool zeros = ctx.attrs<OneHotEncoderAttrs>().zeros;
  const Tensor& x = ctx.input(0);
  Tensor& out = ctx.output(0);  // [...x,C]
  const int64_t categories = out.dim(out.rank() - 1);
  return DispatchKey(x.dtype(), [&]<class T>() -> absl::Status {
    using K = std::conditional_t<std::is_same_v<T, std::string>, std::string, int64_t>;
    const auto& places = ctx.state<LookupState<K>>()->places;
    std::fill_n(out.data<float>(), out.size(), 0.0f);
    for (int64_t i = 0; i < x.size(); ++i) {
      const T& element = x.data<const T>()[i];
      int64_t place;
      if constexpr (std::is_floating_point_v<T>) {
        place = places.Find(ToInteger<int64_t>(element));
      } else {
        place = places.Find(element);
      }
      if (place >= 0) {
        out.data<float>()[i * categories + place] = 1;
      } else if (!zeros) {
        return Invalid("element ", i, " of X, ", element, ", is no category, and zeros is 0");
      }
    }
    return absl::OkStatus();
  });
}

}  // namespace

absl::Span<const Kernel> RefEncoders() {
  static constexpr Kernel kernels[] = {
      {.op = &ops::LabelEncoder, .name = "ref", .prepare = &PrepareLabelEncoder, .run = &RunLookup},
      {.op = &ops::CategoryMapper, .name = "ref", .prepare = &PrepareCategoryMapper, .run = &RunLookup},
      {.op = &ops::OneHotEncoder, .name = "ref", .prepare = &PrepareOneHotEncoder, .run = &RunOneHotEncoder},
  };
  return kernels;
}

}  // namespace weft
