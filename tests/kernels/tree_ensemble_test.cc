#include "graph/ops/tree_ensemble.h"

#include <gtest/gtest.h>

#include <limits>

#include "kernels/evaluate.h"

namespace weft {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// x[0] <= 1 ? votes of the leaf with id 1 : votes of the leaf with id 2, all votes for class 0.
TreeEnsembleClassifierAttrs OneSplit(float if_true, float if_false) {
  TreeEnsembleClassifierAttrs attrs;
  attrs.nodes_treeids = {0, 0, 0};
  attrs.nodes_nodeids = {0, 1, 2};
  attrs.nodes_featureids = {0, 0, 0};
  attrs.nodes_modes = {"BRANCH_LEQ", "LEAF", "LEAF"};
  attrs.nodes_values = {1, 0, 0};
  attrs.nodes_truenodeids = {1, 0, 0};
  attrs.nodes_falsenodeids = {2, 0, 0};
  attrs.class_treeids = {0, 0};
  attrs.class_nodeids = {1, 2};
  attrs.class_ids = {0, 0};
  attrs.class_weights = {if_true, if_false};
  attrs.classlabels_int64s = {5, 7};
  return attrs;
}

const Tensor& X() {
  static const auto* const x = new Tensor(Tensor::Of<float>({3, 1}, {1, 2, kNan}));
  return *x;
}

std::vector<int64_t> Labels(const TreeEnsembleClassifierAttrs& attrs) {
  auto out = Evaluate(ops::TreeEnsembleClassifier, attrs, {X()}, 2);
  if (!out.ok()) {
    ADD_FAILURE() << out.status();
    return {};
  }
  const auto labels = (*out)[0].tensor().span<int64_t>();
  return {labels.begin(), labels.end()};
}

std::vector<float> Scores(const TreeEnsembleClassifierAttrs& attrs) {
  auto out = Evaluate(ops::TreeEnsembleClassifier, attrs, {X()}, 2);
  if (!out.ok()) {
    ADD_FAILURE() << out.status();
    return {};
  }
  const auto scores = (*out)[1].tensor().span<float>();
  return {scores.begin(), scores.end()};
}

std::string Error(const TreeEnsembleClassifierAttrs& attrs) {
  return std::string(Evaluate(ops::TreeEnsembleClassifier, attrs, {X()}, 2).status().message());
}

TEST(TreeEnsembleClassifier, VotesOnOneOfTwoClassesAreProbabilitiesOrMargins) {
  EXPECT_EQ(Labels(OneSplit(0.25f, 0.75f)), (std::vector<int64_t>{5, 7, 7}));
  EXPECT_EQ(Scores(OneSplit(0.25f, 0.75f)), (std::vector<float>{0.75f, 0.25f, 0.25f, 0.75f, 0.25f, 0.75f}));
  EXPECT_EQ(Labels(OneSplit(-0.25f, 0.25f)), (std::vector<int64_t>{5, 7, 7}));
  EXPECT_EQ(Scores(OneSplit(-0.25f, 0.25f)), (std::vector<float>{0.25f, -0.25f, -0.25f, 0.25f, -0.25f, 0.25f}));
}

TEST(TreeEnsembleClassifier, VotesOnBothClassesGiveTheTopOne) {
  TreeEnsembleClassifierAttrs attrs = OneSplit(0.75f, 0.25f);
  attrs.class_treeids = {0, 0, 0, 0};
  attrs.class_nodeids = {1, 2, 2, 1};
  attrs.class_ids = {0, 0, 1, 1};
  attrs.class_weights = {0.75f, 0.25f, 0.5f, 0.25f};
  EXPECT_EQ(Labels(attrs), (std::vector<int64_t>{5, 7, 7}));
  EXPECT_EQ(Scores(attrs), (std::vector<float>{0.75f, 0.25f, 0.25f, 0.5f, 0.25f, 0.5f}));
  attrs.base_values = {0, 1};
  EXPECT_EQ(Labels(attrs), (std::vector<int64_t>{7, 7, 7}));
}

TEST(TreeEnsembleClassifier, MissingValueGoesWhereItIsTold) {
  TreeEnsembleClassifierAttrs attrs = OneSplit(0.25f, 0.75f);
  attrs.nodes_missing_value_tracks_true = {1, 0, 0};
  EXPECT_EQ(Labels(attrs), (std::vector<int64_t>{5, 7, 5}));
}

TEST(TreeEnsembleClassifier, ListsThatMakeNoTreesAreRefused) {
  TreeEnsembleClassifierAttrs attrs = OneSplit(0, 1);
  attrs.nodes_falsenodeids[0] = 0;
  EXPECT_EQ(Error(attrs), "tree 0 has no root above node 0");
  attrs.nodes_falsenodeids[0] = 3;
  EXPECT_EQ(Error(attrs), "node 0 of tree 0 has child 3, which does not exist");
  attrs.nodes_falsenodeids[0] = 1;
  EXPECT_EQ(Error(attrs), "") << "a leaf may be shared";
  attrs.nodes_nodeids[2] = 1;
  EXPECT_EQ(Error(attrs), "node 1 of tree 0 is listed twice");
  attrs = OneSplit(0, 1);
  attrs.nodes_featureids[0] = 1;
  EXPECT_EQ(Error(attrs), "X has 1 features, the trees ask for number 1");
  attrs = OneSplit(0, 1);
  attrs.class_ids = {0, 2};
  EXPECT_EQ(Error(attrs), "class_ids or target_ids holds 2, expected 0 to 1");
  attrs = OneSplit(0, 1);
  attrs.nodes_values.pop_back();
  EXPECT_EQ(Error(attrs), "attribute 'nodes_values' has 2 elements, expected 3");
}

TEST(TreeEnsembleClassifier, NodesBelowNoRootAreRefused) {
  TreeEnsembleClassifierAttrs attrs = OneSplit(0, 1);
  // Nodes 3 and 4 are below one another.
  for (int64_t id : {3, 4}) {
    attrs.nodes_treeids.push_back(0);
    attrs.nodes_nodeids.push_back(id);
    attrs.nodes_featureids.push_back(0);
    attrs.nodes_modes.push_back("BRANCH_LT");
    attrs.nodes_values.push_back(0);
    attrs.nodes_truenodeids.push_back(7 - id);
    attrs.nodes_falsenodeids.push_back(7 - id);
  }
  EXPECT_EQ(Error(attrs), "tree 0 has no root above node 3");
}

TEST(TreeEnsemble, SetsOfMembersAndAggregates) {
  TreeEnsembleAttrs attrs;
  attrs.nodes_modes = Tensor::Of<uint8_t>({2}, {6, 1});  // x in {1, 3}; x < 3
  attrs.nodes_splits = Tensor::Of<float>({2}, {0, 3});
  attrs.membership_values = Tensor::Of<float>({3}, {1, 3, kNan});
  attrs.nodes_featureids = {0, 0};
  attrs.nodes_trueleafs = attrs.nodes_falseleafs = {1, 1};
  attrs.nodes_truenodeids = {0, 2};
  attrs.nodes_falsenodeids = {1, 3};
  attrs.leaf_weights = Tensor::Of<float>({4}, {1, 2, 4, 8});
  attrs.leaf_targetids = {0, 0, 0, 0};
  attrs.tree_roots = {0, 1};
  auto run = [&](int64_t aggregate) {
    attrs.aggregate_function = aggregate;
    auto out = Evaluate(ops::TreeEnsemble, attrs, {Tensor::Of<float>({3, 1}, {1, 2, 3})});
    if (!out.ok()) return std::vector<float>();
    const auto y = (*out)[0].tensor().span<float>();
    return std::vector<float>(y.begin(), y.end());
  };
  EXPECT_EQ(run(0), (std::vector<float>{2.5f, 3, 4.5f}));
  EXPECT_EQ(run(1), (std::vector<float>{5, 6, 9}));
  EXPECT_EQ(run(2), (std::vector<float>{1, 2, 1}));
  EXPECT_EQ(run(3), (std::vector<float>{4, 4, 8}));
  attrs.nodes_trueleafs = {0, 1};
  EXPECT_EQ(Evaluate(ops::TreeEnsemble, attrs, {X()}).status().message(), "the nodes make no tree: node 0 of the lists is below itself");
  attrs.membership_values = Tensor();
  EXPECT_EQ(Evaluate(ops::TreeEnsemble, attrs, {X()}).status().message(),
            "attribute 'membership_values' has 0 sets, expected 1, one for each node of mode BRANCH_MEMBER");
}

}  // namespace
}  // namespace weft
