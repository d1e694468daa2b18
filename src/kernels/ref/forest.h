// Decision trees as TreeEnsemble and its older siblings run them: checked once, then walked without checks.
#ifndef WEFT_KERNELS_REF_FOREST_H_
#define WEFT_KERNELS_REF_FOREST_H_

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/ops/tree_ensemble.h"
#include "weft/tensor.h"

namespace weft {

// In the order of TreeEnsemble's numbers; a leaf has none there.
enum class TreeMode : uint8_t { kLeq, kLt, kGte, kGt, kEq, kNeq, kMember, kLeaf };

// Of every type of thresholds. A child is an index into the nodes; a leaf's `on_true` and `on_false` bound its votes instead.
struct TreeNode {
  TreeMode mode = TreeMode::kLeaf;
  bool nan_is_true = false;
  int32_t feature = 0;
  int32_t on_true = 0, on_false = 0;
  int32_t set = 0;  // of kMember: index into the sets
};

// T, float or double, is what features are compared in and votes are added in.
template <class T>
struct Forest {
  struct Vote {
    int32_t target;
    T weight;
  };
  std::vector<TreeNode> nodes;
  std::vector<T> splits;  // one for each node
  std::vector<std::vector<T>> sets;
  std::vector<Vote> votes;
  std::vector<int32_t> roots;
  int64_t features = 0;  // a row has at least as many

  bool GoesTrue(const TreeNode& node, T split, T x) const {
    if (node.nan_is_true && std::isnan(x)) return true;
    switch (node.mode) {
      case TreeMode::kLeq: return x <= split;
      case TreeMode::kLt: return x < split;
      case TreeMode::kGte: return x >= split;
      case TreeMode::kGt: return x > split;
      case TreeMode::kEq: return x == split;
      case TreeMode::kNeq: return x != split;
      case TreeMode::kMember:
        for (T member : sets[node.set]) {
          if (x == member) return true;
        }
        return false;
      case TreeMode::kLeaf: break;
    }
    return false;
  }

  // The votes of the leaf that row `x` comes to.
  absl::Span<const Vote> Walk(int32_t root, const T* x) const {
    int32_t at = root;
    while (nodes[at].mode != TreeMode::kLeaf) {
      const TreeNode& node = nodes[at];
      at = GoesTrue(node, splits[at], x[node.feature]) ? node.on_true : node.on_false;
    }
    return absl::MakeConstSpan(votes).subspan(nodes[at].on_true, nodes[at].on_false - nodes[at].on_true);
  }
};

// The lists of TreeEnsembleClassifier and TreeEnsembleRegressor. Doubles stand in for the floats where there are any.
struct TreeLists {
  absl::Span<const int64_t> treeids, nodeids, featureids, trueids, falseids, nan_is_true;
  absl::Span<const std::string> modes;
  absl::Span<const float> values;
  const Tensor* values_as_tensor;
  absl::Span<const int64_t> vote_treeids, vote_nodeids, vote_targets;
  absl::Span<const float> vote_weights;
  const Tensor* vote_weights_as_tensor;
};

// Errors: Invalid where lists have different lengths, name nodes or targets that do not exist, or make cycles instead of trees.
template <class T>
absl::StatusOr<Forest<T>> BuildForest(const TreeLists& lists, int64_t targets);
template <class T>
absl::StatusOr<Forest<T>> BuildForest(const TreeEnsembleAttrs& attrs, int64_t targets);

// The floats, or the tensor's elements where it holds any. Errors: Invalid where both do, or the tensor holds no numbers in one row.
template <class T>
absl::StatusOr<std::vector<T>> FloatsOrTensor(absl::Span<const float> floats, const Tensor& tensor, std::string_view name);

}  // namespace weft

#endif  // WEFT_KERNELS_REF_FOREST_H_
