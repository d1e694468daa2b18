// ScatterElements, ScatterND, TensorScatter. Indices are checked before anything is written. Places named twice get their updates in the
// order of the updates: work is split so that one thread has all updates of a place.
#include "graph/ops/scatter.h"

#include <algorithm>
#include <cmath>
#include <complex>

#include "kernels/kernel.h"
#include "kernels/ref/dispatch.h"
#include "kernels/ref/indices.h"
#include "kernels/ref/strided.h"
#include "kernels/ref/wrapping.h"

namespace weft {
namespace {

template <class T>
T Greater(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) return x > y || std::isnan(x) ? x : y;
  else return std::max(x, y);
}
template <class T>
T Less(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) return x < y || std::isnan(x) ? x : y;
  else return std::min(x, y);
}

// Calls f.operator()<T>(combine), where combine(T old, T update) is what takes the place of `old`.
template <class F>
absl::Status DispatchReduction(DType dtype, std::string_view reduction, F f) {
  if (reduction == "none") {
    return DispatchSize(dtype, [&]<class T>() { return f.template operator()<T>([](const T&, const T& update) { return update; }); });
  }
  if (dtype == DType::kBool) {
    if (reduction == "add" || reduction == "max") return f.template operator()<uint8_t>([](uint8_t x, uint8_t y) { return x | y; });
    return f.template operator()<uint8_t>([](uint8_t x, uint8_t y) { return x & y; });
  }
  auto complex = [&]<class T>() {
    if (reduction == "add") return f.template operator()<T>([](T x, T y) { return x + y; });
    return f.template operator()<T>([](T x, T y) { return x * y; });
  };
  if (dtype == DType::kComplex64) return complex.template operator()<std::complex<float>>();
  if (dtype == DType::kComplex128) return complex.template operator()<std::complex<double>>();
  return DispatchNumeric(dtype, [&]<class T>() {
    auto with = [&](auto fn) {
      return f.template operator()<T>([fn](T x, T y) -> T {
        if constexpr (std::is_integral_v<T>) return static_cast<T>(fn(static_cast<Wrapping<T>>(x), static_cast<Wrapping<T>>(y)));
        else return T(fn(static_cast<Compute<T>>(x), static_cast<Compute<T>>(y)));
      });
    };
    if (reduction == "add") return with([](auto x, auto y) { return x + y; });
    if (reduction == "mul") return with([](auto x, auto y) { return x * y; });
    if (reduction == "max") return f.template operator()<T>([](T x, T y) { return T(Greater<Compute<T>>(x, y)); });
    return f.template operator()<T>([](T x, T y) { return T(Less<Compute<T>>(x, y)); });
  });
}

// The output starts as the data, unless it took the data's memory.
void StartFrom(const Tensor& data, Tensor& out) {
  if (out.data() != data.data()) CopyAll(data, out);
}

absl::Status RunScatterElements(RunContext& ctx) {
  const auto& attrs = ctx.attrs<ScatterElementsAttrs>();
  const Tensor &data = ctx.input(0), &index_tensor = ctx.input(1), &updates = ctx.input(2);
  Tensor& out = ctx.output(0);
  WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(attrs.axis, data.rank()));
  std::vector<int64_t> indices = ReadInts(index_tensor);
  for (int64_t& index : indices) {
    WEFT_ASSIGN_OR_RETURN(index, ResolveIndex(index, axis, data.dim(axis)));
  }
  StartFrom(data, out);
  if (indices.empty()) return absl::OkStatus();
  // Line by line along the axis: no two lines meet.
  const Dims strides = StridesOf(data.dims()), from_strides = StridesOf(updates.dims());
  const int64_t length = updates.dim(axis), from_step = from_strides[axis], step = strides[axis];
  return DispatchReduction(data.dtype(), attrs.reduction, [&]<class T>(auto combine) {
    ParallelFor(updates.size() / length, 4 * length, [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line) {
        int64_t rest = line, from = 0, base = 0;
        for (int i = data.rank() - 1; i >= 0; --i) {
          if (i == axis) continue;
          from += rest % updates.dim(i) * from_strides[i];
          base += rest % updates.dim(i) * strides[i];
          rest /= updates.dim(i);
        }
        for (int64_t j = 0; j < length; ++j, from += from_step) {
          T& place = out.data<T>()[base + indices[from] * step];
          place = combine(place, updates.data<const T>()[from]);
        }
      }
    });
    return absl::OkStatus();
  });
}

absl::Status RunScatterND(RunContext& ctx) {
  const Tensor &data = ctx.input(0), &index_tensor = ctx.input(1), &updates = ctx.input(2);
  Tensor& out = ctx.output(0);
  const int64_t k = index_tensor.dims().back(), tuples = index_tensor.size() / k;
  const Dims strides = StridesOf(data.dims());
  std::vector<int64_t> offsets(tuples);
  const int64_t* index = index_tensor.data<const int64_t>();
  for (int64_t& offset : offsets) {
    for (int64_t axis = 0; axis < k; ++axis) {
      WEFT_ASSIGN_OR_RETURN(const int64_t at, ResolveIndex(*index++, axis, data.dim(axis)));
      offset += at * strides[axis];
    }
  }
  StartFrom(data, out);
  const int64_t block = strides[k - 1];
  return DispatchReduction(data.dtype(), ctx.attrs<ScatterNDAttrs>().reduction, [&]<class T>(auto combine) {
    ParallelFor(block, 2 * tuples, [&](int64_t begin, int64_t end) {
      for (int64_t i = 0; i < tuples; ++i) {
        T* to = out.data<T>() + offsets[i];
        const T* from = updates.data<const T>() + i * block;
        for (int64_t j = begin; j < end; ++j) to[j] = combine(to[j], from[j]);
      }
    });
    return absl::OkStatus();
  });
}

absl::Status RunTensorScatter(RunContext& ctx) {
  const auto& attrs = ctx.attrs<TensorScatterAttrs>();
  const Tensor &cache = ctx.input(0), &update = ctx.input(1);
  Tensor& out = ctx.output(0);
  WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(attrs.axis, cache.rank()));
  const int64_t batch = cache.dim(0), room = cache.dim(axis), length = update.dim(axis);
  std::vector<int64_t> first(batch, 0);  // where each sample's update begins
  if (ctx.HasInput(2)) first = ReadInts(ctx.input(2));
  for (int64_t& at : first) {
    if (attrs.mode == "circular") {
      if (room != 0) at = (at % room + room) % room;
    } else if (at < 0 || at > room - length) {
      return Invalid("write index ", at, " is out of range: ", length, " elements do not fit there on axis ", axis, " of size ", room);
    }
  }
  StartFrom(cache, out);
  if (update.size() == 0) return absl::OkStatus();
  // [batch, middle, length, block] into [batch, middle, room, block], in up to two pieces where the cache is circular.
  const int64_t block = StridesOf(cache.dims())[axis], middle = update.size() / (batch * length * block);
  for (int64_t n = 0; n < batch; ++n) {
    const int64_t head = std::min(length, room - first[n]);
    auto copy = [&](int64_t from, int64_t to, int64_t count) {
      CopyStrided(update, out, {.dims = {middle, count * block}, .from_strides = {length * block, 1}, .to_strides = {room * block, 1},
                                .from_offset = (n * middle * length + from) * block, .to_offset = (n * middle * room + to) * block});
    };
    copy(0, first[n], head);
    copy(head, 0, length - head);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Span<const Kernel> RefScatter() {
  static constexpr Kernel kernels[] = {
      {.op = &ops::ScatterElements, .name = "ref", .run = &RunScatterElements},
      {.op = &ops::ScatterND, .name = "ref", .run = &RunScatterND},
      {.op = &ops::TensorScatter, .name = "ref", .run = &RunTensorScatter},
  };
  return kernels;
}

}  // namespace weft
