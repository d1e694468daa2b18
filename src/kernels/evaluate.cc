#include "kernels/evaluate.h"

#include <atomic>

#include "kernels/kernel.h"
#include "kernels/table.h"

namespace weft {
namespace {

absl::StatusOr<const Kernel*> ReferenceKernel(const Op& op) {
  for (const Kernel* kernel : RefKernels()) {
    if (kernel->op == &op) return kernel;
  }
  return Unsupported("no reference kernel for ", op.QualifiedName());
}

// Memory for the outputs that inference could size; the others are the kernel's to allocate.
absl::Status AllocateOutputs(const NodeView& node, absl::Span<Value> outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!node.HasOutput(static_cast<int>(i)) || !node.outputs[i].is_tensor()) continue;
    if (auto dims = node.outputs[i].shape.Concrete()) {
      WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(node.outputs[i].dtype, *dims));
      outputs[i] = Value(std::move(tensor));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<Value>> Evaluate(const Op& op, const Attrs& attrs, absl::Span<const Value> inputs, int num_outputs) {
  if (!op.regions.empty()) return Unsupported("Evaluate takes no op with regions, found ", op.QualifiedName());
  WEFT_ASSIGN_OR_RETURN(const Kernel* kernel, ReferenceKernel(op));

  NodeView node;
  node.op = &op;
  node.attrs = &attrs;
  node.inputs.resize(inputs.size());
  node.outputs.resize(num_outputs);
  node.output_present.assign(num_outputs, true);
  std::vector<Type> types(inputs.size());
  std::vector<std::optional<std::vector<Dim>>> elements(inputs.size());
  std::vector<const Value*> operands(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    operands[i] = &inputs[i];
    if (inputs[i].empty()) continue;
    types[i] = Type::Of(inputs[i]);
    node.inputs[i].type = &types[i];
    if (!inputs[i].is_tensor()) continue;
    node.inputs[i].tensor = &inputs[i].tensor();
    elements[i] = ElementsOf(inputs[i].tensor());
    if (elements[i]) node.inputs[i].elements = &*elements[i];
  }
  int64_t fresh = 0;
  auto no_region = [](int, absl::Span<const Type>) -> absl::StatusOr<std::vector<Type>> { return Internal("no regions here"); };
  InferContext infer(node, no_region, fresh);
  WEFT_RETURN_IF_ERROR(op.infer(infer));

  std::vector<Value> outputs(num_outputs);
  WEFT_RETURN_IF_ERROR(AllocateOutputs(node, absl::MakeSpan(outputs)));
  std::unique_ptr<KernelState> state;
  std::unique_ptr<KernelPlan> plan;
  if (kernel->prepare != nullptr) {
    WEFT_ASSIGN_OR_RETURN(state, kernel->prepare(node));
  }
  if (kernel->plan != nullptr) {
    WEFT_ASSIGN_OR_RETURN(plan, kernel->plan(node, state.get()));
  }
  Tensor workspace;
  if (plan != nullptr && plan->workspace_bytes > 0) {
    WEFT_ASSIGN_OR_RETURN(workspace, Tensor::AllocateUninitialized(DType::kUint8, {static_cast<int64_t>(plan->workspace_bytes)}));
  }
  auto no_run = [](int, std::vector<Value>) -> absl::StatusOr<std::vector<Value>> { return Internal("no regions here"); };
  RunContext run(node, operands, absl::MakeSpan(outputs), no_run);
  run.set_prepared(state.get(), plan.get(), workspace.data());
  static std::atomic<uint64_t> seed{0};
  run.set_seed(seed.fetch_add(1));
  WEFT_RETURN_IF_ERROR(kernel->run(run));
  return outputs;
}

}  // namespace weft
