#include "base/utf8.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(Utf8, ThereAndBack) {
  for (char32_t c : {U'\0', U'a', U'\x7f', U'\x80', U'\x7ff', U'\x800', U'\xd7ff', U'\xe000', U'\xffff', U'\x10000', U'\x10ffff'}) {
    std::string text;
    AppendUtf8(c, text);
    text += 'z';
    std::string_view rest = text;
    EXPECT_EQ(TakeUtf8(rest), c);
    EXPECT_EQ(rest, "z");
  }
}

TEST(Utf8, RefusesWhatIsNone) {
  for (std::string_view text : {"", "\x80", "\xc3", "\xc3z", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xff"}) {
    const std::string_view before = text;
    EXPECT_EQ(TakeUtf8(text), std::nullopt);
    EXPECT_EQ(text, before);
  }
}

}  // namespace
}  // namespace weft
