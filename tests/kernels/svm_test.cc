#include "graph/ops/svm.h"

#include <gtest/gtest.h>

#include "kernels/evaluate.h"

namespace weft {
namespace {

// Of the outputs, all in one list, or nothing and a failure.
std::vector<float> Scores(const Op& op, const Attrs& attrs, const Tensor& x, int output) {
  auto out = Evaluate(op, attrs, {x}, output + 1);
  if (!out.ok()) {
    ADD_FAILURE() << out.status();
    return {};
  }
  const auto scores = (*out)[output].tensor().span<float>();
  return {scores.begin(), scores.end()};
}

std::string Error(const Op& op, const Attrs& attrs, const Tensor& x) { return std::string(Evaluate(op, attrs, {x}).status().message()); }

TEST(LinearClassifier, OneRowOfCoefficientsForTwoClasses) {
  LinearClassifierAttrs attrs{.classlabels_strings = {"no", "yes"}, .coefficients = {1, -1}, .intercepts = {0.25f}};
  const Tensor x = Tensor::Of<int64_t>({2, 2}, {1, 0, 0, 1});
  EXPECT_EQ(Scores(ops::LinearClassifier, attrs, x, 1), (std::vector<float>{-0.25f, 1.25f, 1.75f, -0.75f}));
  auto out = Evaluate(ops::LinearClassifier, attrs, {x}, 2);
  ASSERT_TRUE(out.ok());
  EXPECT_TRUE(BitwiseEqual((*out)[0].tensor(), Tensor::Of<std::string>({2}, {"yes", "no"})));
  attrs.intercepts = {1, 2, 3};
  EXPECT_EQ(Error(ops::LinearClassifier, attrs, x), "there are 3 intercepts for 2 classes, expected as many, or 1 for 2 classes");
}

TEST(LinearRegressor, RowsOfCoefficientsAreTargets) {
  LinearRegressorAttrs attrs{.coefficients = {1, 2, 3, 4}, .targets = 2};
  EXPECT_EQ(Scores(ops::LinearRegressor, attrs, Tensor::Of<double>({1, 2}, {1, 10}), 0), (std::vector<float>{21, 43}));
  EXPECT_EQ(Error(ops::LinearRegressor, attrs, Tensor::Of<double>({1, 3}, {1, 2, 3})),
            "the number of features (columns of X, and in coefficients) is 3 in one place and 2 in another, expected equal");
}

TEST(SVMClassifier, PairsVoteAndCoupledProbabilitiesAddToOne) {
  SVMClassifierAttrs attrs;
  attrs.classlabels_ints = {10, 20, 30};
  attrs.vectors_per_class = {1, 1, 1};
  attrs.support_vectors = {1, 2, 3};
  attrs.coefficients = {1, -1, -1, 1, 1, -1};  // [2,3]
  attrs.rho = {0, 0.5f, -0.5f};
  const Tensor x = Tensor::Of<float>({1, 1}, {1});
  // (0,1): 1*1 - 1*2; (0,2): 0.5 + 1*1 + 1*... of class 2 against class 0; (1,2): -0.5 + 1*2 - 1*3.
  EXPECT_EQ(Scores(ops::SVMClassifier, attrs, x, 1), (std::vector<float>{-1, -1.5f, -1.5f}));
  auto out = Evaluate(ops::SVMClassifier, attrs, {x});
  ASSERT_TRUE(out.ok());
  EXPECT_EQ((*out)[0].tensor().data<int64_t>()[0], 30);
  attrs.prob_a = attrs.prob_b = {0, 0, 0};  // every pair is even
  for (float p : Scores(ops::SVMClassifier, attrs, x, 1)) EXPECT_NEAR(p, 1.0f / 3, 1e-6);
  attrs.rho.pop_back();
  EXPECT_EQ(Error(ops::SVMClassifier, attrs, x), "attribute 'rho' has 2 elements, expected 3, one for each pair of classes");
}

TEST(SVMRegressor, OneClassGivesSigns) {
  SVMRegressorAttrs attrs{.coefficients = {2}, .kernel_params = {0.5f, 0, 0}, .kernel_type = "RBF", .n_supports = 1, .one_class = true,
                          .rho = {-1}, .support_vectors = {0, 0}};
  EXPECT_EQ(Scores(ops::SVMRegressor, attrs, Tensor::Of<float>({2, 2}, {0, 0, 3, 0}), 0), (std::vector<float>{1, -1}));
  attrs.one_class = false;
  EXPECT_EQ(Scores(ops::SVMRegressor, attrs, Tensor::Of<float>({1, 2}, {0, 0}), 0), (std::vector<float>{1}));
  attrs.kernel_type = "COSINE";
  EXPECT_EQ(Error(ops::SVMRegressor, attrs, Tensor::Of<float>({1, 2}, {0, 0})), "kernel_type is 'COSINE', expected LINEAR, POLY, RBF or SIGMOID");
}

}  // namespace
}  // namespace weft
