#include "base/dim.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace weft {
namespace {

enum class AtomKind : uint8_t { kSymbol, kFloorDiv, kMin, kMax };

// What a term multiplies: a symbol, or a call that does not simplify. Compared by its text.
struct Atom {
  AtomKind kind = AtomKind::kSymbol;
  std::string name;  // of a symbol
  Dim a, b;          // of a call
  std::string text;
};
using AtomPtr = std::shared_ptr<const Atom>;

using Monomial = std::vector<AtomPtr>;  // sorted by text; an atom stands as often as its power

struct ByText {
  bool operator()(const Monomial& x, const Monomial& y) const {
    return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end(),
                                        [](const AtomPtr& p, const AtomPtr& q) { return p->text < q->text; });
  }
};
using Polynomial = std::map<Monomial, int64_t, ByText>;  // no zero coefficients; the empty monomial is the constant term

// Beyond these an expression is of no use to anyone, and a hostile model could make it grow without end.
constexpr size_t kMaxTerms = 256;
constexpr size_t kMaxDegree = 16;
constexpr size_t kMaxTextBytes = 4096;
constexpr int kMaxNesting = 100;

// A symbol equal to no other.
Dim Opaque(std::string_view why) {
  static std::atomic<int64_t> count{0};
  return Dim::Symbol(absl::StrCat(ToAbsl(why), "__", count.fetch_add(1)));
}

bool IsIdentifier(std::string_view name) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) return false;
  return std::all_of(name.begin(), name.end(), [](unsigned char c) { return c < 0x80 && (std::isalnum(c) || c == '_'); });
}

std::string QuoteSymbol(std::string_view name) {
  if (IsIdentifier(name)) return std::string(name);
  std::string quoted = "'";
  for (char c : name) {
    if (c == '\'' || c == '\\') quoted.push_back('\\');
    quoted.push_back(c);
  }
  return quoted + "'";
}

std::string_view CallName(AtomKind kind) {
  return kind == AtomKind::kFloorDiv ? "floordiv" : kind == AtomKind::kMin ? "min" : "max";
}

}  // namespace

struct Dim::Expr {
  Polynomial polynomial;
  std::string text;

  static Dim Make(Polynomial polynomial);
  static Polynomial Of(const Dim& dim) {
    if (dim.expr_ != nullptr) return dim.expr_->polynomial;
    Polynomial p;
    if (dim.value_ != 0) p[{}] = dim.value_;
    return p;
  }
};

namespace {

std::string TermText(const Monomial& monomial, int64_t magnitude) {
  std::string text;
  if (magnitude != 1 || monomial.empty()) text = absl::StrCat(magnitude);
  for (const AtomPtr& atom : monomial) absl::StrAppend(&text, text.empty() ? "" : "*", atom->text);
  return text;
}

// Terms by text, the constant last: "-N + 2*floordiv(M, 2) - 1".
std::string TextOf(const Polynomial& polynomial) {
  std::string text;
  auto add = [&](const Monomial& monomial, int64_t coefficient) {
    const bool negative = coefficient < 0;
    // The magnitude of INT64_MIN is no int64; it prints as -9223372036854775808 does, sign included.
    if (coefficient == INT64_MIN) {
      absl::StrAppend(&text, text.empty() ? "" : " + ", TermText(monomial, coefficient));
      return;
    }
    absl::StrAppend(&text, text.empty() ? (negative ? "-" : "") : (negative ? " - " : " + "),
                    TermText(monomial, negative ? -coefficient : coefficient));
  };
  for (const auto& [monomial, coefficient] : polynomial) {
    if (!monomial.empty()) add(monomial, coefficient);
  }
  if (auto constant = polynomial.find({}); constant != polynomial.end()) add({}, constant->second);
  return text;
}

bool AddTerm(Polynomial& polynomial, const Monomial& monomial, int64_t coefficient) {
  auto [it, inserted] = polynomial.emplace(monomial, coefficient);
  if (!inserted && __builtin_add_overflow(it->second, coefficient, &it->second)) return false;
  if (it->second == 0) polynomial.erase(it);
  return true;
}

Monomial Product(const Monomial& a, const Monomial& b) {
  Monomial product(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), product.begin(),
             [](const AtomPtr& p, const AtomPtr& q) { return p->text < q->text; });
  return product;
}

// a / b where b's atoms are among a's.
std::optional<Monomial> Quotient(const Monomial& a, const Monomial& b) {
  Monomial rest = a;
  for (const AtomPtr& atom : b) {
    auto it = std::find_if(rest.begin(), rest.end(), [&](const AtomPtr& p) { return p->text == atom->text; });
    if (it == rest.end()) return std::nullopt;
    rest.erase(it);
  }
  return rest;
}

Dim Call(AtomKind kind, const Dim& a, const Dim& b) {
  auto atom = std::make_shared<Atom>();
  atom->kind = kind;
  atom->a = a;
  atom->b = b;
  atom->text = absl::StrCat(ToAbsl(CallName(kind)), "(", a.ToString(), ", ", b.ToString(), ")");
  if (atom->text.size() > kMaxTextBytes) return Opaque("long");
  Polynomial p;
  p[{std::move(atom)}] = 1;
  return Dim::Expr::Make(std::move(p));
}

int64_t FloorDivInts(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

// The single atom that the expression is, if it is one.
const Atom* AsAtom(const Polynomial& p) {
  if (p.size() != 1 || p.begin()->second != 1 || p.begin()->first.size() != 1) return nullptr;
  return p.begin()->first[0].get();
}

// The exact quotient of two polynomials, if there is one.
std::optional<Polynomial> ExactQuotient(Polynomial a, const Polynomial& b) {
  Polynomial quotient;
  const auto& [lead, lead_coefficient] = *b.rbegin();
  for (size_t step = 0; !a.empty(); ++step) {
    if (step > kMaxTerms) return std::nullopt;
    const auto top = *a.rbegin();
    const std::optional<Monomial> monomial = Quotient(top.first, lead);
    if (!monomial || lead_coefficient == -1 || top.second % lead_coefficient != 0) return std::nullopt;
    const int64_t coefficient = top.second / lead_coefficient;
    if (!AddTerm(quotient, *monomial, coefficient)) return std::nullopt;
    for (const auto& [m, c] : b) {
      int64_t product;
      if (__builtin_mul_overflow(c, coefficient, &product) || product == INT64_MIN) return std::nullopt;
      if (!AddTerm(a, Product(m, *monomial), -product)) return std::nullopt;
    }
  }
  return quotient;
}

}  // namespace

Dim Dim::Expr::Make(Polynomial polynomial) {
  if (polynomial.empty()) return Dim(0);
  if (polynomial.size() == 1 && polynomial.begin()->first.empty()) return Dim(polynomial.begin()->second);
  if (polynomial.size() > kMaxTerms) return Opaque("long");
  for (const auto& [monomial, coefficient] : polynomial) {
    if (monomial.size() > kMaxDegree) return Opaque("long");
  }
  auto expr = std::make_shared<Expr>();
  expr->text = TextOf(polynomial);
  if (expr->text.size() > kMaxTextBytes) return Opaque("long");
  expr->polynomial = std::move(polynomial);
  return Dim(std::move(expr));
}

Dim Dim::Symbol(std::string_view name) {
  if (name.size() > kMaxTextBytes / 4) return Opaque("long");
  auto atom = std::make_shared<Atom>();
  atom->name = std::string(name);
  atom->text = QuoteSymbol(atom->name);
  auto expr = std::make_shared<Expr>();
  expr->text = atom->text;
  expr->polynomial[{std::move(atom)}] = 1;
  return Dim(std::move(expr));
}

std::optional<std::string> Dim::symbol() const {
  if (expr_ == nullptr) return std::nullopt;
  const Atom* atom = AsAtom(expr_->polynomial);
  if (atom == nullptr || atom->kind != AtomKind::kSymbol) return std::nullopt;
  return atom->name;
}

namespace {

void CollectSymbols(const Polynomial& polynomial, std::set<std::string>& names) {
  for (const auto& [monomial, coefficient] : polynomial) {
    for (const AtomPtr& atom : monomial) {
      if (atom->kind == AtomKind::kSymbol) {
        names.insert(atom->name);
      } else {
        CollectSymbols(Dim::Expr::Of(atom->a), names);
        CollectSymbols(Dim::Expr::Of(atom->b), names);
      }
    }
  }
}

}  // namespace

std::vector<std::string> Dim::Symbols() const {
  std::set<std::string> names;
  if (expr_ != nullptr) CollectSymbols(expr_->polynomial, names);
  return {names.begin(), names.end()};
}

Dim operator+(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) {
    int64_t sum;
    return __builtin_add_overflow(a.value_, b.value_, &sum) ? Opaque("overflow") : Dim(sum);
  }
  Polynomial sum = Dim::Expr::Of(a);
  for (const auto& [monomial, coefficient] : Dim::Expr::Of(b)) {
    if (!AddTerm(sum, monomial, coefficient)) return Opaque("overflow");
  }
  return Dim::Expr::Make(std::move(sum));
}

Dim operator-(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) {
    int64_t difference;
    return __builtin_sub_overflow(a.value_, b.value_, &difference) ? Opaque("overflow") : Dim(difference);
  }
  return a + b * Dim(-1);
}

Dim operator*(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) {
    int64_t product;
    return __builtin_mul_overflow(a.value_, b.value_, &product) ? Opaque("overflow") : Dim(product);
  }
  const Polynomial x = Dim::Expr::Of(a), y = Dim::Expr::Of(b);
  if (x.size() * y.size() > kMaxTerms) return Opaque("long");
  Polynomial product;
  for (const auto& [m, c] : x) {
    for (const auto& [n, d] : y) {
      int64_t coefficient;
      if (__builtin_mul_overflow(c, d, &coefficient) || !AddTerm(product, Product(m, n), coefficient)) return Opaque("overflow");
    }
  }
  return Dim::Expr::Make(std::move(product));
}

Dim Dim::FloorDiv(const Dim& a, const Dim& b) {
  if (b.is_constant() && b.value_ == 0) return Call(AtomKind::kFloorDiv, a, b);
  if (a.is_constant() && b.is_constant()) {
    if (a.value_ == INT64_MIN && b.value_ == -1) return Opaque("overflow");
    return Dim(FloorDivInts(a.value_, b.value_));
  }
  if (b == Dim(1)) return a;
  if (b == Dim(-1)) return Dim(0) - a;
  if (a == Dim(0)) return Dim(0);
  const Polynomial x = Expr::Of(a), y = Expr::Of(b);
  // Division by a symbol is exact as long as the symbol is not 0; where it is, the axis is empty and the quotient is of no account.
  if (!b.is_constant()) {
    if (std::optional<Polynomial> quotient = ExactQuotient(x, y)) return Expr::Make(*std::move(quotient));
    return Call(AtomKind::kFloorDiv, a, b);
  }
  // floordiv(k*b*x + r, b) = k*x + floordiv(r, b).
  Polynomial whole, rest;
  for (const auto& [monomial, coefficient] : x) {
    if (monomial.empty()) {
      const int64_t q = b.value_ == -1 ? 0 : FloorDivInts(coefficient, b.value_);
      if (q != 0) whole[monomial] = q;
      if (const int64_t r = coefficient - q * b.value_; r != 0) rest[monomial] = r;
    } else if (coefficient % b.value_ == 0) {
      whole[monomial] = coefficient / b.value_;
    } else {
      rest[monomial] = coefficient;
    }
  }
  const Dim quotient = Expr::Make(std::move(whole)), remainder = Expr::Make(std::move(rest));
  if (remainder.is_constant()) return quotient + FloorDiv(remainder, b);
  // floordiv(floordiv(x, c), b) = floordiv(x, c*b) for positive c and b.
  const Atom* atom = AsAtom(Expr::Of(remainder));
  if (atom != nullptr && atom->kind == AtomKind::kFloorDiv && atom->b.is_constant() && atom->b.value_ > 0 && b.value_ > 0) {
    int64_t divisor;
    if (!__builtin_mul_overflow(atom->b.value_, b.value_, &divisor)) return quotient + FloorDiv(atom->a, Dim(divisor));
  }
  return quotient + Call(AtomKind::kFloorDiv, remainder, b);
}

Dim Dim::CeilDiv(const Dim& a, const Dim& b) {
  if (b.is_constant() && b.value_ > 0 && !a.is_constant()) return FloorDiv(a + b - Dim(1), b);
  return Dim(0) - FloorDiv(Dim(0) - a, b);
}

Dim Dim::Mod(const Dim& a, const Dim& b) { return a - b * FloorDiv(a, b); }

Dim Dim::Min(const Dim& a, const Dim& b) {
  if (const Dim difference = a - b; difference.is_constant()) return difference.value_ <= 0 ? a : b;
  return a.ToString() < b.ToString() ? Call(AtomKind::kMin, a, b) : Call(AtomKind::kMin, b, a);
}

Dim Dim::Max(const Dim& a, const Dim& b) {
  if (const Dim difference = a - b; difference.is_constant()) return difference.value_ >= 0 ? a : b;
  return a.ToString() < b.ToString() ? Call(AtomKind::kMax, a, b) : Call(AtomKind::kMax, b, a);
}

bool operator==(const Dim& a, const Dim& b) {
  if (a.expr_ == nullptr || b.expr_ == nullptr) return a.expr_ == b.expr_ && a.value_ == b.value_;
  return a.expr_ == b.expr_ || a.expr_->text == b.expr_->text;
}

std::string Dim::ToString() const { return expr_ == nullptr ? absl::StrCat(value_) : expr_->text; }

Dim Dim::Substitute(const absl::flat_hash_map<std::string, Dim>& bindings) const {
  if (expr_ == nullptr) return *this;
  Dim sum = 0;
  for (const auto& [monomial, coefficient] : expr_->polynomial) {
    Dim product = coefficient;
    for (const AtomPtr& atom : monomial) {
      Dim factor;
      if (atom->kind == AtomKind::kSymbol) {
        auto it = bindings.find(atom->name);
        factor = it == bindings.end() ? Symbol(atom->name) : it->second;
      } else {
        const Dim a = atom->a.Substitute(bindings), b = atom->b.Substitute(bindings);
        factor = atom->kind == AtomKind::kFloorDiv ? FloorDiv(a, b) : atom->kind == AtomKind::kMin ? Min(a, b) : Max(a, b);
      }
      product = product * factor;
    }
    sum = sum + product;
  }
  return sum;
}

namespace {

bool AtomNonNegative(const Atom& atom) {
  const bool a = atom.a.KnownNonNegative(), b = atom.b.KnownNonNegative();
  switch (atom.kind) {
    case AtomKind::kSymbol: return true;
    case AtomKind::kFloorDiv: return a && atom.b.is_constant() && atom.b.constant() > 0;
    case AtomKind::kMin: return a && b;
    case AtomKind::kMax: return a || b;
  }
  return false;
}

}  // namespace

bool Dim::KnownNonNegative() const {
  if (expr_ == nullptr) return value_ >= 0;
  for (const auto& [monomial, coefficient] : expr_->polynomial) {
    if (coefficient < 0) return false;
    for (const AtomPtr& atom : monomial) {
      if (!AtomNonNegative(*atom)) return false;
    }
  }
  return true;
}

namespace {

// sum := product (('+' | '-') product)*; product := unary (('*' | '//' | '%') unary)*; unary := '-' unary | atom;
// atom := integer | symbol | 'quoted symbol' | name '(' sum ',' sum ')' | '(' sum ')'.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  absl::StatusOr<Dim> Run() {
    if (text_.size() > 16 * kMaxTextBytes) return Invalid("a dim expression of ", text_.size(), " characters is too long");
    WEFT_ASSIGN_OR_RETURN(Dim dim, Sum(0));
    Space();
    if (at_ != text_.size()) return Fault("the end");
    return dim;
  }

 private:
  absl::Status Fault(std::string_view expected) const {
    return Invalid("dim '", text_.substr(0, 80), "', character ", at_ + 1, ": expected ", expected);
  }
  void Space() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool Take(std::string_view token) {
    Space();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }

  absl::StatusOr<Dim> Sum(int depth) {
    if (depth > kMaxNesting) return Fault("less nesting");
    WEFT_ASSIGN_OR_RETURN(Dim sum, Product(depth));
    while (true) {
      const bool plus = Take("+");
      if (!plus && !Take("-")) return sum;
      WEFT_ASSIGN_OR_RETURN(const Dim next, Product(depth));
      sum = plus ? sum + next : sum - next;
    }
  }

  absl::StatusOr<Dim> Product(int depth) {
    WEFT_ASSIGN_OR_RETURN(Dim product, Unary(depth));
    while (true) {
      const char op = Take("*") ? '*' : Take("//") ? '/' : Take("%") ? '%' : ' ';
      if (op == ' ') return product;
      WEFT_ASSIGN_OR_RETURN(const Dim next, Unary(depth));
      product = op == '*' ? product * next : op == '/' ? Dim::FloorDiv(product, next) : Dim::Mod(product, next);
    }
  }

  absl::StatusOr<Dim> Unary(int depth) {
    bool negative = false;
    while (Take("-")) negative = !negative;
    Space();
    if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) return Integer(negative);
    WEFT_ASSIGN_OR_RETURN(const Dim dim, AtomOf(depth));
    return negative ? Dim(0) - dim : dim;
  }

  absl::StatusOr<Dim> Integer(bool negative) {
    const size_t begin = at_;
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) ++at_;
    const std::string digits = absl::StrCat(negative ? "-" : "", ToAbsl(text_.substr(begin, at_ - begin)));
    int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) return Fault("an integer of 64 bits");
    return Dim(value);
  }

  absl::StatusOr<Dim> AtomOf(int depth) {
    if (Take("(")) {
      WEFT_ASSIGN_OR_RETURN(Dim dim, Sum(depth + 1));
      if (!Take(")")) return Fault("')'");
      return dim;
    }
    if (Take("'")) {
      std::string name;
      while (at_ < text_.size() && text_[at_] != '\'') {
        if (text_[at_] == '\\') ++at_;
        if (at_ < text_.size()) name.push_back(text_[at_++]);
      }
      if (!Take("'") || name.empty()) return Fault("a quoted name");
      return Dim::Symbol(name);
    }
    const size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    if (!IsIdentifier(name)) return Fault("an integer, a name or '('");
    if (!Take("(")) return Dim::Symbol(name);
    WEFT_ASSIGN_OR_RETURN(const Dim a, Sum(depth + 1));
    if (!Take(",")) return Fault("','");
    WEFT_ASSIGN_OR_RETURN(const Dim b, Sum(depth + 1));
    if (!Take(")")) return Fault("')'");
    if (name == "floordiv") return Dim::FloorDiv(a, b);
    if (name == "ceildiv") return Dim::CeilDiv(a, b);
    if (name == "mod") return Dim::Mod(a, b);
    if (name == "min") return Dim::Min(a, b);
    if (name == "max") return Dim::Max(a, b);
    return Fault("floordiv, ceildiv, mod, min or max before '('");
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

absl::StatusOr<Dim> Dim::Parse(std::string_view text) { return Parser(text).Run(); }

}  // namespace weft
