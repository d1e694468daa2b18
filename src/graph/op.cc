#include "graph/op.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "base/text.h"

namespace weft {

std::string Op::QualifiedName() const {
  return domain.empty() ? std::string(name) : absl::StrCat(ToAbsl(domain), ".", ToAbsl(name));
}

absl::Span<const Op* const> AllOps() {
  static constexpr const Op* kAll[] = {
#define WEFT_OP(name) &ops::name,
#include "graph/ops/ops.def"
#undef WEFT_OP
  };
  return kAll;
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
