// Tensor: a dense, row-major array of one element type. Copying a Tensor copies the handle, not the elements.
#ifndef WEFT_TENSOR_H_
#define WEFT_TENSOR_H_

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "weft/dtype.h"
#include "weft/export.h"

namespace weft WEFT_API {

// Sizes of a tensor's axes, outermost first. Empty for a scalar.
using Dims = absl::InlinedVector<int64_t, 6>;

// The product of the dims. Errors: InvalidArgument where one is negative, ResourceExhausted where the product exceeds
// int64.
absl::StatusOr<int64_t> NumElements(absl::Span<const int64_t> dims);

// "[1,3,224,224]".
std::string DimsToString(absl::Span<const int64_t> dims);

// 16-bit and 8-bit floats as stored; conversions live in base/float_types.h.
struct Float16;
struct BFloat16;

template <class T>
struct DTypeOf;  // DTypeOf<float>::value == DType::kFloat32
// clang-format off
template <> struct DTypeOf<float> { static constexpr DType value = DType::kFloat32; };
template <> struct DTypeOf<double> { static constexpr DType value = DType::kFloat64; };
template <> struct DTypeOf<uint8_t> { static constexpr DType value = DType::kUint8; };
template <> struct DTypeOf<int8_t> { static constexpr DType value = DType::kInt8; };
template <> struct DTypeOf<uint16_t> { static constexpr DType value = DType::kUint16; };
template <> struct DTypeOf<int16_t> { static constexpr DType value = DType::kInt16; };
template <> struct DTypeOf<uint32_t> { static constexpr DType value = DType::kUint32; };
template <> struct DTypeOf<int32_t> { static constexpr DType value = DType::kInt32; };
template <> struct DTypeOf<uint64_t> { static constexpr DType value = DType::kUint64; };
template <> struct DTypeOf<int64_t> { static constexpr DType value = DType::kInt64; };
template <> struct DTypeOf<bool> { static constexpr DType value = DType::kBool; };
template <> struct DTypeOf<std::string> { static constexpr DType value = DType::kString; };
template <> struct DTypeOf<Float16> { static constexpr DType value = DType::kFloat16; };
template <> struct DTypeOf<BFloat16> { static constexpr DType value = DType::kBFloat16; };
template <> struct DTypeOf<std::complex<float>> { static constexpr DType value = DType::kComplex64; };
template <> struct DTypeOf<std::complex<double>> { static constexpr DType value = DType::kComplex128; };
// clang-format on

class Tensor {
 public:
  // An empty handle: dtype kUndefined, no elements.
  Tensor() = default;

  // A new tensor with 64-byte aligned, zeroed elements (empty strings for kString).
  // Errors: InvalidArgument for a negative dim or kUndefined, ResourceExhausted where the bytes cannot be had or are
  // more than the machine has.
  static absl::StatusOr<Tensor> Allocate(DType dtype, absl::Span<const int64_t> dims);

  // As Allocate, but the elements are not initialised (strings still are).
  static absl::StatusOr<Tensor> AllocateUninitialized(DType dtype, absl::Span<const int64_t> dims);

  // A handle on memory that `owner` keeps alive (nullptr: the caller does). `data` holds the product of `dims`
  // elements.
  static Tensor Wrap(DType dtype, absl::Span<const int64_t> dims, void* data,
                     std::shared_ptr<const void> owner = nullptr);

  // A handle on the caller's memory, which must outlive every use; dims' product elements of T.
  template <class T>
  static Tensor View(T* data, absl::Span<const int64_t> dims) {
    return Wrap(DTypeOf<T>::value, dims, data);
  }

  // A tensor that owns a copy of `values`; their number must be the product of `dims` (checked).
  template <class T>
  static Tensor Of(absl::Span<const int64_t> dims, absl::Span<const T> values) {
    Tensor t = AllocateOrDie(DTypeOf<T>::value, dims, values.size());
    for (size_t i = 0; i < values.size(); ++i) t.data<T>()[i] = values[i];
    return t;
  }
  template <class T>
  static Tensor Of(std::initializer_list<int64_t> dims, std::initializer_list<T> values) {
    return Of<T>(absl::MakeConstSpan(dims.begin(), dims.size()), absl::MakeConstSpan(values.begin(), values.size()));
  }
  template <class T>
  static Tensor Scalar(T value) {
    return Of<T>({}, absl::MakeConstSpan(&value, 1));
  }

  DType dtype() const { return dtype_; }
  const Dims& dims() const { return dims_; }
  int rank() const { return static_cast<int>(dims_.size()); }
  int64_t dim(int axis) const { return dims_[axis]; }
  int64_t size() const { return size_; }                      // elements
  size_t bytes() const { return size_ * DTypeSize(dtype_); }  // bytes in memory
  bool empty_handle() const { return dtype_ == DType::kUndefined; }

  // The elements. T must have the size of the element type (sub-byte types: int8_t or uint8_t).
  template <class T = void>
  T* data() const {
    return static_cast<T*>(data_);
  }
  template <class T>
  absl::Span<T> span() const {
    return absl::Span<T>(data<T>(), size_);
  }

  // The same elements under other dims of equal product; shares the memory.
  Tensor Reshaped(absl::Span<const int64_t> dims) const;
  // A tensor with memory of its own; the empty handle gives an empty handle.
  absl::StatusOr<Tensor> Clone() const;
  const std::shared_ptr<const void>& owner() const { return owner_; }

 private:
  static Tensor AllocateOrDie(DType dtype, absl::Span<const int64_t> dims, size_t count);

  DType dtype_ = DType::kUndefined;
  Dims dims_;
  int64_t size_ = 0;
  void* data_ = nullptr;
  std::shared_ptr<const void> owner_;
};

// Equal dtype, dims and bytes (strings by value; so NaN equals the same NaN and -0.0 differs from 0.0).
bool BitwiseEqual(const Tensor& a, const Tensor& b);

}  // namespace weft

#endif  // WEFT_TENSOR_H_
