#include "runtime/device.h"

#include <cstring>

#include "base/status_macros.h"
#include "weft/tensor.h"

namespace weft {

std::string_view MemoryClassName(MemoryClass memory) {
  switch (memory) {
    case MemoryClass::kWeights: return "weights";
    case MemoryClass::kState: return "state";
    case MemoryClass::kActivations: return "activations";
    case MemoryClass::kWorkspace: return "workspace";
    case MemoryClass::kInputOutput: return "input/output";
  }
  return "unknown";
}

namespace {

class Cpu final : public Device {
 public:
  std::string_view name() const override { return "cpu"; }

  absl::StatusOr<std::shared_ptr<void>> Allocate(MemoryClass memory, size_t bytes) override {
    auto block = Tensor::AllocateUninitialized(DType::kUint8, {static_cast<int64_t>(bytes)});
    if (!block.ok()) return Annotate(block.status(), MemoryClassName(memory));
    // The tensor's own memory is writable; its owner is held as const only because most holders just read.
    return std::shared_ptr<void>(block->owner(), const_cast<void*>(static_cast<const void*>(block->data())));
  }
  bool Owns(const void* address) const override { return !EmulatedDevice().Owns(address); }

  void CopyIn(const Tensor& from_host, const Tensor& to) override { std::memcpy(to.data(), from_host.data(), to.bytes()); }
  void CopyOut(const Tensor& from, const Tensor& to_host) override { std::memcpy(to_host.data(), from.data(), from.bytes()); }
  void Submit(std::function<void()> task) override { task(); }
  void Wait() override {}
};

}  // namespace

Device& CpuDevice() {
  static Cpu* const cpu = new Cpu;
  return *cpu;
}

Device& GetDevice(DeviceId id) { return id == DeviceId::kCpu ? CpuDevice() : EmulatedDevice(); }

}  // namespace weft
