// TreeEnsembleClassifier, TreeEnsembleRegressor, TreeEnsemble.
#include "graph/ops/tree_ensemble.h"

#include <memory>
#include <optional>
#include <set>

#include "kernels/kernel.h"
#include "kernels/ref/elements.h"
#include "kernels/ref/forest.h"
#include "kernels/ref/ml_scores.h"

namespace weft {
namespace {

template <class T>
struct TreeState : KernelState {
  Forest<T> forest;
  std::vector<T> base_values;
  // Of two classes, the one that all votes are for; and whether no vote is negative, which makes a sum a probability.
  std::optional<int64_t> voted_class;
  bool votes_are_positive = true;
};

// The form of the attributes that TreeEnsembleClassifier and TreeEnsembleRegressor have in common.
template <class A>
TreeLists NodeLists(const A& attrs) {
  TreeLists lists;
  lists.treeids = attrs.nodes_treeids;
  lists.nodeids = attrs.nodes_nodeids;
  lists.featureids = attrs.nodes_featureids;
  lists.trueids = attrs.nodes_truenodeids;
  lists.falseids = attrs.nodes_falsenodeids;
  lists.nan_is_true = attrs.nodes_missing_value_tracks_true;
  lists.modes = attrs.nodes_modes;
  lists.values = attrs.nodes_values;
  lists.values_as_tensor = &attrs.nodes_values_as_tensor;
  return lists;
}

int64_t ClassCount(const TreeEnsembleClassifierAttrs& attrs) {
  return static_cast<int64_t>(std::max(attrs.classlabels_int64s.size(), attrs.classlabels_strings.size()));
}

template <class T>
absl::StatusOr<std::unique_ptr<KernelState>> PrepareTyped(const TreeEnsembleClassifierAttrs& attrs) {
  const int64_t classes = ClassCount(attrs);
  TreeLists lists = NodeLists(attrs);
  lists.vote_treeids = attrs.class_treeids;
  lists.vote_nodeids = attrs.class_nodeids;
  lists.vote_targets = attrs.class_ids;
  lists.vote_weights = attrs.class_weights;
  lists.vote_weights_as_tensor = &attrs.class_weights_as_tensor;
  auto state = std::make_unique<TreeState<T>>();
  WEFT_ASSIGN_OR_RETURN(state->forest, BuildForest<T>(lists, classes));
  WEFT_ASSIGN_OR_RETURN(state->base_values, FloatsOrTensor<T>(attrs.base_values, attrs.base_values_as_tensor, "base_values"));
  const auto bases = static_cast<int64_t>(state->base_values.size());
  const std::set<int64_t> voted(attrs.class_ids.begin(), attrs.class_ids.end());
  if (classes == 2 && voted.size() == 1) state->voted_class = *voted.begin();
  if (bases != 0 && bases != classes && !(state->voted_class && bases == 1)) {
    return Invalid("attribute 'base_values' has ", bases, " elements, expected ", classes, ", one for each class");
  }
  for (const auto& vote : state->forest.votes) state->votes_are_positive &= vote.weight >= 0;
  return state;
}

template <class T>
absl::StatusOr<std::unique_ptr<KernelState>> PrepareTyped(const TreeEnsembleRegressorAttrs& attrs) {
  const int64_t targets = attrs.n_targets.value_or(1);
  TreeLists lists = NodeLists(attrs);
  lists.vote_treeids = attrs.target_treeids;
  lists.vote_nodeids = attrs.target_nodeids;
  lists.vote_targets = attrs.target_ids;
  lists.vote_weights = attrs.target_weights;
  lists.vote_weights_as_tensor = &attrs.target_weights_as_tensor;
  auto state = std::make_unique<TreeState<T>>();
  WEFT_ASSIGN_OR_RETURN(state->forest, BuildForest<T>(lists, targets));
  WEFT_ASSIGN_OR_RETURN(state->base_values, FloatsOrTensor<T>(attrs.base_values, attrs.base_values_as_tensor, "base_values"));
  const auto bases = static_cast<int64_t>(state->base_values.size());
  if (bases != 0 && bases != targets) {
    return Invalid("attribute 'base_values' has ", bases, " elements, expected ", targets, ", one for each target");
  }
  return state;
}

template <class T>
absl::StatusOr<std::unique_ptr<KernelState>> PrepareTyped(const TreeEnsembleAttrs& attrs) {
  auto state = std::make_unique<TreeState<T>>();
  WEFT_ASSIGN_OR_RETURN(state->forest, BuildForest<T>(attrs, attrs.n_targets.value_or(1)));
  return state;
}

template <class A>
absl::StatusOr<std::unique_ptr<KernelState>> Prepare(const NodeView& node) {
  return DispatchWide(node.inputs[0].type->dtype, [&]<class T>() { return PrepareTyped<T>(node.attrs_as<A>()); });
}

template <class T>
struct Score {
  T value = 0;
  bool given = false;  // some vote was for it
};

template <class T>
void AddVotes(const Forest<T>& forest, TreeAggregate aggregate, const T* row, absl::Span<Score<T>> scores) {
  for (Score<T>& score : scores) score = {};
  for (int32_t root : forest.roots) {
    for (const auto& vote : forest.Walk(root, row)) {
      Score<T>& score = scores[vote.target];
      if (!score.given || aggregate == TreeAggregate::kSum || aggregate == TreeAggregate::kAverage) {
        score.value += vote.weight;
      } else {
        score.value = aggregate == TreeAggregate::kMin ? std::min(score.value, vote.weight) : std::max(score.value, vote.weight);
      }
      score.given = true;
    }
  }
}

// row(i, x): row i of X, in the type that the trees compare in.
template <class T, class Row>
absl::Status ForEachRow(const Tensor& input, const Forest<T>& forest, Row row) {
  WEFT_ASSIGN_OR_RETURN(const Tensor x, Widen<T>(input));
  const int64_t features = x.dim(x.rank() - 1), rows = x.rank() == 1 ? 1 : x.dim(0);
  if (features < forest.features) return Invalid("X has ", features, " features, the trees ask for number ", forest.features - 1);
  constexpr int64_t kCostOfTree = 64;
  ParallelFor(rows, kCostOfTree * static_cast<int64_t>(forest.roots.size()), [&](int64_t begin, int64_t end) {
    row(begin, end, x.data<const T>() + begin * features, features);
  });
  return absl::OkStatus();
}

// Writes the label and the probabilities that sums of votes come to.
template <class T>
void Decide(const TreeState<T>& state, PostTransform transform, absl::Span<T> scores, int64_t row, const LabelWriter& labels, float* out) {
  const std::vector<T>& base = state.base_values;
  if (state.voted_class && base.size() == 1) {
    scores[*state.voted_class] += base[0];
  } else {
    for (size_t k = 0; k < base.size(); ++k) scores[k] += base[k];
  }
  if (scores.size() == 1) {
    labels.WriteOnly(row, scores[0] > 0);
    FinishScores<T>(transform, scores);
  } else if (state.voted_class) {
    // Votes on the first class alone are for the second, by the custom of the exporters.
    const BinaryScore<T> binary{scores[*state.voted_class], state.votes_are_positive};
    labels.Write(row, binary.second() ? 1 : 0);
    if (*state.voted_class == 0) return binary.Write(transform, out);
    TransformScores<T>(transform, scores);
  } else {
    labels.Write(row, std::max_element(scores.begin(), scores.end()) - scores.begin());
    TransformScores<T>(transform, scores);
  }
  std::copy(scores.begin(), scores.end(), out);
}

template <class T>
absl::Status ClassifyTyped(RunContext& ctx) {
  const auto& attrs = ctx.attrs<TreeEnsembleClassifierAttrs>();
  const auto& state = *ctx.state<TreeState<T>>();
  WEFT_ASSIGN_OR_RETURN(const PostTransform transform, PostTransformFromName(attrs.post_transform));
  const int64_t classes = ClassCount(attrs);
  const LabelWriter labels(attrs.classlabels_int64s, attrs.classlabels_strings, ctx.HasOutput(0) ? &ctx.output(0) : nullptr);
  float* probabilities = ctx.HasOutput(1) ? ctx.output(1).data<float>() : nullptr;
  return ForEachRow<T>(ctx.input(0), state.forest, [&](int64_t begin, int64_t end, const T* x, int64_t features) {
    std::vector<Score<T>> scores(classes);
    std::vector<T> values(classes);
    std::vector<float> unused(classes);
    for (int64_t i = begin; i < end; ++i, x += features) {
      AddVotes<T>(state.forest, TreeAggregate::kSum, x, absl::MakeSpan(scores));
      for (int64_t k = 0; k < classes; ++k) values[k] = scores[k].value;
      Decide<T>(state, transform, absl::MakeSpan(values), i, labels, probabilities != nullptr ? probabilities + i * classes : unused.data());
    }
  });
}

absl::Status RunTreeEnsembleClassifier(RunContext& ctx) {
  return DispatchWide(ctx.input(0).dtype(), [&]<class T>() { return ClassifyTyped<T>(ctx); });
}

template <class T>
absl::Status RegressTyped(RunContext& ctx, TreeAggregate aggregate, PostTransform transform, int64_t targets) {
  const auto& state = *ctx.state<TreeState<T>>();
  Tensor& out = ctx.output(0);
  const T trees = aggregate == TreeAggregate::kAverage ? static_cast<T>(state.forest.roots.size()) : T(1);
  return ForEachRow<T>(ctx.input(0), state.forest, [&](int64_t begin, int64_t end, const T* x, int64_t features) {
    std::vector<Score<T>> scores(targets);
    std::vector<T> values(targets);
    for (int64_t i = begin; i < end; ++i, x += features) {
      AddVotes<T>(state.forest, aggregate, x, absl::MakeSpan(scores));
      for (int64_t k = 0; k < targets; ++k) {
        values[k] = scores[k].value / trees + (state.base_values.empty() ? T(0) : state.base_values[k]);
      }
      FinishScores<T>(transform, absl::MakeSpan(values));
      WriteElements(values.data(), targets, out, i * targets);
    }
  });
}

absl::Status RunTreeEnsembleRegressor(RunContext& ctx) {
  const auto& attrs = ctx.attrs<TreeEnsembleRegressorAttrs>();
  WEFT_ASSIGN_OR_RETURN(const PostTransform transform, PostTransformFromName(attrs.post_transform));
  WEFT_ASSIGN_OR_RETURN(const TreeAggregate aggregate, TreeAggregateFromName(attrs.aggregate_function));
  return DispatchWide(ctx.input(0).dtype(),
                      [&]<class T>() { return RegressTyped<T>(ctx, aggregate, transform, attrs.n_targets.value_or(1)); });
}

absl::Status RunTreeEnsemble(RunContext& ctx) {
  const auto& attrs = ctx.attrs<TreeEnsembleAttrs>();
  return DispatchWide(ctx.input(0).dtype(), [&]<class T>() {
    return RegressTyped<T>(ctx, static_cast<TreeAggregate>(attrs.aggregate_function), static_cast<PostTransform>(attrs.post_transform),
                           attrs.n_targets.value_or(1));
  });
}

}  // namespace

absl::Span<const Kernel> RefTreeEnsemble() {
  static constexpr Kernel kernels[] = {
      {.op = &ops::TreeEnsembleClassifier, .name = "ref", .prepare = &Prepare<TreeEnsembleClassifierAttrs>,
       .run = &RunTreeEnsembleClassifier},
      {.op = &ops::TreeEnsembleRegressor, .name = "ref", .prepare = &Prepare<TreeEnsembleRegressorAttrs>,
       .run = &RunTreeEnsembleRegressor},
      {.op = &ops::TreeEnsemble, .name = "ref", .prepare = &Prepare<TreeEnsembleAttrs>, .run = &RunTreeEnsemble},
  };
  return kernels;
}

}  // namespace weft
