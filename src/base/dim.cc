#include "base/dim.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace weft {
namespace {

enum class AtomKind : uint8_t { kSymbol, kFloorDiv, kMin, kMax, kUnknown };

// What a term multiplies: a symbol, or a call that does not simplify. Compared by its text.
struct Atom {
  AtomKind kind = AtomKind::kSymbol;
  std::string name;  // of a symbol
  Dim a, b;          // of a call
  int depth = 0;     // calls within calls
  std::string text;
};
using AtomPtr = std::shared_ptr<const Atom>;

bool Less(const AtomPtr& p, const AtomPtr& q) { return p != q && p->text < q->text; }
bool Same(const AtomPtr& p, const AtomPtr& q) { return p == q || p->text == q->text; }

using Monomial = std::vector<AtomPtr>;  // sorted by text; an atom stands as often as its power

// Of a higher degree first, then by text: an order that multiplication keeps, as division needs, and the one that
// prints.
struct Before {
  bool operator()(const Monomial& x, const Monomial& y) const {
    if (x.size() != y.size()) return x.size() > y.size();
    return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end(), Less);
  }
};
using Polynomial =
    std::map<Monomial, int64_t, Before>;  // no zero coefficients; the empty monomial, last, is the constant

// Beyond these an expression is of no use to anyone, and a hostile model could make it grow without end.
constexpr size_t kMaxTerms = 64;
constexpr size_t kMaxDegree = 16;
constexpr size_t kMaxOperands = 16;  // of min and max
constexpr size_t kMaxTextBytes = 4096;
constexpr size_t kMaxNameBytes = 1024;
constexpr int kMaxDepth = 64;     // of calls within calls
constexpr int kMaxNesting = 100;  // of text: calls and parentheses

uint64_t Fnv1a(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char c : text) hash = (hash ^ c) * 0x100000001b3;
  return hash;
}

std::string HexOf(uint64_t value) { return absl::StrCat(absl::Hex(value, absl::kZeroPad16)); }

bool IsIdentifier(std::string_view name) {
  if (name.empty() || absl::ascii_isdigit(name[0])) return false;
  return std::all_of(name.begin(), name.end(), [](unsigned char c) { return absl::ascii_isalnum(c) || c == '_'; });
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
  switch (kind) {
    case AtomKind::kFloorDiv:
      return "floordiv";
    case AtomKind::kMin:
      return "min";
    case AtomKind::kMax:
      return "max";
    default:
      return "unknown";
  }
}

}  // namespace

struct Dim::Expr {
  Polynomial polynomial;
  std::string text;

  static Dim Make(Polynomial polynomial);
  static Dim Make(AtomPtr atom);
  static const Polynomial& TermsOf(const Dim& dim) { return dim.expr_->polynomial; }  // not of a constant
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

// "M*N - N + 2*floordiv(M, 2) - 1".
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
  for (const auto& [monomial, coefficient] : polynomial) add(monomial, coefficient);
  return text;
}

Dim UnknownNamed(std::string_view hex) {
  auto atom = std::make_shared<Atom>();
  atom->kind = AtomKind::kUnknown;
  atom->text = absl::StrCat("unknown(", ToAbsl(hex), ")");
  return Dim::Expr::Make(std::move(atom));
}

// What becomes of operations beyond the limits or beyond int64: the same operation gives the same unknown.
Dim Unknown(std::string_view operation, const Dim& a, const Dim& b) {
  return UnknownNamed(HexOf(Fnv1a(absl::StrCat(ToAbsl(operation), "(", a.ToString(), ", ", b.ToString(), ")"))));
}

bool AddTerm(Polynomial& polynomial, const Monomial& monomial, int64_t coefficient) {
  auto [it, inserted] = polynomial.emplace(monomial, coefficient);
  if (!inserted && __builtin_add_overflow(it->second, coefficient, &it->second)) return false;
  if (it->second == 0) polynomial.erase(it);
  return true;
}

Monomial Product(const Monomial& a, const Monomial& b) {
  Monomial product(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), product.begin(), Less);
  return product;
}

// sum += factor * p; false where int64 overflows.
bool AddMultiple(Polynomial& sum, const Polynomial& p, int64_t factor, const Monomial& monomial = {}) {
  for (const auto& [m, c] : p) {
    int64_t product;
    if (__builtin_mul_overflow(c, factor, &product)) return false;
    if (product != 0 && !AddTerm(sum, monomial.empty() ? m : Product(m, monomial), product)) return false;
  }
  return true;
}

// a / b where b's atoms are among a's.
std::optional<Monomial> Quotient(const Monomial& a, const Monomial& b) {
  if (b.size() > a.size()) return std::nullopt;
  Monomial rest;
  size_t taken = 0;
  for (const AtomPtr& atom : a) {
    if (taken < b.size() && Same(atom, b[taken])) {
      ++taken;
    } else {
      rest.push_back(atom);
    }
  }
  if (taken < b.size()) return std::nullopt;
  return rest;
}

bool IsWithinLimits(const Polynomial& p) {
  if (p.size() > kMaxTerms) return false;
  return std::all_of(p.begin(), p.end(), [](const auto& term) { return term.first.size() <= kMaxDegree; });
}

Dim Call(AtomKind kind, const Dim& a, const Dim& b) {
  int depth = 0;
  for (const Dim* d : {&a, &b}) {
    if (d->is_constant()) continue;
    for (const auto& [monomial, coefficient] : Dim::Expr::TermsOf(*d)) {
      for (const AtomPtr& atom : monomial) depth = std::max(depth, atom->depth);
    }
  }
  auto atom = std::make_shared<Atom>();
  atom->kind = kind;
  atom->a = a;
  atom->b = b;
  atom->depth = depth + 1;
  atom->text = absl::StrCat(ToAbsl(CallName(kind)), "(", a.ToString(), ", ", b.ToString(), ")");
  if (atom->text.size() > kMaxTextBytes || atom->depth > kMaxDepth) return Unknown(CallName(kind), a, b);
  return Dim::Expr::Make(std::move(atom));
}

// b is not 0, and not -1 where a is INT64_MIN.
int64_t FloorDivInts(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
int64_t ModInts(int64_t a, int64_t b) {
  if (b == -1) return 0;
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

// The single atom that the expression is, if it is one.
const Atom* AsAtom(const Polynomial& p) {
  if (p.size() != 1 || p.begin()->second != 1 || p.begin()->first.size() != 1) return nullptr;
  return p.begin()->first[0].get();
}

// The exact quotient of two polynomials, if there is one.
std::optional<Polynomial> ExactQuotient(Polynomial a, const Polynomial& b) {
  Polynomial quotient;
  const auto& [lead, lead_coefficient] = *b.begin();
  for (size_t step = 0; !a.empty(); ++step) {
    const auto& [top, top_coefficient] = *a.begin();
    const std::optional<Monomial> monomial = Quotient(top, lead);
    if (step > kMaxTerms || !monomial) return std::nullopt;
    if (top_coefficient == INT64_MIN || top_coefficient % lead_coefficient != 0) return std::nullopt;
    const int64_t coefficient = top_coefficient / lead_coefficient;
    if (!AddTerm(quotient, *monomial, coefficient) || !AddMultiple(a, b, -coefficient, *monomial)) return std::nullopt;
  }
  return quotient;
}

// What divides every term of both: a positive integer and a monomial. Neither is empty.
std::pair<int64_t, Monomial> CommonFactor(const Polynomial& a, const Polynomial& b) {
  uint64_t divisor = 0;
  Monomial common = b.begin()->first;
  for (const Polynomial* p : {&a, &b}) {
    for (const auto& [monomial, coefficient] : *p) {
      divisor =
          std::gcd(divisor, coefficient < 0 ? -static_cast<uint64_t>(coefficient) : static_cast<uint64_t>(coefficient));
      Monomial both;
      std::set_intersection(common.begin(), common.end(), monomial.begin(), monomial.end(), std::back_inserter(both),
                            Less);
      common = std::move(both);
    }
  }
  return {divisor > INT64_MAX ? 1 : static_cast<int64_t>(divisor), std::move(common)};
}

Polynomial DividedBy(const Polynomial& p, const std::pair<int64_t, Monomial>& factor) {
  Polynomial quotient;
  for (const auto& [monomial, coefficient] : p)
    quotient[*Quotient(monomial, factor.second)] = coefficient / factor.first;
  return quotient;
}

// Splits x = whole*divisor + rest, for a single term `divisor` with a positive coefficient: the rest has coefficients
// closer to zero than the divisor's where the divisor's symbols occur, and a constant that is not negative where the
// divisor is constant.
void SplitBy(const Polynomial& x, const Polynomial& divisor, Polynomial& whole, Polynomial& rest) {
  const auto& [by, by_coefficient] = *divisor.begin();
  for (const auto& [monomial, coefficient] : x) {
    const std::optional<Monomial> quotient = Quotient(monomial, by);
    int64_t q = 0, r = coefficient;
    if (quotient) {
      q = monomial.empty() ? FloorDivInts(coefficient, by_coefficient) : coefficient / by_coefficient;
      r = monomial.empty() ? ModInts(coefficient, by_coefficient) : coefficient % by_coefficient;
    }
    if (q != 0) whole[*quotient] = q;
    if (r != 0) rest[monomial] = r;
  }
}

bool IsDivisionByPositive(const Atom& atom) {
  return atom.kind == AtomKind::kFloorDiv && atom.b.is_constant() && atom.b.constant() > 0;
}

// floordiv(x, b) with b > 0 and x split by it: no coefficient reaches b, the constant is not negative.
Dim FloorDivRest(Polynomial x, int64_t b) {
  const auto constant_term = x.find({});
  const int64_t constant = constant_term == x.end() ? 0 : constant_term->second;
  if (constant != 0) x.erase(constant_term);
  if (x.empty()) return Dim(0);
  // floordiv(g*x + c, g*b) = floordiv(x + floordiv(c, g), b).
  int64_t divisor = b;
  for (const auto& [monomial, coefficient] : x) divisor = std::gcd(divisor, coefficient);
  if (divisor > 1) {
    Polynomial y = DividedBy(x, {divisor, {}});
    if (constant >= divisor) y[{}] = constant / divisor;
    return FloorDivRest(std::move(y), b / divisor);
  }
  // floordiv(floordiv(a, c) + y, b) = floordiv(a + c*y, c*b) for c > 0, where there is one such term.
  const auto is_inner = [](const auto& term) {
    const auto& [monomial, coefficient] = term;
    return coefficient == 1 && monomial.size() == 1 && IsDivisionByPositive(*monomial[0]);
  };
  if (std::count_if(x.begin(), x.end(), is_inner) == 1) {
    Polynomial others = x;
    const auto term = std::find_if(others.begin(), others.end(), is_inner);
    const AtomPtr inner = term->first[0];
    others.erase(term);
    Polynomial merged = Dim::Expr::Of(inner->a);
    const int64_t c = inner->b.constant();
    int64_t scaled, product;
    if (!__builtin_mul_overflow(c, b, &product) && !__builtin_mul_overflow(c, constant, &scaled) &&
        AddMultiple(merged, others, c) && (scaled == 0 || AddTerm(merged, {}, scaled)) && IsWithinLimits(merged)) {
      return Dim::FloorDiv(Dim::Expr::Make(std::move(merged)), Dim(product));
    }
  }
  // floordiv(-x + c, b) = -floordiv(x + b - 1 - c, b).
  if (std::all_of(x.begin(), x.end(), [](const auto& term) { return term.second < 0; })) {
    Polynomial y;
    AddMultiple(y, x, -1);
    if (constant != b - 1) y[{}] = b - 1 - constant;
    return Dim(0) - FloorDivRest(std::move(y), b);
  }
  if (constant != 0) x[{}] = constant;
  return Call(AtomKind::kFloorDiv, Dim::Expr::Make(std::move(x)), Dim(b));
}

}  // namespace

Dim Dim::Expr::Make(Polynomial polynomial) {
  if (polynomial.empty()) return Dim(0);
  if (polynomial.size() == 1 && polynomial.begin()->first.empty()) return Dim(polynomial.begin()->second);
  auto expr = std::make_shared<Expr>();
  expr->text = TextOf(polynomial);
  if (expr->text.size() > kMaxTextBytes || !IsWithinLimits(polynomial)) return Unknown(expr->text, Dim(), Dim());
  expr->polynomial = std::move(polynomial);
  return Dim(std::move(expr));
}

Dim Dim::Expr::Make(AtomPtr atom) {
  auto expr = std::make_shared<Expr>();
  expr->text = atom->text;
  expr->polynomial[{std::move(atom)}] = 1;
  return Dim(std::move(expr));
}

Dim Dim::Symbol(std::string_view name) {
  auto atom = std::make_shared<Atom>();
  atom->name = std::string(name);
  // A hash stands for the end of a name so long that it would crowd out all else.
  if (name.size() > kMaxNameBytes) atom->name = absl::StrCat(ToAbsl(name.substr(0, 64)), "...", HexOf(Fnv1a(name)));
  atom->text = QuoteSymbol(atom->name);
  return Expr::Make(std::move(atom));
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
      } else if (atom->kind != AtomKind::kUnknown) {
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
    return __builtin_add_overflow(a.value_, b.value_, &sum) ? Unknown("add", a, b) : Dim(sum);
  }
  Polynomial sum = Dim::Expr::Of(a);
  if (!AddMultiple(sum, Dim::Expr::Of(b), 1)) return Unknown("add", a, b);
  return Dim::Expr::Make(std::move(sum));
}

Dim operator-(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) {
    int64_t difference;
    return __builtin_sub_overflow(a.value_, b.value_, &difference) ? Unknown("subtract", a, b) : Dim(difference);
  }
  Polynomial difference = Dim::Expr::Of(a);
  if (!AddMultiple(difference, Dim::Expr::Of(b), -1)) return Unknown("subtract", a, b);
  return Dim::Expr::Make(std::move(difference));
}

Dim operator*(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) {
    int64_t product;
    return __builtin_mul_overflow(a.value_, b.value_, &product) ? Unknown("multiply", a, b) : Dim(product);
  }
  const Polynomial x = Dim::Expr::Of(a), y = Dim::Expr::Of(b);
  Polynomial product;
  for (const auto& [monomial, coefficient] : y) {
    if (!AddMultiple(product, x, coefficient, monomial) || product.size() > 4 * kMaxTerms) {
      return a.ToString() < b.ToString() ? Unknown("multiply", a, b) : Unknown("multiply", b, a);
    }
  }
  return Dim::Expr::Make(std::move(product));
}

Dim Dim::FloorDiv(const Dim& a, const Dim& b) {
  if (b == Dim(0)) return Call(AtomKind::kFloorDiv, a, b);
  if (a.is_constant() && b.is_constant()) {
    if (a.value_ == INT64_MIN && b.value_ == -1) return Unknown("floordiv", a, b);
    return Dim(FloorDivInts(a.value_, b.value_));
  }
  if (a == Dim(0) || b == Dim(1)) return a;
  Polynomial x = Expr::Of(a), y = Expr::Of(b);
  if (y.begin()->second < 0) {
    Polynomial minus_x, minus_y;
    if (!AddMultiple(minus_x, x, -1) || !AddMultiple(minus_y, y, -1)) return Call(AtomKind::kFloorDiv, a, b);
    x = std::move(minus_x);
    y = std::move(minus_y);
  }
  // A symbol in the divisor may stand for 0, which these rules leave out of account: an axis of that size makes the
  // tensor empty, and no quotient of it is put to use.
  if (std::optional<Polynomial> quotient = ExactQuotient(x, y)) return Expr::Make(*std::move(quotient));
  Dim whole_part = 0;
  if (y.size() == 1) {
    Polynomial whole, rest;
    SplitBy(x, y, whole, rest);
    whole_part = Expr::Make(std::move(whole));
    x = std::move(rest);
    if (x.empty()) return whole_part;
    if (y.begin()->first.empty()) return whole_part + FloorDivRest(std::move(x), y.begin()->second);
  }
  if (const auto factor = CommonFactor(x, y); factor.first > 1 || !factor.second.empty()) {
    return whole_part + FloorDiv(Expr::Make(DividedBy(x, factor)), Expr::Make(DividedBy(y, factor)));
  }
  return whole_part + Call(AtomKind::kFloorDiv, Expr::Make(std::move(x)), Expr::Make(std::move(y)));
}

Dim Dim::CeilDiv(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant() && b.value_ != 0 && b.value_ != -1) {
    return Dim(FloorDivInts(a.value_, b.value_) + (a.value_ % b.value_ != 0));
  }
  return Dim(0) - FloorDiv(Dim(0) - a, b);
}

Dim Dim::Mod(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant() && b.value_ != 0) return Dim(ModInts(a.value_, b.value_));
  return a - b * FloorDiv(a, b);
}

namespace {

// The operands of min(a, min(b, ...)), or the expression itself.
void CollectOperands(AtomKind kind, const Dim& dim, std::vector<Dim>& operands) {
  const Atom* atom = dim.is_constant() ? nullptr : AsAtom(Dim::Expr::TermsOf(dim));
  if (atom == nullptr || atom->kind != kind) {
    operands.push_back(dim);
    return;
  }
  CollectOperands(kind, atom->a, operands);
  CollectOperands(kind, atom->b, operands);
}

bool KnownAtLeast(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) return a.constant() >= b.constant();
  return a == Dim(INT64_MAX) || b == Dim(INT64_MIN) || (a - b).KnownNonNegative();
}

// min and max are associative, commutative and idempotent: their operands, those that others make superfluous left out,
// sorted by text.
Dim Extremum(AtomKind kind, const Dim& a, const Dim& b) {
  const auto wins = [kind](const Dim& x, const Dim& y) {
    return kind == AtomKind::kMax ? KnownAtLeast(x, y) : KnownAtLeast(y, x);
  };
  if (wins(a, b)) return a;
  if (wins(b, a)) return b;
  std::vector<Dim> candidates, operands;
  CollectOperands(kind, a, candidates);
  CollectOperands(kind, b, candidates);
  for (Dim& x : candidates) {
    if (std::any_of(operands.begin(), operands.end(), [&](const Dim& y) { return wins(y, x); })) continue;
    operands.erase(std::remove_if(operands.begin(), operands.end(), [&](const Dim& y) { return wins(x, y); }),
                   operands.end());
    operands.push_back(std::move(x));
  }
  const auto by_text = [](const Dim& x, const Dim& y) { return x.ToString() < y.ToString(); };
  std::sort(operands.begin(), operands.end(), by_text);
  Dim result = operands.back();
  operands.pop_back();
  if (operands.size() >= kMaxOperands) return Unknown(CallName(kind), std::min(a, b, by_text), std::max(a, b, by_text));
  for (; !operands.empty(); operands.pop_back()) result = Call(kind, operands.back(), result);
  return result;
}

}  // namespace

Dim Dim::Min(const Dim& a, const Dim& b) { return Extremum(AtomKind::kMin, a, b); }

Dim Dim::Max(const Dim& a, const Dim& b) { return Extremum(AtomKind::kMax, a, b); }

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
      } else if (atom->kind == AtomKind::kUnknown) {
        factor = Expr::Make(atom);
      } else {
        const Dim a = atom->a.Substitute(bindings), b = atom->b.Substitute(bindings);
        factor = atom->kind == AtomKind::kFloorDiv ? FloorDiv(a, b)
                 : atom->kind == AtomKind::kMin    ? Min(a, b)
                                                   : Max(a, b);
      }
      product = product * factor;
    }
    sum = sum + product;
  }
  return sum;
}

namespace {

bool NonNegative(const Atom& atom);

// Term by term.
bool NonNegative(const Polynomial& p) {
  return std::all_of(p.begin(), p.end(), [](const auto& term) {
    return term.second > 0 &&
           std::all_of(term.first.begin(), term.first.end(), [](const AtomPtr& atom) { return NonNegative(*atom); });
  });
}

bool NonNegative(const Dim& dim) {
  return dim.is_constant() ? dim.constant() >= 0 : NonNegative(Dim::Expr::TermsOf(dim));
}

bool NonNegative(const Atom& atom) {
  switch (atom.kind) {
    case AtomKind::kSymbol:
      return true;
    case AtomKind::kFloorDiv:
      return NonNegative(atom.a) && NonNegative(atom.b) && atom.b != Dim(0);
    case AtomKind::kMin:
      return NonNegative(atom.a) && NonNegative(atom.b);
    case AtomKind::kMax:
      return NonNegative(atom.a) || NonNegative(atom.b);
    case AtomKind::kUnknown:
      return false;
  }
  return false;
}

// Of p with its negative term in `atom` replaced by one in numerator / denominator, which is no less than the atom.
bool NonNegativeWith(Polynomial p, const AtomPtr& atom, const Dim& numerator, int64_t denominator) {
  const auto term = p.find({atom});
  const int64_t coefficient = term->second;
  p.erase(term);
  Polynomial bound;
  return AddMultiple(bound, p, denominator) && AddMultiple(bound, Dim::Expr::Of(numerator), coefficient) &&
         NonNegative(bound);
}

// One negative term may give way to its bound: floordiv(a, c) to a/c, min(a, b) to a or to b.
bool NonNegativeByBound(const Polynomial& p) {
  constexpr size_t kFewTerms = 8;
  if (p.size() > kFewTerms) return false;
  return std::any_of(p.begin(), p.end(), [&p](const auto& term) {
    const auto& [monomial, coefficient] = term;
    if (coefficient > 0 || monomial.size() != 1) return false;
    const AtomPtr& atom = monomial[0];
    if (IsDivisionByPositive(*atom)) return NonNegativeWith(p, atom, atom->a, atom->b.constant());
    return atom->kind == AtomKind::kMin &&
           (NonNegativeWith(p, atom, atom->a, 1) || NonNegativeWith(p, atom, atom->b, 1));
  });
}

}  // namespace

bool Dim::KnownNonNegative() const {
  return NonNegative(*this) || (expr_ != nullptr && NonNegativeByBound(expr_->polynomial));
}

namespace {

// sum := product (('+' | '-') product)*; product := unary (('*' | '//' | '%') unary)*; unary := '-' unary | atom;
// atom := integer | symbol | 'quoted symbol' | name '(' sum ',' sum ')' | 'unknown(' hex ')' | '(' sum ')'.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  absl::StatusOr<Dim> Run() {
    if (text_.size() > kMaxTextBytes) return Invalid("a dim expression of ", text_.size(), " characters is too long");
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
    if (at_ < text_.size() && absl::ascii_isdigit(text_[at_])) return Integer(negative);
    WEFT_ASSIGN_OR_RETURN(const Dim dim, AtomOf(depth));
    return negative ? Dim(0) - dim : dim;
  }

  absl::StatusOr<Dim> Integer(bool negative) {
    const size_t begin = at_;
    while (at_ < text_.size() && absl::ascii_isdigit(text_[at_])) ++at_;
    const std::string digits = absl::StrCat(negative ? "-" : "", ToAbsl(text_.substr(begin, at_ - begin)));
    int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) return Fault("an integer of 64 bits");
    return Dim(value);
  }

  std::string_view Word() {
    Space();
    const size_t begin = at_;
    while (at_ < text_.size() && (absl::ascii_isalnum(text_[at_]) || text_[at_] == '_')) ++at_;
    return text_.substr(begin, at_ - begin);
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
    const std::string_view name = Word();
    if (!IsIdentifier(name)) return Fault("an integer, a name or '('");
    if (!Take("(")) return Dim::Symbol(name);
    if (name == "unknown") {
      const std::string_view hex = Word();
      if (hex.size() != 16 || !Take(")")) return Fault("16 digits and ')'");
      return UnknownNamed(hex);
    }
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
