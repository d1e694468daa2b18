#include "graph/text_values.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "graph/text_words.h"

namespace weft {
namespace {

constexpr int kMaxTypeDepth = 64;

std::optional<DType> ElementType(std::string_view word) {
  return word == "undefined" ? DType::kUndefined : DTypeFromName(word);
}

}  // namespace

// ---- Types ----

// "?7", behind every such name in the text.
Dim ValueParser::FreshSymbol() {
  if (next_symbol_ == 0) {
    for (size_t i = text().find('?'); i != std::string_view::npos; i = text().find('?', i + 1)) {
      int64_t number = 0;
      const std::string_view digits = text().substr(i + 1, 15);
      (void)std::from_chars(digits.data(), digits.data() + digits.size(), number);
      next_symbol_ = std::max(next_symbol_, number);
    }
  }
  return Dim::Symbol(absl::StrCat("?", ++next_symbol_));
}

absl::StatusOr<Dim> ValueParser::ParseDim() {
  if (Matches('?')) return FreshSymbol();
  const size_t pos = Here();
  if (Peek() == '"') {
    WEFT_ASSIGN_OR_RETURN(std::string text, String("a dim"));
    if (text.empty()) return ErrorAt(pos, "an empty dim", "a name or an expression");
    const auto parsed = Dim::Parse(text);
    const Dim dim = parsed.ok() ? *parsed : Dim::Symbol(text);
    if (dim.is_constant() && dim.constant() < 0) return ErrorAt(pos, "a dim that is not negative");
    return dim;
  }
  if (const std::string_view word = Word(); !word.empty()) return Dim::Symbol(word);
  WEFT_ASSIGN_OR_RETURN(const int64_t size, Integer<int64_t>("a dim: an integer, a name, a quoted expression or ?"));
  if (size < 0) return ErrorAt(pos, "a dim that is not negative");
  return Dim(size);
}

absl::StatusOr<Type> ValueParser::ParseType(int depth) {
  const size_t pos = Here();
  if (depth > kMaxTypeDepth)
    return ErrorAt(pos, absl::StrCat("a type ", depth, " deep"), absl::StrCat("at most ", kMaxTypeDepth));
  const std::string_view word = Word();
  const std::optional<DType> dtype = ElementType(word);
  if (dtype) {
    if (!Matches('[')) return Type::OfTensor(*dtype, Shape(std::vector<Dim>{}));
    if (Matches(']')) return Type::OfTensor(*dtype);
    std::vector<Dim> dims;
    do {
      WEFT_ASSIGN_OR_RETURN(Dim dim, ParseDim());
      dims.push_back(std::move(dim));
    } while (Matches(','));
    WEFT_RETURN_IF_ERROR(Expect(']', "',' or ']' behind a dim"));
    return Type::OfTensor(*dtype, Shape(std::move(dims)));
  }
  if (word == "unknown") return Type::Unknown();
  if (word == "map") {
    WEFT_RETURN_IF_ERROR(Expect('('));
    const size_t key_pos = Here();
    const std::optional<DType> key = ElementType(Word());
    if (!key) return ErrorAt(key_pos, "the element type of the map's keys");
    WEFT_RETURN_IF_ERROR(Expect(','));
    WEFT_ASSIGN_OR_RETURN(Type value, ParseType(depth + 1));
    WEFT_RETURN_IF_ERROR(Expect(')'));
    return Type::OfMap(*key, std::move(value));
  }
  if (word == "seq" || word == "optional") {
    WEFT_RETURN_IF_ERROR(Expect('('));
    WEFT_ASSIGN_OR_RETURN(Type elem, ParseType(depth + 1));
    WEFT_RETURN_IF_ERROR(Expect(')'));
    return word == "seq" ? Type::OfSequence(std::move(elem)) : Type::OfOptional(std::move(elem));
  }
  if (text_words::StartsType(word)) return UnsupportedAt(pos, absl::StrCat("type ", ToAbsl(word)));
  return ErrorAt(pos, "a type");
}

// ---- Tensors ----

template <class T>
absl::StatusOr<Tensor> ValueParser::ParseElements(DType dtype, const Dims& dims, int64_t count) {
  // The vector grows with the text: a wrong shape costs no memory.
  std::vector<T> elements;
  WEFT_RETURN_IF_ERROR(Expect('{', "'{' before the elements"));
  const size_t pos = Here();
  if (!Matches('}')) {
    do {
      if constexpr (std::is_same_v<T, std::string>) {
        WEFT_ASSIGN_OR_RETURN(std::string element, String("an element"));
        elements.push_back(std::move(element));
      } else if constexpr (std::is_floating_point_v<T>) {
        WEFT_ASSIGN_OR_RETURN(T element, Float<T>("an element"));
        elements.push_back(element);
      } else {
        WEFT_ASSIGN_OR_RETURN(T element, Integer<T>("an element"));
        elements.push_back(element);
      }
    } while (Matches(','));
    WEFT_RETURN_IF_ERROR(Expect('}', "',' or '}' behind an element"));
  }
  const bool packed = DTypeFileBits(dtype) > 0 && DTypeFileBits(dtype) < 8;
  const bool pairs = IsComplex(dtype);
  const int per_entry = packed ? 8 / DTypeFileBits(dtype) : 1;
  // Compared by what the text has, so that no product overflows.
  const int64_t given = static_cast<int64_t>(elements.size());
  const bool fits =
      pairs ? given % 2 == 0 && given / 2 == count : given == count / per_entry + (count % per_entry != 0);
  if (!fits) {
    return ErrorAt(pos,
                   absl::StrCat(given, pairs    ? " parts"
                                       : packed ? " bytes"
                                                : " elements"),
                   absl::StrCat("those of ", count, " elements of ", ToAbsl(DTypeName(dtype)), DimsToString(dims)));
  }
  if (dtype == DType::kBool) {
    if constexpr (std::is_same_v<T, uint8_t>) {
      for (uint8_t element : elements) {
        if (element > 1) return ErrorAt(pos, absl::StrCat("the bool ", element), "0 or 1");
      }
    }
  }
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(dtype, dims));
  if constexpr (std::is_same_v<T, std::string>) {
    std::move(elements.begin(), elements.end(), tensor.data<std::string>());
  } else {
    if constexpr (std::is_same_v<T, uint8_t>) {
      if (packed) {
        text_words::Unpack(elements, tensor);
        return tensor;
      }
    }
    if (!elements.empty()) std::memcpy(tensor.data(), elements.data(), elements.size() * sizeof(T));
  }
  return tensor;
}

absl::StatusOr<Tensor> ValueParser::ParseTensorData(const Type& type, size_t type_pos) {
  const std::optional<Dims> dims = type.is_tensor() ? type.shape.Concrete() : std::nullopt;
  if (!dims || type.dtype == DType::kUndefined) {
    return ErrorAt(type_pos, type.kind == Type::Kind::kUnknown ? "no type" : type.ToString(),
                   "a tensor type with integers as dims, as float[2,3]");
  }
  const auto count = NumElements(*dims);
  if (!count.ok()) return ErrorAt(type_pos, type.ToString(), "a shape whose number of elements fits 64 bits");
  if (Peek() == '[') return UnsupportedAt(Here(), "external data");
  switch (type.dtype) {
    case DType::kFloat32:
    case DType::kComplex64:
      return ParseElements<float>(type.dtype, *dims, *count);
    case DType::kFloat64:
    case DType::kComplex128:
      return ParseElements<double>(type.dtype, *dims, *count);
    case DType::kInt8:
      return ParseElements<int8_t>(type.dtype, *dims, *count);
    case DType::kInt16:
      return ParseElements<int16_t>(type.dtype, *dims, *count);
    case DType::kInt32:
      return ParseElements<int32_t>(type.dtype, *dims, *count);
    case DType::kInt64:
      return ParseElements<int64_t>(type.dtype, *dims, *count);
    case DType::kUint32:
      return ParseElements<uint32_t>(type.dtype, *dims, *count);
    case DType::kUint64:
      return ParseElements<uint64_t>(type.dtype, *dims, *count);
    case DType::kUint16:
    case DType::kFloat16:
    case DType::kBFloat16:
      return ParseElements<uint16_t>(type.dtype, *dims, *count);
    case DType::kString:
      return ParseElements<std::string>(type.dtype, *dims, *count);
    default:
      return ParseElements<uint8_t>(type.dtype, *dims, *count);  // bytes, or packed into them
  }
}

absl::StatusOr<Tensor> ValueParser::ParseTensor() {
  const size_t pos = Here();
  WEFT_ASSIGN_OR_RETURN(Type type, ParseType());
  if (Peek() != '{' && Peek() != '=' && Peek() != '[') {  // a tensor may have a name, which says nothing here
    WEFT_RETURN_IF_ERROR(Name("'{' before the elements").status());
  }
  (void)Matches('=');
  return ParseTensorData(type, pos);
}

// ---- Attributes ----

template <class T, class ParseItem>
absl::StatusOr<AttrValue> ValueParser::ParseList(ParseItem parse_item) {
  std::vector<T> items;
  WEFT_RETURN_IF_ERROR(Expect('[', "'[' before a list"));
  if (Matches(']')) return AttrValue(std::move(items));
  do {
    WEFT_ASSIGN_OR_RETURN(T item, parse_item());
    items.push_back(std::move(item));
  } while (Matches(','));
  WEFT_RETURN_IF_ERROR(Expect(']', "',' or ']' in a list"));
  return AttrValue(std::move(items));
}

absl::StatusOr<AttrValue> ValueParser::ParseAttrValue(AttrKind kind) {
  auto integer = [this] { return Integer<int64_t>("an integer"); };
  auto number = [this] { return Float<float>("a number"); };
  auto string = [this] { return String("a string in quotes"); };
  auto tensor = [this] { return ParseTensor(); };
  auto one = [](auto value) -> absl::StatusOr<AttrValue> {
    if (!value.ok()) return value.status();
    return AttrValue(*std::move(value));
  };
  if (Peek() == '@') return UnsupportedAt(Here(), "a reference to an attribute of a function");
  switch (kind) {
    case AttrKind::kInt:
      return one(integer());
    case AttrKind::kFloat:
      return one(number());
    case AttrKind::kString:
      return one(string());
    case AttrKind::kTensor:
      return one(tensor());
    case AttrKind::kType:
      return one(ParseType());
    case AttrKind::kInts:
      return ParseList<int64_t>(integer);
    case AttrKind::kFloats:
      return ParseList<float>(number);
    case AttrKind::kStrings:
      return ParseList<std::string>(string);
    case AttrKind::kTensors:
      return ParseList<Tensor>(tensor);
  }
  return Internal("an attribute of no known kind");
}

}  // namespace weft
