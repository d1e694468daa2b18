// Dim: the size of one axis: an integer, a symbol, or an expression over them.
#ifndef WEFT_BASE_DIM_H_
#define WEFT_BASE_DIM_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"

namespace weft {

// A polynomial with integer coefficients over atoms, kept in canonical form so that equal expressions in the usual
// cases are equal objects. An atom is a symbol ("N") or a call floordiv(a, b), min(a, b), max(a, b) over Dims that does
// not simplify; ceildiv and mod are expressed by floordiv. Also the element of a small integer tensor that computes
// shapes, so it may be negative; symbols themselves are never negative, and no symbol in a divisor is taken to be 0.
//
// Arithmetic is total: where int64 would overflow, or an expression grows out of all use, the result is an atom
// "unknown(...)" that has no symbols, stays what it is under Substitute, and equals only the result of the same
// operation.
class Dim {
 public:
  Dim() : value_(0) {}
  Dim(int64_t value) : value_(value) {}  // NOLINT: implicit on purpose
  // A symbol. The name may be any non-empty string; it prints bare where it is an identifier. The end of a name of more
  // than a kilobyte is replaced by a hash.
  static Dim Symbol(std::string_view name);

  bool is_constant() const { return expr_ == nullptr; }
  int64_t constant() const { return value_; }  // only if is_constant()
  // The name, where this is a single symbol with coefficient one.
  std::optional<std::string> symbol() const;
  // Every symbol in it, sorted, once each.
  std::vector<std::string> Symbols() const;

  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  static Dim FloorDiv(const Dim& a, const Dim& b);  // rounds to minus infinity; floordiv(a, 0) never simplifies
  static Dim CeilDiv(const Dim& a, const Dim& b);
  static Dim Mod(const Dim& a, const Dim& b);  // a - b*floordiv(a,b)
  static Dim Min(const Dim& a, const Dim& b);
  static Dim Max(const Dim& a, const Dim& b);

  // Structural equality of the canonical forms: true means equal for every binding; false means "not known equal".
  friend bool operator==(const Dim& a, const Dim& b);
  friend bool operator!=(const Dim& a, const Dim& b) { return !(a == b); }
  template <class H>
  friend H AbslHashValue(H h, const Dim& d) {
    return d.expr_ == nullptr ? H::combine(std::move(h), d.value_) : H::combine(std::move(h), d.ToString());
  }

  // "3", "N", "2*N + 1", "floordiv(N + 1, 2)", "max(4, N)"; names that are no identifiers stand in '...', with \ before
  // ' and \. Parse reads what ToString writes, and ordinary arithmetic text with + - * // % ( ), ceildiv and mod.
  std::string ToString() const;
  static absl::StatusOr<Dim> Parse(std::string_view text);

  // Replaces symbols; those that `bindings` lacks stay. With integers for all symbols the result is constant, unless it
  // divides by 0 or is unknown.
  Dim Substitute(const absl::flat_hash_map<std::string, Dim>& bindings) const;

  // True only if the expression is >= 0 for all symbols >= 0; false means "not known".
  bool KnownNonNegative() const;

  struct Expr;  // dim.cc

 private:
  explicit Dim(std::shared_ptr<const Expr> expr) : value_(0), expr_(std::move(expr)) {}
  friend struct Expr;

  int64_t value_;
  std::shared_ptr<const Expr> expr_;  // null for a constant
};

}  // namespace weft

#endif  // WEFT_BASE_DIM_H_
