// Plan: a Program bound to concrete input shapes: every shape that can be known before the run, values that shapes alone decide,
// kernel plans, and one arena with an offset for each buffer.
#ifndef WEFT_RUNTIME_PLAN_H_
#define WEFT_RUNTIME_PLAN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "graph/infer.h"
#include "kernels/kernel.h"
#include "runtime/memory_planner.h"
#include "runtime/program.h"

namespace weft {

struct SlotPlan {
  enum class Home : uint8_t {
    kNone,      // an input or capture, or never computed
    kConstant,  // `value`: a weight, or computed when the plan was made
    kArena,     // at `offset` of the arena
    kOwned,     // memory of its own: handed to the caller, or strings
    kRun,       // made during the run: size unknown before it, or no tensor
  };

  Type type;                                // concrete where the shape is known before the run
  std::optional<std::vector<Dim>> elements;  // of a small integer tensor, where known
  Home home = Home::kNone;
  Tensor value;               // kConstant
  Tensor device_value;        // `value` in the memory of the slot's device, where that is not the CPU
  ByteOffset offset = 0;      // kArena: of the slot's device
  SlotIndex root = kNoSlot;   // the slot whose memory this one uses: itself, or the one it is a view of or overwrites
};

// A step's kernel with what it made of the shapes: the step's own, or its fallback.
struct PlannedKernel {
  const Kernel* kernel = nullptr;
  KernelState* state = nullptr;
  std::unique_ptr<KernelPlan> plan;
};
absl::StatusOr<PlannedKernel> PlanKernel(const Step& step, const NodeView& view);

struct StepPlan {
  enum class When : uint8_t {
    kSkip,     // its outputs were computed when the plan was made
    kView,     // output 0 is input 0 under other dims
    kStatic,   // all shapes known: outputs and kernel plan are ready
    kDynamic,  // shapes are inferred again just before it runs, from the values at hand
  };

  When when = When::kStatic;
  NodeView view;  // points into the plan's slots
  PlannedKernel kernel;
  ByteOffset workspace = 0;     // in the arena of the step's device
  std::vector<SlotIndex> dead;  // kOwned and kRun slots whose last reader this step is
};

struct ArenaPlan {
  ByteCount bytes = 0;
  ByteCount lower_bound = 0;
};

struct Plan {
  std::vector<SlotPlan> slots;  // one for each of the program's
  std::vector<StepPlan> steps;
  std::array<ArenaPlan, kDeviceCount> arenas;
};

absl::StatusOr<std::shared_ptr<const Plan>> MakePlan(const Program& program, absl::Span<const Value* const> inputs);

}  // namespace weft

#endif  // WEFT_RUNTIME_PLAN_H_
