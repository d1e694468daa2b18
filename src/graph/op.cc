#include "graph/op.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "base/text.h"

namespace weft {

namespace ops {
#define WEFT_OP(name) extern const Op name __attribute__((weak));
#include "graph/ops/ops.def"
#undef WEFT_OP
}  // namespace ops

std::string Op::QualifiedName() const {
  return domain.empty() ? std::string(name) : absl::StrCat(ToAbsl(domain), ".", ToAbsl(name));
}

absl::Span<const Op* const> AllOps() {
  static const auto* const all = [] {
    const Op* const listed[] = {
#define WEFT_OP(name) &ops::name,
#include "graph/ops/ops.def"
#undef WEFT_OP
    };
    auto* present = new std::vector<const Op*>;
    std::copy_if(std::begin(listed), std::end(listed), std::back_inserter(*present), [](const Op* op) { return op != nullptr; });
    return present;
  }();
  return *all;
}

const Op* FindOp(std::string_view domain, std::string_view name) {
  using Key = std::pair<std::string_view, std::string_view>;
  static const auto* const index = [] {
    auto* map = new absl::flat_hash_map<Key, const Op*>;
    for (const Op* op : AllOps()) map->emplace(Key(op->domain, op->name), op);
    return map;
  }();
  auto it = index->find(Key(domain == "ai.onnx" ? std::string_view() : domain, name));
  return it == index->end() ? nullptr : it->second;
}

}  // namespace weft
