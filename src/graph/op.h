// Op: the one record that holds everything the compiler knows of an operator. There is no enum of ops and no class per op:
// ask the record.
#ifndef WEFT_GRAPH_OP_H_
#define WEFT_GRAPH_OP_H_

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "graph/attributes.h"

namespace weft {

class InferContext;
struct NodeView;

// How many operands: min..max. Trailing and middle optional ones may be omitted (ValueId::kNone).
struct Arity {
  static constexpr int kVariadic = std::numeric_limits<int>::max();
  int min = 1;
  int max = 1;
  constexpr Arity() = default;
  constexpr Arity(int exactly) : min(exactly), max(exactly) {}  // NOLINT: implicit on purpose
  constexpr Arity(int min, int max) : min(min), max(max) {}
};

// Facts passes ask for. Every op is free of side effects.
enum Trait : uint32_t {
  kElementwise = 1u << 0,     // output[i] depends on the broadcast inputs' elements i alone
  kCommutative = 1u << 1,     // the first two inputs may be swapped
  kView = 1u << 2,            // output 0 has input 0's elements in the same order: it may share its memory
  kRandom = 1u << 3,          // two runs may differ: never folded, never merged
  kReadsShapeOnly = 1u << 4,  // reads input 0's shape and not its elements
  kDataDependent = 1u << 5,   // output shapes depend on elements of non-integer inputs or on counts (NonZero, Unique, ...): the kernel allocates them
};

// What one execution of a node takes.
struct Cost {
  int64_t flops = 0;  // floating-point operations; a multiply-add counts two
};

struct Op {
  std::string_view domain = "";  // "" is ai.onnx
  std::string_view name;
  int since_version = 1;  // of the form that the graph holds; the importer lifts every older one
  Arity inputs;
  Arity outputs;
  // Bit k: input k may be omitted although k < inputs.min (Loop's M and cond). Those from inputs.min on always may, unless the
  // op is variadic.
  uint32_t optional_inputs = 0;
  const AttrSchema* attrs = &kAttrSchema<NoAttrs>;
  // Names of graph attributes, in the order of a node's regions.
  absl::Span<const std::string_view> regions = {};
  uint32_t traits = 0;
  // Bit k: output 0 may overwrite input k where shape and element size agree; the kernels of this op allow it.
  uint32_t in_place = 0;
  // Types and shapes of the outputs from the inputs', with what is known of small integer values; see infer.h.
  absl::Status (*infer)(InferContext& ctx) = nullptr;
  // Null: no floating-point work worth counting. Shapes in `node` are concrete.
  Cost (*cost)(const NodeView& node) = nullptr;

  bool Has(Trait trait) const { return (traits & trait) != 0; }
  // "Conv", "ai.onnx.ml.ZipMap".
  std::string QualifiedName() const;
};

// The records, by the names in ops.def.
namespace ops {
#define WEFT_OP(name) extern const Op name;
#include "graph/ops/ops.def"
#undef WEFT_OP
}  // namespace ops

// Every record, in the order of ops.def.
absl::Span<const Op* const> AllOps();
// Null for an op that is not in the list. `domain` "ai.onnx" means "".
const Op* FindOp(std::string_view domain, std::string_view name);

}  // namespace weft

#endif  // WEFT_GRAPH_OP_H_
