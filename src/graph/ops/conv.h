// Attributes of the convolutions.
#ifndef WEFT_GRAPH_OPS_CONV_H_
#define WEFT_GRAPH_OPS_CONV_H_

#include <cstdint>
#include <string>
#include <vector>

#include "graph/attributes.h"
#include "graph/infer.h"

namespace weft {

// Conv, ConvInteger, QLinearConv.
struct ConvAttrs {
  std::string auto_pad = "NOTSET";
  std::vector<int64_t> dilations;
  int64_t group = 1;
  std::vector<int64_t> kernel_shape;
  std::vector<int64_t> pads;
  std::vector<int64_t> strides;
};
WEFT_ATTRS(ConvAttrs, Field<&ConvAttrs::auto_pad>("auto_pad"), Field<&ConvAttrs::dilations>("dilations"),
           Field<&ConvAttrs::group>("group"), Field<&ConvAttrs::kernel_shape>("kernel_shape"), Field<&ConvAttrs::pads>("pads"),
           Field<&ConvAttrs::strides>("strides"));

struct ConvTransposeAttrs {
  std::string auto_pad = "NOTSET";
  std::vector<int64_t> dilations;
  int64_t group = 1;
  std::vector<int64_t> kernel_shape;
  std::vector<int64_t> output_padding;
  std::vector<int64_t> output_shape;
  std::vector<int64_t> pads;
  std::vector<int64_t> strides;
};
WEFT_ATTRS(ConvTransposeAttrs, Field<&ConvTransposeAttrs::auto_pad>("auto_pad"),
           Field<&ConvTransposeAttrs::dilations>("dilations"), Field<&ConvTransposeAttrs::group>("group"),
           Field<&ConvTransposeAttrs::kernel_shape>("kernel_shape"),
           Field<&ConvTransposeAttrs::output_padding>("output_padding"),
           Field<&ConvTransposeAttrs::output_shape>("output_shape"), Field<&ConvTransposeAttrs::pads>("pads"),
           Field<&ConvTransposeAttrs::strides>("strides"));

struct DeformConvAttrs {
  std::vector<int64_t> dilations;
  int64_t group = 1;
  std::vector<int64_t> kernel_shape;
  int64_t offset_group = 1;
  std::vector<int64_t> pads;
  std::vector<int64_t> strides;
};
WEFT_ATTRS(DeformConvAttrs, Field<&DeformConvAttrs::dilations>("dilations"), Field<&DeformConvAttrs::group>("group"),
           Field<&DeformConvAttrs::kernel_shape>("kernel_shape"), Field<&DeformConvAttrs::offset_group>("offset_group"),
           Field<&DeformConvAttrs::pads>("pads"), Field<&DeformConvAttrs::strides>("strides"));

struct WindowSpec;

// The output shape of a convolution of input `x` [N, C, D1..Dn] with the weight in input `w` [M, C/group, k1..kn] and, where b >= 0, a
// bias [M] in input `b`; after checking all of them and `spec`. Unknown rank where nothing tells it.
absl::StatusOr<Shape> InferConvShape(InferContext& ctx, int x, int w, int b, const WindowSpec& spec, int64_t group);

// FLOPs of a convolution whose weight [M, C/group, k1..kn] is input `w`: two per output and weight element that meet.
Cost ConvCost(const NodeView& node, int w);

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_CONV_H_
