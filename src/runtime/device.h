// Devices, the classes of memory on them, and their queues.
#ifndef WEFT_RUNTIME_DEVICE_H_
#define WEFT_RUNTIME_DEVICE_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "weft/tensor.h"

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

// Where a step runs and a value lives.
enum class DeviceId : int { kCpu = 0, kEmulated = 1 };
inline constexpr int kDeviceCount = 2;

// Work given to a device is done in the order given, perhaps after the call returned. Only that work may touch the device's memory, and it may
// touch no other. All calls are safe from many threads.
class Device {
 public:
  virtual ~Device() = default;
  virtual std::string_view name() const = 0;
  // 64-byte aligned, not initialised; freed with the last owner. Errors: ResourceExhausted.
  virtual absl::StatusOr<std::shared_ptr<void>> Allocate(MemoryClass memory, size_t bytes) = 0;
  virtual bool Owns(const void* address) const = 0;

  // Tensors of one size and type, no strings. The elements of `from` are read before the call returns; `to` has them for all later work.
  virtual void CopyIn(const Tensor& from_host, const Tensor& to) = 0;
  // `to_host` has the elements behind the next Wait, and must be left alone until then.
  virtual void CopyOut(const Tensor& from, const Tensor& to_host) = 0;
  virtual void Submit(std::function<void()> task) = 0;
  // Returns when all that was given before is done.
  virtual void Wait() = 0;
};

// The processor this runs on: everything is done at once.
Device& CpuDevice();
// A device to test with: its memory is the host's, but locked except while its own queue, a thread, works on it. A stray access is a segmentation
// fault, as it would be on a machine where the memory is another.
Device& EmulatedDevice();
Device& GetDevice(DeviceId id);

}  // namespace weft

#endif  // WEFT_RUNTIME_DEVICE_H_
