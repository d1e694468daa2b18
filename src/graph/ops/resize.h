#ifndef WEFT_GRAPH_OPS_RESIZE_H_
#define WEFT_GRAPH_OPS_RESIZE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/attributes.h"

namespace weft {

struct ResizeAttrs {
  bool antialias = false;
  std::vector<int64_t> axes;  // empty: all
  std::string coordinate_transformation_mode = "half_pixel";
  float cubic_coeff_a = -0.75f;
  bool exclude_outside = false;
  float extrapolation_value = 0;
  std::string keep_aspect_ratio_policy = "stretch";
  std::string mode = "nearest";
  std::string nearest_mode = "round_prefer_floor";
};
WEFT_ATTRS(ResizeAttrs, Field<&ResizeAttrs::antialias>("antialias"), Field<&ResizeAttrs::axes>("axes"),
           Field<&ResizeAttrs::coordinate_transformation_mode>("coordinate_transformation_mode"),
           Field<&ResizeAttrs::cubic_coeff_a>("cubic_coeff_a"), Field<&ResizeAttrs::exclude_outside>("exclude_outside"),
           Field<&ResizeAttrs::extrapolation_value>("extrapolation_value"),
           Field<&ResizeAttrs::keep_aspect_ratio_policy>("keep_aspect_ratio_policy"), Field<&ResizeAttrs::mode>("mode"),
           Field<&ResizeAttrs::nearest_mode>("nearest_mode"));

// The axes that scales, sizes and roi speak of, non-negative. Errors: one out of range or named twice.
absl::StatusOr<std::vector<int>> ResizeAxes(const ResizeAttrs& attrs, int rank);

// What one scale, common to all `axes`, makes of input sizes so that no output axis is larger (or smaller) than `sizes` says, after
// attribute keep_aspect_ratio_policy, which is not "stretch".
double CommonScale(const ResizeAttrs& attrs, absl::Span<const int64_t> in, absl::Span<const int> axes, absl::Span<const int64_t> sizes);

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_RESIZE_H_
