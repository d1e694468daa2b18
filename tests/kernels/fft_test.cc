#include "kernels/ref/fft.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

namespace weft {
namespace {

using Complex = Fft::Complex;

TEST(Fft, EveryLengthAgreesWithTheDefinition) {
  std::mt19937 generator(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<int64_t> lengths;
  for (int64_t n = 1; n <= 70; ++n) lengths.push_back(n);
  lengths.insert(lengths.end(), {97, 100, 128, 169, 289, 343, 360, 400, 509, 512, 4 * 127, 1000, 1001, 2048, 2 * 1009});
  for (int64_t n : lengths) {
    auto fft = Fft::Create(n);
    ASSERT_TRUE(fft.ok()) << fft.status();
    std::vector<Complex> x(n), y(n), back(n), scratch(fft->scratch_size());
    for (Complex& v : x) v = {uniform(generator), uniform(generator)};
    fft->Forward(x.data(), y.data(), scratch.data());
    double worst = 0;
    for (int64_t k = 0; k < n; ++k) {
      Complex sum;
      for (int64_t j = 0; j < n; ++j) {
        sum += x[j] * std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(j * k % n) / static_cast<double>(n));
      }
      worst = std::max(worst, std::abs(sum - y[k]));
    }
    EXPECT_LT(worst, 1e-13 * std::sqrt(static_cast<double>(n)) * 10) << n;
    fft->Inverse(y.data(), back.data(), scratch.data());
    worst = 0;
    for (int64_t j = 0; j < n; ++j) worst = std::max(worst, std::abs(back[j] - x[j]));
    EXPECT_LT(worst, 1e-13) << n;
  }
}

TEST(Fft, ImpossibleLengths) {
  EXPECT_FALSE(Fft::Create(0).ok());
  EXPECT_FALSE(Fft::Create(int64_t{1} << 62).ok());
}

}  // namespace
}  // namespace weft
