// Elu, Sigmoid, Tanh, Softmax and LogSoftmax on oneDNN, fp32. Of oneDNN 3.2's other functions Exp loses NaN, Gelu makes NaN of infinity, and
// Log, Mish and Softplus are off for small results.
#include <algorithm>
#include <limits>

#include "base/threads.h"
#include "graph/infer.h"
#include "graph/ops/reduce.h"
#include "graph/ops/unary.h"
#include "kernels/onednn/primitive.h"

namespace weft::onednn {
namespace {

absl::Status Supports(const NodeView& node) {
  WEFT_RETURN_IF_ERROR(RequireFloat32(node, 1));
  // Any rank can be had by merging axes, but a scalar is not worth a primitive.
  if (node.inputs[0].type->shape.has_rank() && node.inputs[0].type->shape.rank() == 0) return Unsupported("input 0 is a scalar");
  return absl::OkStatus();
}

template <dnnl::algorithm kAlgorithm>
absl::StatusOr<std::unique_ptr<KernelPlan>> MakePlan(const NodeView& node, KernelState*) {
  WEFT_ASSIGN_OR_RETURN(const int64_t size, NumElements(*node.inputs[0].type->shape.Concrete()));
  auto plan = std::make_unique<UnaryPlan>();
  if (size == 0) return plan;
  float alpha = 0;
  if constexpr (kAlgorithm == dnnl::algorithm::eltwise_elu) alpha = node.attrs_as<AlphaOneAttrs>().alpha;
  WEFT_RETURN_IF_ERROR(Guarded([&] {
    dnnl::primitive_attr attr;
    attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    plan->src = plan->dst = RowMajor({size});
    const dnnl::eltwise_forward::primitive_desc pd(CpuEngine(), dnnl::prop_kind::forward_inference, kAlgorithm, plan->src, plan->dst, alpha, 0, attr);
    plan->Take(dnnl::eltwise_forward(pd), pd.scratchpad_desc());
    return absl::OkStatus();
  }));
  return plan;
}

struct SoftmaxPlan : UnaryPlan {
  int64_t outer = 1, axis = 1, inner = 1;  // the tensor as [outer, axis, inner]
};

template <dnnl::algorithm kAlgorithm>
absl::StatusOr<std::unique_ptr<KernelPlan>> MakeSoftmax(const NodeView& node, KernelState*) {
  const Dims dims = *node.inputs[0].type->shape.Concrete();
  auto plan = std::make_unique<SoftmaxPlan>();
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return plan;
  WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(node.attrs_as<SoftmaxAttrs>().axis, static_cast<int>(dims.size())));
  plan->axis = dims[axis];
  for (int i = 0; i < static_cast<int>(dims.size()); ++i) {
    if (i != axis) (i < axis ? plan->outer : plan->inner) *= dims[i];
  }
  WEFT_RETURN_IF_ERROR(Guarded([&] {
    dnnl::primitive_attr attr;
    attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    plan->src = plan->dst = plan->inner == 1 ? RowMajor({plan->outer, plan->axis}) : RowMajor({plan->outer, plan->axis, plan->inner});
    const dnnl::softmax_forward::primitive_desc pd(CpuEngine(), dnnl::prop_kind::forward_inference, kAlgorithm, plan->src, plan->dst, 1, attr);
    plan->Take(dnnl::softmax_forward(pd), pd.scratchpad_desc());
    return absl::OkStatus();
  }));
  return plan;
}

// oneDNN 3.2 gives NaN where there is one and zeros beside it: a sum with a NaN in it is NaN, and so is all that is divided by it.
absl::Status RunSoftmax(RunContext& ctx) {
  WEFT_RETURN_IF_ERROR(RunUnary(ctx));
  const auto* plan = ctx.plan<SoftmaxPlan>();
  if (!plan->primitive) return absl::OkStatus();
  const int64_t inner = plan->inner, block = plan->axis * inner;
  ParallelFor(plan->outer, block, [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o) {
      float* y = ctx.output(0).data<float>() + o * block;
      int32_t any = 0;  // as wide as a float, so that the loop is vectorised
      for (int64_t i = 0; i < block; ++i) any |= y[i] != y[i] ? -1 : 0;
      if (any == 0) continue;
      for (int64_t i = 0; i < block; ++i) {
        if (y[i] == y[i]) continue;
        for (int64_t k = i % inner; k < block; k += inner) y[k] = std::numeric_limits<float>::quiet_NaN();
      }
    }
  });
  return absl::OkStatus();
}

constexpr Kernel Eltwise(const Op& op, absl::StatusOr<std::unique_ptr<KernelPlan>> (*plan)(const NodeView&, KernelState*)) {
  return {.op = &op, .name = "onednn.eltwise", .supports = &Supports, .plan = plan, .run = &RunUnary};
}

using dnnl::algorithm;
constexpr Kernel kKernels[] = {
    Eltwise(ops::Elu, &MakePlan<algorithm::eltwise_elu>),
    Eltwise(ops::Sigmoid, &MakePlan<algorithm::eltwise_logistic>),
    Eltwise(ops::Tanh, &MakePlan<algorithm::eltwise_tanh>),
    {.op = &ops::LogSoftmax, .name = "onednn.softmax", .supports = &Supports, .plan = &MakeSoftmax<algorithm::softmax_log>, .run = &RunSoftmax},
    {.op = &ops::Softmax, .name = "onednn.softmax", .supports = &Supports, .plan = &MakeSoftmax<algorithm::softmax_accurate>, .run = &RunSoftmax},
};

}  // namespace

absl::Span<const Kernel> EltwiseKernels() { return kKernels; }

}  // namespace weft::onednn
