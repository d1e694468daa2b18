#include "graph/attributes.h"

#include <cstring>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"

namespace weft {

std::string_view AttrKindName(AttrKind kind) {
  static constexpr std::string_view kNames[] = {"int", "float", "string", "ints", "floats", "strings", "tensor", "tensors", "type"};
  return kNames[static_cast<size_t>(kind)];
}

namespace {

bool SameBits(absl::Span<const float> a, absl::Span<const float> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

uint32_t Bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

}  // namespace

bool AttrValueEqual(const AttrValue& a, const AttrValue& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&b]<class T>(const T& x) {
        const T& y = std::get<T>(b);
        if constexpr (std::is_same_v<T, float>) {
          return SameBits({&x, 1}, {&y, 1});
        } else if constexpr (std::is_same_v<T, std::vector<float>>) {
          return SameBits(x, y);
        } else if constexpr (std::is_same_v<T, Tensor>) {
          return BitwiseEqual(x, y);
        } else if constexpr (std::is_same_v<T, std::vector<Tensor>>) {
          return x.size() == y.size() && std::equal(x.begin(), x.end(), y.begin(), BitwiseEqual);
        } else {
          return x == y;
        }
      },
      a);
}

size_t HashAttrValue(const AttrValue& value) {
  const size_t payload = std::visit(
      []<class T>(const T& x) -> size_t {
        if constexpr (std::is_same_v<T, float>) {
          return absl::HashOf(Bits(x));
        } else if constexpr (std::is_same_v<T, std::vector<float>>) {
          size_t h = x.size();
          for (float f : x) h = absl::HashOf(h, Bits(f));
          return h;
        } else if constexpr (std::is_same_v<T, Tensor>) {
          return absl::HashOf(x.dtype(), x.dims());
        } else if constexpr (std::is_same_v<T, std::vector<Tensor>>) {
          return x.size();
        } else if constexpr (std::is_same_v<T, Type>) {
          return absl::HashOf(x.kind, x.dtype);
        } else {
          return absl::HashOf(x);
        }
      },
      value);
  return absl::HashOf(value.index(), payload);
}

namespace {

const AttrField* FindField(const AttrSchema& schema, std::string_view name) {
  for (const AttrField& field : schema.fields) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

}  // namespace

std::optional<AttrValue> Attrs::Get(std::string_view name) const {
  const AttrField* field = FindField(*schema_, name);
  return field == nullptr ? std::nullopt : field->get(held_.get());
}

absl::Status Attrs::Set(std::string_view name, AttrValue value) {
  const AttrField* field = FindField(*schema_, name);
  if (field == nullptr) {
    return Invalid("unknown attribute '", name, "', expected ",
                   schema_->fields.empty()
                       ? std::string("none")
                       : "one of " + absl::StrJoin(schema_->fields, ", ", [](std::string* out, const AttrField& f) {
                           out->append(f.name);
                         }));
  }
  if (value.index() != static_cast<size_t>(field->kind)) {
    return Invalid("attribute '", name, "' is of kind ", AttrKindName(static_cast<AttrKind>(value.index())), ", expected ",
                   AttrKindName(field->kind));
  }
  std::shared_ptr<void> edited = schema_->copy(held_.get());
  field->set(edited.get(), std::move(value));
  held_ = std::move(edited);
  return absl::OkStatus();
}

namespace {

bool SameField(const AttrField& field, const void* a, const void* b) {
  const std::optional<AttrValue> x = field.get(a), y = field.get(b);
  return x.has_value() == y.has_value() && (!x || AttrValueEqual(*x, *y));
}

}  // namespace

bool Attrs::IsDefault(const AttrField& field) const { return SameField(field, held_.get(), schema_->make().get()); }

bool operator==(const Attrs& a, const Attrs& b) {
  if (a.schema_ != b.schema_) return false;
  if (a.held_ == b.held_) return true;
  for (const AttrField& field : a.schema_->fields) {
    if (!SameField(field, a.held_.get(), b.held_.get())) return false;
  }
  return true;
}

size_t Attrs::Hash() const {
  size_t h = absl::HashOf(schema_);
  for (const AttrField& field : schema_->fields) {
    const std::optional<AttrValue> value = field.get(held_.get());
    h = absl::HashOf(h, value ? HashAttrValue(*value) : 0);
  }
  return h;
}

}  // namespace weft
