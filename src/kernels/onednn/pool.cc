// MaxPool (without indices), AveragePool and GlobalAveragePool on oneDNN, fp32.
#include "graph/ops/pool.h"

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

absl::StatusOr<std::unique_ptr<KernelPlan>> MakePool(const NodeView& node, const Window& window, dnnl::algorithm algorithm) {
  const Dims x = *node.inputs[0].type->shape.Concrete(), y = *node.outputs[0].shape.Concrete();
  auto plan = std::make_unique<UnaryPlan>();
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
  WindowSpec spec;
  spec.kernel_shape = plane;
  WEFT_ASSIGN_OR_RETURN(const Window window, ResolveWindow(spec, plane, plane));
  return MakePool(node, window, dnnl::algorithm::pooling_avg_include_padding);
}

constexpr Kernel kKernels[] = {
    {.op = &ops::MaxPool, .name = "onednn.pool", .supports = &Supports, .plan = &PlanMax, .run = &RunUnary},
    {.op = &ops::AveragePool, .name = "onednn.pool", .supports = &SupportsAverage, .plan = &PlanAverage, .run = &RunUnary},
    {.op = &ops::GlobalAveragePool, .name = "onednn.pool", .supports = &Supports, .plan = &PlanGlobalAverage, .run = &RunUnary},
};

}  // namespace

absl::Span<const Kernel> PoolKernels() { return kKernels; }

}  // namespace weft::onednn
