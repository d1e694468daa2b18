#include "graph/text_words.h"

#include <algorithm>

#include "weft/dtype.h"

namespace weft::text_words {

bool IsIdentifier(std::string_view text) {
  return !text.empty() && IsLetter(text[0]) &&
         std::all_of(text.begin(), text.end(), [](char c) { return IsLetter(c) || IsDigit(c); });
}

bool StartsType(std::string_view word) {
  if (DTypeFromName(word)) return true;
  constexpr std::string_view kWords[] = {"undefined",     "seq",    "map",        "optional",
                                         "sparse_tensor", "opaque", "float6e2m3", "float6e3m2"};
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

std::string_view AttrWord(AttrKind kind) { return kind == AttrKind::kType ? "type_proto" : AttrKindName(kind); }

std::vector<uint8_t> Pack(const Tensor& tensor) {
  const int bits = DTypeFileBits(tensor.dtype());
  const int per_byte = 8 / bits;
  std::vector<uint8_t> packed((tensor.size() + per_byte - 1) / per_byte);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const int value = tensor.data<uint8_t>()[i] & ((1 << bits) - 1);
    packed[i / per_byte] |= static_cast<uint8_t>(value << (i % per_byte * bits));
  }
  return packed;
}

void Unpack(const std::vector<uint8_t>& packed, Tensor& tensor) {
  const int bits = DTypeFileBits(tensor.dtype());
  const int per_byte = 8 / bits;
  const bool sign = tensor.dtype() == DType::kInt4 || tensor.dtype() == DType::kInt2;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    int value = packed[i / per_byte] >> (i % per_byte * bits) & ((1 << bits) - 1);
    if (sign && value >> (bits - 1) != 0) value -= 1 << bits;
    tensor.data<int8_t>()[i] = static_cast<int8_t>(value);
  }
}

}  // namespace weft::text_words
