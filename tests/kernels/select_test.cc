#include "graph/ops/select.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "absl/strings/str_join.h"
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

// "Y; indices; inverse_indices; counts".
template <class T>
std::string UniqueOf(const UniqueAttrs& attrs, Tensor x) {
  auto out = Evaluate(ops::Unique, attrs, {x}, 4);
  if (!out.ok()) return std::string(out.status().message());
  std::string text = absl::StrJoin((*out)[0].tensor().span<T>(), " ");
  for (int i = 1; i < 4; ++i) absl::StrAppend(&text, "; ", absl::StrJoin((*out)[i].tensor().span<int64_t>(), " "));
  return text;
}

TEST(Unique, EqualAndNot) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(UniqueOf<float>(UniqueAttrs(), Tensor::Of<float>({6}, {nan, 0, -1, -0.0f, nan, -1})), "-1 0 nan; 2 1 0; 2 1 0 1 2 0; 2 2 2");
  UniqueAttrs found;
  found.sorted = 0;
  EXPECT_EQ(UniqueOf<std::string>(found, Tensor::Of<std::string>({2, 2}, {"b", "a", "b", ""})), "b a ; 0 1 3; 0 1 0 2; 2 1 1");
  EXPECT_EQ(UniqueOf<int8_t>(UniqueAttrs(), Tensor::Of<int8_t>({0}, {})), "; ; ; ");
  found.sorted = 2;
  EXPECT_THAT(UniqueOf<int8_t>(found, Tensor::Of<int8_t>({0}, {})), HasSubstr("sorted is 2"));
}

TEST(Unique, Slices) {
  UniqueAttrs attrs;
  attrs.axis = -1;
  EXPECT_EQ(UniqueOf<int64_t>(attrs, Tensor::Of<int64_t>({2, 3}, {2, 1, 2, 0, 5, 0})), "1 2 5 0; 1 0; 1 0 1; 1 2");
  // Slices without elements are all the same.
  EXPECT_EQ(UniqueOf<int64_t>(attrs, *Tensor::Allocate(DType::kInt64, {0, 3})), "; 0; 0 0 0; 3");
}

}  // namespace
}  // namespace weft
