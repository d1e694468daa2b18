// Attributes of the pools.
#ifndef WEFT_GRAPH_OPS_POOL_H_
#define WEFT_GRAPH_OPS_POOL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "graph/attributes.h"

namespace weft {

struct MaxPoolAttrs {
  std::string auto_pad = "NOTSET";
  bool ceil_mode = false;
  std::vector<int64_t> dilations;
  std::vector<int64_t> kernel_shape;
  std::vector<int64_t> pads;
  int64_t storage_order = 0;  // of the indices within a plane: 0 row major, 1 column major
  std::vector<int64_t> strides;
};
WEFT_ATTRS(MaxPoolAttrs, Field<&MaxPoolAttrs::auto_pad>("auto_pad"), Field<&MaxPoolAttrs::ceil_mode>("ceil_mode"),
           Field<&MaxPoolAttrs::dilations>("dilations"), RequiredField<&MaxPoolAttrs::kernel_shape>("kernel_shape"),
           Field<&MaxPoolAttrs::pads>("pads"), Field<&MaxPoolAttrs::storage_order>("storage_order"),
           Field<&MaxPoolAttrs::strides>("strides"));

struct AveragePoolAttrs {
  std::string auto_pad = "NOTSET";
  bool ceil_mode = false;
  bool count_include_pad = false;
  std::vector<int64_t> dilations;
  std::vector<int64_t> kernel_shape;
  std::vector<int64_t> pads;
  std::vector<int64_t> strides;
};
WEFT_ATTRS(AveragePoolAttrs, Field<&AveragePoolAttrs::auto_pad>("auto_pad"), Field<&AveragePoolAttrs::ceil_mode>("ceil_mode"),
           Field<&AveragePoolAttrs::count_include_pad>("count_include_pad"), Field<&AveragePoolAttrs::dilations>("dilations"),
           RequiredField<&AveragePoolAttrs::kernel_shape>("kernel_shape"), Field<&AveragePoolAttrs::pads>("pads"),
           Field<&AveragePoolAttrs::strides>("strides"));

struct LpPoolAttrs {
  std::string auto_pad = "NOTSET";
  bool ceil_mode = false;
  std::vector<int64_t> dilations;
  std::vector<int64_t> kernel_shape;
  int64_t p = 2;
  std::vector<int64_t> pads;
  std::vector<int64_t> strides;
};
WEFT_ATTRS(LpPoolAttrs, Field<&LpPoolAttrs::auto_pad>("auto_pad"), Field<&LpPoolAttrs::ceil_mode>("ceil_mode"),
           Field<&LpPoolAttrs::dilations>("dilations"), RequiredField<&LpPoolAttrs::kernel_shape>("kernel_shape"),
           Field<&LpPoolAttrs::p>("p"), Field<&LpPoolAttrs::pads>("pads"), Field<&LpPoolAttrs::strides>("strides"));

struct GlobalLpPoolAttrs {
  int64_t p = 2;
};
WEFT_ATTRS(GlobalLpPoolAttrs, Field<&GlobalLpPoolAttrs::p>("p"));

struct MaxUnpoolAttrs {
  std::vector<int64_t> kernel_shape;
  std::vector<int64_t> pads;
  std::vector<int64_t> strides;
};
WEFT_ATTRS(MaxUnpoolAttrs, RequiredField<&MaxUnpoolAttrs::kernel_shape>("kernel_shape"), Field<&MaxUnpoolAttrs::pads>("pads"),
           Field<&MaxUnpoolAttrs::strides>("strides"));

struct MaxRoiPoolAttrs {
  std::vector<int64_t> pooled_shape;
  float spatial_scale = 1;
};
WEFT_ATTRS(MaxRoiPoolAttrs, RequiredField<&MaxRoiPoolAttrs::pooled_shape>("pooled_shape"),
           Field<&MaxRoiPoolAttrs::spatial_scale>("spatial_scale"));

struct RoiAlignAttrs {
  std::string coordinate_transformation_mode = "half_pixel";
  std::string mode = "avg";
  int64_t output_height = 1;
  int64_t output_width = 1;
  int64_t sampling_ratio = 0;
  float spatial_scale = 1;
};
WEFT_ATTRS(RoiAlignAttrs, Field<&RoiAlignAttrs::coordinate_transformation_mode>("coordinate_transformation_mode"),
           Field<&RoiAlignAttrs::mode>("mode"), Field<&RoiAlignAttrs::output_height>("output_height"),
           Field<&RoiAlignAttrs::output_width>("output_width"), Field<&RoiAlignAttrs::sampling_ratio>("sampling_ratio"),
           Field<&RoiAlignAttrs::spatial_scale>("spatial_scale"));

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_POOL_H_
