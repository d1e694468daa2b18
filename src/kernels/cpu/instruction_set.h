// One loop, compiled for several instruction sets; which one runs is chosen when it is called. All give the same bits: products and sums are
// not contracted, and sums are kept in a number of lanes that the loop fixes.
//
//   struct Square {
//     WEFT_LOOP void Run(const float* x, float* y, int64_t n) { for (int64_t i = 0; i < n; ++i) y[i] = x[i] * x[i]; }
//   };
//   Vectorized<Square>(x, y, n);
//
// What the loop calls must be WEFT_LOOP too, or it is compiled for the least of them.
#ifndef WEFT_KERNELS_CPU_INSTRUCTION_SET_H_
#define WEFT_KERNELS_CPU_INSTRUCTION_SET_H_

#include <cstdint>

namespace weft::cpu {

#define WEFT_LOOP [[gnu::always_inline]] static inline

enum class InstructionSet : uint8_t { kBaseline, kAvx2, kAvx512 };

// The best that this processor has, or what LimitInstructionSet left of it.
InstructionSet CurrentInstructionSet();
// For tests: from now on at most this one.
void LimitInstructionSet(InstructionSet most);

#if defined(__x86_64__)
#if defined(__clang__)
#define WEFT_AVX512_TARGET "avx512f,avx512vl,avx512bw,avx512dq"
#else
#define WEFT_AVX512_TARGET "avx512f,avx512vl,avx512bw,avx512dq,prefer-vector-width=512"
#endif

template <class Loop, class... Args>
[[gnu::target(WEFT_AVX512_TARGET), gnu::noinline]] void RunAvx512(Args... args) {
  Loop::Run(args...);
}

template <class Loop, class... Args>
[[gnu::target("avx2"), gnu::noinline]] void RunAvx2(Args... args) {
  Loop::Run(args...);
}
#endif

template <class Loop, class... Args>
void Vectorized(Args... args) {
#if defined(__x86_64__)
  switch (CurrentInstructionSet()) {
    case InstructionSet::kAvx512: return RunAvx512<Loop, Args...>(args...);
    case InstructionSet::kAvx2: return RunAvx2<Loop, Args...>(args...);
    case InstructionSet::kBaseline: break;
  }
#endif
  Loop::Run(args...);
}

}  // namespace weft::cpu

#endif  // WEFT_KERNELS_CPU_INSTRUCTION_SET_H_
