#include "graph/ops/select.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "kernels/evaluate.h"

namespace weft {
namespace {

using ::testing::HasSubstr;

std::vector<int64_t> Places(Tensor x, std::vector<int64_t> dims) {
  auto out = Evaluate(ops::NonZero, NoAttrs(), {x});
  if (!out.ok()) {
    ADD_FAILURE() << out.status();
    return {};
  }
  const Tensor& y = (*out)[0].tensor();
  EXPECT_EQ(std::vector<int64_t>(y.dims().begin(), y.dims().end()), dims);
  return std::vector<int64_t>(y.data<int64_t>(), y.data<int64_t>() + y.size());
}

TEST(NonZero, EveryKindOfZero) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(Places(Tensor::Of<float>({2, 2}, {-0.0f, nan, 1e-45f, 0}), {2, 2}), (std::vector<int64_t>{0, 1, 1, 0}));
  EXPECT_EQ(Places(Tensor::Of<std::string>({3}, {"", "0", "a"}), {1, 2}), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(Places(Tensor::Of<int32_t>({2, 1, 2}, {0, 5, 0, -5}), {3, 2}), (std::vector<int64_t>{0, 1, 0, 0, 1, 1}));
  EXPECT_EQ(Places(Tensor::Scalar<float>(3), {0, 1}), std::vector<int64_t>());
  EXPECT_EQ(Places(*Tensor::Allocate(DType::kFloat64, {0, 3}), {2, 0}), std::vector<int64_t>());
}

TEST(NonZero, ManyBlocks) {
  Tensor x = *Tensor::Allocate(DType::kBool, {3, 50000});
  std::vector<int64_t> expected;
  for (int64_t i = 0; i < x.size(); i += 7) x.data<bool>()[i] = true;
  for (int64_t i = 0; i < x.size(); i += 7) expected.push_back(i / 50000);
  for (int64_t i = 0; i < x.size(); i += 7) expected.push_back(i % 50000);
  EXPECT_EQ(Places(x, {2, static_cast<int64_t>(expected.size()) / 2}), expected);
}

TEST(Compress, ShortAndLongConditions) {
  const Tensor x = Tensor::Of<std::string>({2, 3}, {"a", "b", "c", "d", "e", "f"});
  auto pick = [&](std::optional<int64_t> axis, std::vector<bool> condition) {
    const auto n = static_cast<int64_t>(condition.size());
    Tensor bits = *Tensor::Allocate(DType::kBool, {n});
    std::copy(condition.begin(), condition.end(), bits.data<bool>());
    auto out = Evaluate(ops::Compress, CompressAttrs{axis}, {x, bits});
    if (!out.ok()) return std::string(out.status().message());
    std::string text = DimsToString((*out)[0].tensor().dims());
    for (const std::string& s : (*out)[0].tensor().span<std::string>()) text += s;
    return text;
  };
  EXPECT_EQ(pick(std::nullopt, {false, true, false, true}), "[2]bd");
  EXPECT_EQ(pick(-1, {true, false, true}), "[2,2]acdf");
  EXPECT_EQ(pick(0, {false, true, false, false}), "[1,3]def");
  EXPECT_EQ(pick(1, {}), "[2,0]");
  EXPECT_THAT(pick(0, {false, false, true}), HasSubstr("index 2 is out of range for axis 0 of size 2"));
}

}  // namespace
}  // namespace weft
