// MatMul, Gemm and weft.FusedMatMul on oneDNN, fp32.
#include "graph/ops/matmul.h"

#include <algorithm>

#include "graph/ops/fused.h"
#include "kernels/onednn/primitive.h"

namespace weft::onednn {
namespace {

// The three ops as one: Y = activation(alpha * A' @ B' + beta * C).
struct Product {
  bool transA = false, transB = false;
  float scale = 1, beta = 1;
  std::string activation;
  float alpha = 0, limit = 0;
};

Product ProductOf(const NodeView& node) {
  if (node.op == &ops::Gemm) {
    const auto& a = node.attrs_as<GemmAttrs>();
    return {a.transA, a.transB, a.alpha, a.beta, "", 0, 0};
  }
  if (node.op == &ops::WeftFusedMatMul) {
    const auto& a = node.attrs_as<FusedMatMulAttrs>();
    return {a.transA, a.transB, 1, 1, a.activation, a.alpha, a.beta};
  }
  return {};
}

absl::Status Supports(const NodeView& node) {
  WEFT_RETURN_IF_ERROR(RequireFloat32(node, 3));
  for (int i = 0; i < 2; ++i) {
    const Shape& shape = node.inputs[i].type->shape;
    if (!shape.has_rank() || shape.rank() < 2 || shape.rank() > 6) return Unsupported("input ", i, " has shape ", shape.ToString(), ", expected a rank of 2 to 6");
  }
  const Product product = ProductOf(node);
  if (node.HasInput(2) && product.beta != 1 && product.beta != 0) return Unsupported("beta is ", product.beta, ", expected 0 or 1");
  return absl::OkStatus();
}

// [.., rows, columns], read with the last two axes swapped where transposed.
dnnl::memory::desc Operand(const dnnl::memory::dims& dims, bool transposed) {
  dnnl::memory::dims logical = dims, strides(dims.size());
  int64_t stride = 1;
  for (size_t axis = dims.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= std::max<int64_t>(dims[axis], 1);
  }
  if (transposed) {
    std::swap(logical[dims.size() - 1], logical[dims.size() - 2]);
    std::swap(strides[dims.size() - 1], strides[dims.size() - 2]);
  }
  return dnnl::memory::desc(logical, dnnl::memory::data_type::f32, strides);
}

struct State : KernelState {
  std::unique_ptr<PackedWeights> weights;  // of a constant B of rank 2
};

absl::StatusOr<std::unique_ptr<KernelState>> Prepare(const NodeView& node) {
  auto state = std::make_unique<State>();
  const Tensor* b = node.inputs[1].tensor;
  if (b != nullptr && b->rank() == 2 && b->size() > 0) {
    state->weights = std::make_unique<PackedWeights>(*b, Operand({b->dim(0), b->dim(1)}, ProductOf(node).transB));
  }
  return state;
}

struct Plan : KernelPlan {
  dnnl::matmul matmul;
  dnnl::memory::desc a, b, c, y, scratchpad;
  const void* weights = nullptr;  // B, packed
  bool adds = false;              // C as a binary post-op rather than as a bias
  size_t scratchpad_offset = 0;
};

// Operands brought to one rank; where B is one matrix, A's rows of all batches are rows of one product.
void Align(dnnl::memory::dims& a, dnnl::memory::dims& b, dnnl::memory::dims& y, bool transposed_a) {
  const bool one_matrix = std::all_of(b.begin(), b.end() - 2, [](int64_t d) { return d == 1; });
  if (one_matrix && !transposed_a && a.size() >= b.size()) {
    int64_t rows = 1;
    for (size_t i = 0; i + 1 < a.size(); ++i) rows *= a[i];
    a = {rows, a.back()};
    b = {b[b.size() - 2], b.back()};
    y = {rows, y.back()};
    return;
  }
  const size_t rank = std::max({a.size(), b.size(), y.size()});
  for (auto* dims : {&a, &b, &y}) dims->insert(dims->begin(), rank - dims->size(), 1);
}

absl::StatusOr<std::unique_ptr<KernelPlan>> MakePlan(const NodeView& node, KernelState* prepared) {
  auto* state = static_cast<State*>(prepared);
  const Product product = ProductOf(node);
  auto dims_of = [](const Type& type) {
    const Dims dims = *type.shape.Concrete();
    return dnnl::memory::dims(dims.begin(), dims.end());
  };
  dnnl::memory::dims a = dims_of(*node.inputs[0].type), b = dims_of(*node.inputs[1].type), y = dims_of(node.outputs[0]);
  auto plan = std::make_unique<Plan>();
  if (std::find(y.begin(), y.end(), 0) != y.end()) return plan;  // nothing to compute
  if (std::find(a.begin(), a.end(), 0) != a.end()) return Unsupported("sums of no terms");
  Align(a, b, y, product.transA);
  WEFT_RETURN_IF_ERROR(Guarded([&]() -> absl::Status {
    using desc = dnnl::memory::desc;
    const auto f32 = dnnl::memory::data_type::f32;
    dnnl::primitive_attr attr;
    attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    dnnl::post_ops post_ops;
    if (product.scale != 1) post_ops.append_eltwise(dnnl::algorithm::eltwise_linear, product.scale, 0);
    const bool has_c = node.HasInput(2) && product.beta != 0;
    if (has_c) {
      dnnl::memory::dims c = dims_of(*node.inputs[2].type);
      c.insert(c.begin(), y.size() - c.size(), 1);
      plan->c = Operand(c, false);
      const bool along_last = std::all_of(c.begin(), c.end() - 1, [](int64_t d) { return d == 1; }) && c.back() == y.back();
      plan->adds = product.scale != 1 || !along_last;
      if (plan->adds) post_ops.append_binary(dnnl::algorithm::binary_add, plan->c);
    }
    WEFT_RETURN_IF_ERROR(AppendActivation(post_ops, product.activation, product.alpha, product.limit));
    attr.set_post_ops(post_ops);
    plan->a = Operand(a, product.transA);
    plan->y = Operand(y, false);
    const bool packs = state->weights != nullptr && b.size() == 2;
    plan->b = packs ? desc(state->weights->plain().get_dims(), f32, dnnl::memory::format_tag::any) : Operand(b, product.transB);
    const dnnl::matmul::primitive_desc pd = has_c && !plan->adds ? dnnl::matmul::primitive_desc(CpuEngine(), plan->a, plan->b, plan->c, plan->y, attr)
                                                                 : dnnl::matmul::primitive_desc(CpuEngine(), plan->a, plan->b, plan->y, attr);
    plan->matmul = dnnl::matmul(pd);
    plan->b = pd.weights_desc();
    plan->scratchpad = pd.scratchpad_desc();
    plan->scratchpad_offset = Reserve(plan->workspace_bytes, plan->scratchpad.get_size());
    if (packs) {
      WEFT_ASSIGN_OR_RETURN(plan->weights, state->weights->In(plan->b));
    }
    return absl::OkStatus();
  }));
  return plan;
}

absl::Status Run(RunContext& ctx) {
  const auto* plan = ctx.plan<Plan>();
  if (!plan->matmul) return absl::OkStatus();
  return Guarded([&] {
    const dnnl::engine& engine = CpuEngine();
    void* b = plan->weights != nullptr ? const_cast<void*>(plan->weights) : ctx.input(1).data();
    std::unordered_map<int, dnnl::memory> args = {
        {DNNL_ARG_SRC, dnnl::memory(plan->a, engine, ctx.input(0).data())},
        {DNNL_ARG_WEIGHTS, dnnl::memory(plan->b, engine, b)},
        {DNNL_ARG_DST, dnnl::memory(plan->y, engine, ctx.output(0).data())},
        {DNNL_ARG_SCRATCHPAD, dnnl::memory(plan->scratchpad, engine, static_cast<char*>(ctx.workspace()) + plan->scratchpad_offset)}};
    if (plan->c.get_size() > 0) {
      const bool scaled = ctx.node().op == &ops::Gemm && ctx.attrs<GemmAttrs>().alpha != 1;  // the scale is post-op 0
      const int arg = !plan->adds ? DNNL_ARG_BIAS : DNNL_ARG_ATTR_MULTIPLE_POST_OP(scaled ? 1 : 0) | DNNL_ARG_SRC_1;
      args[arg] = dnnl::memory(plan->c, engine, ctx.input(2).data());
    }
    plan->matmul.execute(Stream(), args);
    Stream().wait();
    return absl::OkStatus();
  });
}

constexpr Kernel kKernels[] = {
    {.op = &ops::MatMul, .name = "onednn.matmul", .supports = &Supports, .prepare = &Prepare, .plan = &MakePlan, .run = &Run},
    {.op = &ops::Gemm, .name = "onednn.matmul", .supports = &Supports, .prepare = &Prepare, .plan = &MakePlan, .run = &Run},
    {.op = &ops::WeftFusedMatMul, .name = "onednn.matmul", .supports = &Supports, .prepare = &Prepare, .plan = &MakePlan, .run = &Run},
};

}  // namespace

absl::Span<const Kernel> MatMulKernels() { return kKernels; }

}  // namespace weft::onednn
