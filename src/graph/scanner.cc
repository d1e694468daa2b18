#include "graph/scanner.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "graph/text_words.h"

namespace weft {
namespace {

using text_words::IsDigit;
using text_words::IsLetter;

bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

std::string Lower(std::string_view word) {
  std::string lower(word);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

template <class T>
T FromBits(std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t> bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// A decimal number out of range is too small rather than too large: its exponent is negative, or it is 0.000...
bool IsTiny(std::string_view digits) {
  const size_t e = digits.find_first_of("eE");
  return e == std::string_view::npos ? digits.substr(0, 1) == "0" : digits.substr(e + 1, 1) == "-";
}

}  // namespace

size_t Scanner::Here() {
  while (pos_ < text_.size()) {
    if (text_[pos_] == '#') {
      pos_ = std::min(text_.find('\n', pos_), text_.size());
    } else if (IsSpace(text_[pos_])) {
      ++pos_;
    } else {
      break;
    }
  }
  return pos_;
}

int Scanner::Peek() { return Here() < text_.size() ? static_cast<unsigned char>(text_[pos_]) : -1; }

bool Scanner::Matches(char c) {
  if (Peek() != static_cast<unsigned char>(c)) return false;
  ++pos_;
  return true;
}

bool Scanner::Matches(char c, char d) {
  if (Peek() != static_cast<unsigned char>(c) || text_.substr(pos_ + 1, 1) != std::string_view(&d, 1)) return false;
  pos_ += 2;
  return true;
}

absl::Status Scanner::Expect(char c, std::string_view expected) {
  if (Matches(c)) return absl::OkStatus();
  return ErrorAt(Here(), expected.empty() ? absl::StrCat("'", std::string(1, c), "'") : std::string(expected));
}

std::string_view Scanner::PeekWord() {
  size_t end = Here();
  if (end < text_.size() && IsLetter(text_[end])) {
    while (end < text_.size() && (IsLetter(text_[end]) || IsDigit(text_[end]))) ++end;
  }
  return text_.substr(pos_, end - pos_);
}

std::string_view Scanner::Word() {
  const std::string_view word = PeekWord();
  pos_ += word.size();
  return word;
}

absl::StatusOr<std::string> Scanner::Identifier(std::string_view expected) {
  const std::string_view word = Word();
  if (word.empty()) return ErrorAt(Here(), expected);
  return std::string(word);
}

absl::StatusOr<std::string> Scanner::String(std::string_view expected) {
  if (Peek() != '"') return ErrorAt(Here(), expected);
  const size_t start = pos_;
  std::string value;
  for (size_t i = start + 1; i < text_.size(); ++i) {
    if (text_[i] == '"') {
      pos_ = i + 1;
      return value;
    }
    if (text_[i] == '\\' && ++i == text_.size()) break;
    value += text_[i];
  }
  return ErrorAt(start, "a string without an end", "'\"' behind it");
}

absl::StatusOr<std::string> Scanner::Name(std::string_view expected) {
  return Peek() == '"' ? String(expected) : Identifier(expected);
}

// A run of what numbers are made of: a sign, then letters, digits and points, and signs behind an e.
std::string_view Scanner::NumberWord() {
  size_t end = Here();
  if (end < text_.size() && text_[end] == '-') ++end;
  while (end < text_.size()) {
    const char c = text_[end];
    const bool exponent_sign = (c == '+' || c == '-') && (text_[end - 1] == 'e' || text_[end - 1] == 'E') && end > pos_;
    if (!IsLetter(c) && !IsDigit(c) && c != '.' && !exponent_sign) break;
    ++end;
  }
  const std::string_view word = text_.substr(pos_, end - pos_);
  pos_ = end;
  return word;
}

template <class T>
absl::StatusOr<T> Scanner::Integer(std::string_view expected) {
  const size_t pos = Here();
  const std::string_view word = NumberWord();
  T value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool negative_unsigned = std::is_unsigned_v<T> && word.size() > 1 && word[0] == '-' && IsDigit(word[1]);
  if (error == std::errc::result_out_of_range || negative_unsigned) {
    return ErrorAt(pos, absl::StrCat(ToAbsl(expected), " from ", std::numeric_limits<T>::min(), " to ",
                                     std::numeric_limits<T>::max()));
  }
  if (error != std::errc() || end != word.data() + word.size()) return ErrorAt(pos, expected);
  return value;
}

template <class T>
absl::StatusOr<T> Scanner::Float(std::string_view expected) {
  const size_t pos = Here();
  const std::string_view word = NumberWord();
  const bool negative = word.substr(0, 1) == "-";
  const std::string_view digits = word.substr(negative ? 1 : 0);
  const char* const last = word.data() + word.size();
  if (!digits.empty() && IsLetter(digits[0])) {
    const std::string lower = Lower(digits);
    if (lower == "nan") return FromBits<T>(text_words::NaNBits<T>(negative));
    if (lower != "inf" && lower != "infinity") return ErrorAt(pos, expected);
    return negative ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
  }
  if (!negative && digits.substr(0, 2) == "0x") {
    std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t> bits = 0;
    const auto [end, error] = std::from_chars(digits.data() + 2, last, bits, 16);
    if (error != std::errc() || end != last)
      return ErrorAt(pos, absl::StrCat("the ", 8 * sizeof(T), " bits of a number behind 0x"));
    return FromBits<T>(bits);
  }
  T value = 0;
  const auto [end, error] = std::from_chars(word.data(), last, value);
  if (end != last || (error != std::errc() && error != std::errc::result_out_of_range)) return ErrorAt(pos, expected);
  if (error == std::errc()) return value;
  if (!IsTiny(digits)) return ErrorAt(pos, absl::StrCat(ToAbsl(expected), " that fits ", 8 * sizeof(T), " bits"));
  return negative ? -T{0} : T{0};
}

template absl::StatusOr<int8_t> Scanner::Integer(std::string_view);
template absl::StatusOr<int16_t> Scanner::Integer(std::string_view);
template absl::StatusOr<int32_t> Scanner::Integer(std::string_view);
template absl::StatusOr<int64_t> Scanner::Integer(std::string_view);
template absl::StatusOr<uint8_t> Scanner::Integer(std::string_view);
template absl::StatusOr<uint16_t> Scanner::Integer(std::string_view);
template absl::StatusOr<uint32_t> Scanner::Integer(std::string_view);
template absl::StatusOr<uint64_t> Scanner::Integer(std::string_view);
template absl::StatusOr<float> Scanner::Float(std::string_view);
template absl::StatusOr<double> Scanner::Float(std::string_view);

std::string Scanner::Place(size_t pos) const {
  const std::string_view before = text_.substr(0, pos);
  const size_t line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t line_start = before.rfind('\n');
  return absl::StrCat(line, ":", line_start == std::string_view::npos ? pos + 1 : pos - line_start);
}

std::string Scanner::Found(size_t pos) const {
  if (pos >= text_.size()) return "the end of the text";
  if (text_[pos] == '"') return "a string";
  if (text_[pos] < ' ' || text_[pos] > '~')
    return absl::StrCat("byte 0x", absl::Hex(static_cast<unsigned char>(text_[pos])));
  constexpr size_t kMaxShown = 32;
  size_t end = pos + 1;
  auto in_word = [&](char c) { return IsLetter(c) || IsDigit(c) || c == '.'; };
  if (in_word(text_[pos]) || text_[pos] == '-') {
    while (end < text_.size() && end - pos < kMaxShown && in_word(text_[end])) ++end;
  }
  return absl::StrCat("'", ToAbsl(text_.substr(pos, end - pos)), "'");
}

absl::Status Scanner::ErrorAt(size_t pos, std::string_view found, std::string_view expected) const {
  return Invalid(Place(pos), ": found ", found, ", expected ", expected);
}

absl::Status Scanner::UnsupportedAt(size_t pos, std::string_view what) const {
  return Unsupported(Place(pos), ": ", what, " is not supported");
}

absl::Status Scanner::At(size_t pos, const absl::Status& status) const {
  return status.ok() ? status : Annotate(status, Place(pos));
}

}  // namespace weft
