#include "weft/tensor.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/str_join.h"
#include "base/status_macros.h"

namespace weft {

absl::StatusOr<int64_t> NumElements(absl::Span<const int64_t> dims) {
  int64_t product = 1;
  bool empty = false, overflow = false;
  for (int64_t d : dims) {
    if (d < 0) return Invalid("shape ", DimsToString(dims), " has a negative dim");
    empty |= d == 0;
    overflow |= __builtin_mul_overflow(product, std::max<int64_t>(d, 1), &product);
  }
  if (empty) return 0;
  if (overflow) return Exhausted("shape ", DimsToString(dims), " has more elements than 64 bits count");
  return product;
}

std::string DimsToString(absl::Span<const int64_t> dims) { return absl::StrCat("[", absl::StrJoin(dims, ","), "]"); }

namespace {

constexpr size_t kAlignment = 64;

// The machine's memory. A kernel may promise more than that, and end the process when the promise is called in.
size_t PhysicalBytes() {
  static const size_t bytes = [] {
    const int64_t pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGE_SIZE);
    return pages > 0 && page_bytes > 0 ? static_cast<size_t>(pages) * static_cast<size_t>(page_bytes) : size_t{1} << 40;
  }();
  return bytes;
}

// Null where there is no such memory.
std::shared_ptr<void> AllocateBytes(size_t bytes, bool zero) {
  const size_t rounded = (std::max<size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  // calloc leaves untouched pages to the kernel, but aligns to 16 bytes only: the block is shifted inside a larger one.
  void* block = zero ? std::calloc(1, rounded + kAlignment) : std::aligned_alloc(kAlignment, rounded);
  if (block == nullptr) return nullptr;
  std::shared_ptr<void> owner(block, std::free);
  if (!zero) return owner;
  const auto address = (reinterpret_cast<uintptr_t>(block) + kAlignment - 1) / kAlignment * kAlignment;
  return std::shared_ptr<void>(std::move(owner), reinterpret_cast<void*>(address));
}

absl::StatusOr<Tensor> AllocateTensor(DType dtype, absl::Span<const int64_t> dims, bool zero) {
  WEFT_ASSIGN_OR_RETURN(const int64_t count, NumElements(dims));
  if (dtype == DType::kUndefined) return Invalid("a tensor has the element type 'undefined'");
  size_t bytes;
  std::shared_ptr<void> memory;
  const bool counted = !__builtin_mul_overflow(static_cast<size_t>(count), DTypeSize(dtype), &bytes);
  if (counted && bytes <= PhysicalBytes()) memory = AllocateBytes(bytes, zero);
  if (memory == nullptr) {
    return Exhausted("no memory for ", DTypeName(dtype), DimsToString(dims), ", ",
                     counted ? absl::StrCat(bytes, " bytes") : std::string("more bytes than 64 bits count"));
  }
  if (dtype == DType::kString) {
    auto* strings = static_cast<std::string*>(memory.get());
    std::uninitialized_default_construct_n(strings, count);
    memory = std::shared_ptr<void>(strings,
                                   [memory, count](void* p) { std::destroy_n(static_cast<std::string*>(p), count); });
  }
  void* data = memory.get();
  return Tensor::Wrap(dtype, dims, data, std::move(memory));
}

}  // namespace

absl::StatusOr<Tensor> Tensor::Allocate(DType dtype, absl::Span<const int64_t> dims) {
  return AllocateTensor(dtype, dims, true);
}

absl::StatusOr<Tensor> Tensor::AllocateUninitialized(DType dtype, absl::Span<const int64_t> dims) {
  return AllocateTensor(dtype, dims, false);
}

Tensor Tensor::Wrap(DType dtype, absl::Span<const int64_t> dims, void* data, std::shared_ptr<const void> owner) {
  Tensor t;
  t.dtype_ = dtype;
  t.dims_.assign(dims.begin(), dims.end());
  t.size_ = 1;
  for (int64_t d : dims) t.size_ *= d;
  t.data_ = data;
  t.owner_ = std::move(owner);
  return t;
}

Tensor Tensor::AllocateOrDie(DType dtype, absl::Span<const int64_t> dims, size_t count) {
  absl::StatusOr<Tensor> tensor = Allocate(dtype, dims);
  if (!tensor.ok() || tensor->size() != static_cast<int64_t>(count)) std::abort();  // a programmer's error: see Of
  return *std::move(tensor);
}

Tensor Tensor::Reshaped(absl::Span<const int64_t> dims) const { return Wrap(dtype_, dims, data_, owner_); }

absl::StatusOr<Tensor> Tensor::Clone() const {
  if (empty_handle()) return *this;
  WEFT_ASSIGN_OR_RETURN(Tensor copy, AllocateUninitialized(dtype_, dims_));
  if (dtype_ == DType::kString) {
    std::copy_n(data<std::string>(), size_, copy.data<std::string>());
  } else if (size_ > 0) {
    std::memcpy(copy.data(), data(), bytes());
  }
  return copy;
}

bool BitwiseEqual(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.dims() != b.dims()) return false;
  if (a.size() == 0 || a.data() == b.data()) return true;
  if (a.dtype() == DType::kString)
    return std::equal(a.data<std::string>(), a.data<std::string>() + a.size(), b.data<std::string>());
  return std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

}  // namespace weft
