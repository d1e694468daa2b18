#include "kernels/ref/forest.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "base/status_macros.h"
#include "kernels/ref/elements.h"

namespace weft {
namespace {

// Indices are held in 32 bits.
constexpr size_t kMostNodes = size_t{1} << 30;

absl::Status CheckLength(std::string_view name, size_t found, size_t expected) {
  if (found == expected) return absl::OkStatus();
  return Invalid("attribute '", name, "' has ", found, " elements, expected ", expected);
}

absl::StatusOr<TreeMode> ModeFromName(std::string_view name) {
  constexpr std::pair<std::string_view, TreeMode> kModes[] = {
      {"BRANCH_LEQ", TreeMode::kLeq}, {"BRANCH_LT", TreeMode::kLt}, {"BRANCH_GTE", TreeMode::kGte}, {"BRANCH_GT", TreeMode::kGt},
      {"BRANCH_EQ", TreeMode::kEq}, {"BRANCH_NEQ", TreeMode::kNeq}, {"LEAF", TreeMode::kLeaf}};
  for (const auto& [mode_name, mode] : kModes) {
    if (mode_name == name) return mode;
  }
  return Invalid("nodes_modes holds '", name, "', expected BRANCH_LEQ, BRANCH_LT, BRANCH_GTE, BRANCH_GT, BRANCH_EQ, BRANCH_NEQ or LEAF");
}

absl::StatusOr<int32_t> Feature(int64_t id) {
  if (id < 0 || id >= static_cast<int64_t>(kMostNodes)) return Invalid("nodes_featureids holds ", id, ", expected the index of a feature");
  return static_cast<int32_t>(id);
}

absl::StatusOr<int32_t> Target(int64_t id, int64_t targets, std::string_view name) {
  if (id < 0 || id >= targets) return Invalid(name, " holds ", id, ", expected 0 to ", targets - 1);
  return static_cast<int32_t>(id);
}

// Every walk from a root ends: no node is met again below itself. Sets `reached` for the nodes that some walk may meet.
absl::Status CheckWalks(absl::Span<const TreeNode> nodes, absl::Span<const int32_t> roots, std::vector<bool>& reached) {
  std::vector<bool> open(nodes.size());  // between the root and the node at hand
  std::vector<std::pair<int32_t, int>> path;  // and how many of its children are done
  auto enter = [&](int32_t at) -> absl::Status {
    if (open[at]) return Invalid("the nodes make no tree: node ", at, " of the lists is below itself");
    if (reached[at]) return absl::OkStatus();
    reached[at] = true;
    if (nodes[at].mode == TreeMode::kLeaf) return absl::OkStatus();
    open[at] = true;
    path.emplace_back(at, 0);
    return absl::OkStatus();
  };
  for (int32_t root : roots) {
    WEFT_RETURN_IF_ERROR(enter(root));
    while (!path.empty()) {
      auto& [at, done] = path.back();
      if (done == 2) {
        open[at] = false;
        path.pop_back();
        continue;
      }
      const int32_t child = done++ == 0 ? nodes[at].on_true : nodes[at].on_false;
      WEFT_RETURN_IF_ERROR(enter(child));
    }
  }
  return absl::OkStatus();
}

template <class T>
void CountFeatures(Forest<T>& forest) {
  for (const TreeNode& node : forest.nodes) {
    if (node.mode != TreeMode::kLeaf) forest.features = std::max(forest.features, int64_t{node.feature} + 1);
  }
}

using NodeIndex = absl::flat_hash_map<std::pair<int64_t, int64_t>, int32_t>;  // by tree and id

// The votes, grouped by the leaf they belong to. Those of inner nodes are never met.
template <class T>
absl::Status AddVotes(const TreeLists& lists, int64_t targets, const NodeIndex& index, Forest<T>& forest) {
  const size_t count = lists.vote_treeids.size();
  WEFT_RETURN_IF_ERROR(CheckLength("class_nodeids or target_nodeids", lists.vote_nodeids.size(), count));
  WEFT_RETURN_IF_ERROR(CheckLength("class_ids or target_ids", lists.vote_targets.size(), count));
  WEFT_ASSIGN_OR_RETURN(const std::vector<T> weights,
                        FloatsOrTensor<T>(lists.vote_weights, *lists.vote_weights_as_tensor, "class_weights or target_weights"));
  WEFT_RETURN_IF_ERROR(CheckLength("class_weights or target_weights", weights.size(), count));
  std::vector<int32_t> leaf_of(count), order(count);
  for (size_t i = 0; i < count; ++i) {
    auto it = index.find({lists.vote_treeids[i], lists.vote_nodeids[i]});
    if (it == index.end()) {
      return Invalid("a weight is for node ", lists.vote_nodeids[i], " of tree ", lists.vote_treeids[i], ", which does not exist");
    }
    leaf_of[i] = it->second;
  }
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return leaf_of[a] < leaf_of[b]; });
  forest.votes.reserve(count);
  for (int32_t i : order) {
    TreeNode& leaf = forest.nodes[leaf_of[i]];
    if (leaf.mode != TreeMode::kLeaf) continue;
    WEFT_ASSIGN_OR_RETURN(const int32_t target, Target(lists.vote_targets[i], targets, "class_ids or target_ids"));
    if (leaf.on_true == leaf.on_false) leaf.on_true = static_cast<int32_t>(forest.votes.size());
    forest.votes.push_back({target, weights[i]});
    leaf.on_false = static_cast<int32_t>(forest.votes.size());
  }
  return absl::OkStatus();
}

}  // namespace

template <class T>
absl::StatusOr<std::vector<T>> FloatsOrTensor(absl::Span<const float> floats, const Tensor& tensor, std::string_view name) {
  if (tensor.empty_handle()) return std::vector<T>(floats.begin(), floats.end());
  if (!floats.empty()) return Invalid("attribute '", name, "' is given as floats and as a tensor, expected one of them");
  if (!IsFloat(tensor.dtype()) || tensor.rank() != 1) {
    return Invalid("attribute '", name, "' as a tensor is of type ", DTypeName(tensor.dtype()), DimsToString(tensor.dims()),
                   ", expected floats or doubles in one row");
  }
  std::vector<T> values(tensor.size());
  ReadElements(tensor, 0, tensor.size(), values.data());
  return values;
}

template <class T>
absl::StatusOr<Forest<T>> BuildForest(const TreeLists& lists, int64_t targets) {
  const size_t count = lists.treeids.size();
  if (count == 0) return Invalid("attribute 'nodes_treeids' is empty, expected at least one node");
  if (count > kMostNodes || lists.vote_treeids.size() > kMostNodes) return Exhausted("there are more than ", kMostNodes, " nodes or votes");
  WEFT_RETURN_IF_ERROR(CheckLength("nodes_nodeids", lists.nodeids.size(), count));
  WEFT_RETURN_IF_ERROR(CheckLength("nodes_featureids", lists.featureids.size(), count));
  WEFT_RETURN_IF_ERROR(CheckLength("nodes_truenodeids", lists.trueids.size(), count));
  WEFT_RETURN_IF_ERROR(CheckLength("nodes_falsenodeids", lists.falseids.size(), count));
  WEFT_RETURN_IF_ERROR(CheckLength("nodes_modes", lists.modes.size(), count));
  if (!lists.nan_is_true.empty()) {
    WEFT_RETURN_IF_ERROR(CheckLength("nodes_missing_value_tracks_true", lists.nan_is_true.size(), count));
  }
  Forest<T> forest;
  WEFT_ASSIGN_OR_RETURN(forest.splits, FloatsOrTensor<T>(lists.values, *lists.values_as_tensor, "nodes_values"));
  WEFT_RETURN_IF_ERROR(CheckLength("nodes_values", forest.splits.size(), count));

  NodeIndex index;
  index.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    if (!index.emplace(std::pair(lists.treeids[i], lists.nodeids[i]), static_cast<int32_t>(i)).second) {
      return Invalid("node ", lists.nodeids[i], " of tree ", lists.treeids[i], " is listed twice");
    }
  }
  forest.nodes.resize(count);
  std::vector<bool> is_child(count), reached(count);
  for (size_t i = 0; i < count; ++i) {
    TreeNode& node = forest.nodes[i];
    WEFT_ASSIGN_OR_RETURN(node.mode, ModeFromName(lists.modes[i]));
    if (node.mode == TreeMode::kLeaf) continue;
    node.nan_is_true = !lists.nan_is_true.empty() && lists.nan_is_true[i] != 0;
    WEFT_ASSIGN_OR_RETURN(node.feature, Feature(lists.featureids[i]));
    for (const auto& [id, child] : {std::pair(lists.trueids[i], &node.on_true), std::pair(lists.falseids[i], &node.on_false)}) {
      auto it = index.find({lists.treeids[i], id});
      if (it == index.end()) {
        return Invalid("node ", lists.nodeids[i], " of tree ", lists.treeids[i], " has child ", id, ", which does not exist");
      }
      *child = it->second;
      is_child[it->second] = true;
    }
  }
  for (size_t i = 0; i < count; ++i) {
    if (!is_child[i]) forest.roots.push_back(static_cast<int32_t>(i));
  }
  WEFT_RETURN_IF_ERROR(CheckWalks(forest.nodes, forest.roots, reached));
  // Above each node that is not reached there is one that is not reached either.
  for (size_t i = 0; i < count; ++i) {
    if (!reached[i]) return Invalid("tree ", lists.treeids[i], " has no root above node ", lists.nodeids[i]);
  }
  CountFeatures(forest);
  WEFT_RETURN_IF_ERROR(AddVotes(lists, targets, index, forest));
  return forest;
}

namespace {

// Splits the members at the NaN behind each set.
template <class T>
absl::StatusOr<std::vector<std::vector<T>>> MemberSets(const Tensor& members, size_t expected) {
  std::vector<std::vector<T>> sets;
  if (!members.empty_handle()) {
    WEFT_ASSIGN_OR_RETURN(const std::vector<T> values, FloatsOrTensor<T>({}, members, "membership_values"));
    std::vector<T> set;
    for (T value : values) {
      if (std::isnan(value)) {
        sets.push_back(std::exchange(set, {}));
      } else {
        set.push_back(value);
      }
    }
    if (!set.empty()) return Invalid("attribute 'membership_values' does not end with a NaN");
  }
  if (sets.size() != expected) {
    return Invalid("attribute 'membership_values' has ", sets.size(), " sets, expected ", expected, ", one for each node of mode BRANCH_MEMBER");
  }
  return sets;
}

}  // namespace

template <class T>
absl::StatusOr<Forest<T>> BuildForest(const TreeEnsembleAttrs& attrs, int64_t targets) {
  const size_t count = attrs.nodes_featureids.size(), leaves = attrs.leaf_targetids.size();
  if (count + leaves > kMostNodes) return Exhausted("there are more than ", kMostNodes, " nodes");
  WEFT_RETURN_IF_ERROR(CheckLength("nodes_truenodeids", attrs.nodes_truenodeids.size(), count));
  WEFT_RETURN_IF_ERROR(CheckLength("nodes_falsenodeids", attrs.nodes_falsenodeids.size(), count));
  WEFT_RETURN_IF_ERROR(CheckLength("nodes_trueleafs", attrs.nodes_trueleafs.size(), count));
  WEFT_RETURN_IF_ERROR(CheckLength("nodes_falseleafs", attrs.nodes_falseleafs.size(), count));
  WEFT_RETURN_IF_ERROR(CheckLength("nodes_modes", attrs.nodes_modes.size(), count));
  if (attrs.nodes_modes.dtype() != DType::kUint8) {
    return Invalid("attribute 'nodes_modes' is of type ", DTypeName(attrs.nodes_modes.dtype()), ", expected uint8");
  }
  const auto& nan_is_true = attrs.nodes_missing_value_tracks_true;
  if (!nan_is_true.empty()) WEFT_RETURN_IF_ERROR(CheckLength("nodes_missing_value_tracks_true", nan_is_true.size(), count));
  Forest<T> forest;
  WEFT_ASSIGN_OR_RETURN(forest.splits, FloatsOrTensor<T>({}, attrs.nodes_splits, "nodes_splits"));
  WEFT_RETURN_IF_ERROR(CheckLength("nodes_splits", forest.splits.size(), count));
  WEFT_ASSIGN_OR_RETURN(const std::vector<T> weights, FloatsOrTensor<T>({}, attrs.leaf_weights, "leaf_weights"));
  WEFT_RETURN_IF_ERROR(CheckLength("leaf_weights", weights.size(), leaves));

  // The leaves stand behind the inner nodes.
  forest.nodes.resize(count + leaves);
  size_t sets = 0;
  for (size_t i = 0; i < count; ++i) {
    TreeNode& node = forest.nodes[i];
    const uint8_t mode = attrs.nodes_modes.data<const uint8_t>()[i];
    if (mode > static_cast<uint8_t>(TreeMode::kMember)) return Invalid("nodes_modes holds ", int{mode}, ", expected 0 to 6");
    node.mode = static_cast<TreeMode>(mode);
    if (node.mode == TreeMode::kMember) node.set = static_cast<int32_t>(sets++);
    node.nan_is_true = !nan_is_true.empty() && nan_is_true[i] != 0;
    WEFT_ASSIGN_OR_RETURN(node.feature, Feature(attrs.nodes_featureids[i]));
    auto child = [&](int64_t id, bool leaf) -> absl::StatusOr<int32_t> {
      const size_t size = leaf ? leaves : count;
      if (id < 0 || static_cast<size_t>(id) >= size) {
        return Invalid("node ", i, " has child ", id, ", expected one of ", size, leaf ? " leaves" : " nodes");
      }
      return static_cast<int32_t>(leaf ? count + id : id);
    };
    WEFT_ASSIGN_OR_RETURN(node.on_true, child(attrs.nodes_truenodeids[i], attrs.nodes_trueleafs[i] != 0));
    WEFT_ASSIGN_OR_RETURN(node.on_false, child(attrs.nodes_falsenodeids[i], attrs.nodes_falseleafs[i] != 0));
  }
  WEFT_ASSIGN_OR_RETURN(forest.sets, MemberSets<T>(attrs.membership_values, sets));
  for (size_t i = 0; i < leaves; ++i) {
    WEFT_ASSIGN_OR_RETURN(const int32_t target, Target(attrs.leaf_targetids[i], targets, "leaf_targetids"));
    forest.nodes[count + i].on_true = static_cast<int32_t>(i);
    forest.nodes[count + i].on_false = static_cast<int32_t>(i) + 1;
    forest.votes.push_back({target, weights[i]});
  }
  forest.splits.resize(count + leaves);
  for (int64_t root : attrs.tree_roots) {
    if (root < 0 || static_cast<size_t>(root) >= count) return Invalid("tree_roots holds ", root, ", expected one of ", count, " nodes");
    forest.roots.push_back(static_cast<int32_t>(root));
  }
  std::vector<bool> reached(count + leaves);
  WEFT_RETURN_IF_ERROR(CheckWalks(forest.nodes, forest.roots, reached));
  CountFeatures(forest);
  return forest;
}

template absl::StatusOr<std::vector<float>> FloatsOrTensor(absl::Span<const float>, const Tensor&, std::string_view);
template absl::StatusOr<std::vector<double>> FloatsOrTensor(absl::Span<const float>, const Tensor&, std::string_view);
template absl::StatusOr<Forest<float>> BuildForest(const TreeLists&, int64_t);
template absl::StatusOr<Forest<double>> BuildForest(const TreeLists&, int64_t);
template absl::StatusOr<Forest<float>> BuildForest(const TreeEnsembleAttrs&, int64_t);
template absl::StatusOr<Forest<double>> BuildForest(const TreeEnsembleAttrs&, int64_t);

}  // namespace weft
