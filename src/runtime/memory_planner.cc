#include "runtime/memory_planner.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/status_macros.h"

namespace weft {
namespace {

bool Overlap(const Buffer& a, const Buffer& b) { return a.lower < b.upper && b.lower < a.upper; }

ByteOffset AlignUp(ByteOffset offset, ByteCount alignment) { return (offset + alignment - 1) / alignment * alignment; }

// Places the buffers in the given order, each in the smallest gap that holds it between those placed already.
MemoryPlan Place(absl::Span<const Buffer> buffers, absl::Span<const int> order) {
  MemoryPlan plan;
  plan.offsets.assign(buffers.size(), 0);
  std::vector<int> placed;  // by offset
  for (int b : order) {
    const Buffer& buffer = buffers[b];
    ByteOffset end = 0, best = -1;
    ByteCount best_gap = 0;
    for (int p : placed) {
      if (!Overlap(buffer, buffers[p])) continue;
      const ByteOffset start = AlignUp(end, buffer.alignment);
      const ByteCount gap = plan.offsets[p] - start;
      if (gap >= buffer.size && (best < 0 || gap < best_gap)) {
        best = start;
        best_gap = gap;
      }
      end = std::max(end, plan.offsets[p] + buffers[p].size);
    }
    const ByteOffset offset = best >= 0 ? best : AlignUp(end, buffer.alignment);
    plan.offsets[b] = offset;
    plan.height = std::max(plan.height, offset + buffer.size);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), b,
                                   [&](int x, int y) { return plan.offsets[x] < plan.offsets[y]; }),
                  b);
  }
  return plan;
}

}  // namespace

ByteCount LowerBound(absl::Span<const Buffer> buffers) {
  std::vector<std::pair<TimeStep, ByteCount>> changes;
  for (const Buffer& b : buffers) {
    if (b.upper <= b.lower) continue;
    changes.emplace_back(b.lower, b.size);
    changes.emplace_back(b.upper, -b.size);
  }
  std::sort(changes.begin(), changes.end());  // at one step, what ends (negative) goes before what begins
  ByteCount live = 0, most = 0;
  for (const auto& [time, change] : changes) most = std::max(most, live += change);
  return most;
}

MemoryPlan PlanGreedy(absl::Span<const Buffer> buffers) {
  const ByteCount bound = LowerBound(buffers);
  auto length = [&](int b) { return buffers[b].upper - buffers[b].lower; };
  auto by_size = [&](int a, int b) {
    return std::pair(-buffers[a].size, -length(a)) < std::pair(-buffers[b].size, -length(b));
  };
  auto by_area = [&](int a, int b) {
    return static_cast<double>(buffers[a].size) * length(a) > static_cast<double>(buffers[b].size) * length(b);
  };
  auto by_length = [&](int a, int b) {
    return std::pair(-length(a), -buffers[a].size) < std::pair(-length(b), -buffers[b].size);
  };
  MemoryPlan best;
  auto attempt = [&](auto before) {
    if (!best.offsets.empty() && best.height == bound) return;
    std::vector<int> order(buffers.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), before);
    MemoryPlan plan = Place(buffers, order);
    if (best.offsets.empty() || plan.height < best.height) best = std::move(plan);
  };
  attempt(by_size);
  attempt(by_area);
  attempt(by_length);
  best.lower_bound = bound;
  return best;
}

absl::Status ValidatePlan(absl::Span<const Buffer> buffers, const MemoryPlan& plan) {
  if (plan.offsets.size() != buffers.size()) {
    return Internal("plan has ", plan.offsets.size(), " offsets, expected ", buffers.size());
  }
  ByteCount height = 0;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const ByteOffset offset = plan.offsets[i];
    if (offset < 0 || offset % buffers[i].alignment != 0) {
      return Internal("buffer ", i, " is at offset ", offset, ", expected a multiple of ", buffers[i].alignment);
    }
    height = std::max(height, offset + buffers[i].size);
    for (size_t j = 0; j < i; ++j) {
      if (Overlap(buffers[i], buffers[j]) && offset < plan.offsets[j] + buffers[j].size &&
          plan.offsets[j] < offset + buffers[i].size) {
        return Internal("buffers ", j, " and ", i, " are alive at one time and overlap: [", plan.offsets[j], ", ",
                        plan.offsets[j] + buffers[j].size, ") and [", offset, ", ", offset + buffers[i].size, ")");
      }
    }
  }
  if (height != plan.height) return Internal("plan states height ", plan.height, ", its buffers reach ", height);
  return absl::OkStatus();
}

}  // namespace weft
