// Tensors and the values made of them.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/status_macros.h"
#include "capi/handles.h"

namespace weft::capi {
namespace {

static_assert(static_cast<int>(WEFT_KIND_UNKNOWN) == static_cast<int>(ValueKind::kUnknown) &&
              static_cast<int>(WEFT_KIND_TENSOR) == static_cast<int>(ValueKind::kTensor) &&
              static_cast<int>(WEFT_KIND_SEQUENCE) == static_cast<int>(ValueKind::kSequence) &&
              static_cast<int>(WEFT_KIND_OPTIONAL) == static_cast<int>(ValueKind::kOptional) &&
              static_cast<int>(WEFT_KIND_MAP) == static_cast<int>(ValueKind::kMap));
// The numbers of both are ONNX's; the last one tells whether the lists have grown apart.
static_assert(WEFT_INT2 == static_cast<int>(DType::kInt2) && kNumDTypes == WEFT_INT2 + 1);

bool IsType(weft_dtype dtype) { return dtype > WEFT_UNDEFINED && dtype < kNumDTypes; }

weft_status NoType(weft_dtype dtype) { return Fail(WEFT_USAGE, absl::StrCat(dtype, " is the number of no element type")); }

// The tensor, or null where the value is none.
const Tensor* TensorIn(const weft_value* value) { return value != nullptr && value->value.is_tensor() ? &value->value.tensor() : nullptr; }

// What the items of a sequence or optional are, for the empty one.
const std::vector<Value>* ItemsOf(const weft_value* value) {
  if (value == nullptr) return nullptr;
  if (value->value.is_sequence()) return &value->value.sequence().items;
  if (value->value.is_optional()) return &value->value.optional().item;
  return nullptr;
}

// The strings, where `index` is one's.
absl::StatusOr<std::string*> StringAt(const weft_value* value, size_t index) {
  const Tensor* tensor = TensorIn(value);
  if (tensor == nullptr || tensor->dtype() != DType::kString) return Invalid("the value is no tensor of strings");
  if (index >= static_cast<size_t>(tensor->size())) return Invalid("there is no element ", index, " in a tensor of ", tensor->size());
  return tensor->data<std::string>() + index;
}

// Of a tensor, or of those in a sequence or optional; kUndefined where nothing says it.
DType ElementsOf(const Value& value) {
  if (value.is_tensor()) return value.tensor().dtype();
  if (value.is_sequence()) return value.sequence().elem_dtype;
  if (value.is_optional()) return value.optional().elem_dtype;
  return DType::kUndefined;
}

absl::Status CheckItem(weft_dtype dtype, const Value& item) {
  const DType found = ElementsOf(item);
  if (item.is_map() || found == static_cast<DType>(dtype)) return absl::OkStatus();
  return Invalid("an item has elements of type ", DTypeName(found), ", expected ", DTypeName(static_cast<DType>(dtype)));
}

}  // namespace
}  // namespace weft::capi

using weft::DType;
using weft::Tensor;
using weft::Value;
using weft::capi::Fail;
using weft::capi::Give;
using weft::capi::Guard;
using weft::capi::IsType;
using weft::capi::NoType;
using weft::capi::Report;
using weft::capi::TensorIn;

extern "C" {

const char* weft_dtype_name(weft_dtype dtype) {
  // Names are literals, so they end with a zero byte.
  return dtype >= 0 && dtype < weft::kNumDTypes ? weft::DTypeName(static_cast<DType>(dtype)).data() : nullptr;
}

size_t weft_dtype_size(weft_dtype dtype) { return IsType(dtype) && dtype != WEFT_STRING ? weft::DTypeSize(static_cast<DType>(dtype)) : 0; }

weft_status weft_tensor_wrap(weft_dtype dtype, const int64_t* dims, size_t rank, void* data, size_t bytes, weft_value** tensor) {
  WEFT_CAPI_GIVES(tensor);
  if (rank > 0) WEFT_CAPI_NEEDS(dims);
  return Guard([&]() -> weft_status {
    if (!IsType(dtype)) return NoType(dtype);
    if (dtype == WEFT_STRING) return Fail(WEFT_USAGE, "strings cannot be wrapped, see weft_tensor_create");
    const absl::Span<const int64_t> shape(dims, rank);
    const absl::StatusOr<int64_t> count = weft::NumElements(shape);
    if (!count.ok()) return Report(count.status());
    const size_t size = weft_dtype_size(dtype);
    if (static_cast<uint64_t>(*count) > bytes / size) {
      return Fail(WEFT_USAGE, absl::StrCat(weft_dtype_name(dtype), weft::DimsToString(shape), " takes ", *count, " times ", size,
                                           " bytes, found ", bytes));
    }
    if (*count > 0) WEFT_CAPI_NEEDS(data);
    return Give(Tensor::Wrap(static_cast<DType>(dtype), shape, data), tensor);
  });
}

weft_status weft_tensor_create(weft_dtype dtype, const int64_t* dims, size_t rank, weft_value** tensor) {
  WEFT_CAPI_GIVES(tensor);
  if (rank > 0) WEFT_CAPI_NEEDS(dims);
  return Guard([&]() -> weft_status {
    if (!IsType(dtype)) return NoType(dtype);
    absl::StatusOr<Tensor> made = Tensor::Allocate(static_cast<DType>(dtype), absl::Span<const int64_t>(dims, rank));
    return made.ok() ? Give(*std::move(made), tensor) : Report(made.status());
  });
}

void weft_value_free(weft_value* value) { delete value; }

weft_kind weft_value_kind(const weft_value* value) {
  if (value == nullptr) return WEFT_KIND_UNKNOWN;
  const Value& held = value->value;
  return held.is_tensor()     ? WEFT_KIND_TENSOR
         : held.is_sequence() ? WEFT_KIND_SEQUENCE
         : held.is_optional() ? WEFT_KIND_OPTIONAL
         : held.is_map()      ? WEFT_KIND_MAP
                              : WEFT_KIND_UNKNOWN;
}

weft_dtype weft_tensor_dtype(const weft_value* tensor) {
  const Tensor* held = TensorIn(tensor);
  return held == nullptr ? WEFT_UNDEFINED : static_cast<weft_dtype>(held->dtype());
}
size_t weft_tensor_rank(const weft_value* tensor) {
  const Tensor* held = TensorIn(tensor);
  return held == nullptr ? 0 : held->dims().size();
}
const int64_t* weft_tensor_dims(const weft_value* tensor) {
  const Tensor* held = TensorIn(tensor);
  return held == nullptr ? nullptr : held->dims().data();
}
size_t weft_tensor_size(const weft_value* tensor) {
  const Tensor* held = TensorIn(tensor);
  return held == nullptr ? 0 : static_cast<size_t>(held->size());
}
size_t weft_tensor_bytes(const weft_value* tensor) { return weft_tensor_size(tensor) * weft_dtype_size(weft_tensor_dtype(tensor)); }
void* weft_tensor_data(const weft_value* tensor) {
  const Tensor* held = TensorIn(tensor);
  return held == nullptr || held->dtype() == DType::kString ? nullptr : held->data();
}

weft_status weft_tensor_set_string(weft_value* tensor, size_t index, const char* text, size_t length) {
  if (length > 0) WEFT_CAPI_NEEDS(text);
  return Guard([&]() -> weft_status {
    const absl::StatusOr<std::string*> element = weft::capi::StringAt(tensor, index);
    if (!element.ok()) return Fail(WEFT_USAGE, weft::ToStd(element.status().message()));
    (*element)->assign(length > 0 ? text : "", length);
    return WEFT_OK;
  });
}

weft_status weft_tensor_get_string(const weft_value* tensor, size_t index, const char** text, size_t* length) {
  WEFT_CAPI_GIVES(text);
  WEFT_CAPI_NEEDS(length);
  return Guard([&]() -> weft_status {
    const absl::StatusOr<std::string*> element = weft::capi::StringAt(tensor, index);
    if (!element.ok()) return Fail(WEFT_USAGE, weft::ToStd(element.status().message()));
    *text = (*element)->c_str();
    *length = (*element)->size();
    return WEFT_OK;
  });
}

weft_status weft_sequence_create(weft_dtype dtype, const weft_value* const* items, size_t count, weft_value** sequence) {
  WEFT_CAPI_GIVES(sequence);
  if (count > 0) WEFT_CAPI_NEEDS(items);
  for (size_t i = 0; i < count; ++i) WEFT_CAPI_NEEDS(items[i]);
  return Guard([&]() -> weft_status {
    if (!IsType(dtype)) return NoType(dtype);
    weft::Sequence made;
    made.elem_dtype = static_cast<DType>(dtype);
    for (size_t i = 0; i < count; ++i) {
      if (absl::Status status = weft::capi::CheckItem(dtype, items[i]->value); !status.ok()) return Report(status);
      made.items.push_back(items[i]->value);
    }
    return Give(std::move(made), sequence);
  });
}

weft_status weft_optional_create(weft_dtype dtype, const weft_value* item, weft_value** optional) {
  WEFT_CAPI_GIVES(optional);
  return Guard([&]() -> weft_status {
    if (!IsType(dtype)) return NoType(dtype);
    weft::Optional made;
    made.elem_dtype = static_cast<DType>(dtype);
    if (item != nullptr) {
      if (absl::Status status = weft::capi::CheckItem(dtype, item->value); !status.ok()) return Report(status);
      made.item.push_back(item->value);
    }
    return Give(std::move(made), optional);
  });
}

weft_status weft_map_create(const weft_value* keys, const weft_value* values, weft_value** map) {
  WEFT_CAPI_GIVES(map);
  WEFT_CAPI_NEEDS(keys);
  WEFT_CAPI_NEEDS(values);
  return Guard([&]() -> weft_status {
    const Tensor *k = TensorIn(keys), *v = TensorIn(values);
    const bool fit = k != nullptr && v != nullptr && k->rank() == 1 && v->rank() == 1 && k->size() == v->size() &&
                     (k->dtype() == DType::kString || weft::IsInteger(k->dtype()));
    if (!fit) return Fail(WEFT_INVALID, "a map is made of two tensors of one axis and equal size, its keys strings or integers");
    return Give(weft::Map{*k, *v}, map);
  });
}

size_t weft_value_item_count(const weft_value* value) {
  const std::vector<Value>* items = weft::capi::ItemsOf(value);
  return items == nullptr ? 0 : items->size();
}

weft_status weft_value_item(const weft_value* value, size_t index, weft_value** item) {
  WEFT_CAPI_GIVES(item);
  return Guard([&]() -> weft_status {
    if (index >= weft_value_item_count(value)) return Fail(WEFT_USAGE, absl::StrCat("the value has no item ", index));
    return Give((*weft::capi::ItemsOf(value))[index], item);
  });
}

weft_status weft_map_keys(const weft_value* map, weft_value** keys) {
  WEFT_CAPI_GIVES(keys);
  if (weft_value_kind(map) != WEFT_KIND_MAP) return Fail(WEFT_USAGE, "the value is no map");
  return Guard([&] { return Give(map->value.map().keys, keys); });
}

weft_status weft_map_values(const weft_value* map, weft_value** values) {
  WEFT_CAPI_GIVES(values);
  if (weft_value_kind(map) != WEFT_KIND_MAP) return Fail(WEFT_USAGE, "the value is no map");
  return Guard([&] { return Give(map->value.map().values, values); });
}

}  // extern "C"
