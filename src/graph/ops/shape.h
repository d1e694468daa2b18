// Attributes of ops that move or describe elements.
#ifndef WEFT_GRAPH_OPS_SHAPE_H_
#define WEFT_GRAPH_OPS_SHAPE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/attributes.h"

namespace weft {

struct ReshapeAttrs { int64_t allowzero = 0; };
WEFT_ATTRS(ReshapeAttrs, Field<&ReshapeAttrs::allowzero>("allowzero"));

struct FlattenAttrs { int64_t axis = 1; };
WEFT_ATTRS(FlattenAttrs, Field<&FlattenAttrs::axis>("axis"));

struct TransposeAttrs { std::optional<std::vector<int64_t>> perm; };  // absent: the axes reversed
WEFT_ATTRS(TransposeAttrs, Field<&TransposeAttrs::perm>("perm"));

struct ConcatAttrs { int64_t axis = 0; };
WEFT_ATTRS(ConcatAttrs, RequiredField<&ConcatAttrs::axis>("axis"));

struct SplitAttrs { int64_t axis = 0; std::optional<int64_t> num_outputs; };
WEFT_ATTRS(SplitAttrs, Field<&SplitAttrs::axis>("axis"), Field<&SplitAttrs::num_outputs>("num_outputs"));

struct ShapeAttrs { int64_t start = 0; std::optional<int64_t> end; };
WEFT_ATTRS(ShapeAttrs, Field<&ShapeAttrs::start>("start"), Field<&ShapeAttrs::end>("end"));

struct PadAttrs { std::string mode = "constant"; };
WEFT_ATTRS(PadAttrs, Field<&PadAttrs::mode>("mode"));

struct ConstantOfShapeAttrs { std::optional<Tensor> value; };  // absent: float 0
WEFT_ATTRS(ConstantOfShapeAttrs, Field<&ConstantOfShapeAttrs::value>("value"));

struct GatherAttrs { int64_t axis = 0; };
WEFT_ATTRS(GatherAttrs, Field<&GatherAttrs::axis>("axis"));

// Slice with its bounds resolved on one axis: `count` elements from `begin` in steps of `step`.
struct SliceRange {
  int64_t begin = 0, step = 1, count = 0;
};
// The specification's clamping: negative bounds count from the end, out-of-range ones are cut.
SliceRange ResolveSlice(int64_t start, int64_t end, int64_t step, int64_t dim);

// The axes of `perm`, or the reversed order where there is none.
std::vector<int64_t> PermOf(const TransposeAttrs& attrs, int rank);

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_SHAPE_H_
