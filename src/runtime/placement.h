// Placement: which device each node runs on.
#ifndef WEFT_RUNTIME_PLACEMENT_H_
#define WEFT_RUNTIME_PLACEMENT_H_

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "runtime/device.h"

namespace weft {

enum class Placement {
  kCpu,
  kEmulated,  // what the emulated device can do, there
  kSplit,     // of that, every other node there: as many values cross as can
};
// "cpu", "emulated", "cpu+emulated". Errors: Unsupported, with the names there are.
absl::StatusOr<Placement> ParsePlacement(std::string_view device);

// Off the CPU goes what is made of tensors whose sizes need not be found out by running it. The CPU keeps bodies, strings, sequences, and
// lists of integers: they compute shapes, which are needed here.
DeviceId PlaceNode(const Graph& graph, NodeId id, Placement placement);

}  // namespace weft

#endif  // WEFT_RUNTIME_PLACEMENT_H_
