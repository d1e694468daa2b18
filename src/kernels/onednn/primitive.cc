#include "kernels/onednn/primitive.h"

#include "base/status_macros.h"

namespace weft::onednn {

const dnnl::engine& CpuEngine() {
  static const dnnl::engine* const engine = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *engine;
}

dnnl::stream& Stream() {
  thread_local dnnl::stream stream(CpuEngine());
  return stream;
}

dnnl::memory::desc RowMajor(absl::Span<const int64_t> dims) {
  dnnl::memory::dims sizes(dims.begin(), dims.end()), strides(dims.size());
  int64_t stride = 1;
  for (size_t axis = dims.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= std::max<int64_t>(sizes[axis], 1);
  }
  return dnnl::memory::desc(sizes, dnnl::memory::data_type::f32, strides);
}

absl::StatusOr<const void*> PackedWeights::In(const dnnl::memory::desc& wanted) {
  if (wanted == plain_) return static_cast<const void*>(weights_.data());
  std::lock_guard lock(mutex_);
  for (const auto& [desc, tensor] : packed_) {
    if (desc == wanted) return static_cast<const void*>(tensor.data());
  }
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::AllocateUninitialized(DType::kUint8, {static_cast<int64_t>(wanted.get_size())}));
  const dnnl::memory::desc plain = wanted.get_ndims() == plain_.get_ndims() ? plain_ : plain_.reshape(wanted.get_dims());
  dnnl::memory from(plain, CpuEngine(), weights_.data()), to(wanted, CpuEngine(), tensor.data());
  dnnl::reorder(from, to).execute(Stream(), from, to);
  Stream().wait();
  packed_.emplace_back(wanted, std::move(tensor));
  return static_cast<const void*>(packed_.back().second.data());
}

size_t Reserve(size_t& workspace_bytes, size_t bytes) {
  const size_t offset = (workspace_bytes + 63) / 64 * 64;
  workspace_bytes = offset + bytes;
  return offset;
}

Relayout Relayout::Make(const dnnl::memory::desc& plain, const dnnl::memory::desc& wanted, bool to_wanted, size_t& workspace_bytes) {
  Relayout relayout{plain, wanted, {}, 0};
  if (plain == wanted) return relayout;
  const dnnl::engine& engine = CpuEngine();
  relayout.reorder = to_wanted ? dnnl::reorder(dnnl::reorder::primitive_desc(engine, plain, engine, wanted))
                               : dnnl::reorder(dnnl::reorder::primitive_desc(engine, wanted, engine, plain));
  relayout.offset = Reserve(workspace_bytes, wanted.get_size());
  return relayout;
}

absl::Status RunUnary(RunContext& ctx) {
  const auto* plan = ctx.plan<UnaryPlan>();
  if (!plan->primitive) return absl::OkStatus();
  return Guarded([&] {
    const dnnl::engine& engine = CpuEngine();
    plan->primitive.execute(Stream(), {{DNNL_ARG_SRC, dnnl::memory(plan->src, engine, ctx.input(0).data())},
                                       {DNNL_ARG_DST, dnnl::memory(plan->dst, engine, ctx.output(0).data())},
                                       {DNNL_ARG_SCRATCHPAD, dnnl::memory(plan->scratchpad, engine, ctx.workspace())}});
    Stream().wait();
    return absl::OkStatus();
  });
}

absl::Status AppendActivation(dnnl::post_ops& post_ops, const std::string& activation, float alpha, float beta) {
  using dnnl::algorithm;
  if (activation.empty()) return absl::OkStatus();
  if (activation == "Relu") post_ops.append_eltwise(algorithm::eltwise_relu, 0, 0);
  else if (activation == "LeakyRelu") post_ops.append_eltwise(algorithm::eltwise_relu, alpha, 0);
  else if (activation == "Clip") post_ops.append_eltwise(algorithm::eltwise_clip, alpha, beta);
  else if (activation == "Sigmoid") post_ops.append_eltwise(algorithm::eltwise_logistic, 0, 0);
  else if (activation == "Tanh") post_ops.append_eltwise(algorithm::eltwise_tanh, 0, 0);
  else if (activation == "HardSigmoid") post_ops.append_eltwise(algorithm::eltwise_hardsigmoid, alpha, beta);
  else if (activation == "HardSwish") post_ops.append_eltwise(algorithm::eltwise_hardswish, 1.0f / 6, 0.5f);
  else return Unsupported("activation ", activation);
  return absl::OkStatus();
}

}  // namespace weft::onednn
