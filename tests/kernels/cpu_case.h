// One node on our own fast kernel, under every instruction set of this processor, and on the reference kernel.
#ifndef WEFT_TESTS_KERNELS_CPU_CASE_H_
#define WEFT_TESTS_KERNELS_CPU_CASE_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "graph/infer.h"
#include "kernels/cpu/instruction_set.h"
#include "kernels/evaluate.h"
#include "kernels/kernel.h"
#include "kernels/table.h"

namespace weft {

// Output 0 on the kernel of src/kernels/cpu; Unimplemented where it refuses. All inputs but the first are constants.
inline absl::StatusOr<Tensor> RunOnCpuKernel(const Op& op, const Attrs& attrs, const std::vector<Value>& inputs) {
  NodeView node;
  node.op = &op;
  node.attrs = &attrs;
  node.inputs.resize(inputs.size());
  node.outputs.resize(1);
  node.output_present = {true};
  std::vector<Type> types(inputs.size());
  std::vector<const Value*> operands;
  for (size_t i = 0; i < inputs.size(); ++i) {
    operands.push_back(&inputs[i]);
    if (inputs[i].empty()) continue;
    types[i] = Type::Of(inputs[i]);
    node.inputs[i].type = &types[i];
    if (i > 0) node.inputs[i].tensor = &inputs[i].tensor();
  }
  int64_t fresh = 0;
  auto no_region = [](int, absl::Span<const Type>) -> absl::StatusOr<std::vector<Type>> { return Internal("no regions here"); };
  InferContext infer(node, no_region, fresh);
  WEFT_RETURN_IF_ERROR(op.infer(infer));
  const Kernel* kernel = nullptr;
  for (const Kernel* k : CpuKernels()) {
    if (k->op == &op) kernel = k;
  }
  if (kernel == nullptr) return Unsupported("there is no kernel");
  if (kernel->supports != nullptr) WEFT_RETURN_IF_ERROR(kernel->supports(node));
  std::unique_ptr<KernelPlan> plan;
  if (kernel->plan != nullptr) {
    WEFT_ASSIGN_OR_RETURN(plan, kernel->plan(node, nullptr));
  }
  std::vector<Value> outputs(1);
  WEFT_ASSIGN_OR_RETURN(Tensor output, Tensor::Allocate(node.outputs[0].dtype, *node.outputs[0].shape.Concrete()));
  outputs[0] = Value(std::move(output));
  auto no_run = [](int, std::vector<Value>) -> absl::StatusOr<std::vector<Value>> { return Internal("no regions here"); };
  RunContext ctx(node, operands, absl::MakeSpan(outputs), no_run);
  ctx.set_prepared(nullptr, plan.get(), nullptr);
  WEFT_RETURN_IF_ERROR(kernel->run(ctx));
  return outputs[0].tensor();
}

// Calls body() under each instruction set that this processor has.
template <class Body>
void ForEachInstructionSet(Body body) {
  using cpu::InstructionSet;
  for (InstructionSet set : {InstructionSet::kBaseline, InstructionSet::kAvx2, InstructionSet::kAvx512}) {
    cpu::LimitInstructionSet(set);
    if (cpu::CurrentInstructionSet() != set) continue;
    SCOPED_TRACE(static_cast<int>(set));
    body();
  }
  cpu::LimitInstructionSet(InstructionSet::kAvx512);
}

}  // namespace weft

#endif  // WEFT_TESTS_KERNELS_CPU_CASE_H_
