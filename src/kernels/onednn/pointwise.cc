#include "kernels/onednn/pointwise.h"

#include <algorithm>

#include "base/threads.h"

namespace weft::onednn {
namespace {

constexpr int64_t kLeastPlane = 64;
constexpr int64_t kLeastDepth = 4;  // of a group: below, oneDNN's depthwise convolutions are better

int64_t PlaneOf(const Dims& dims) {
  int64_t plane = 1;
  for (size_t i = 2; i < dims.size(); ++i) plane *= dims[i];
  return plane;
}

}  // namespace

bool IsPointwise(const Window& window, const Dims& x, int64_t group) {
  for (int i = 0; i < window.rank(); ++i) {
    if (window.kernel[i] != 1 || window.strides[i] != 1 || window.pads_begin[i] != 0 || window.out[i] != window.in[i]) return false;
  }
  return group == 1 ? x[1] > 0 && PlaneOf(x) >= kLeastPlane : x[1] / group >= kLeastDepth;
}

absl::StatusOr<std::unique_ptr<Pointwise>> PlanPointwise(const NodeView& node, const FusedConvAttrs& attrs) {
  const Dims x = *node.inputs[0].type->shape.Concrete(), y = *node.outputs[0].shape.Concrete();
  const int64_t group = attrs.group, rows = y[1] / group, depth = x[1] / group, plane = PlaneOf(x);
  auto plan = std::make_unique<Pointwise>();
  // Leading axes of size 1 are left out: oneDNN has more ways for fewer axes.
  Dims a, b, c;
  if (x[0] > 1) {
    a.push_back(1);
    b.push_back(x[0]);
    c.push_back(x[0]);
  }
  if (group > 1) {
    for (Dims* dims : {&a, &b, &c}) dims->push_back(group);
  }
  a.insert(a.end(), {rows, depth});
  b.insert(b.end(), {depth, plane});
  c.insert(c.end(), {rows, plane});
  plan->w = RowMajor(a);
  plan->x = RowMajor(b);
  plan->y = RowMajor(c);
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::post_ops post_ops;
  if (node.HasInput(2)) post_ops.append_sum(1.0f);  // to the bias, which is in Y already
  WEFT_RETURN_IF_ERROR(AppendActivation(post_ops, attrs.activation, attrs.alpha, attrs.beta));
  attr.set_post_ops(post_ops);
  const dnnl::matmul::primitive_desc pd(CpuEngine(), plan->w, plan->x, dnnl::memory::desc(), plan->y, attr);
  plan->product = dnnl::matmul(pd);
  plan->scratchpad = pd.scratchpad_desc();
  return plan;
}

void RunPointwise(const Pointwise& plan, RunContext& ctx) {
  Tensor& y = ctx.output(0);
  if (ctx.HasInput(2)) {
    const float* bias = ctx.input(2).data<float>();
    const int64_t channels = y.dim(1), plane = y.size() / (y.dim(0) * channels);
    ParallelFor(y.dim(0) * channels, plane, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) std::fill_n(y.data<float>() + i * plane, plane, bias[i % channels]);
    });
  }
  const dnnl::engine& engine = CpuEngine();
  plan.product.execute(Stream(), {{DNNL_ARG_SRC, dnnl::memory(plan.w, engine, ctx.input(1).data())},
                                  {DNNL_ARG_WEIGHTS, dnnl::memory(plan.x, engine, ctx.input(0).data())},
                                  {DNNL_ARG_DST, dnnl::memory(plan.y, engine, y.data())},
                                  {DNNL_ARG_SCRATCHPAD, dnnl::memory(plan.scratchpad, engine, ctx.workspace())}});
  Stream().wait();
}

}  // namespace weft::onednn
