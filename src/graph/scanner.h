// Words, strings and numbers of the text form of graphs, with errors that say where.
#ifndef WEFT_GRAPH_SCANNER_H_
#define WEFT_GRAPH_SCANNER_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace weft {

// Everything skips white space, and comments from # to the end of the line, before it reads.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  // The place of the next word or sign.
  size_t Here();
  // Its first byte, -1 at the end.
  int Peek();
  bool AtEnd() { return Peek() < 0; }
  bool Matches(char c);
  // Both bytes, nothing between them.
  bool Matches(char c, char d);
  // `expected` names it in the error; by default the character itself.
  absl::Status Expect(char c, std::string_view expected = "");

  // An identifier, "" where there is none.
  std::string_view Word();
  std::string_view PeekWord();
  // In all of these `expected` says in the error what should have stood here.
  absl::StatusOr<std::string> Identifier(std::string_view expected);
  absl::StatusOr<std::string> String(std::string_view expected);  // in quotes
  absl::StatusOr<std::string> Name(std::string_view expected);    // an identifier, or a string
  // T: an integer type of 8 to 64 bits; a value it cannot hold is an error.
  template <class T>
  absl::StatusOr<T> Integer(std::string_view expected);
  // T: float or double. Decimal, inf, nan, or the bits as 0x...; a value too large is an error, one too small is zero.
  template <class T>
  absl::StatusOr<T> Float(std::string_view expected);

  // "3:14: found ..., expected ...".
  absl::Status ErrorAt(size_t pos, std::string_view found, std::string_view expected) const;
  // The same with what stands at `pos` as found.
  absl::Status ErrorAt(size_t pos, std::string_view expected) const { return ErrorAt(pos, Found(pos), expected); }
  absl::Status UnsupportedAt(size_t pos, std::string_view what) const;
  // `status` with the place in front.
  absl::Status At(size_t pos, const absl::Status& status) const;

 protected:
  std::string_view text() const { return text_; }

 private:
  std::string Found(size_t pos) const;
  std::string Place(size_t pos) const;
  std::string_view NumberWord();

  std::string_view text_;
  size_t pos_ = 0;
};

}  // namespace weft

#endif  // WEFT_GRAPH_SCANNER_H_
