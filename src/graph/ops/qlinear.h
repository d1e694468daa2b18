// The QLinear ops of the domain com.microsoft: ops on bytes that stand for (byte - zero point) * scale.
//
//   y = saturate(round(f((x - x_zero_point) * x_scale, ...) / y_scale) + y_zero_point)
#ifndef WEFT_GRAPH_OPS_QLINEAR_H_
#define WEFT_GRAPH_OPS_QLINEAR_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/attributes.h"
#include "graph/infer.h"

namespace weft {

struct QLinearSoftmaxAttrs {
  int64_t axis = -1;
  int64_t opset = 0;  // whose Softmax it is: before 13 one over all axes from `axis` on
};
WEFT_ATTRS(QLinearSoftmaxAttrs, Field<&QLinearSoftmaxAttrs::axis>("axis"), RequiredField<&QLinearSoftmaxAttrs::opset>("opset"));

// AveragePool's; X is [N, D1, ..., Dn, C] where channels_last.
struct QLinearAveragePoolAttrs {
  std::string auto_pad = "NOTSET";
  bool ceil_mode = false;
  bool channels_last = false;
  bool count_include_pad = false;
  std::vector<int64_t> kernel_shape;
  std::vector<int64_t> pads;
  std::vector<int64_t> strides;
};
WEFT_ATTRS(QLinearAveragePoolAttrs, Field<&QLinearAveragePoolAttrs::auto_pad>("auto_pad"),
           Field<&QLinearAveragePoolAttrs::ceil_mode>("ceil_mode"), Field<&QLinearAveragePoolAttrs::channels_last>("channels_last"),
           Field<&QLinearAveragePoolAttrs::count_include_pad>("count_include_pad"),
           RequiredField<&QLinearAveragePoolAttrs::kernel_shape>("kernel_shape"), Field<&QLinearAveragePoolAttrs::pads>("pads"),
           Field<&QLinearAveragePoolAttrs::strides>("strides"));

struct QLinearGlobalAveragePoolAttrs {
  bool channels_last = false;
};
WEFT_ATTRS(QLinearGlobalAveragePoolAttrs, Field<&QLinearGlobalAveragePoolAttrs::channels_last>("channels_last"));

// Inputs i to i + 2 are a tensor of bytes, its scale and its zero point, which may be omitted.
absl::Status CheckQuantized(const InferContext& ctx, int i, std::string_view operand);
// Inputs i and i + 1 are the output's scale and zero point; the zero point has the element type of input `like`.
absl::Status CheckQuantization(const InferContext& ctx, int i, int like);

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_QLINEAR_H_
