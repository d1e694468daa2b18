// Sums, means and extremes of fp32 along neighbouring axes, and GlobalMaxPool.
#include "graph/ops/reduce.h"

#include <algorithm>
#include <limits>

#include "base/threads.h"
#include "graph/ops/pool.h"
#include "kernels/cpu/instruction_set.h"
#include "kernels/kernel.h"
#include "kernels/require.h"

namespace weft::cpu {
namespace {

absl::Status Supports(const NodeView& node) {
  WEFT_RETURN_IF_ERROR(RequireFloat32(node, 1));
  if (node.HasInput(1) && node.inputs[1].tensor == nullptr) return Unsupported("axes is no constant");
  return absl::OkStatus();
}

// [outer,count,inner] -> [outer,inner]
struct Plan : KernelPlan {
  int64_t outer = 1, count = 1, inner = 1;
};

absl::StatusOr<std::unique_ptr<KernelPlan>> MakePlan(const NodeView& node, KernelState*) {
  const Dims x = *node.inputs[0].type->shape.Concrete();
  const int rank = static_cast<int>(x.size());
  std::vector<bool> reduced(rank, false);
  const Tensor* axes = node.HasInput(1) ? node.inputs[1].tensor : nullptr;
  const int64_t given = axes == nullptr ? 0 : axes->size();
  for (int64_t i = 0; i < given; ++i) {
    const int64_t axis = axes->dtype() == DType::kInt32 ? axes->data<int32_t>()[i] : axes->data<int64_t>()[i];
    WEFT_ASSIGN_OR_RETURN(const int at, InferContext::NormalizeAxis(axis, rank, "an axis"));
    reduced[at] = true;
  }
  if (given == 0) {
    if (node.attrs_as<ReduceAttrs>().noop_with_empty_axes != 0) return Unsupported("there are no axes to reduce");
    reduced.assign(rank, true);
  }
  auto plan = std::make_unique<Plan>();
  enum { kOuter, kReduced, kInner } where = kOuter;
  for (int axis = 0; axis < rank; ++axis) {
    if (x[axis] == 1) continue;
    if (x[axis] == 0) return Unsupported("the input is empty");
    if (reduced[axis]) {
      if (where == kInner) return Unsupported("the axes to reduce are no neighbours");
      where = kReduced;
      plan->count *= x[axis];
    } else {
      if (where == kReduced) where = kInner;
      (where == kOuter ? plan->outer : plan->inner) *= x[axis];
    }
  }
  return plan;
}

absl::StatusOr<std::unique_ptr<KernelPlan>> MakeGlobalPlan(const NodeView& node, KernelState*) {
  const Dims x = *node.inputs[0].type->shape.Concrete();
  auto plan = std::make_unique<Plan>();
  for (size_t axis = 0; axis < x.size(); ++axis) {
    if (x[axis] == 0) return Unsupported("the input is empty");
    (axis < 2 ? plan->outer : plan->count) *= x[axis];
  }
  return plan;
}

constexpr int64_t kLanes = 64;
constexpr int64_t kRun = 64;  // sums of so many are made first: the rounding error grows with this and with the number of such sums

struct SumFold {
  static constexpr float kStart = 0;
  WEFT_LOOP float Of(float a, float b) { return a + b; }
  WEFT_LOOP float Finish(float sum, int64_t) { return sum; }
};
struct MeanFold : SumFold {
  WEFT_LOOP float Finish(float sum, int64_t count) { return sum / static_cast<float>(count); }
};
// NaN wins.
struct MaxFold {
  static constexpr float kStart = -std::numeric_limits<float>::infinity();
  WEFT_LOOP float Of(float best, float v) { return ((v > best) | (v != v)) ? v : best; }
  WEFT_LOOP float Finish(float best, int64_t) { return best; }
};
struct MinFold {
  static constexpr float kStart = std::numeric_limits<float>::infinity();
  WEFT_LOOP float Of(float best, float v) { return ((v < best) | (v != v)) ? v : best; }
  WEFT_LOOP float Finish(float best, int64_t) { return best; }
};

// Rows of x [outer,count] -> y [outer].
template <class F>
struct RowLoop {
  WEFT_LOOP void Run(const float* x, float* y, int64_t outer, int64_t count) {
    for (int64_t o = 0; o < outer; ++o, x += count) {
      float total[kLanes];
      for (int64_t k = 0; k < kLanes; ++k) total[k] = F::kStart;
      int64_t i = 0;
      while (i + kLanes <= count) {
        float run[kLanes];
        for (int64_t k = 0; k < kLanes; ++k) run[k] = F::kStart;
        for (int64_t r = 0; r < kRun && i + kLanes <= count; ++r, i += kLanes) {
          for (int64_t k = 0; k < kLanes; ++k) run[k] = F::Of(run[k], x[i + k]);
        }
        for (int64_t k = 0; k < kLanes; ++k) total[k] = F::Of(total[k], run[k]);
      }
      for (int64_t k = 0; i < count; ++k, ++i) total[k] = F::Of(total[k], x[i]);
      for (int64_t half = kLanes / 2; half > 0; half /= 2) {
        for (int64_t k = 0; k < half; ++k) total[k] = F::Of(total[k], total[k + half]);
      }
      y[o] = F::Finish(total[0], count);
    }
  }
};

// Columns [0, width) of x [count,inner] -> y [width].
template <class F>
struct ColumnLoop {
  WEFT_LOOP void Run(const float* x, float* y, int64_t count, int64_t inner, int64_t width) {
    for (int64_t at = 0; at < width; at += kLanes) {
      const int64_t lanes = std::min(kLanes, width - at);
      float total[kLanes];
      for (int64_t k = 0; k < kLanes; ++k) total[k] = F::kStart;
      for (int64_t i = 0; i < count;) {
        const int64_t end = std::min(i + kRun, count);
        float run[kLanes];
        for (int64_t k = 0; k < kLanes; ++k) run[k] = F::kStart;
        for (; i < end; ++i) {
          const float* row = x + i * inner + at;
          if (lanes == kLanes) {
            for (int64_t k = 0; k < kLanes; ++k) run[k] = F::Of(run[k], row[k]);
          } else {
            for (int64_t k = 0; k < lanes; ++k) run[k] = F::Of(run[k], row[k]);
          }
        }
        for (int64_t k = 0; k < kLanes; ++k) total[k] = F::Of(total[k], run[k]);
      }
      for (int64_t k = 0; k < lanes; ++k) y[at + k] = F::Finish(total[k], count);
    }
  }
};

template <class F>
absl::Status Run(RunContext& ctx) {
  const auto& plan = *ctx.plan<Plan>();
  const float* x = ctx.input(0).data<float>();
  float* y = ctx.output(0).data<float>();
  if (plan.inner == 1) {
    ParallelFor(plan.outer, plan.count, [&](int64_t begin, int64_t end) {
      Vectorized<RowLoop<F>>(x + begin * plan.count, y + begin, end - begin, plan.count);
    });
    return absl::OkStatus();
  }
  const int64_t tiles = (plan.inner + kLanes - 1) / kLanes;
  ParallelFor(plan.outer * tiles, plan.count * kLanes, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t o = begin / tiles, tile = begin % tiles, last = std::min(tile + end - begin, tiles);
      const int64_t from = tile * kLanes, to = std::min(last * kLanes, plan.inner);
      Vectorized<ColumnLoop<F>>(x + o * plan.count * plan.inner + from, y + o * plan.inner + from, plan.count, plan.inner, to - from);
      begin += last - tile;
    }
  });
  return absl::OkStatus();
}

template <class F>
constexpr Kernel Reduce(const Op& op) {
  return {.op = &op, .name = "cpu.reduce", .supports = &Supports, .plan = &MakePlan, .run = &Run<F>};
}

absl::Status SupportsGlobal(const NodeView& node) { return RequireFloat32(node, 1); }

constexpr Kernel kKernels[] = {
    {.op = &ops::GlobalMaxPool, .name = "cpu.reduce", .supports = &SupportsGlobal, .plan = &MakeGlobalPlan, .run = &Run<MaxFold>},
    Reduce<MaxFold>(ops::ReduceMax),
    Reduce<MeanFold>(ops::ReduceMean),
    Reduce<MinFold>(ops::ReduceMin),
    Reduce<SumFold>(ops::ReduceSum),
};

}  // namespace

absl::Span<const Kernel> ReduceKernels() { return kKernels; }

}  // namespace weft::cpu
