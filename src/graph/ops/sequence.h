// Attributes of the ops on sequences and optionals, and the rules about types that they share with the ops that run regions.
#ifndef WEFT_GRAPH_OPS_SEQUENCE_H_
#define WEFT_GRAPH_OPS_SEQUENCE_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "graph/attributes.h"
#include "graph/infer.h"
#include "graph/type.h"

namespace weft {

struct SequenceEmptyAttrs { int64_t dtype = 1; };  // float
WEFT_ATTRS(SequenceEmptyAttrs, Field<&SequenceEmptyAttrs::dtype>("dtype"));

struct SplitToSequenceAttrs { int64_t axis = 0; bool keepdims = true; };
WEFT_ATTRS(SplitToSequenceAttrs, Field<&SplitToSequenceAttrs::axis>("axis"), Field<&SplitToSequenceAttrs::keepdims>("keepdims"));

struct ConcatFromSequenceAttrs { int64_t axis = 0; bool new_axis = false; };
WEFT_ATTRS(ConcatFromSequenceAttrs, RequiredField<&ConcatFromSequenceAttrs::axis>("axis"),
           Field<&ConcatFromSequenceAttrs::new_axis>("new_axis"));

struct OptionalAttrs { std::optional<Type> type; };  // of the element
WEFT_ATTRS(OptionalAttrs, Field<&OptionalAttrs::type>("type"));

// Input i is a sequence; passes where its type is unknown.
absl::Status CheckSequence(const InferContext& ctx, int i, std::string_view operand);

// What holds of any one item: integers in the shape are those of all items, a symbol there may stand for another size in each.
Type ItemType(InferContext& ctx, const Type& sequence);

// What is true of both types: dims that differ get fresh symbols, other ranks an unknown one. Errors: other kinds or element types.
absl::StatusOr<Type> JoinTypes(InferContext& ctx, const Type& a, const Type& b, std::string_view what);

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_SEQUENCE_H_
