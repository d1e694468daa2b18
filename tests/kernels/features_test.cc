#include "graph/ops/features.h"

#include <gtest/gtest.h>

#include <limits>

#include "graph/ops/encoders.h"
#include "kernels/evaluate.h"

namespace weft {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Tensor Result(const Op& op, const Attrs& attrs, std::vector<Value> inputs) {
  auto out = Evaluate(op, attrs, inputs);
  if (!out.ok()) {
    ADD_FAILURE() << out.status();
    return Tensor();
  }
  return (*out)[0].tensor();
}

std::string Error(const Op& op, const Attrs& attrs, std::vector<Value> inputs) {
  return std::string(Evaluate(op, attrs, inputs).status().message());
}

TEST(LabelEncoder, LastOfEqualKeysCountsAndNanIsAKey) {
  LabelEncoderAttrs attrs;
  attrs.keys_floats = {1, kNan, 1};
  attrs.values_strings = {"first", "nan", "last"};
  EXPECT_TRUE(BitwiseEqual(Result(ops::LabelEncoder, attrs, {Tensor::Of<float>({3}, {1, -kNan, 2})}),
                           Tensor::Of<std::string>({3}, {"last", "nan", "_Unused"})));
  attrs.values_strings.pop_back();
  EXPECT_EQ(Error(ops::LabelEncoder, attrs, {Tensor::Of<float>({1}, {1})}), "there are 3 keys and 2 values, expected as many");
  attrs.values_int64s = {1, 2, 3};
  EXPECT_EQ(Error(ops::LabelEncoder, attrs, {Tensor::Of<float>({1}, {1})}), "2 of the attributes 'values_*' are given, expected one");
}

TEST(LabelEncoder, TablesAsTensors) {
  LabelEncoderAttrs attrs;
  attrs.keys_tensor = Tensor::Of<int16_t>({2}, {7, -7});
  attrs.values_tensor = Tensor::Of<double>({2}, {0.5, 1.5});
  attrs.default_tensor = Tensor::Of<double>({1}, {9});
  EXPECT_TRUE(BitwiseEqual(Result(ops::LabelEncoder, attrs, {Tensor::Of<int16_t>({1, 2}, {-7, 0})}), Tensor::Of<double>({1, 2}, {1.5, 9})));
  attrs.default_tensor = Tensor::Of<float>({1}, {9});
  EXPECT_EQ(Error(ops::LabelEncoder, attrs, {Tensor::Of<int16_t>({1}, {1})}),
            "attribute 'default_tensor' is float[1], expected one element of type double, which the values have");
}

TEST(OneHotEncoder, CutsToIntegersAndRefusesStrangers) {
  OneHotEncoderAttrs attrs{.cats_int64s = {1, -2}};
  const Tensor x = Tensor::Of<double>({2}, {-2.9, 3});
  EXPECT_TRUE(BitwiseEqual(Result(ops::OneHotEncoder, attrs, {x}), Tensor::Of<float>({2, 2}, {0, 1, 0, 0})));
  attrs.zeros = false;
  EXPECT_EQ(Error(ops::OneHotEncoder, attrs, {x}), "element 1 of X, 3, is no category, and zeros is 0");
}

TEST(ArrayFeatureExtractor, ARowStaysARow) {
  const Tensor x = Tensor::Of<int32_t>({3}, {4, 5, 6});
  EXPECT_TRUE(BitwiseEqual(Result(ops::ArrayFeatureExtractor, Attrs(), {x, Tensor::Of<int64_t>({2}, {2, 0})}), Tensor::Of<int32_t>({1, 2}, {6, 4})));
  EXPECT_EQ(Error(ops::ArrayFeatureExtractor, Attrs(), {x, Tensor::Of<int64_t>({1}, {3})}), "index 3 is out of range, expected 0 to 2");
}

TEST(Imputer, NanAndPerColumn) {
  ImputerAttrs attrs{.imputed_value_floats = {10, 20}, .replaced_value_float = kNan};
  EXPECT_TRUE(BitwiseEqual(Result(ops::Imputer, attrs, {Tensor::Of<double>({2, 2}, {kNan, 1, 2, kNan})}), Tensor::Of<double>({2, 2}, {10, 1, 2, 20})));
  EXPECT_EQ(Error(ops::Imputer, attrs, {Tensor::Of<float>({1, 3}, {1, 2, 3})}),
            "attribute 'imputed_value_floats' has 2 elements, expected 1 or 3, one for each column of X");
  EXPECT_EQ(Error(ops::Imputer, attrs, {Tensor::Of<int64_t>({1, 2}, {1, 2})}), "the imputed values are floats, but X is of type int64");
}

TEST(Normalizer, RowsOfZerosStay) {
  const Tensor x = Tensor::Of<int32_t>({3, 2}, {-1, -2, 0, 0, 3, -4});
  EXPECT_TRUE(BitwiseEqual(Result(ops::Normalizer, NormalizerAttrs{.norm = "L2"}, {Tensor::Of<int32_t>({2, 2}, {0, 0, 3, -4})}),
                           Tensor::Of<float>({2, 2}, {0, 0, 0.6f, -0.8f})));
  EXPECT_TRUE(BitwiseEqual(Result(ops::Normalizer, NormalizerAttrs{.norm = "MAX"}, {x}), Tensor::Of<float>({3, 2}, {1, 2, 0, 0, 1, -4.0f / 3})));
}

}  // namespace
}  // namespace weft
