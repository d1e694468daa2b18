// Executor: runs a program under a plan, step after step.
#ifndef WEFT_RUNTIME_EXECUTOR_H_
#define WEFT_RUNTIME_EXECUTOR_H_

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
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

// Where the caller wants an output; an empty handle: in memory of its own.
struct OutputPlace {
  std::string name;
  Tensor memory;
};

// The memory of one run at a time: the values, the arena, and the same for each body. Kept from run to run, so that a run allocates
// little more than its outputs. Not for two threads at once.
class Execution {
 public:
  explicit Execution(const Program& program) : program_(program) {}

  // `inputs`: the formal inputs, then the captures, all present. The outputs do not share the arena's memory; they may share that of an
  // input or of a constant. `places`, one for each output or none at all, overlap neither each other nor an input; an output with a place is a
  // handle on it.
  absl::StatusOr<std::vector<Value>> Run(absl::Span<const Value* const> inputs, const RunControl& control,
                                         absl::Span<const OutputPlace> places = {});

  // Of the plan of the last run, all devices together; 0 before the first.
  ArenaPlan arena() const;

 private:
  // A memory that the plan's values on one device share.
  struct Arena {
    std::shared_ptr<void> memory;
    ByteCount capacity = 0;
    char* At(ByteOffset offset) const { return static_cast<char*>(memory.get()) + offset; }
    bool Holds(const void* address) const {
      const auto *begin = static_cast<const char*>(memory.get()), *at = static_cast<const char*>(address);
      return begin != nullptr && at >= begin && at < begin + capacity;
    }
  };
  // What a kernel works with; work that is under way on a device keeps it alive.
  struct Launch {
    const NodeView* view = nullptr;
    const PlannedKernel* kernel = nullptr;
    void* workspace = nullptr;
    std::shared_ptr<void> keep;  // what the above point to, where the plan does not hold it
  };
  struct DynamicFrame;

  absl::Status RunSteps(absl::Span<const Value* const> inputs, const RunControl& control, absl::Span<const OutputPlace> places);
  absl::Status TakePlaces(absl::Span<const OutputPlace> places);
  absl::StatusOr<Value> InPlace(const Value& value, const OutputPlace& place) const;
  absl::Status RunStep(size_t index, const RunControl& control);
  absl::Status RunCopy(size_t index);
  absl::Status RunDynamic(size_t index, const RunControl& control);
  absl::Status RunKernel(size_t index, const Launch& launch, const RunControl& control);
  absl::Status RunHere(size_t index, const Launch& launch, absl::Span<const Value* const> inputs, absl::Span<Value> outputs, const RunControl& control);
  void RunThere(size_t index, const Launch& launch, absl::Span<const Value* const> inputs, std::vector<Value> outputs, const RunControl& control);
  absl::Status CheckReach(const Step& step, absl::Span<const Value* const> inputs) const;
  void SetView(const Step& step, const Type& type);
  absl::StatusOr<Value> MakeOutput(SlotIndex slot, const Type& type);
  absl::StatusOr<Value> OutOfArena(Value value) const;
  absl::StatusOr<Tensor> OnCpu(SlotIndex slot) const;
  absl::Status TakeDeviceError();
  const Value& Get(SlotIndex slot) const { return values_[slot]; }
  Arena& ArenaOf(DeviceId device) { return arenas_[static_cast<int>(device)]; }

  const Program& program_;
  std::shared_ptr<const Plan> plan_;
  std::vector<Value> values_;
  std::vector<const Tensor*> places_;  // by slot: the caller's memory for it, null for most
  std::array<Arena, kDeviceCount> arenas_;
  std::vector<std::vector<std::unique_ptr<Execution>>> bodies_;  // by step and region, made when first run

  std::mutex device_mutex_;
  absl::Status device_error_;  // the first one of work on a device, until a wait finds it
};

}  // namespace weft

#endif  // WEFT_RUNTIME_EXECUTOR_H_
