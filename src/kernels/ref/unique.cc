// Unique: items are sorted, equal ones end up side by side. An item is an element, or the slice at one index of the axis; slices compare
// element by element. NaNs are equal, and so are the two zeros.
#include "graph/ops/select.h"

#include <algorithm>
#include <complex>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "kernels/kernel.h"
#include "kernels/ref/dispatch.h"
#include "kernels/ref/order.h"
#include "kernels/ref/take.h"

namespace weft {
namespace {

template <class T>
auto KeyOf(const T& x) {
  return OrderKey(x);
}
template <class T>
auto KeyOf(const std::complex<T>& x) {
  return std::pair(OrderKey(x.real()), OrderKey(x.imag()));
}
std::string_view KeyOf(const std::string& x) { return x; }

// Equal items and where they are: `first` has the first item of each group, `counts` its size, `group_of` the group of each item.
struct Groups {
  std::vector<int64_t> first, counts, group_of;
};

// Groups of the items, in ascending order or in that of their first items. Item i is in[outer][i][inner].
template <class T>
Groups GroupItems(const T* in, int64_t outer, int64_t items, int64_t inner, bool sorted) {
  using Key = decltype(KeyOf(in[0]));
  const int64_t width = outer * inner;
  std::vector<Key> keys(width * items);  // [items,width]
  for (int64_t i = 0; i < items * width; ++i) {
    const int64_t item = i / width, from = i % width;
    keys[i] = KeyOf(in[(from / inner * items + item) * inner + from % inner]);
  }
  auto compare = [&](int64_t a, int64_t b) {
    const Key *x = keys.data() + a * width, *y = keys.data() + b * width;
    const auto [p, q] = std::mismatch(x, x + width, y);
    return p == x + width ? 0 : *p < *q ? -1 : 1;
  };
  std::vector<int64_t> order(items);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    const int less = compare(a, b);
    return less != 0 ? less < 0 : a < b;
  });
  Groups groups;
  groups.group_of.resize(items);
  for (int64_t i = 0; i < items; ++i) {
    if (i == 0 || compare(order[i - 1], order[i]) != 0) {
      groups.first.push_back(order[i]);
      groups.counts.push_back(0);
    }
    groups.group_of[order[i]] = static_cast<int64_t>(groups.first.size()) - 1;
    ++groups.counts.back();
  }
  if (sorted) return groups;
  // Number the groups anew, by their first items.
  std::vector<int64_t> number(groups.first.size(), -1);
  Groups found;
  for (int64_t group : groups.group_of) {
    if (number[group] < 0) {
      number[group] = static_cast<int64_t>(found.first.size());
      found.first.push_back(groups.first[group]);
      found.counts.push_back(groups.counts[group]);
    }
    found.group_of.push_back(number[group]);
  }
  return found;
}

template <class F>
absl::Status DispatchOrdered(DType dtype, F f) {
  switch (dtype) {
    case DType::kString: return f.template operator()<std::string>();
    case DType::kBool: return f.template operator()<uint8_t>();
    case DType::kComplex64: return f.template operator()<std::complex<float>>();
    case DType::kComplex128: return f.template operator()<std::complex<double>>();
    default: return DispatchNumeric(dtype, f);
  }
}

absl::Status WriteInts(RunContext& ctx, int i, const std::vector<int64_t>& values) {
  if (!ctx.HasOutput(i)) return absl::OkStatus();
  WEFT_ASSIGN_OR_RETURN(Tensor* out, ctx.Allocate(i, DType::kInt64, {static_cast<int64_t>(values.size())}));
  std::copy(values.begin(), values.end(), out->data<int64_t>());
  return absl::OkStatus();
}

absl::Status RunUnique(RunContext& ctx) {
  const auto& attrs = ctx.attrs<UniqueAttrs>();
  const Tensor& in = ctx.input(0);
  int axis = 0;
  if (attrs.axis) {
    WEFT_ASSIGN_OR_RETURN(axis, InferContext::NormalizeAxis(*attrs.axis, in.rank()));
  }
  const Tensor data = attrs.axis ? in : in.Reshaped({in.size()});
  int64_t outer = 1, inner = 1;
  for (int i = 0; i < data.rank(); ++i) {
    if (i != axis) (i < axis ? outer : inner) *= data.dim(i);
  }
  Groups groups;
  WEFT_RETURN_IF_ERROR(DispatchOrdered(data.dtype(), [&]<class T>() {
    groups = GroupItems(data.data<const T>(), outer, data.dim(axis), inner, attrs.sorted != 0);
    return absl::OkStatus();
  }));
  Dims dims = data.dims();
  dims[axis] = static_cast<int64_t>(groups.first.size());
  WEFT_ASSIGN_OR_RETURN(Tensor* out, ctx.Allocate(0, in.dtype(), dims));
  TakeSlices(data, axis, groups.first, *out);
  WEFT_RETURN_IF_ERROR(WriteInts(ctx, 1, groups.first));
  WEFT_RETURN_IF_ERROR(WriteInts(ctx, 2, groups.group_of));
  return WriteInts(ctx, 3, groups.counts);
}

}  // namespace

absl::Span<const Kernel> RefUnique() {
  static constexpr Kernel kernels[] = {{.op = &ops::Unique, .name = "ref", .run = &RunUnique}};
  return kernels;
}

}  // namespace weft
