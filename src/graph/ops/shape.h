// Attributes of the ops that describe, view, cut, join and move tensors, and the rules that inference and kernels share.
#ifndef WEFT_GRAPH_OPS_SHAPE_H_
#define WEFT_GRAPH_OPS_SHAPE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/attributes.h"
#include "graph/infer.h"

namespace weft {

struct ReshapeAttrs { int64_t allowzero = 0; };
WEFT_ATTRS(ReshapeAttrs, Field<&ReshapeAttrs::allowzero>("allowzero"));

struct FlattenAttrs { int64_t axis = 1; };
WEFT_ATTRS(FlattenAttrs, Field<&FlattenAttrs::axis>("axis"));

struct TransposeAttrs { std::optional<std::vector<int64_t>> perm; };  // absent: the axes reversed
WEFT_ATTRS(TransposeAttrs, Field<&TransposeAttrs::perm>("perm"));

struct DepthToSpaceAttrs { int64_t blocksize = 0; std::string mode = "DCR"; };
WEFT_ATTRS(DepthToSpaceAttrs, RequiredField<&DepthToSpaceAttrs::blocksize>("blocksize"), Field<&DepthToSpaceAttrs::mode>("mode"));

struct SpaceToDepthAttrs { int64_t blocksize = 0; std::string mode = "DCR"; };
WEFT_ATTRS(SpaceToDepthAttrs, RequiredField<&SpaceToDepthAttrs::blocksize>("blocksize"), Field<&SpaceToDepthAttrs::mode>("mode"));

struct ConcatAttrs { int64_t axis = 0; };
WEFT_ATTRS(ConcatAttrs, RequiredField<&ConcatAttrs::axis>("axis"));

struct SplitAttrs { int64_t axis = 0; std::optional<int64_t> num_outputs; };
WEFT_ATTRS(SplitAttrs, Field<&SplitAttrs::axis>("axis"), Field<&SplitAttrs::num_outputs>("num_outputs"));

struct ShapeAttrs { int64_t start = 0; std::optional<int64_t> end; };  // absent: the rank
WEFT_ATTRS(ShapeAttrs, Field<&ShapeAttrs::start>("start"), Field<&ShapeAttrs::end>("end"));

struct PadAttrs { std::string mode = "constant"; };
WEFT_ATTRS(PadAttrs, Field<&PadAttrs::mode>("mode"));

struct CenterCropPadAttrs { std::vector<int64_t> axes; };  // empty: all
WEFT_ATTRS(CenterCropPadAttrs, Field<&CenterCropPadAttrs::axes>("axes"));

struct ConstantOfShapeAttrs { std::optional<Tensor> value; };  // absent: float 0
WEFT_ATTRS(ConstantOfShapeAttrs, Field<&ConstantOfShapeAttrs::value>("value"));

struct GatherAttrs { int64_t axis = 0; };
WEFT_ATTRS(GatherAttrs, Field<&GatherAttrs::axis>("axis"));

struct GatherElementsAttrs { int64_t axis = 0; };
WEFT_ATTRS(GatherElementsAttrs, Field<&GatherElementsAttrs::axis>("axis"));

struct GatherNDAttrs { int64_t batch_dims = 0; };
WEFT_ATTRS(GatherNDAttrs, Field<&GatherNDAttrs::batch_dims>("batch_dims"));

// The axes of `perm`, which inference has checked, or the reversed order where there is none.
std::vector<int64_t> PermOf(const TransposeAttrs& attrs, int rank);

// The axes [begin, end) that Shape reports of a tensor of this rank: negative bounds count from the back, both are clamped.
struct AxisRange {
  int begin = 0, end = 0;
};
AxisRange ResolveShapeRange(const ShapeAttrs& attrs, int rank);

// Slice with its bounds resolved on one axis: `count` elements from `begin` in steps of `step`, all inside it.
struct SliceRange {
  int64_t begin = 0, step = 1, count = 0;
};
// The specification's clamping: negative bounds count from the end, out-of-range ones are cut. `step` is not 0.
SliceRange ResolveSlice(int64_t start, int64_t end, int64_t step, int64_t dim);

// The shape of tensors of these shapes side by side on `axis`; those of unknown rank say nothing about the other axes.
// Errors: Invalid where ranks differ, or dims beside the axis.
absl::StatusOr<Shape> ConcatShapes(InferContext& ctx, absl::Span<const Shape> shapes, int64_t axis);

// Sizes of n parts of an axis: equal, rounded up, as far as it reaches; the last ones are what remains, or empty.
std::vector<Dim> EqualParts(const Dim& whole, int n);

// Elements added before and after an axis; negative ones are taken away.
struct AxisPad {
  int64_t begin = 0, end = 0;
};
// What CenterCropPad adds to an axis of size `from` to make it `to`: an odd element goes behind, and is cropped behind.
AxisPad CenterPad(int64_t from, int64_t to);

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_SHAPE_H_
