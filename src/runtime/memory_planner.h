// The memory planner: gives each buffer an offset so that buffers alive at one time do not overlap. A library of its own: it
// knows nothing of graphs.
//
//   address
//     ▲  ┌────────┐
//     │  │   B    │    ┌─────┐        height: the highest address used
//     │  └────────┘    │  C  │        lower bound: the most bytes alive at one time
//     │  ┌─────────────┴─────┤
//     │  │         A         │
//     └──┴───────────────────┴──▶ time (steps)
#ifndef WEFT_RUNTIME_MEMORY_PLANNER_H_
#define WEFT_RUNTIME_MEMORY_PLANNER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace weft {

using TimeStep = int64_t;   // position in the order of steps
using ByteCount = int64_t;
using ByteOffset = int64_t;

struct Buffer {
  TimeStep lower = 0;  // first step at which it is alive
  TimeStep upper = 0;  // one past the last
  ByteCount size = 0;
  ByteCount alignment = 1;  // of the offset; a power of two or not, at least 1
};

struct MemoryPlan {
  std::vector<ByteOffset> offsets;  // one for each buffer
  ByteCount height = 0;
  ByteCount lower_bound = 0;
};

// The most bytes alive at one time: no plan is lower.
ByteCount LowerBound(absl::Span<const Buffer> buffers);

// Several orders of best fit (by size, by area, by lifetime); the lowest plan of them. Deterministic, O(n² log n) at worst.
MemoryPlan PlanGreedy(absl::Span<const Buffer> buffers);

// Checks every pair: alive at one time means disjoint addresses; offsets are aligned and not negative; `height` is what it says.
absl::Status ValidatePlan(absl::Span<const Buffer> buffers, const MemoryPlan& plan);

}  // namespace weft

#endif  // WEFT_RUNTIME_MEMORY_PLANNER_H_
