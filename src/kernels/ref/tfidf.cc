// TfIdfVectorizer.
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "graph/ops/strings.h"
#include "kernels/kernel.h"
#include "kernels/ref/dispatch.h"

namespace weft {
namespace {

// The n-grams as paths from the root, node 0, of a tree.
template <class K>
struct NgramState : KernelState {
  absl::flat_hash_map<K, int32_t> items;                                // the pool's distinct items
  absl::flat_hash_map<std::pair<int32_t, int32_t>, int32_t> children;  // by node and item
  std::vector<int64_t> ngram = {-1};                                    // that ends at each node, or -1

  absl::Status Add(absl::Span<const K> path, int64_t index) {
    int32_t node = 0;
    for (const K& key : path) {
      const int32_t item = items.emplace(key, static_cast<int32_t>(items.size())).first->second;
      const auto [child, is_new] = children.emplace(std::pair(node, item), static_cast<int32_t>(ngram.size()));
      if (is_new) ngram.push_back(-1);
      node = child->second;
    }
    if (ngram[node] >= 0) return Invalid("n-grams ", ngram[node], " and ", index, " of the pool are equal");
    ngram[node] = index;
    return absl::OkStatus();
  }
};

template <class K>
absl::StatusOr<std::unique_ptr<KernelState>> PrepareTyped(const TfIdfVectorizerAttrs& attrs, const std::vector<K>& pool) {
  const auto size = static_cast<int64_t>(pool.size()), lengths = static_cast<int64_t>(attrs.ngram_counts.size());
  if (size > (1 << 30)) return Exhausted("the pool has ", size, " items");
  if (attrs.min_gram_length < 1 || attrs.max_gram_length < attrs.min_gram_length || attrs.max_gram_length > lengths) {
    return Invalid("n-grams of ", attrs.min_gram_length, " to ", attrs.max_gram_length, " items are asked for, expected a range within 1 to ",
                   lengths, ", the size of ngram_counts");
  }
  if (attrs.max_skip_count < 0) return Invalid("max_skip_count is ", attrs.max_skip_count, ", expected 0 or more");
  if (!attrs.weights.empty() && attrs.weights.size() != attrs.ngram_indexes.size()) {
    return Invalid("there are ", attrs.weights.size(), " weights for ", attrs.ngram_indexes.size(), " n-grams");
  }
  auto state = std::make_unique<NgramState<K>>();
  int64_t index = 0;
  for (int64_t n = 1; n <= lengths; ++n) {
    const int64_t begin = attrs.ngram_counts[n - 1], end = n < lengths ? attrs.ngram_counts[n] : size;
    if (begin < 0 || begin > end || end > size || (n == 1 && begin != 0) || (end - begin) % n != 0) {
      return Invalid("ngram_counts puts the n-grams of ", n, " items at ", begin, " to ", end, " of a pool of ", size);
    }
    for (int64_t at = begin; at < end; at += n, ++index) {
      if (n < attrs.min_gram_length || n > attrs.max_gram_length) continue;
      WEFT_RETURN_IF_ERROR(state->Add(absl::MakeConstSpan(pool).subspan(at, n), index));
    }
  }
  if (index != static_cast<int64_t>(attrs.ngram_indexes.size())) {
    return Invalid("the pool holds ", index, " n-grams, ngram_indexes has ", attrs.ngram_indexes.size(), " elements");
  }
  return state;
}

absl::StatusOr<std::unique_ptr<KernelState>> PrepareTfIdfVectorizer(const NodeView& node) {
  const auto& attrs = node.attrs_as<TfIdfVectorizerAttrs>();
  return attrs.pool_strings.empty() ? PrepareTyped(attrs, attrs.pool_int64s) : PrepareTyped(attrs, attrs.pool_strings);
}

// How often each n-gram stands in a row: every start, every distance between items up to the skips allowed.
template <class K>
void CountNgrams(const TfIdfVectorizerAttrs& attrs, const NgramState<K>& state, absl::Span<const int32_t> row, absl::Span<int64_t> counts) {
  const auto size = static_cast<int64_t>(row.size());
  // Beyond the row's length no two items are so far apart.
  const int64_t farthest = std::min(attrs.max_skip_count + 1, std::max<int64_t>(size, 1));
  for (int64_t distance = 1; distance <= farthest; ++distance) {
    for (int64_t start = 0; start < size; ++start) {
      int32_t node = 0;
      int64_t length = 1;
      for (int64_t at = start; at < size && row[at] >= 0; at += distance, ++length) {
        auto child = state.children.find(std::pair(node, row[at]));
        if (child == state.children.end()) break;
        node = child->second;
        // One item by itself has no distances.
        if (state.ngram[node] >= 0 && (length > 1 || distance == 1)) ++counts[state.ngram[node]];
      }
    }
  }
}

template <class K, class T>
absl::Status RunTyped(RunContext& ctx) {
  const auto& attrs = ctx.attrs<TfIdfVectorizerAttrs>();
  const auto& state = *ctx.state<NgramState<K>>();
  const Tensor& x = ctx.input(0);
  Tensor& out = ctx.output(0);
  const int64_t columns = x.dim(x.rank() - 1), rows = x.rank() == 1 ? 1 : x.dim(0), width = out.dim(out.rank() - 1);
  ParallelFor(rows, 16 * columns * std::min(attrs.max_skip_count + 1, columns) + width, [&](int64_t begin, int64_t end) {
    std::vector<int32_t> items(columns);
    std::vector<int64_t> counts(attrs.ngram_indexes.size());
    for (int64_t row = begin; row < end; ++row) {
      for (int64_t i = 0; i < columns; ++i) {
        auto item = state.items.find(x.data<const T>()[row * columns + i]);
        items[i] = item == state.items.end() ? -1 : item->second;
      }
      std::fill(counts.begin(), counts.end(), 0);
      CountNgrams<K>(attrs, state, items, absl::MakeSpan(counts));
      float* to = out.data<float>() + row * width;
      std::fill_n(to, width, 0.0f);
      for (size_t i = 0; i < counts.size(); ++i) {
        const int64_t count = attrs.mode == "IDF" ? std::min<int64_t>(counts[i], 1) : counts[i];
        const float weight = attrs.mode == "TF" || attrs.weights.empty() ? 1.0f : attrs.weights[i];
        to[attrs.ngram_indexes[i]] += static_cast<float>(count) * weight;
      }
    }
  });
  return absl::OkStatus();
}

absl::Status RunTfIdfVectorizer(RunContext& ctx) {
  switch (ctx.input(0).dtype()) {
    case DType::kString: return RunTyped<std::string, std::string>(ctx);
    case DType::kInt32: return RunTyped<int64_t, int32_t>(ctx);
    default: return RunTyped<int64_t, int64_t>(ctx);
  }
}

}  // namespace

absl::Span<const Kernel> RefTfidf() {
  static constexpr Kernel kernels[] = {
      {.op = &ops::TfIdfVectorizer, .name = "ref", .prepare = &PrepareTfIdfVectorizer, .run = &RunTfIdfVectorizer},
  };
  return kernels;
}

}  // namespace weft
