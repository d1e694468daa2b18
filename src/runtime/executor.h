// Executor: runs a program under a plan, step after step.
#ifndef WEFT_RUNTIME_EXECUTOR_H_
#define WEFT_RUNTIME_EXECUTOR_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/device.h"
#include "runtime/plan.h"
#include "runtime/program.h"
#include "weft/value.h"

namespace weft {

// What holds for one run, bodies included.
struct RunControl {
  const std::atomic<bool>* cancelled = nullptr;                     // null: cannot be cancelled
  std::optional<std::chrono::steady_clock::time_point> deadline;
  uint64_t seed = 0;  // of random ops without a seed of their own
};

// The memory of one run at a time: the values, the arena, and the same for each body. Kept from run to run, so that a run allocates
// little more than its outputs. Not for two threads at once.
class Execution {
 public:
  explicit Execution(const Program& program) : program_(program) {}

  // `inputs`: the formal inputs, then the captures, all present. The outputs do not share the arena's memory; they may share that of an
  // input or of a constant.
  absl::StatusOr<std::vector<Value>> Run(absl::Span<const Value* const> inputs, const RunControl& control);

  // Of the plan of the last run; 0 before the first.
  ByteCount arena_bytes() const { return plan_ == nullptr ? 0 : plan_->arena_bytes; }
  ByteCount arena_lower_bound() const { return plan_ == nullptr ? 0 : plan_->arena_lower_bound; }

 private:
  absl::Status RunStep(size_t index, const RunControl& control);
  absl::Status RunKernel(size_t index, const NodeView& view, const PlannedKernel& kernel, void* workspace, const RunControl& control);
  absl::Status RunDynamic(size_t index, const RunControl& control);
  void SetView(const Step& step, const Type& type);
  absl::StatusOr<Value> MakeOutput(SlotIndex slot, const Type& type);
  absl::StatusOr<Value> OutOfArena(Value value) const;
  const Value& Get(SlotIndex slot) const { return values_[slot]; }

  const Program& program_;
  std::shared_ptr<const Plan> plan_;
  std::vector<Value> values_;
  std::shared_ptr<void> arena_;
  ByteCount arena_capacity_ = 0;
  std::vector<std::vector<std::unique_ptr<Execution>>> bodies_;  // by step and region, made when first run
};

}  // namespace weft

#endif  // WEFT_RUNTIME_EXECUTOR_H_
