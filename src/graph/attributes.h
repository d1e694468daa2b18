// Attributes of a node: a plain struct per op, and one list of (name, member) from which printing, parsing, comparison,
// hashing, import, export and defaults all come.
//
//   struct SoftmaxAttrs {
//     int64_t axis = -1;
//     static constexpr auto kFields = AttrFields(Field<&SoftmaxAttrs::axis>("axis"));
//   };
//
// kFields needs the complete struct, so it is written behind it:
//
//   struct SoftmaxAttrs { int64_t axis = -1; };
//   WEFT_ATTRS(SoftmaxAttrs, Field<&SoftmaxAttrs::axis>("axis"));
#ifndef WEFT_GRAPH_ATTRIBUTES_H_
#define WEFT_GRAPH_ATTRIBUTES_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "graph/type.h"
#include "weft/tensor.h"

namespace weft {

// What ONNX attributes hold (graphs apart: they are a node's regions). The order is that of AttrKind.
using AttrValue = std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>, std::vector<std::string>,
                               Tensor, std::vector<Tensor>, Type>;
enum class AttrKind : uint8_t { kInt, kFloat, kString, kInts, kFloats, kStrings, kTensor, kTensors, kType };

// "int", "float", "string", "ints", ...
std::string_view AttrKindName(AttrKind kind);
// Tensors compare bitwise; floats by bits.
bool AttrValueEqual(const AttrValue& a, const AttrValue& b);
size_t HashAttrValue(const AttrValue& value);

struct AttrField {
  std::string_view name;
  AttrKind kind;
  bool required;  // the importer refuses a node without it
  // Reads the member from `attrs`; nothing where it is an empty std::optional.
  std::optional<AttrValue> (*get)(const void* attrs);
  // Writes the member; `value` holds `kind`.
  void (*set)(void* attrs, AttrValue value);
};

namespace attributes_internal {

template <class T>
struct Held {
  using type = T;
  static constexpr bool optional = false;
};
template <class T>
struct Held<std::optional<T>> {
  using type = T;
  static constexpr bool optional = true;
};
// Integers of any width and bool are ONNX ints.
template <class T>
using Stored = std::conditional_t<std::is_same_v<T, bool> || std::is_same_v<T, int>, int64_t, T>;

template <class T>
constexpr AttrKind KindOf() {
  using S = Stored<T>;
  if constexpr (std::is_same_v<S, int64_t>) return AttrKind::kInt;
  else if constexpr (std::is_same_v<S, float>) return AttrKind::kFloat;
  else if constexpr (std::is_same_v<S, std::string>) return AttrKind::kString;
  else if constexpr (std::is_same_v<S, std::vector<int64_t>>) return AttrKind::kInts;
  else if constexpr (std::is_same_v<S, std::vector<float>>) return AttrKind::kFloats;
  else if constexpr (std::is_same_v<S, std::vector<std::string>>) return AttrKind::kStrings;
  else if constexpr (std::is_same_v<S, Tensor>) return AttrKind::kTensor;
  else if constexpr (std::is_same_v<S, std::vector<Tensor>>) return AttrKind::kTensors;
  else { static_assert(std::is_same_v<S, Type>); return AttrKind::kType; }
}

template <auto Member>
struct MemberTraits;
template <class C, class M, M C::*Member>
struct MemberTraits<Member> {
  using Class = C;
  using Value = M;
};

template <auto Member>
std::optional<AttrValue> Get(const void* attrs) {
  using Traits = MemberTraits<Member>;
  using H = Held<typename Traits::Value>;
  const auto& member = static_cast<const typename Traits::Class*>(attrs)->*Member;
  if constexpr (H::optional) {
    if (!member.has_value()) return std::nullopt;
    return AttrValue(static_cast<Stored<typename H::type>>(*member));
  } else {
    return AttrValue(static_cast<Stored<typename H::type>>(member));
  }
}
template <auto Member>
void Set(void* attrs, AttrValue value) {
  using Traits = MemberTraits<Member>;
  using T = typename Held<typename Traits::Value>::type;
  static_cast<typename Traits::Class*>(attrs)->*Member = static_cast<T>(std::get<Stored<T>>(std::move(value)));
}

template <class A>
struct FieldsOf;  // specialised by WEFT_ATTRS

}  // namespace attributes_internal

// Members may be int64_t, int, bool, float, std::string, vectors of int64_t, float and std::string, Tensor, std::vector<Tensor>, Type, or std::optional
// of these (an attribute without a default).
template <auto Member>
constexpr AttrField Field(std::string_view name) {
  using H = attributes_internal::Held<typename attributes_internal::MemberTraits<Member>::Value>;
  return {name, attributes_internal::KindOf<typename H::type>(), false, &attributes_internal::Get<Member>,
          &attributes_internal::Set<Member>};
}
template <auto Member>
constexpr AttrField RequiredField(std::string_view name) {
  AttrField field = Field<Member>(name);
  field.required = true;
  return field;
}

// Lists the fields of attribute struct `A`; at namespace weft scope, behind the struct.
#define WEFT_ATTRS(A, ...)                                                        \
  template <>                                                                     \
  struct attributes_internal::FieldsOf<A> {                                       \
    static constexpr auto value = std::to_array<::weft::AttrField>({__VA_ARGS__}); \
  }

// How to make, copy and walk one attribute struct. One object per struct: its address is the struct's identity.
struct AttrSchema {
  absl::Span<const AttrField> fields;
  std::shared_ptr<void> (*make)();                 // all defaults
  std::shared_ptr<void> (*copy)(const void* attrs);
};

struct NoAttrs {};
template <>
struct attributes_internal::FieldsOf<NoAttrs> {
  static constexpr std::array<AttrField, 0> value = {};
};

template <class A>
inline constexpr AttrSchema kAttrSchema = {
    attributes_internal::FieldsOf<A>::value,
    []() -> std::shared_ptr<void> { return std::make_shared<A>(); },
    [](const void* attrs) -> std::shared_ptr<void> { return std::make_shared<A>(*static_cast<const A*>(attrs)); },
};

// One node's attributes: a value type over a shared, immutable struct.
class Attrs {
 public:
  Attrs() : Attrs(&kAttrSchema<NoAttrs>) {}
  explicit Attrs(const AttrSchema* schema) : schema_(schema), held_(schema->make()) {}  // all defaults
  template <class A, class = std::enable_if_t<!std::is_pointer_v<A> && !std::is_same_v<A, Attrs>>>
  Attrs(A attrs) : schema_(&kAttrSchema<A>), held_(std::make_shared<A>(std::move(attrs))) {}  // NOLINT: implicit

  // The struct; A must be the op's attribute struct.
  template <class A>
  const A& As() const {
    return *static_cast<const A*>(held_.get());
  }
  template <class A>
  bool Holds() const {
    return schema_ == &kAttrSchema<A>;
  }

  const AttrSchema& schema() const { return *schema_; }
  // By name, for text, import and export. Get: nothing where the attribute is absent or unknown.
  std::optional<AttrValue> Get(std::string_view name) const;
  // Errors: no such attribute (the message lists those there are), or another kind than the field's.
  absl::Status Set(std::string_view name, AttrValue value);
  // True where the field holds what a fresh struct holds.
  bool IsDefault(const AttrField& field) const;

  friend bool operator==(const Attrs& a, const Attrs& b);
  friend bool operator!=(const Attrs& a, const Attrs& b) { return !(a == b); }
  size_t Hash() const;

 private:
  const AttrSchema* schema_;
  std::shared_ptr<const void> held_;
};

}  // namespace weft

#endif  // WEFT_GRAPH_ATTRIBUTES_H_
