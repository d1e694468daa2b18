// Windows over spatial axes: the arithmetic that convolutions and pools share, for inference and for every kernel.
//
// A tensor is [N, C, D1, ..., Dn]; a window has one entry for each of the n spatial axes. On one axis:
//
//      pads_begin         in           pads_end
//     |. . .|x x x x x x x x x x x x x|. . .|
//     [w   w   w]                                 kernel 3, dilation 2: taps at 0, 2, 4
//         [w   w   w]                             stride 2: window j starts at 2*j - pads_begin
#ifndef WEFT_GRAPH_OPS_SPATIAL_H_
#define WEFT_GRAPH_OPS_SPATIAL_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/dim.h"
#include "weft/tensor.h"

namespace weft {

// The attributes that place windows, as a node has them. An empty list means the default: strides and dilations 1, pads 0,
// kernel_shape from the weight.
struct WindowSpec {
  std::string_view auto_pad = "NOTSET";
  bool ceil_mode = false;
  absl::Span<const int64_t> kernel_shape, strides, dilations, pads;
  // ConvTranspose alone.
  absl::Span<const int64_t> output_padding, output_shape;
};

// The spec of an attribute struct that has any of the members above under the attributes' names.
template <class A>
WindowSpec SpecOf(const A& attrs) {
  WindowSpec spec;
  if constexpr (requires { attrs.auto_pad; }) spec.auto_pad = attrs.auto_pad;
  if constexpr (requires { attrs.ceil_mode; }) spec.ceil_mode = attrs.ceil_mode;
  if constexpr (requires { attrs.dilations; }) spec.dilations = attrs.dilations;
  if constexpr (requires { attrs.output_padding; }) spec.output_padding = attrs.output_padding;
  if constexpr (requires { attrs.output_shape; }) spec.output_shape = attrs.output_shape;
  spec.kernel_shape = attrs.kernel_shape;
  spec.strides = attrs.strides;
  spec.pads = attrs.pads;
  return spec;
}

// Checks the spec against n = kernel.size() spatial axes and the kernel sizes (a weight's dims, or kernel_shape's values), which
// may be symbolic. Errors: Invalid where a list has another length than n, a size, stride or dilation is not in [1, 2^31),
// a pad is negative, kernel_shape contradicts `kernel`, or auto_pad is none of ONNX's values.
absl::Status CheckWindow(const WindowSpec& spec, absl::Span<const Dim> kernel);

// Sizes of the output's spatial axes; `input` and `kernel` have one Dim each per axis. The spec has passed CheckWindow.
// Of integers come integers. Errors: Invalid where an output would be negative or exceeds int64.
absl::StatusOr<std::vector<Dim>> WindowOutputs(const WindowSpec& spec, absl::Span<const Dim> input, absl::Span<const Dim> kernel);
// The same for ConvTranspose.
absl::StatusOr<std::vector<Dim>> TransposedOutputs(const WindowSpec& spec, absl::Span<const Dim> input,
                                                   absl::Span<const Dim> kernel);

// A window placed on concrete sizes: every list has one entry per spatial axis.
struct Window {
  Dims in, out, kernel, strides, dilations;
  // Resolved: of auto_pad and output_shape too. With ceil_mode the last window may overhang in + pads_end:
  //   overhang = (out - 1) * strides + extent(axis) - in - pads_begin - pads_end, where that is positive.
  // For ConvTranspose these crop the full result and may be negative, where output_shape asks for more than there is.
  Dims pads_begin, pads_end;

  int rank() const { return static_cast<int>(in.size()); }
  // Inputs that the kernel spans on an axis, holes of dilation included.
  int64_t extent(int axis) const { return (kernel[axis] - 1) * dilations[axis] + 1; }
};

// Conv and the pools. Errors: those of CheckWindow and WindowOutputs.
absl::StatusOr<Window> ResolveWindow(const WindowSpec& spec, absl::Span<const int64_t> in, absl::Span<const int64_t> kernel);
// ConvTranspose: input i meets output i * stride + tap * dilation - pads_begin.
absl::StatusOr<Window> ResolveTransposed(const WindowSpec& spec, absl::Span<const int64_t> in, absl::Span<const int64_t> kernel);

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_SPATIAL_H_
