// Attributes of ops that run regions.
#ifndef WEFT_GRAPH_OPS_CONTROL_FLOW_H_
#define WEFT_GRAPH_OPS_CONTROL_FLOW_H_

#include <cstdint>
#include <vector>

#include "graph/attributes.h"

namespace weft {

struct ScanAttrs {
  int64_t num_scan_inputs = 0;
  std::vector<int64_t> scan_input_axes, scan_input_directions, scan_output_axes, scan_output_directions;  // empty: all 0
};
WEFT_ATTRS(ScanAttrs, RequiredField<&ScanAttrs::num_scan_inputs>("num_scan_inputs"), Field<&ScanAttrs::scan_input_axes>("scan_input_axes"),
           Field<&ScanAttrs::scan_input_directions>("scan_input_directions"), Field<&ScanAttrs::scan_output_axes>("scan_output_axes"),
           Field<&ScanAttrs::scan_output_directions>("scan_output_directions"));

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_CONTROL_FLOW_H_
