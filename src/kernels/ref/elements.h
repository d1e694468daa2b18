// Elements converted on their way in and out: reference kernels of the matrix-like ops compute in float, double or unsigned
// integers (whose wraparound is defined), whatever the tensors hold.
#ifndef WEFT_KERNELS_REF_ELEMENTS_H_
#define WEFT_KERNELS_REF_ELEMENTS_H_

#include <cstdint>
#include <type_traits>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/float_types.h"
#include "base/status_macros.h"
#include "base/threads.h"
#include "weft/tensor.h"

namespace weft {

// Of dims that a tensor has: it can overflow beside a zero alone, and then wraps.
inline int64_t Product(absl::Span<const int64_t> dims) {
  uint64_t product = 1;
  for (int64_t d : dims) product *= static_cast<uint64_t>(d);
  return static_cast<int64_t>(product);
}

// Elements [begin, begin + count) of a tensor of any type but strings and complex, as T.
template <class T>
void ReadElements(const Tensor& from, int64_t begin, int64_t count, T* to) {
  auto copy = [&]<class S>(const S* data) {
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(data[begin + i]);
  };
  switch (from.dtype()) {
    case DType::kFloat32: return copy(from.data<const float>());
    case DType::kFloat64: return copy(from.data<const double>());
    case DType::kFloat16:
      for (int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(HalfToFloat(from.data<const uint16_t>()[begin + i]));
      return;
    case DType::kBFloat16:
      for (int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(BFloat16ToFloat(from.data<const uint16_t>()[begin + i]));
      return;
    case DType::kUint8: case DType::kUint4: case DType::kUint2: case DType::kBool: return copy(from.data<const uint8_t>());
    case DType::kInt8: case DType::kInt4: case DType::kInt2: return copy(from.data<const int8_t>());
    case DType::kUint16: return copy(from.data<const uint16_t>());
    case DType::kInt16: return copy(from.data<const int16_t>());
    case DType::kUint32: return copy(from.data<const uint32_t>());
    case DType::kInt32: return copy(from.data<const int32_t>());
    case DType::kUint64: return copy(from.data<const uint64_t>());
    case DType::kInt64: return copy(from.data<const int64_t>());
    default:  // the 8-bit and 4-bit floats
      for (int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(SmallFloatToFloat(from.dtype(), from.data<const uint8_t>()[begin + i]));
  }
}

// The inverse for float, double, float16 and bfloat16, and for unsigned T into the integers of its width.
template <class T>
void WriteElements(const T* from, int64_t count, Tensor& to, int64_t begin) {
  auto copy = [&]<class S>(S* data) {
    for (int64_t i = 0; i < count; ++i) data[begin + i] = static_cast<S>(from[i]);
  };
  if constexpr (std::is_floating_point_v<T>) {
    switch (to.dtype()) {
      case DType::kFloat64: return copy(to.data<double>());
      case DType::kFloat16:
        for (int64_t i = 0; i < count; ++i) to.data<uint16_t>()[begin + i] = FloatToHalf(static_cast<float>(from[i]));
        return;
      case DType::kBFloat16:
        for (int64_t i = 0; i < count; ++i) to.data<uint16_t>()[begin + i] = FloatToBFloat16(static_cast<float>(from[i]));
        return;
      default: return copy(to.data<float>());
    }
  } else {
    copy(to.data<T>());
  }
}

// The type a kernel computes in for tensors of float type `dtype`: body.operator()<double>() for double, <float>() otherwise.
template <class Body>
auto DispatchWide(DType dtype, Body body) {
  return dtype == DType::kFloat64 ? body.template operator()<double>() : body.template operator()<float>();
}

// All elements as T: `t` itself where it holds T (or the signed integer of T's width), a converted copy otherwise.
template <class T>
absl::StatusOr<Tensor> Widen(const Tensor& t) {
  const DType dtype = t.dtype();
  if (dtype == DTypeOf<T>::value || (std::is_same_v<T, uint32_t> && dtype == DType::kInt32) ||
      (std::is_same_v<T, uint64_t> && dtype == DType::kInt64)) {
    return t;
  }
  WEFT_ASSIGN_OR_RETURN(Tensor wide, Tensor::AllocateUninitialized(DTypeOf<T>::value, t.dims()));
  ParallelFor(t.size(), 2, [&](int64_t begin, int64_t end) { ReadElements(t, begin, end - begin, wide.data<T>() + begin); });
  return wide;
}

// A tensor of T to compute an output in: the output itself where it holds T, scratch otherwise.
template <class T>
absl::StatusOr<Tensor> WideOutput(const Tensor& out) {
  if (out.dtype() == DTypeOf<T>::value || (std::is_integral_v<T> && DTypeSize(out.dtype()) == sizeof(T))) return out;
  return Tensor::AllocateUninitialized(DTypeOf<T>::value, out.dims());
}

// Moves the result of WideOutput into the output; nothing to do where they are one.
template <class T>
void Narrow(const Tensor& wide, Tensor& out) {
  if (wide.data() == out.data()) return;
  ParallelFor(out.size(), 2, [&](int64_t begin, int64_t end) {
    WriteElements(wide.data<T>() + begin, end - begin, out, begin);
  });
}

}  // namespace weft

#endif  // WEFT_KERNELS_REF_ELEMENTS_H_
