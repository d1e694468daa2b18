// MaxPool (without indices), AveragePool and GlobalAveragePool on oneDNN, fp32. A NaN beside numbers is passed over by MaxPool.
#include "graph/ops/pool.h"

#include <algorithm>
#include <limits>

#include "base/threads.h"
#include "graph/ops/spatial.h"
#include "kernels/onednn/primitive.h"

namespace weft::onednn {
namespace {

absl::Status Supports(const NodeView& node) {
  WEFT_RETURN_IF_ERROR(RequireFloat32(node, 1));
  const Shape& x = node.inputs[0].type->shape;
  if (!x.has_rank() || x.rank() < 3 || x.rank() > 5) return Unsupported("input 0 has shape ", x.ToString(), ", expected a rank of 3 to 5");
  if (node.HasOutput(1)) return Unsupported("indices are asked for");
  return absl::OkStatus();
}

struct PoolPlan : UnaryPlan {
  Window window;
};

absl::StatusOr<std::unique_ptr<KernelPlan>> MakePool(const NodeView& node, const Window& window, dnnl::algorithm algorithm) {
  const Dims x = *node.inputs[0].type->shape.Concrete(), y = *node.outputs[0].shape.Concrete();
  auto plan = std::make_unique<PoolPlan>();
  plan->window = window;
  for (int64_t d : y) {
    if (d == 0) return plan;
  }
  for (int64_t d : x) {
    if (d == 0) return Unsupported("windows over an empty axis");
  }
  WEFT_RETURN_IF_ERROR(Guarded([&] {
    dnnl::memory::dims strides(window.strides.begin(), window.strides.end()), kernel(window.kernel.begin(), window.kernel.end()), dilations, end;
    const dnnl::memory::dims begin(window.pads_begin.begin(), window.pads_begin.end());
    for (int i = 0; i < window.rank(); ++i) {
      dilations.push_back(window.dilations[i] - 1);
      end.push_back((window.out[i] - 1) * window.strides[i] + window.extent(i) - window.in[i] - window.pads_begin[i]);
    }
    dnnl::primitive_attr attr;
    attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    plan->src = RowMajor(x);
    plan->dst = RowMajor(y);
    const dnnl::pooling_forward::primitive_desc pd(CpuEngine(), dnnl::prop_kind::forward_inference, algorithm, plan->src, plan->dst, strides, kernel,
                                                   dilations, begin, end, attr);
    plan->Take(dnnl::pooling_forward(pd), pd.scratchpad_desc());
    return absl::OkStatus();
  }));
  return plan;
}

template <class A>
absl::StatusOr<Window> WindowOf(const NodeView& node) {
  const auto& attrs = node.attrs_as<A>();
  const Dims x = *node.inputs[0].type->shape.Concrete();
  return ResolveWindow(SpecOf(attrs), absl::MakeConstSpan(x).subspan(2), attrs.kernel_shape);
}

absl::StatusOr<std::unique_ptr<KernelPlan>> PlanMax(const NodeView& node, KernelState*) {
  WEFT_ASSIGN_OR_RETURN(const Window window, WindowOf<MaxPoolAttrs>(node));
  return MakePool(node, window, dnnl::algorithm::pooling_max);
}

// The largest number that window `output` of a plane meets, NaN where there is one, -inf where it lies in the padding.
float MaximumOf(const Window& w, const float* plane, int64_t output) {
  const int rank = w.rank();
  Dims first(rank), tap(rank, 0);
  for (int axis = rank - 1; axis >= 0; --axis) {
    first[axis] = output % w.out[axis] * w.strides[axis] - w.pads_begin[axis];
    output /= w.out[axis];
  }
  float best = -std::numeric_limits<float>::infinity();
  while (true) {
    int64_t index = 0;
    bool inside = true;
    for (int axis = 0; axis < rank; ++axis) {
      const int64_t at = first[axis] + tap[axis] * w.dilations[axis];
      inside &= at >= 0 && at < w.in[axis];
      index = index * w.in[axis] + at;
    }
    if (inside && !(plane[index] <= best)) best = plane[index];
    if (best != best) return best;
    int axis = rank - 1;
    while (axis >= 0 && ++tap[axis] == w.kernel[axis]) tap[axis--] = 0;
    if (axis < 0) return best;
  }
}

// oneDNN's maxima begin at the lowest finite number and pass over NaN: where that number is left, nothing else was met or all was -inf.
absl::Status RunMax(RunContext& ctx) {
  WEFT_RETURN_IF_ERROR(RunUnary(ctx));
  const auto* plan = ctx.plan<PoolPlan>();
  if (!plan->primitive) return absl::OkStatus();
  const Tensor& x = ctx.input(0);
  Tensor& y = ctx.output(0);
  const int64_t planes = y.dim(0) * y.dim(1), from = x.size() / planes, to = y.size() / planes;
  ParallelFor(y.size(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      float& maximum = y.data<float>()[i];
      if (maximum == std::numeric_limits<float>::lowest()) maximum = MaximumOf(plan->window, x.data<float>() + i / to * from, i % to);
    }
  });
  return absl::OkStatus();
}

// oneDNN counts padding as a window meets it; ONNX does not count what overhangs the padding (ceil_mode).
absl::Status SupportsAverage(const NodeView& node) {
  WEFT_RETURN_IF_ERROR(Supports(node));
  const auto& attrs = node.attrs_as<AveragePoolAttrs>();
  if (attrs.ceil_mode && attrs.count_include_pad) return Unsupported("ceil_mode with count_include_pad");
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<KernelPlan>> PlanAverage(const NodeView& node, KernelState*) {
  WEFT_ASSIGN_OR_RETURN(const Window window, WindowOf<AveragePoolAttrs>(node));
  return MakePool(node, window, node.attrs_as<AveragePoolAttrs>().count_include_pad ? dnnl::algorithm::pooling_avg_include_padding
                                                                                     : dnnl::algorithm::pooling_avg_exclude_padding);
}

absl::StatusOr<std::unique_ptr<KernelPlan>> PlanGlobalAverage(const NodeView& node, KernelState*) {
  const Dims x = *node.inputs[0].type->shape.Concrete();
  const std::vector<int64_t> plane(x.begin() + 2, x.end());
  if (std::find(plane.begin(), plane.end(), 0) != plane.end()) return Unsupported("means of no elements");
  WindowSpec spec;
  spec.kernel_shape = plane;
  WEFT_ASSIGN_OR_RETURN(const Window window, ResolveWindow(spec, plane, plane));
  return MakePool(node, window, dnnl::algorithm::pooling_avg_include_padding);
}

constexpr Kernel kKernels[] = {
    {.op = &ops::MaxPool, .name = "onednn.pool", .supports = &Supports, .plan = &PlanMax, .run = &RunMax},
    {.op = &ops::AveragePool, .name = "onednn.pool", .supports = &SupportsAverage, .plan = &PlanAverage, .run = &RunUnary},
    {.op = &ops::GlobalAveragePool, .name = "onednn.pool", .supports = &Supports, .plan = &PlanGlobalAverage, .run = &RunUnary},
};

}  // namespace

absl::Span<const Kernel> PoolKernels() { return kKernels; }

}  // namespace weft::onednn
