// From an element type at run time to a C++ type at compile time, and loops over broadcast operands.
#ifndef WEFT_KERNELS_REF_DISPATCH_H_
#define WEFT_KERNELS_REF_DISPATCH_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "base/float_types.h"
#include "base/status_macros.h"
#include "base/threads.h"
#include "weft/tensor.h"

namespace weft {

// The type in which elements of type T are computed.
template <class T>
struct ComputeOf { using type = T; };
template <>
struct ComputeOf<Float16> { using type = float; };
template <>
struct ComputeOf<BFloat16> { using type = float; };
template <class T>
using Compute = typename ComputeOf<T>::type;

// Calls f.template operator()<T>() with the C++ type of `dtype`; f returns absl::Status. Types outside the group are Unsupported: inference
// has refused them before.
template <class F>
absl::Status DispatchFloat(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kFloat32: return f.template operator()<float>();
    case DType::kFloat64: return f.template operator()<double>();
    case DType::kFloat16: return f.template operator()<Float16>();
    case DType::kBFloat16: return f.template operator()<BFloat16>();
    default: return Unsupported("element type ", DTypeName(dtype), ", expected float, double, float16 or bfloat16");
  }
}
template <class F>
absl::Status DispatchInteger(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kInt8: return f.template operator()<int8_t>();
    case DType::kInt16: return f.template operator()<int16_t>();
    case DType::kInt32: return f.template operator()<int32_t>();
    case DType::kInt64: return f.template operator()<int64_t>();
    case DType::kUint8: return f.template operator()<uint8_t>();
    case DType::kUint16: return f.template operator()<uint16_t>();
    case DType::kUint32: return f.template operator()<uint32_t>();
    case DType::kUint64: return f.template operator()<uint64_t>();
    default: return Unsupported("element type ", DTypeName(dtype), ", expected an integer type");
  }
}
template <class F>
absl::Status DispatchNumeric(DType dtype, F&& f) {
  return IsFloat(dtype) ? DispatchFloat(dtype, f) : DispatchInteger(dtype, f);
}
// Any type by the size of its elements, for ops that only move them: uint8_t to uint64_t, two words for complex128, std::string.
struct Word128 { uint64_t low, high; };
template <class F>
absl::Status DispatchSize(DType dtype, F&& f) {
  if (dtype == DType::kString) return f.template operator()<std::string>();
  switch (DTypeSize(dtype)) {
    case 1: return f.template operator()<uint8_t>();
    case 2: return f.template operator()<uint16_t>();
    case 4: return f.template operator()<uint32_t>();
    case 8: return f.template operator()<uint64_t>();
    case 16: return f.template operator()<Word128>();
    default: return Unsupported("element type ", DTypeName(dtype));
  }
}

// The axes of N operands broadcast to `out`, neighbours merged where every operand allows it: most broadcasts come down to one or two axes,
// and the innermost has stride 0 or 1 in each operand.
template <size_t N>
struct BroadcastLoop {
  Dims dims;
  std::array<Dims, N> strides;  // in elements, 0 along a broadcast axis

  BroadcastLoop(absl::Span<const int64_t> out, const std::array<const Dims*, N>& operands) {
    std::array<Dims, N> full;
    const auto rank = static_cast<int>(out.size());
    for (size_t k = 0; k < N; ++k) {
      full[k].resize(rank, 0);
      int64_t stride = 1;
      const int offset = rank - static_cast<int>(operands[k]->size());
      for (int axis = rank - 1; axis >= offset; --axis) {
        const int64_t d = (*operands[k])[axis - offset];
        full[k][axis] = d == 1 && out[axis] != 1 ? 0 : stride;
        stride *= d;
      }
    }
    for (int axis = 0; axis < rank; ++axis) {
      if (out[axis] == 1) continue;
      bool merge = !dims.empty();
      for (size_t k = 0; merge && k < N; ++k) merge = strides[k].back() == full[k][axis] * out[axis];
      if (merge) {
        dims.back() *= out[axis];
        for (size_t k = 0; k < N; ++k) strides[k].back() = full[k][axis];
      } else {
        dims.push_back(out[axis]);
        for (size_t k = 0; k < N; ++k) strides[k].push_back(full[k][axis]);
      }
    }
    if (dims.empty()) {
      dims.push_back(1);
      for (size_t k = 0; k < N; ++k) strides[k].push_back(0);
    }
  }

  int64_t inner_stride(size_t k) const { return strides[k].back(); }

  // row(out_begin, offsets, count): `count` consecutive output elements from `out_begin`; operand k begins at offsets[k] and goes on by
  // inner_stride(k). Rows run in parallel.
  template <class Row>
  void Run(int64_t cost, Row row) const {
    int64_t total = 1;
    for (int64_t d : dims) total *= d;
    if (total == 0) return;
    const int64_t inner = dims.back();
    ParallelFor(total, cost, [&](int64_t begin, int64_t end) {
      const auto rank = static_cast<int>(dims.size());
      Dims at(rank, 0);
      int64_t rest = begin;
      for (int axis = rank - 1; axis >= 0; --axis) {
        at[axis] = rest % dims[axis];
        rest /= dims[axis];
      }
      std::array<int64_t, N> offsets{};
      for (size_t k = 0; k < N; ++k) {
        for (int axis = 0; axis < rank; ++axis) offsets[k] += at[axis] * strides[k][axis];
      }
      while (begin < end) {
        const int64_t count = std::min(end - begin, inner - at[rank - 1]);
        row(begin, offsets, count);
        begin += count;
        // On to the next row: carry through the axes from the innermost.
        for (size_t k = 0; k < N; ++k) offsets[k] -= at[rank - 1] * strides[k][rank - 1];
        at[rank - 1] = 0;
        for (int axis = rank - 2; axis >= 0; --axis) {
          for (size_t k = 0; k < N; ++k) offsets[k] += strides[k][axis];
          if (++at[axis] < dims[axis]) break;
          for (size_t k = 0; k < N; ++k) offsets[k] -= at[axis] * strides[k][axis];
          at[axis] = 0;
        }
      }
    });
  }
};

// out[i] = op(x[i], y[i]) with broadcasting. A and B may be other types than O; op takes what the elements are.
template <class A, class B, class O, class Fn>
void BroadcastBinary(const Tensor& a, const Tensor& b, Tensor& out, Fn op) {
  const BroadcastLoop<2> loop(out.dims(), {&a.dims(), &b.dims()});
  const A* x = a.data<A>();
  const B* y = b.data<B>();
  O* z = out.data<O>();
  const int64_t sx = loop.inner_stride(0), sy = loop.inner_stride(1);
  loop.Run(4, [&](int64_t at, const std::array<int64_t, 2>& from, int64_t count) {
    const A* p = x + from[0];
    const B* q = y + from[1];
    O* r = z + at;
    if (sx == 1 && sy == 1) {
      for (int64_t i = 0; i < count; ++i) r[i] = static_cast<O>(op(p[i], q[i]));
    } else if (sx == 1 && sy == 0) {
      const B v = *q;
      for (int64_t i = 0; i < count; ++i) r[i] = static_cast<O>(op(p[i], v));
    } else if (sx == 0 && sy == 1) {
      const A v = *p;
      for (int64_t i = 0; i < count; ++i) r[i] = static_cast<O>(op(v, q[i]));
    } else {
      for (int64_t i = 0; i < count; ++i) r[i] = static_cast<O>(op(p[i * sx], q[i * sy]));
    }
  });
}

// out[i] = op(x[i]).
template <class A, class O, class Fn>
void MapElements(const Tensor& x, Tensor& out, int64_t cost, Fn op) {
  const A* p = x.data<A>();
  O* r = out.data<O>();
  ParallelFor(x.size(), cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) r[i] = static_cast<O>(op(p[i]));
  });
}

}  // namespace weft

#endif  // WEFT_KERNELS_REF_DISPATCH_H_
