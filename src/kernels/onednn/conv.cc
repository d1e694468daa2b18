// Conv and weft.FusedConv on oneDNN, fp32: layouts of oneDNN's choice inside, row-major outside.
#include "graph/ops/conv.h"

#include "graph/ops/fused.h"
#include "graph/ops/spatial.h"
#include "kernels/onednn/primitive.h"

namespace weft::onednn {
namespace {

// What Conv and weft.FusedConv have in common.
FusedConvAttrs AttrsOf(const NodeView& node) {
  if (node.op == &ops::WeftFusedConv) return node.attrs_as<FusedConvAttrs>();
  const auto& a = node.attrs_as<ConvAttrs>();
  return {a.auto_pad, a.dilations, a.group, a.kernel_shape, a.pads, a.strides, "", 0, 0};
}

absl::Status Supports(const NodeView& node) {
  WEFT_RETURN_IF_ERROR(RequireFloat32(node, 3));
  const Shape& w = node.inputs[1].type->shape;
  if (node.inputs[1].tensor == nullptr) return Unsupported("the weight is no constant");
  if (w.rank() < 3 || w.rank() > 5) return Unsupported("the weight has rank ", w.rank(), ", expected 3 to 5");
  if (node.inputs[1].tensor->size() == 0) return Unsupported("the weight is empty");
  return absl::OkStatus();
}

struct State : KernelState {
  std::unique_ptr<PackedWeights> weights;
  dnnl::memory::dims weight_dims;  // [M,C/g,k...], or [g,M/g,C/g,k...]
};

absl::StatusOr<std::unique_ptr<KernelState>> Prepare(const NodeView& node) {
  const Tensor& w = *node.inputs[1].tensor;
  const int64_t group = AttrsOf(node).group;
  auto state = std::make_unique<State>();
  state->weight_dims.assign(w.dims().begin(), w.dims().end());
  if (group > 1) {
    state->weight_dims[0] /= group;
    state->weight_dims.insert(state->weight_dims.begin(), group);
  }
  state->weights = std::make_unique<PackedWeights>(w, RowMajor(state->weight_dims));
  return state;
}

struct Plan : KernelPlan {
  dnnl::convolution_forward conv;
  Relayout src, dst;
  dnnl::memory::desc bias, scratchpad;
  dnnl::memory::desc weights_desc;
  const void* weights = nullptr;
  size_t scratchpad_offset = 0;
};

absl::StatusOr<std::unique_ptr<KernelPlan>> MakePlan(const NodeView& node, KernelState* prepared) {
  auto* state = static_cast<State*>(prepared);
  const FusedConvAttrs attrs = AttrsOf(node);
  const Dims x = *node.inputs[0].type->shape.Concrete(), y = *node.outputs[0].shape.Concrete();
  const Dims w = *node.inputs[1].type->shape.Concrete();
  auto plan = std::make_unique<Plan>();
  for (int64_t d : y) {
    if (d == 0) return plan;  // nothing to compute
  }
  WEFT_ASSIGN_OR_RETURN(const Window window, ResolveWindow(SpecOf(attrs), absl::MakeConstSpan(x).subspan(2), absl::MakeConstSpan(w).subspan(2)));
  WEFT_RETURN_IF_ERROR(Guarded([&]() -> absl::Status {
    using desc = dnnl::memory::desc;
    const auto f32 = dnnl::memory::data_type::f32;
    const auto any = dnnl::memory::format_tag::any;
    dnnl::memory::dims strides(window.strides.begin(), window.strides.end()), dilations, begin(window.pads_begin.begin(), window.pads_begin.end()), end;
    for (int i = 0; i < window.rank(); ++i) {
      dilations.push_back(window.dilations[i] - 1);
      // What the last window reaches, which may be less than the padding there is.
      end.push_back((window.out[i] - 1) * window.strides[i] + window.extent(i) - window.in[i] - window.pads_begin[i]);
    }
    dnnl::primitive_attr attr;
    attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    dnnl::post_ops post_ops;
    WEFT_RETURN_IF_ERROR(AppendActivation(post_ops, attrs.activation, attrs.alpha, attrs.beta));
    attr.set_post_ops(post_ops);
    const dnnl::memory::dims x_dims(x.begin(), x.end()), y_dims(y.begin(), y.end());
    if (node.HasInput(2)) plan->bias = desc({y[1]}, f32, dnnl::memory::format_tag::a);
    const dnnl::convolution_forward::primitive_desc pd(
        CpuEngine(), dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_auto, desc(x_dims, f32, any),
        desc(state->weight_dims, f32, any), node.HasInput(2) ? plan->bias : desc(), desc(y_dims, f32, any), strides, dilations, begin, end, attr);
    plan->conv = dnnl::convolution_forward(pd);
    plan->src = Relayout::Make(RowMajor(x), pd.src_desc(), true, plan->workspace_bytes);
    plan->dst = Relayout::Make(RowMajor(y), pd.dst_desc(), false, plan->workspace_bytes);
    plan->weights_desc = pd.weights_desc();
    plan->scratchpad = pd.scratchpad_desc();
    plan->scratchpad_offset = Reserve(plan->workspace_bytes, plan->scratchpad.get_size());
    WEFT_ASSIGN_OR_RETURN(plan->weights, state->weights->In(plan->weights_desc));
    return absl::OkStatus();
  }));
  return plan;
}

absl::Status Run(RunContext& ctx) {
  const auto* plan = ctx.plan<Plan>();
  if (!plan->conv) return absl::OkStatus();
  return Guarded([&] {
    const dnnl::engine& engine = CpuEngine();
    dnnl::stream& stream = Stream();
    auto* workspace = static_cast<char*>(ctx.workspace());
    dnnl::memory src(plan->src.wanted, engine, plan->src.needed() ? workspace + plan->src.offset : ctx.input(0).data());
    if (plan->src.needed()) {
      dnnl::memory plain(plan->src.plain, engine, ctx.input(0).data());
      plan->src.reorder.execute(stream, plain, src);
    }
    dnnl::memory dst(plan->dst.wanted, engine, plan->dst.needed() ? workspace + plan->dst.offset : ctx.output(0).data());
    std::unordered_map<int, dnnl::memory> args = {
        {DNNL_ARG_SRC, src},
        {DNNL_ARG_WEIGHTS, dnnl::memory(plan->weights_desc, engine, const_cast<void*>(plan->weights))},
        {DNNL_ARG_DST, dst},
        {DNNL_ARG_SCRATCHPAD, dnnl::memory(plan->scratchpad, engine, workspace + plan->scratchpad_offset)}};
    if (ctx.HasInput(2)) args[DNNL_ARG_BIAS] = dnnl::memory(plan->bias, engine, ctx.input(2).data());
    plan->conv.execute(stream, args);
    if (plan->dst.needed()) {
      dnnl::memory plain(plan->dst.plain, engine, ctx.output(0).data());
      plan->dst.reorder.execute(stream, dst, plain);
    }
    stream.wait();
    return absl::OkStatus();
  });
}

constexpr Kernel kKernels[] = {
    {.op = &ops::Conv, .name = "onednn.conv", .supports = &Supports, .prepare = &Prepare, .plan = &MakePlan, .run = &Run},
    {.op = &ops::WeftFusedConv, .name = "onednn.conv", .supports = &Supports, .prepare = &Prepare, .plan = &MakePlan, .run = &Run},
};

}  // namespace

absl::Span<const Kernel> ConvKernels() { return kKernels; }

}  // namespace weft::onednn
