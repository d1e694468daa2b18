#include "runtime/placement.h"

#include <algorithm>

#include "base/status_macros.h"

namespace weft {
namespace {

bool IsPlainTensor(const Type& type) {
  return type.is_tensor() && type.dtype != DType::kUndefined && type.dtype != DType::kString;
}

bool ComputesShapes(const Type& type) { return !IsFloat(type.dtype) && type.shape.has_rank() && type.shape.rank() <= 1; }

bool MayLeaveCpu(const Graph& graph, const GraphNode& node) {
  if (!node.regions.empty() || node.op->Has(kDataDependent) || node.op->Has(kReadsShapeOnly)) return false;
  auto type = [&](ValueId id) -> const Type& { return graph.value(id).type; };
  auto plain = [&](ValueId id) { return id == ValueId::kNone || IsPlainTensor(type(id)); };
  auto shapes = [&](ValueId id) { return id == ValueId::kNone || ComputesShapes(type(id)); };
  return std::all_of(node.inputs.begin(), node.inputs.end(), plain) && std::all_of(node.outputs.begin(), node.outputs.end(), plain) &&
         !std::all_of(node.outputs.begin(), node.outputs.end(), shapes);
}

}  // namespace

absl::StatusOr<Placement> ParsePlacement(std::string_view device) {
  if (device == "cpu") return Placement::kCpu;
  if (device == "emulated") return Placement::kEmulated;
  if (device == "cpu+emulated") return Placement::kSplit;
  return Unsupported("device '", device, "' is not available, expected 'cpu', or 'emulated' or 'cpu+emulated' to test with");
}

DeviceId PlaceNode(const Graph& graph, NodeId id, Placement placement) {
  const bool skipped = placement == Placement::kCpu || (placement == Placement::kSplit && static_cast<int>(id) % 2 != 0);
  return skipped || !MayLeaveCpu(graph, graph.node(id)) ? DeviceId::kCpu : DeviceId::kEmulated;
}

}  // namespace weft
