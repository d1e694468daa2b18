// StringConcat, StringNormalizer, StringSplit, RegexFullMatch.
#include "graph/ops/strings.h"

#include <locale.h>
#include <re2/re2.h>
#include <wctype.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "absl/container/flat_hash_set.h"
#include "base/utf8.h"
#include "kernels/kernel.h"
#include "kernels/ref/dispatch.h"

namespace weft {
namespace {

absl::Status RunStringConcat(RunContext& ctx) {
  BroadcastBinary<std::string, std::string, std::string>(ctx.input(0), ctx.input(1), ctx.output(0),
                                                         [](const std::string& x, const std::string& y) { return x + y; });
  return absl::OkStatus();
}

// ---- StringNormalizer ----

// Upper and lower case as a locale has them, letter by letter.
class CaseLocale : public KernelState {
 public:
  explicit CaseLocale(locale_t locale) : locale_(locale) {}
  ~CaseLocale() override { freelocale(locale_); }
  CaseLocale(const CaseLocale&) = delete;
  CaseLocale& operator=(const CaseLocale&) = delete;

  absl::StatusOr<std::string> Change(std::string_view text, bool to_upper) const {
    std::string out;
    while (!text.empty()) {
      const std::optional<char32_t> c = TakeUtf8(text);
      if (!c) return Invalid("a string is not UTF-8");
      AppendUtf8(to_upper ? towupper_l(*c, locale_) : towlower_l(*c, locale_), out);
    }
    return out;
  }

 private:
  locale_t locale_;
};

absl::StatusOr<std::unique_ptr<KernelState>> PrepareStringNormalizer(const NodeView& node) {
  const std::string& name = node.attrs_as<StringNormalizerAttrs>().locale;
  locale_t locale = nullptr;
  if (!name.empty()) {
    // Without the encoding that this asks for, a locale may know the letters of one alphabet alone.
    locale = newlocale(LC_CTYPE_MASK, absl::StrCat(name.substr(0, name.find('.')), ".UTF-8").c_str(), nullptr);
  }
  if (locale == nullptr) {
    // Unicode has one pair of cases for each letter in every language but those with a dotless i.
    const std::string language = name.substr(0, name.find_first_of("_.-@"));
    if (language == "tr" || language == "az") return Unsupported("locale '", name, "' is not installed on this machine");
    locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  }
  if (locale == nullptr) return Unsupported("locale 'C.UTF-8' is not installed on this machine");
  return std::make_unique<CaseLocale>(locale);
}

absl::Status RunStringNormalizer(RunContext& ctx) {
  const auto& attrs = ctx.attrs<StringNormalizerAttrs>();
  const auto& locale = *ctx.state<CaseLocale>();
  const Tensor& x = ctx.input(0);
  absl::flat_hash_set<std::string> stopwords;
  for (const std::string& word : attrs.stopwords) {
    if (attrs.is_case_sensitive) {
      stopwords.insert(word);
    } else {
      WEFT_ASSIGN_OR_RETURN(std::string folded, locale.Change(word, false));
      stopwords.insert(std::move(folded));
    }
  }
  std::vector<std::string> kept;
  for (const std::string& word : x.span<const std::string>()) {
    if (!stopwords.empty()) {
      std::string folded = word;
      if (!attrs.is_case_sensitive) {
        WEFT_ASSIGN_OR_RETURN(folded, locale.Change(word, false));
      }
      if (stopwords.contains(folded)) continue;
    }
    if (attrs.case_change_action == "NONE") {
      kept.push_back(word);
    } else {
      WEFT_ASSIGN_OR_RETURN(std::string changed, locale.Change(word, attrs.case_change_action == "UPPER"));
      kept.push_back(std::move(changed));
    }
  }
  if (kept.empty()) kept.emplace_back();
  Dims dims = x.dims();
  dims.back() = static_cast<int64_t>(kept.size());
  WEFT_ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, DType::kString, dims));
  std::move(kept.begin(), kept.end(), out->data<std::string>());
  return absl::OkStatus();
}

// ---- StringSplit ----

// What Unicode calls white space, and the four separators of ASCII, which Python counts too.
bool IsSpace(char32_t c) {
  return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) ||
         c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

// Bytes of the white space that `text` begins with, or those of one character that is none.
struct Leading {
  size_t bytes = 0;
  bool space = false;
};
Leading LeadingOf(std::string_view text) {
  std::string_view rest = text;
  const std::optional<char32_t> c = TakeUtf8(rest);
  if (!c) return {1, false};  // no UTF-8: a byte by itself
  return {text.size() - rest.size(), IsSpace(*c)};
}

std::vector<std::string> SplitAtSpace(std::string_view text, int64_t most) {
  std::vector<std::string> parts;
  auto skip_spaces = [&text] {
    while (!text.empty()) {
      const Leading leading = LeadingOf(text);
      if (!leading.space) return;
      text.remove_prefix(leading.bytes);
    }
  };
  skip_spaces();
  while (!text.empty()) {
    size_t end = 0, last = 0;  // of the part; behind the last character that is no space
    while (end < text.size()) {
      const Leading leading = LeadingOf(text.substr(end));
      if (leading.space && static_cast<int64_t>(parts.size()) != most) break;
      end += leading.bytes;
      if (!leading.space) last = end;
    }
    parts.emplace_back(text.substr(0, last));
    text.remove_prefix(end);
    skip_spaces();
  }
  return parts;
}

std::vector<std::string> SplitAt(std::string_view text, const std::string& delimiter, int64_t most) {
  std::vector<std::string> parts;
  while (static_cast<int64_t>(parts.size()) != most) {
    const size_t at = text.find(delimiter);
    if (at == std::string_view::npos) break;
    parts.emplace_back(text.substr(0, at));
    text.remove_prefix(at + delimiter.size());
  }
  parts.emplace_back(text);
  return parts;
}

absl::Status RunStringSplit(RunContext& ctx) {
  const auto& attrs = ctx.attrs<StringSplitAttrs>();
  const Tensor& x = ctx.input(0);
  const int64_t most = attrs.maxsplit.value_or(-1) < 0 ? -1 : *attrs.maxsplit;  // splits; -1: no limit
  std::vector<std::vector<std::string>> split(x.size());
  int64_t width = 0;
  for (int64_t i = 0; i < x.size(); ++i) {
    const std::string& text = x.data<const std::string>()[i];
    split[i] = attrs.delimiter.empty() ? SplitAtSpace(text, most) : SplitAt(text, attrs.delimiter, most);
    width = std::max(width, static_cast<int64_t>(split[i].size()));
  }
  Dims dims = x.dims();
  dims.push_back(width);
  WEFT_ASSIGN_OR_RETURN(Tensor * parts, ctx.Allocate(0, DType::kString, dims));
  if (ctx.HasOutput(1)) {
    WEFT_ASSIGN_OR_RETURN(Tensor * counts, ctx.Allocate(1, DType::kInt64, x.dims()));
    for (int64_t i = 0; i < x.size(); ++i) counts->data<int64_t>()[i] = static_cast<int64_t>(split[i].size());
  }
  for (int64_t i = 0; i < x.size(); ++i) std::move(split[i].begin(), split[i].end(), parts->data<std::string>() + i * width);
  return absl::OkStatus();
}

// ---- RegexFullMatch ----

struct RegexState : KernelState {
  explicit RegexState(const std::string& pattern) : regex(pattern, RE2::Quiet) {}
  const RE2 regex;
};

absl::StatusOr<std::unique_ptr<KernelState>> PrepareRegexFullMatch(const NodeView& node) {
  const std::string& pattern = node.attrs_as<RegexFullMatchAttrs>().pattern;
  auto state = std::make_unique<RegexState>(pattern);
  if (!state->regex.ok()) return Invalid("pattern '", pattern, "' is no regular expression of RE2: ", state->regex.error());
  return state;
}

absl::Status RunRegexFullMatch(RunContext& ctx) {
  const RE2& regex = ctx.state<RegexState>()->regex;
  MapElements<std::string, bool>(ctx.input(0), ctx.output(0), 256, [&regex](const std::string& text) { return RE2::FullMatch(text, regex); });
  return absl::OkStatus();
}

}  // namespace

absl::Span<const Kernel> RefStrings() {
  static constexpr Kernel kernels[] = {
      {.op = &ops::StringConcat, .name = "ref", .run = &RunStringConcat},
      {.op = &ops::StringNormalizer, .name = "ref", .prepare = &PrepareStringNormalizer, .run = &RunStringNormalizer},
      {.op = &ops::StringSplit, .name = "ref", .run = &RunStringSplit},
      {.op = &ops::RegexFullMatch, .name = "ref", .prepare = &PrepareRegexFullMatch, .run = &RunRegexFullMatch},
  };
  return kernels;
}

}  // namespace weft
