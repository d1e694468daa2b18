// TreeEnsembleClassifier, TreeEnsembleRegressor, TreeEnsemble (ONNX Operators-ml.md). The first two are deprecated with version 5, which no
// rewriting replaces: their records stay.
#ifndef WEFT_GRAPH_OPS_TREE_ENSEMBLE_H_
#define WEFT_GRAPH_OPS_TREE_ENSEMBLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/attributes.h"

namespace weft {

// The lists nodes_* have one entry for each node of every tree. A list of floats may be a tensor of doubles instead, *_as_tensor.
struct TreeEnsembleClassifierAttrs {
  std::vector<float> base_values;
  Tensor base_values_as_tensor;
  std::vector<int64_t> class_ids;
  std::vector<int64_t> class_nodeids;
  std::vector<int64_t> class_treeids;
  std::vector<float> class_weights;
  Tensor class_weights_as_tensor;
  std::vector<int64_t> classlabels_int64s;
  std::vector<std::string> classlabels_strings;
  std::vector<int64_t> nodes_falsenodeids;
  std::vector<int64_t> nodes_featureids;
  std::vector<float> nodes_hitrates;  // how often a node was met in training: no result depends on it
  Tensor nodes_hitrates_as_tensor;
  std::vector<int64_t> nodes_missing_value_tracks_true;
  std::vector<std::string> nodes_modes;
  std::vector<int64_t> nodes_nodeids;
  std::vector<int64_t> nodes_treeids;
  std::vector<int64_t> nodes_truenodeids;
  std::vector<float> nodes_values;
  Tensor nodes_values_as_tensor;
  std::string post_transform = "NONE";
};
WEFT_ATTRS(TreeEnsembleClassifierAttrs, Field<&TreeEnsembleClassifierAttrs::base_values>("base_values"),
           Field<&TreeEnsembleClassifierAttrs::base_values_as_tensor>("base_values_as_tensor"),
           Field<&TreeEnsembleClassifierAttrs::class_ids>("class_ids"),
           Field<&TreeEnsembleClassifierAttrs::class_nodeids>("class_nodeids"),
           Field<&TreeEnsembleClassifierAttrs::class_treeids>("class_treeids"),
           Field<&TreeEnsembleClassifierAttrs::class_weights>("class_weights"),
           Field<&TreeEnsembleClassifierAttrs::class_weights_as_tensor>("class_weights_as_tensor"),
           Field<&TreeEnsembleClassifierAttrs::classlabels_int64s>("classlabels_int64s"),
           Field<&TreeEnsembleClassifierAttrs::classlabels_strings>("classlabels_strings"),
           Field<&TreeEnsembleClassifierAttrs::nodes_falsenodeids>("nodes_falsenodeids"),
           Field<&TreeEnsembleClassifierAttrs::nodes_featureids>("nodes_featureids"),
           Field<&TreeEnsembleClassifierAttrs::nodes_hitrates>("nodes_hitrates"),
           Field<&TreeEnsembleClassifierAttrs::nodes_hitrates_as_tensor>("nodes_hitrates_as_tensor"),
           Field<&TreeEnsembleClassifierAttrs::nodes_missing_value_tracks_true>("nodes_missing_value_tracks_true"),
           Field<&TreeEnsembleClassifierAttrs::nodes_modes>("nodes_modes"),
           Field<&TreeEnsembleClassifierAttrs::nodes_nodeids>("nodes_nodeids"),
           Field<&TreeEnsembleClassifierAttrs::nodes_treeids>("nodes_treeids"),
           Field<&TreeEnsembleClassifierAttrs::nodes_truenodeids>("nodes_truenodeids"),
           Field<&TreeEnsembleClassifierAttrs::nodes_values>("nodes_values"),
           Field<&TreeEnsembleClassifierAttrs::nodes_values_as_tensor>("nodes_values_as_tensor"),
           Field<&TreeEnsembleClassifierAttrs::post_transform>("post_transform"));

struct TreeEnsembleRegressorAttrs {
  std::string aggregate_function = "SUM";
  std::vector<float> base_values;
  Tensor base_values_as_tensor;
  std::optional<int64_t> n_targets;
  std::vector<int64_t> nodes_falsenodeids;
  std::vector<int64_t> nodes_featureids;
  std::vector<float> nodes_hitrates;
  Tensor nodes_hitrates_as_tensor;
  std::vector<int64_t> nodes_missing_value_tracks_true;
  std::vector<std::string> nodes_modes;
  std::vector<int64_t> nodes_nodeids;
  std::vector<int64_t> nodes_treeids;
  std::vector<int64_t> nodes_truenodeids;
  std::vector<float> nodes_values;
  Tensor nodes_values_as_tensor;
  std::string post_transform = "NONE";
  std::vector<int64_t> target_ids;
  std::vector<int64_t> target_nodeids;
  std::vector<int64_t> target_treeids;
  std::vector<float> target_weights;
  Tensor target_weights_as_tensor;
};
WEFT_ATTRS(TreeEnsembleRegressorAttrs, Field<&TreeEnsembleRegressorAttrs::aggregate_function>("aggregate_function"),
           Field<&TreeEnsembleRegressorAttrs::base_values>("base_values"),
           Field<&TreeEnsembleRegressorAttrs::base_values_as_tensor>("base_values_as_tensor"),
           Field<&TreeEnsembleRegressorAttrs::n_targets>("n_targets"),
           Field<&TreeEnsembleRegressorAttrs::nodes_falsenodeids>("nodes_falsenodeids"),
           Field<&TreeEnsembleRegressorAttrs::nodes_featureids>("nodes_featureids"),
           Field<&TreeEnsembleRegressorAttrs::nodes_hitrates>("nodes_hitrates"),
           Field<&TreeEnsembleRegressorAttrs::nodes_hitrates_as_tensor>("nodes_hitrates_as_tensor"),
           Field<&TreeEnsembleRegressorAttrs::nodes_missing_value_tracks_true>("nodes_missing_value_tracks_true"),
           Field<&TreeEnsembleRegressorAttrs::nodes_modes>("nodes_modes"),
           Field<&TreeEnsembleRegressorAttrs::nodes_nodeids>("nodes_nodeids"),
           Field<&TreeEnsembleRegressorAttrs::nodes_treeids>("nodes_treeids"),
           Field<&TreeEnsembleRegressorAttrs::nodes_truenodeids>("nodes_truenodeids"),
           Field<&TreeEnsembleRegressorAttrs::nodes_values>("nodes_values"),
           Field<&TreeEnsembleRegressorAttrs::nodes_values_as_tensor>("nodes_values_as_tensor"),
           Field<&TreeEnsembleRegressorAttrs::post_transform>("post_transform"),
           Field<&TreeEnsembleRegressorAttrs::target_ids>("target_ids"),
           Field<&TreeEnsembleRegressorAttrs::target_nodeids>("target_nodeids"),
           Field<&TreeEnsembleRegressorAttrs::target_treeids>("target_treeids"),
           Field<&TreeEnsembleRegressorAttrs::target_weights>("target_weights"),
           Field<&TreeEnsembleRegressorAttrs::target_weights_as_tensor>("target_weights_as_tensor"));

// nodes_* list inner nodes; a child is a node or, where nodes_*leafs says so, an entry of leaf_*.
struct TreeEnsembleAttrs {
  int64_t aggregate_function = 1;  // 0 average, 1 sum, 2 minimum, 3 maximum
  std::vector<int64_t> leaf_targetids;
  Tensor leaf_weights;
  Tensor membership_values;  // the sets of BRANCH_MEMBER nodes in the order of the nodes, a NaN behind each
  std::optional<int64_t> n_targets;
  std::vector<int64_t> nodes_falseleafs;
  std::vector<int64_t> nodes_falsenodeids;
  std::vector<int64_t> nodes_featureids;
  Tensor nodes_hitrates;
  std::vector<int64_t> nodes_missing_value_tracks_true;
  Tensor nodes_modes;  // uint8
  Tensor nodes_splits;
  std::vector<int64_t> nodes_trueleafs;
  std::vector<int64_t> nodes_truenodeids;
  int64_t post_transform = 0;
  std::vector<int64_t> tree_roots;
};
WEFT_ATTRS(TreeEnsembleAttrs, Field<&TreeEnsembleAttrs::aggregate_function>("aggregate_function"),
           RequiredField<&TreeEnsembleAttrs::leaf_targetids>("leaf_targetids"),
           RequiredField<&TreeEnsembleAttrs::leaf_weights>("leaf_weights"),
           Field<&TreeEnsembleAttrs::membership_values>("membership_values"),
           Field<&TreeEnsembleAttrs::n_targets>("n_targets"),
           RequiredField<&TreeEnsembleAttrs::nodes_falseleafs>("nodes_falseleafs"),
           RequiredField<&TreeEnsembleAttrs::nodes_falsenodeids>("nodes_falsenodeids"),
           RequiredField<&TreeEnsembleAttrs::nodes_featureids>("nodes_featureids"),
           Field<&TreeEnsembleAttrs::nodes_hitrates>("nodes_hitrates"),
           Field<&TreeEnsembleAttrs::nodes_missing_value_tracks_true>("nodes_missing_value_tracks_true"),
           RequiredField<&TreeEnsembleAttrs::nodes_modes>("nodes_modes"),
           RequiredField<&TreeEnsembleAttrs::nodes_splits>("nodes_splits"),
           RequiredField<&TreeEnsembleAttrs::nodes_trueleafs>("nodes_trueleafs"),
           RequiredField<&TreeEnsembleAttrs::nodes_truenodeids>("nodes_truenodeids"),
           Field<&TreeEnsembleAttrs::post_transform>("post_transform"),
           RequiredField<&TreeEnsembleAttrs::tree_roots>("tree_roots"));

// In the order of TreeEnsemble's numbers.
enum class TreeAggregate : uint8_t { kAverage, kSum, kMin, kMax };
absl::StatusOr<TreeAggregate> TreeAggregateFromName(std::string_view name);

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_TREE_ENSEMBLE_H_
