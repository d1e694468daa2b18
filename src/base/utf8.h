// UTF-8 to code points and back.
#ifndef WEFT_BASE_UTF8_H_
#define WEFT_BASE_UTF8_H_

#include <optional>
#include <string>
#include <string_view>

namespace weft {

void AppendUtf8(char32_t c, std::string& out);
// Takes the first code point off `text`; nothing where the bytes there are none (too long a form, a surrogate, cut short, ...) or there are none.
std::optional<char32_t> TakeUtf8(std::string_view& text);

}  // namespace weft

#endif  // WEFT_BASE_UTF8_H_
