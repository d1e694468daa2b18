#include "runtime/caller_values.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace weft {
namespace {

absl::Status Check(const std::string& what, const Type& declared, const Value& value);

// Elements of every type lie at addresses that their size, and at most eight bytes, divides.
absl::Status CheckAddress(const std::string& what, const Tensor& tensor) {
  if (tensor.size() == 0) return absl::OkStatus();
  if (tensor.data() == nullptr) return Invalid(what, " has ", tensor.size(), " elements at address 0");
  const size_t alignment = std::min<size_t>(DTypeSize(tensor.dtype()), 8);
  if (reinterpret_cast<uintptr_t>(tensor.data()) % alignment == 0) return absl::OkStatus();
  return Invalid(what, " of type ", DTypeName(tensor.dtype()), " lies at an address that is no multiple of ", alignment);
}

absl::Status CheckItems(const std::string& what, const Type& declared, const Value& value) {
  if (declared.elem == nullptr) return absl::OkStatus();
  // What inference took from the declared shape holds for every item.
  for (const Value& item : value.is_sequence() ? value.sequence().items : value.optional().item) {
    WEFT_RETURN_IF_ERROR(Check(what, *declared.elem, item));
  }
  return absl::OkStatus();
}

absl::Status Check(const std::string& what, const Type& declared, const Value& value) {
  if (declared.kind == Type::Kind::kUnknown) return absl::OkStatus();
  const Type found = Type::Of(value);
  auto refuse = [&](const std::string& how) {
    return Invalid(what, " ", how, ": found ", found.ToString(), ", expected ", declared.ToString());
  };
  if (found.kind != declared.kind) return refuse("is of another kind");
  if (!declared.is_tensor()) {
    const Type *a = declared.InnerTensor(), *b = found.InnerTensor();
    if (a != nullptr && b != nullptr && b->dtype != DType::kUndefined && a->dtype != b->dtype) return refuse("has another element type");
    if (!value.is_map()) return CheckItems(what, declared, value);
    if (declared.dtype != found.dtype || declared.elem->dtype != found.elem->dtype) return refuse("has keys or values of another type");
    WEFT_RETURN_IF_ERROR(CheckAddress(what, value.map().keys));
    return CheckAddress(what, value.map().values);
  }
  if (declared.dtype != DType::kUndefined && found.dtype != declared.dtype) return refuse("has another element type");
  WEFT_RETURN_IF_ERROR(CheckAddress(what, value.tensor()));
  if (!declared.shape.has_rank()) return absl::OkStatus();
  if (found.shape.rank() != declared.shape.rank()) return refuse("has another rank");
  for (int axis = 0; axis < declared.shape.rank(); ++axis) {
    const Dim& dim = declared.shape[axis];
    if (dim.is_constant() && dim != found.shape[axis]) return refuse(absl::StrCat("has another size on axis ", axis));
  }
  return absl::OkStatus();
}

bool Overlap(const Tensor& a, const Tensor& b) {
  const auto a_begin = reinterpret_cast<uintptr_t>(a.data()), b_begin = reinterpret_cast<uintptr_t>(b.data());
  return a.bytes() > 0 && b.bytes() > 0 && a_begin < b_begin + b.bytes() && b_begin < a_begin + a.bytes();
}

bool Overlap(const Tensor& a, const Value& b) {
  if (b.is_tensor()) return Overlap(a, b.tensor());
  if (b.is_map()) return Overlap(a, b.map().keys) || Overlap(a, b.map().values);
  if (b.empty()) return false;
  const std::vector<Value>& items = b.is_sequence() ? b.sequence().items : b.optional().item;
  return std::any_of(items.begin(), items.end(), [&](const Value& item) { return Overlap(a, item); });
}

}  // namespace

absl::Status CheckInput(const std::string& name, const Type& declared, const Value& value) {
  return Check(absl::StrCat("input '", name, "'"), declared, value);
}

absl::Status CheckOutputMemory(const std::string& name, const Type& declared, const Tensor& memory) {
  const std::string what = absl::StrCat("the memory for output '", name, "'");
  if (memory.empty_handle()) return Invalid(what, " is an empty handle");
  if (declared.kind == Type::Kind::kUnknown) return CheckAddress(what, memory);
  return Check(what, declared, Value(memory));
}

absl::Status CheckDisjoint(absl::Span<const OutputPlace> places, absl::Span<const std::string> input_names,
                           absl::Span<const Value* const> inputs) {
  for (size_t i = 0; i < places.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (Overlap(places[i].memory, places[k].memory)) {
        return Invalid("the memory for output '", places[i].name, "' overlaps that for output '", places[k].name, "'");
      }
    }
    for (size_t k = 0; k < inputs.size(); ++k) {
      if (Overlap(places[i].memory, *inputs[k])) {
        return Invalid("the memory for output '", places[i].name, "' overlaps input '", input_names[k], "'");
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace weft
