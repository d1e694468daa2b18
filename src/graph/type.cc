#include "graph/type.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text.h"

namespace weft {

std::optional<Dims> Shape::Concrete() const {
  if (!known_) return std::nullopt;
  Dims dims;
  for (const Dim& d : dims_) {
    if (!d.is_constant()) return std::nullopt;
    dims.push_back(d.constant());
  }
  return dims;
}

Dim Shape::NumElements() const {
  Dim product = 1;
  for (const Dim& d : dims_) product = product * d;
  return product;
}

namespace {

// ONNX text takes bare identifiers and integers; anything else is quoted.
std::string DimText(const Dim& dim) {
  std::string text = dim.ToString();
  const bool plain = dim.is_constant() ? dim.constant() >= 0 : dim.symbol() == text;
  return plain ? text : absl::StrCat("\"", text, "\"");
}

}  // namespace

std::string Shape::ToString() const {
  if (!known_) return "[...]";
  return absl::StrCat("[", absl::StrJoin(dims_, ",", [](std::string* out, const Dim& d) { absl::StrAppend(out, DimText(d)); }),
                      "]");
}

Type Type::OfTensor(DType dtype, Shape shape) {
  Type t;
  t.kind = Kind::kTensor;
  t.dtype = dtype;
  t.shape = std::move(shape);
  return t;
}

Type Type::OfTensor(const Tensor& tensor) { return OfTensor(tensor.dtype(), Shape::Of(tensor.dims())); }

Type Type::OfSequence(Type elem) {
  Type t;
  t.kind = Kind::kSequence;
  t.elem = std::make_shared<const Type>(std::move(elem));
  return t;
}

Type Type::OfOptional(Type elem) {
  Type t;
  t.kind = Kind::kOptional;
  t.elem = std::make_shared<const Type>(std::move(elem));
  return t;
}

Type Type::OfMap(DType key, Type value) {
  Type t;
  t.kind = Kind::kMap;
  t.dtype = key;
  t.elem = std::make_shared<const Type>(std::move(value));
  return t;
}

namespace {

// The common type of a sequence's items: a dim or rank in which they differ is unknown.
Type Join(const Type& a, const Type& b) {
  if (a.kind != b.kind || !a.is_tensor() || a.dtype != b.dtype) return a == b ? a : Type::Unknown();
  if (!a.shape.has_rank() || !b.shape.has_rank() || a.shape.rank() != b.shape.rank() || a.shape != b.shape) {
    return Type::OfTensor(a.dtype);
  }
  return a;
}

}  // namespace

Type Type::Of(const Value& value) {
  if (value.is_tensor()) return OfTensor(value.tensor());
  if (value.is_sequence()) {
    const Sequence& s = value.sequence();
    if (s.items.empty()) return OfSequence(OfTensor(s.elem_dtype));
    Type elem = Of(s.items[0]);
    for (size_t i = 1; i < s.items.size(); ++i) elem = Join(elem, Of(s.items[i]));
    return OfSequence(std::move(elem));
  }
  if (value.is_optional()) {
    const Optional& o = value.optional();
    return OfOptional(o.item.empty() ? OfTensor(o.elem_dtype) : Of(o.item[0]));
  }
  if (value.is_map()) return OfMap(value.map().keys.dtype(), OfTensor(value.map().values.dtype(), Shape(std::vector<Dim>{})));
  return Unknown();
}

const Type* Type::InnerTensor() const {
  const Type* t = this;
  while (t != nullptr && (t->kind == Kind::kSequence || t->kind == Kind::kOptional)) t = t->elem.get();
  return t != nullptr && t->is_tensor() ? t : nullptr;
}

bool operator==(const Type& a, const Type& b) {
  if (a.kind != b.kind || a.dtype != b.dtype || a.shape != b.shape) return false;
  if ((a.elem == nullptr) != (b.elem == nullptr)) return false;
  return a.elem == nullptr || *a.elem == *b.elem;
}

std::string Type::ToString() const {
  switch (kind) {
    case Kind::kUnknown:
      return "unknown";
    case Kind::kTensor: {
      std::string name(DTypeName(dtype));
      // ONNX text: a bare element type is a scalar, [] has unknown rank.
      if (!shape.has_rank()) return absl::StrCat(name, "[]");
      return shape.rank() == 0 ? name : absl::StrCat(name, shape.ToString());
    }
    case Kind::kSequence:
      return absl::StrCat("seq(", elem->ToString(), ")");
    case Kind::kOptional:
      return absl::StrCat("optional(", elem->ToString(), ")");
    case Kind::kMap:
      return absl::StrCat("map(", ToAbsl(DTypeName(dtype)), ", ", elem->ToString(), ")");
  }
  return "unknown";
}

}  // namespace weft
