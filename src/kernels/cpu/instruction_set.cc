#include "kernels/cpu/instruction_set.h"

#include <algorithm>
#include <atomic>

namespace weft::cpu {
namespace {

InstructionSet Best() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq")) {
    return InstructionSet::kAvx512;
  }
  if (__builtin_cpu_supports("avx2")) return InstructionSet::kAvx2;
#endif
  return InstructionSet::kBaseline;
}

std::atomic<InstructionSet>& Current() {
  static std::atomic<InstructionSet> current(Best());
  return current;
}

}  // namespace

InstructionSet CurrentInstructionSet() { return Current().load(std::memory_order_relaxed); }

void LimitInstructionSet(InstructionSet most) { Current().store(std::min(most, Best()), std::memory_order_relaxed); }

}  // namespace weft::cpu
