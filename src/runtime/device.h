// Devices and the classes of memory on them.
#ifndef WEFT_RUNTIME_DEVICE_H_
#define WEFT_RUNTIME_DEVICE_H_

#include <cstddef>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"

namespace weft {

// What memory is for decides how long it lives and who may share it.
enum class MemoryClass {
  kWeights,      // constants and packed weights: as long as the program, shared by its runs
  kState,        // grows from run to run: KV caches, RNN state
  kActivations,  // one arena a run, planned by offsets
  kWorkspace,    // scratch of one step, planned like an activation
  kInputOutput,  // the caller's, or handed to the caller
};
std::string_view MemoryClassName(MemoryClass memory);

// Where a step runs and a value lives. A program names its devices by index.
enum class DeviceId : int { kCpu = 0 };

class Device {
 public:
  virtual ~Device() = default;
  virtual std::string_view name() const = 0;
  // 64-byte aligned, not initialised; freed with the last owner. Errors: ResourceExhausted.
  virtual absl::StatusOr<std::shared_ptr<void>> Allocate(MemoryClass memory, size_t bytes) = 0;
};

// The processor this runs on.
Device& CpuDevice();

}  // namespace weft

#endif  // WEFT_RUNTIME_DEVICE_H_
