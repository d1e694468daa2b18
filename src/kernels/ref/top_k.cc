// TopK: each line along the axis is partitioned, then its best k are sorted. NaN counts as the largest number. Without `sorted` the order
// is open, so ours is the same.
#include "graph/ops/top_k.h"

#include <algorithm>
#include <vector>

#include "kernels/kernel.h"
#include "kernels/ref/dispatch.h"
#include "kernels/ref/order.h"
#include "kernels/ref/strided.h"

namespace weft {
namespace {

absl::Status RunTopK(RunContext& ctx) {
  const auto& attrs = ctx.attrs<TopKAttrs>();
  const Tensor& x = ctx.input(0);
  Tensor& values = ctx.output(0);
  WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(attrs.axis, x.rank()));
  if (values.size() == 0) return absl::OkStatus();
  int64_t* indices = ctx.HasOutput(1) ? ctx.output(1).data<int64_t>() : nullptr;
  const int64_t n = x.dim(axis), k = values.dim(axis), inner = StridesOf(x.dims())[axis];
  return DispatchNumeric(x.dtype(), [&]<class T>() {
    using Key = decltype(OrderKey(T()));
    struct Entry {
      Key key;
      int64_t index;
      bool operator<(const Entry& other) const { return key != other.key ? key < other.key : index < other.index; }
    };
    ParallelFor(x.size() / n, 8 * n, [&](int64_t begin, int64_t end) {
      std::vector<Entry> entries(n);
      for (int64_t line = begin; line < end; ++line) {
        const T* from = x.data<const T>() + line / inner * n * inner + line % inner;
        // The complement turns the order round.
        for (int64_t i = 0; i < n; ++i) {
          const Key key = OrderKey(from[i * inner]);
          entries[i] = {attrs.largest != 0 ? static_cast<Key>(~key) : key, i};
        }
        if (k < n) std::nth_element(entries.begin(), entries.begin() + (k - 1), entries.end());
        std::sort(entries.begin(), entries.begin() + k);
        const int64_t to = line / inner * k * inner + line % inner;
        for (int64_t i = 0; i < k; ++i) {
          values.data<T>()[to + i * inner] = from[entries[i].index * inner];
          if (indices != nullptr) indices[to + i * inner] = entries[i].index;
        }
      }
    });
    return absl::OkStatus();
  });
}

}  // namespace

absl::Span<const Kernel> RefTopK() {
  static constexpr Kernel kernels[] = {{.op = &ops::TopK, .name = "ref", .run = &RunTopK}};
  return kernels;
}

}  // namespace weft
