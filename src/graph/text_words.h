// What the printer and the parser of text share: the words and the forms of elements.
#ifndef WEFT_GRAPH_TEXT_WORDS_H_
#define WEFT_GRAPH_TEXT_WORDS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "graph/attributes.h"
#include "weft/tensor.h"

namespace weft::text_words {

constexpr bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Letters, digits and _, not starting with a digit, not empty.
bool IsIdentifier(std::string_view text);

// Words that begin a type where a name could stand too: element types, "undefined", seq, map, optional, sparse_tensor,
// opaque.
bool StartsType(std::string_view word);

// ONNX's word for the kind: "int", "type_proto", ...
std::string_view AttrWord(AttrKind kind);

// The bits of what the text calls nan and -nan: quiet, no payload.
template <class T>
constexpr auto NaNBits(bool negative) {
  if constexpr (sizeof(T) == 4) {
    return negative ? 0xffc00000u : 0x7fc00000u;
  } else {
    return negative ? uint64_t{0xfff8} << 48 : uint64_t{0x7ff8} << 48;
  }
}

// Elements of a 4- or 2-bit type in the bytes of ONNX files, the first in the lowest bits; and back.
std::vector<uint8_t> Pack(const Tensor& tensor);
void Unpack(const std::vector<uint8_t>& packed, Tensor& tensor);

}  // namespace weft::text_words

#endif  // WEFT_GRAPH_TEXT_WORDS_H_
