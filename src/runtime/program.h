// Program: a graph lowered to ordered steps with chosen kernels and prepared weights. One Program serves all input shapes; binding a
// shape signature yields a Plan (plan.h), which it caches.
#ifndef WEFT_RUNTIME_PROGRAM_H_
#define WEFT_RUNTIME_PROGRAM_H_

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "kernels/kernel.h"
#include "runtime/device.h"
#include "runtime/placement.h"

namespace weft {

struct Plan;
class Program;

// One value of the program; steps name slots by index, kNoSlot for an omitted operand.
using SlotIndex = int32_t;
inline constexpr SlotIndex kNoSlot = -1;

struct Slot {
  std::string name;
  Type type;        // symbolic, as inferred
  Tensor constant;  // a weight, else an empty handle
  MemoryClass memory = MemoryClass::kActivations;
  DeviceId device = DeviceId::kCpu;
  Tensor device_constant;  // `constant` in the memory of `device`, where that is not the CPU
};

// A region of a step: its own program, and the outer slots that its captures read.
struct Body {
  std::unique_ptr<Program> program;
  std::vector<SlotIndex> captures;
};

struct Step {
  enum class Kind : uint8_t {
    kKernel,
    kCopy,  // input 0 on one device to output 0 on another; one of them is the CPU
    kWait,  // for `device` to have done all it was given
  };

  Kind kind = Kind::kKernel;
  const Op* op = nullptr;  // of a kernel
  std::string name;
  Attrs attrs;
  const Kernel* kernel = nullptr;
  const Kernel* fallback = nullptr;  // the reference kernel, where `kernel` is another: for shapes that its plan refuses
  std::vector<std::string> refused;  // "kernel: reason" of each candidate before the chosen one
  std::unique_ptr<KernelState> state;
  std::vector<SlotIndex> inputs, outputs;
  std::vector<Body> bodies;
  DeviceId device = DeviceId::kCpu;
};

struct LowerOptions {
  bool reference_only = false;  // only kernels of src/kernels/ref
  bool check_plans = false;     // run the O(n²) validator on every memory plan
  int64_t memory_limit_bytes = 0;  // of one plan's arenas; 0: none
  Placement placement = Placement::kCpu;
};

class Program {
 public:
  // Chooses a kernel for every node and prepares its weights. All nodes without a kernel come in one error (Unsupported).
  static absl::StatusOr<std::unique_ptr<Program>> Lower(const Graph& graph, const LowerOptions& options);
  ~Program();

  const std::vector<Slot>& slots() const { return slots_; }
  const std::vector<Step>& steps() const { return steps_; }
  const std::vector<SlotIndex>& inputs() const { return inputs_; }
  const std::vector<SlotIndex>& captures() const { return captures_; }
  const std::vector<SlotIndex>& outputs() const { return outputs_; }
  const LowerOptions& options() const { return options_; }
  // True where a step runs on another device than the CPU.
  bool UsesDevices() const { return uses_devices_; }
  // Bytes of constants, bodies included; packed copies that kernels made are not counted.
  int64_t WeightsBytes() const;

  // The plan for these inputs (formal inputs, then captures); cached by their element types and dims, a few kept.
  absl::StatusOr<std::shared_ptr<const Plan>> Bind(absl::Span<const Value* const> inputs) const;

 private:
  Program() = default;
  friend class Lowering;

  std::vector<Slot> slots_;
  std::vector<Step> steps_;
  std::vector<SlotIndex> inputs_, captures_, outputs_;
  LowerOptions options_;
  bool uses_devices_ = false;

  static constexpr size_t kPlansKept = 16;
  mutable std::mutex mutex_;
  mutable std::list<std::pair<std::string, std::shared_ptr<const Plan>>> plans_;  // most recently used first
};

}  // namespace weft

#endif  // WEFT_RUNTIME_PROGRAM_H_
