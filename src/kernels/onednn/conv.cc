// Conv, weft.FusedConv and ConvTranspose on oneDNN, fp32: layouts of oneDNN's choice inside, row-major outside.
#include "graph/ops/conv.h"

#include <algorithm>
#include <type_traits>

#include "base/threads.h"
#include "graph/ops/fused.h"
#include "graph/ops/spatial.h"
#include "kernels/onednn/pointwise.h"
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
  dnnl::memory::dims weight_dims;
};

// [M,C/g,k...] as oneDNN has it: [g,M/g,C/g,k...] of several groups.
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

// ONNX has ConvTranspose's weight as [C,M/g,k...], oneDNN wants [M,C,k...] or [g,M/g,C/g,k...]: the same memory under other strides.
absl::StatusOr<std::unique_ptr<KernelState>> PrepareTransposed(const NodeView& node) {
  const Tensor& w = *node.inputs[1].tensor;
  const int64_t group = node.attrs_as<ConvTransposeAttrs>().group;
  dnnl::memory::dims dims(w.dims().begin(), w.dims().end());
  if (group > 1) {
    dims[0] /= group;
    dims.insert(dims.begin(), group);
  }
  dnnl::memory::dims strides = RowMajor(dims).get_strides();
  const size_t c = group > 1 ? 1 : 0;
  std::swap(dims[c], dims[c + 1]);
  std::swap(strides[c], strides[c + 1]);
  auto state = std::make_unique<State>();
  state->weight_dims = dims;
  state->weights = std::make_unique<PackedWeights>(w, dnnl::memory::desc(dims, dnnl::memory::data_type::f32, strides));
  return state;
}

struct Plan : KernelPlan {
  dnnl::primitive primitive;  // convolution_forward or deconvolution_forward
  Relayout src, dst;
  dnnl::memory::desc bias, scratchpad;
  dnnl::memory::desc weights_desc;
  const void* weights = nullptr;
  size_t scratchpad_offset = 0;
  std::unique_ptr<Pointwise> pointwise;  // instead of all the above
};

// Strides, dilations as oneDNN counts them (0 is dense), padding in front.
struct Spatial {
  dnnl::memory::dims strides, dilations, begin, end;
  explicit Spatial(const Window& window)
      : strides(window.strides.begin(), window.strides.end()), begin(window.pads_begin.begin(), window.pads_begin.end()) {
    for (int64_t d : window.dilations) dilations.push_back(d - 1);
  }
};

// Leaves out spatial axes of size 1: oneDNN unrolls its loops along the last axis, which must not be one of those. One axis stays.
void DropUnitAxes(dnnl::memory::dims& x, dnnl::memory::dims& w, dnnl::memory::dims& y, Spatial& s) {
  for (size_t back = 1; back <= s.strides.size() && s.strides.size() > 1;) {  // axes counted from the last
    const auto at = [&](dnnl::memory::dims& dims) { return dims.end() - back; };
    if (*at(x) != 1 || *at(w) != 1 || *at(y) != 1 || *at(s.begin) != 0) {
      ++back;
      continue;
    }
    for (dnnl::memory::dims* dims : {&x, &w, &y, &s.strides, &s.dilations, &s.begin, &s.end}) dims->erase(at(*dims));
  }
}

// What the three ops plan alike: `describe` gets memory descriptors of source, weight, bias and destination, in layouts of oneDNN's choice,
// and gives the primitive's descriptor.
template <class Primitive, class Describe>
absl::StatusOr<std::unique_ptr<KernelPlan>> PlanWith(const NodeView& node, State& state, const FusedConvAttrs& activation, Spatial s,
                                                     Describe describe) {
  const Dims x_dims = *node.inputs[0].type->shape.Concrete(), y_dims = *node.outputs[0].shape.Concrete();
  dnnl::memory::dims x(x_dims.begin(), x_dims.end()), w = state.weight_dims, y(y_dims.begin(), y_dims.end());
  auto plan = std::make_unique<Plan>();
  if (std::find(y.begin(), y.end(), 0) != y.end()) return plan;  // nothing to compute
  DropUnitAxes(x, w, y, s);
  WEFT_RETURN_IF_ERROR(Guarded([&]() -> absl::Status {
    using desc = dnnl::memory::desc;
    const auto f32 = dnnl::memory::data_type::f32;
    const auto any = dnnl::memory::format_tag::any;
    dnnl::primitive_attr attr;
    attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    dnnl::post_ops post_ops;
    if (node.HasInput(2) && std::is_same_v<Primitive, dnnl::convolution_forward>) plan->bias = desc({y[1]}, f32, dnnl::memory::format_tag::a);
    WEFT_RETURN_IF_ERROR(AppendActivation(post_ops, activation.activation, activation.alpha, activation.beta));
    attr.set_post_ops(post_ops);
    const typename Primitive::primitive_desc pd = describe(desc(x, f32, any), desc(w, f32, any), plan->bias, desc(y, f32, any), s, attr);
    plan->primitive = Primitive(pd);
    plan->src = Relayout::Make(RowMajor(x), pd.src_desc(), true, plan->workspace_bytes);
    plan->dst = Relayout::Make(RowMajor(y), pd.dst_desc(), false, plan->workspace_bytes);
    plan->weights_desc = pd.weights_desc();
    plan->scratchpad = pd.scratchpad_desc();
    plan->scratchpad_offset = Reserve(plan->workspace_bytes, plan->scratchpad.get_size());
    WEFT_ASSIGN_OR_RETURN(plan->weights, state.weights->In(plan->weights_desc));
    return absl::OkStatus();
  }));
  return plan;
}

Dims SpatialDimsOf(const Type& type) {
  const Dims dims = *type.shape.Concrete();
  return Dims(dims.begin() + 2, dims.end());
}

absl::StatusOr<std::unique_ptr<KernelPlan>> MakePlan(const NodeView& node, KernelState* state) {
  const FusedConvAttrs attrs = AttrsOf(node);
  WEFT_ASSIGN_OR_RETURN(const Window window,
                        ResolveWindow(SpecOf(attrs), SpatialDimsOf(*node.inputs[0].type), SpatialDimsOf(*node.inputs[1].type)));
  const Dims x = *node.inputs[0].type->shape.Concrete(), y = *node.outputs[0].shape.Concrete();
  if (IsPointwise(window, x, attrs.group) && std::find(y.begin(), y.end(), 0) == y.end()) {
    auto plan = std::make_unique<Plan>();
    WEFT_RETURN_IF_ERROR(Guarded([&]() -> absl::Status {
      WEFT_ASSIGN_OR_RETURN(plan->pointwise, PlanPointwise(node, attrs));
      return absl::OkStatus();
    }));
    plan->workspace_bytes = plan->pointwise->scratchpad.get_size();
    return plan;
  }
  Spatial s(window);
  for (int i = 0; i < window.rank(); ++i) {
    // What the last window reaches, which may be less than the padding there is.
    s.end.push_back((window.out[i] - 1) * window.strides[i] + window.extent(i) - window.in[i] - window.pads_begin[i]);
  }
  return PlanWith<dnnl::convolution_forward>(node, static_cast<State&>(*state), attrs, s, [](auto src, auto weights, auto bias, auto dst, const Spatial& s, const auto& attr) {
    return dnnl::convolution_forward::primitive_desc(CpuEngine(), dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_auto, src,
                                                     weights, bias, dst, s.strides, s.dilations, s.begin, s.end, attr);
  });
}

absl::StatusOr<std::unique_ptr<KernelPlan>> MakeTransposedPlan(const NodeView& node, KernelState* state) {
  WEFT_ASSIGN_OR_RETURN(const Window window, ResolveTransposed(SpecOf(node.attrs_as<ConvTransposeAttrs>()), SpatialDimsOf(*node.inputs[0].type),
                                                               SpatialDimsOf(*node.inputs[1].type)));
  Spatial s(window);
  for (int i = 0; i < window.rank(); ++i) {
    s.end.push_back((window.in[i] - 1) * window.strides[i] + window.extent(i) - window.pads_begin[i] - window.out[i]);
  }
  return PlanWith<dnnl::deconvolution_forward>(node, static_cast<State&>(*state), {}, s, [](auto src, auto weights, auto bias, auto dst, const Spatial& s, const auto& attr) {
    return dnnl::deconvolution_forward::primitive_desc(CpuEngine(), dnnl::prop_kind::forward_inference, dnnl::algorithm::deconvolution_direct, src,
                                                       weights, bias, dst, s.strides, s.dilations, s.begin, s.end, attr);
  });
}

absl::Status Run(RunContext& ctx) {
  const auto* plan = ctx.plan<Plan>();
  if (plan->pointwise != nullptr) {
    return Guarded([&] {
      RunPointwise(*plan->pointwise, ctx);
      return absl::OkStatus();
    });
  }
  if (!plan->primitive) return absl::OkStatus();
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
    if (plan->bias.get_size() > 0) args[DNNL_ARG_BIAS] = dnnl::memory(plan->bias, engine, ctx.input(2).data());
    plan->primitive.execute(stream, args);
    if (plan->dst.needed()) {
      dnnl::memory plain(plan->dst.plain, engine, ctx.output(0).data());
      plan->dst.reorder.execute(stream, dst, plain);
    }
    stream.wait();
    return absl::OkStatus();
  });
}

// Y[n,m,...] += bias[m].
void AddBias(const Tensor& bias, Tensor& y) {
  const int64_t channels = y.dim(1), plane = y.size() / std::max<int64_t>(y.dim(0) * channels, 1);
  ParallelFor(y.dim(0) * channels, plane, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const float b = bias.data<float>()[i % channels];
      float* to = y.data<float>() + i * plane;
      for (int64_t k = 0; k < plane; ++k) to[k] += b;
    }
  });
}

// oneDNN 3.2 adds the bias of a strided deconvolution, and what post-ops add, once for each block of input channels.
absl::Status RunTransposed(RunContext& ctx) {
  WEFT_RETURN_IF_ERROR(Run(ctx));
  if (ctx.HasInput(2)) AddBias(ctx.input(2), ctx.output(0));
  return absl::OkStatus();
}

constexpr Kernel kKernels[] = {
    {.op = &ops::Conv, .name = "onednn.conv", .supports = &Supports, .prepare = &Prepare, .plan = &MakePlan, .run = &Run},
    {.op = &ops::ConvTranspose, .name = "onednn.deconv", .supports = &Supports, .prepare = &PrepareTransposed, .plan = &MakeTransposedPlan, .run = &RunTransposed},
    {.op = &ops::WeftFusedConv, .name = "onednn.conv", .supports = &Supports, .prepare = &Prepare, .plan = &MakePlan, .run = &Run},
};

}  // namespace

absl::Span<const Kernel> ConvKernels() { return kKernels; }

}  // namespace weft::onednn
