#include "base/dim.h"

#include <functional>
#include <random>

#include <gtest/gtest.h>

namespace weft {
namespace {

Dim N() { return Dim::Symbol("N"); }
Dim M() { return Dim::Symbol("M"); }

TEST(Dim, EqualExpressionsAreEqual) {
  EXPECT_EQ(N() + M(), M() + N());
  EXPECT_EQ((N() + Dim(1)) * Dim(2), N() * Dim(2) + Dim(2));
  EXPECT_EQ(N() - N(), Dim(0));
  EXPECT_EQ(N() * M() * N(), N() * N() * M());
  EXPECT_NE(N(), M());
  EXPECT_NE(N(), Dim(1));
}

TEST(Dim, Divides) {
  EXPECT_EQ(Dim::FloorDiv(N() * Dim(64), Dim(64)), N());
  EXPECT_EQ(Dim::FloorDiv(N() * Dim(64), N()), Dim(64));
  EXPECT_EQ(Dim::FloorDiv((N() + Dim(1)) * Dim(64), N() + Dim(1)), Dim(64));
  EXPECT_EQ(Dim::FloorDiv(N() * Dim(4) + Dim(7), Dim(4)), N() + Dim(1));
  EXPECT_EQ(Dim::FloorDiv(Dim::FloorDiv(N(), Dim(2)), Dim(3)), Dim::FloorDiv(N(), Dim(6)));
  EXPECT_EQ(Dim::FloorDiv(Dim(-7), Dim(2)), Dim(-4));
  EXPECT_EQ(Dim::CeilDiv(Dim(7), Dim(2)), Dim(4));
  EXPECT_EQ(Dim::CeilDiv(N() * Dim(2), Dim(2)), N());
  EXPECT_EQ(Dim::Mod(Dim(-7), Dim(3)), Dim(2));
  EXPECT_EQ(Dim::Mod(N() * Dim(6), Dim(3)), Dim(0));
  EXPECT_EQ(Dim::FloorDiv(N(), Dim(0)).ToString(), "floordiv(N, 0)");
}

TEST(Dim, MinAndMaxSimplifyWhereTheDifferenceIsKnown) {
  EXPECT_EQ(Dim::Min(N(), N() + Dim(1)), N());
  EXPECT_EQ(Dim::Max(N(), N() + Dim(1)), N() + Dim(1));
  EXPECT_EQ(Dim::Min(N(), M()), Dim::Min(M(), N()));
}

TEST(Dim, Prints) {
  EXPECT_EQ((N() * Dim(2) + Dim(1)).ToString(), "2*N + 1");
  EXPECT_EQ((Dim(3) - N()).ToString(), "-N + 3");
  EXPECT_EQ(Dim::FloorDiv(N() + Dim(1), Dim(2)).ToString(), "floordiv(N + 1, 2)");
  EXPECT_EQ(Dim::Symbol("a/b's").ToString(), "'a/b\\'s'");
  EXPECT_EQ(*Dim::Symbol("batch size").symbol(), "batch size");
}

TEST(Dim, OverflowIsEqualToTheSameOperationOnly) {
  const Dim big = Dim(INT64_MAX) * N();
  EXPECT_EQ(big + big, big + big);
  EXPECT_NE(big + big, big + big + big);
  EXPECT_FALSE((Dim(INT64_MAX) + Dim(1)).is_constant());
}

TEST(Dim, GrowthIsBounded) {
  Dim d = N() + M() + Dim(1);
  for (int i = 0; i < 60; ++i) d = d * d + Dim::FloorDiv(d, Dim(3));
  EXPECT_LT(d.ToString().size(), 10000u);
}

TEST(Dim, ParseRefusesWhatIsNoExpression) {
  for (const char* text : {"", "N +", "(N", "N)", "1 2", "99999999999999999999", "foo(N, 1)", "'", "''", "N $ M", "+"}) {
    EXPECT_FALSE(Dim::Parse(text).ok()) << text;
  }
  EXPECT_FALSE(Dim::Parse(std::string(5000, '(')).ok());
  EXPECT_FALSE(Dim::Parse(std::string(5000, '-') + "1").ok());
}

// A random expression, built twice: as a Dim, and as a function of the symbols' values.
using Direct = std::function<std::optional<int64_t>(int64_t n, int64_t m)>;
std::pair<Dim, Direct> RandomExpression(std::mt19937& rng, int depth) {
  if (depth == 0 || rng() % 5 == 0) {
    const int64_t constant = static_cast<int64_t>(rng() % 7) - 2;
    switch (rng() % 3) {
      case 0: return {N(), [](int64_t n, int64_t) { return n; }};
      case 1: return {M(), [](int64_t, int64_t m) { return m; }};
      default: return {Dim(constant), [constant](int64_t, int64_t) { return constant; }};
    }
  }
  auto [a, f] = RandomExpression(rng, depth - 1);
  auto [b, g] = RandomExpression(rng, depth - 1);
  const int64_t divisor = 1 + rng() % 5;
  auto both = [f = f, g = g](auto op) -> Direct {
    return [f, g, op](int64_t n, int64_t m) -> std::optional<int64_t> {
      const auto x = f(n, m), y = g(n, m);
      return x && y ? std::optional(op(*x, *y)) : std::nullopt;
    };
  };
  switch (rng() % 6) {
    case 0: return {a + b, both([](int64_t x, int64_t y) { return x + y; })};
    case 1: return {a - b, both([](int64_t x, int64_t y) { return x - y; })};
    case 2: return {a * b, both([](int64_t x, int64_t y) { return x * y; })};
    case 3: return {Dim::Min(a, b), both([](int64_t x, int64_t y) { return std::min(x, y); })};
    case 4: return {Dim::Max(a, b), both([](int64_t x, int64_t y) { return std::max(x, y); })};
    default:
      return {Dim::FloorDiv(a, Dim(divisor)), [f = f, divisor](int64_t n, int64_t m) -> std::optional<int64_t> {
                const auto x = f(n, m);
                return x ? std::optional(*x / divisor - (*x % divisor != 0 && *x < 0)) : std::nullopt;
              }};
  }
}

TEST(Dim, RandomExpressionsRoundTripAndEvaluate) {
  std::mt19937 rng(7);
  for (int i = 0; i < 2000; ++i) {
    const auto [dim, direct] = RandomExpression(rng, 4);
    const auto parsed = Dim::Parse(dim.ToString());
    ASSERT_TRUE(parsed.ok()) << dim.ToString() << ": " << parsed.status();
    ASSERT_EQ(*parsed, dim) << dim.ToString() << " read as " << parsed->ToString();
    for (int64_t n : {0, 1, 3, 10}) {
      for (int64_t m : {1, 2, 8}) {
        const Dim value = dim.Substitute({{"N", Dim(n)}, {"M", Dim(m)}});
        ASSERT_TRUE(value.is_constant()) << dim.ToString();
        ASSERT_EQ(value.constant(), *direct(n, m)) << dim.ToString() << " at N=" << n << ", M=" << m;
      }
    }
  }
}

}  // namespace
}  // namespace weft
