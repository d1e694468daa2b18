#include "graph/ops/scatter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>
#include <limits>

#include "kernels/evaluate.h"

namespace weft {
namespace {

using ::testing::HasSubstr;

template <class T>
std::vector<T> Elements(const absl::StatusOr<std::vector<Value>>& out) {
  if (!out.ok()) {
    ADD_FAILURE() << out.status();
    return {};
  }
  const auto span = (*out)[0].tensor().span<T>();
  return std::vector<T>(span.begin(), span.end());
}
std::string ErrorOf(const absl::StatusOr<std::vector<Value>>& out) { return std::string(out.status().message()); }

template <class T>
auto ScatterInto(Tensor data, std::vector<int64_t> indices, std::vector<T> updates, std::string reduction = "none") {
  ScatterElementsAttrs attrs;
  attrs.reduction = std::move(reduction);
  const auto n = static_cast<int64_t>(indices.size());
  return Evaluate(ops::ScatterElements, attrs,
                  {data, Tensor::Of<int64_t>({&n, 1}, indices), Tensor::Of<T>({&n, 1}, updates)});
}

TEST(Scatter, ReductionsSeeEveryUpdateOfAPlace) {
  const Tensor data = Tensor::Of<int8_t>({3}, {100, 5, -3});
  EXPECT_EQ(Elements<int8_t>(ScatterInto<int8_t>(data, {0, -1, 0}, {20, 7, 20}, "add")), (std::vector<int8_t>{-116, 5, 4}));
  EXPECT_EQ(Elements<int8_t>(ScatterInto<int8_t>(data, {1, 1}, {7, 6}, "max")), (std::vector<int8_t>{100, 7, -3}));
  EXPECT_EQ(Elements<int8_t>(ScatterInto<int8_t>(data, {1, 1}, {7, 6})), (std::vector<int8_t>{100, 6, -3}));
}

TEST(Scatter, NaNWins) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto y = Elements<float>(ScatterInto<float>(Tensor::Of<float>({3}, {nan, 1, 2}), {0, 1, 2}, {1, nan, 1}, "min"));
  ASSERT_EQ(y.size(), 3u);
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_TRUE(std::isnan(y[1]));
  EXPECT_EQ(y[2], 1);
}

TEST(Scatter, OtherTypes) {
  EXPECT_EQ(Elements<std::string>(ScatterInto<std::string>(Tensor::Of<std::string>({2}, {"a", "b"}), {1}, {"c"})),
            (std::vector<std::string>{"a", "c"}));
  using C = std::complex<float>;
  EXPECT_EQ(Elements<C>(ScatterInto<C>(Tensor::Of<C>({1}, {C(0, 1)}), {0}, {C(0, 1)}, "mul")), (std::vector<C>{C(-1, 0)}));
  EXPECT_EQ(Elements<bool>(Evaluate(ops::ScatterND, ScatterNDAttrs{"add"},
                                    {Tensor::Of<bool>({2}, {true, true}), Tensor::Of<int64_t>({2, 1}, {0, 1}), Tensor::Of<bool>({2}, {true, false})})),
            (std::vector<bool>{true, true}));
}

TEST(Scatter, Refusals) {
  const Tensor data = Tensor::Of<float>({2}, {0, 0});
  EXPECT_THAT(ErrorOf(ScatterInto<float>(data, {2}, {1})), HasSubstr("index 2 is out of range for axis 0 of size 2"));
  EXPECT_THAT(ErrorOf(ScatterInto<float>(data, {0}, {1}, "mean")), HasSubstr("reduction is 'mean'"));
  EXPECT_THAT(ErrorOf(ScatterInto<double>(data, {0}, {1})), HasSubstr("double"));
  EXPECT_THAT(ErrorOf(Evaluate(ops::ScatterND, ScatterNDAttrs(), {data, Tensor::Of<int64_t>({1, 2}, {0, 0}), data})), HasSubstr("tuples of 2"));
  EXPECT_THAT(ErrorOf(Evaluate(ops::ScatterND, ScatterNDAttrs(), {data, Tensor::Of<int64_t>({1, 1}, {-3}), Tensor::Of<float>({1}, {1})})),
              HasSubstr("index -3 is out of range"));
}

TEST(TensorScatter, EachSampleHasItsPlace) {
  const Tensor cache = Tensor::Of<float>({2, 1, 3, 1}, {0, 0, 0, 0, 0, 0}), update = Tensor::Of<float>({2, 1, 2, 1}, {1, 2, 3, 4});
  const Tensor at = Tensor::Of<int64_t>({2}, {1, -1});
  TensorScatterAttrs attrs;
  EXPECT_THAT(ErrorOf(Evaluate(ops::TensorScatter, attrs, {cache, update, at})), HasSubstr("write index -1 is out of range"));
  attrs.mode = "circular";
  EXPECT_EQ(Elements<float>(Evaluate(ops::TensorScatter, attrs, {cache, update, at})), (std::vector<float>{0, 1, 2, 4, 0, 3}));
  attrs.axis = 0;
  EXPECT_THAT(ErrorOf(Evaluate(ops::TensorScatter, attrs, {cache, update, at})), HasSubstr("axis 0 is the batch"));
}

}  // namespace
}  // namespace weft
