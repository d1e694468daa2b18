#include "runtime/executor.h"

#include <utility>

#include "absl/container/inlined_vector.h"
#include "base/status_macros.h"

namespace weft {
namespace {

absl::Status CheckControl(const RunControl& control) {
  if (control.cancelled != nullptr && control.cancelled->load(std::memory_order_relaxed)) {
    return absl::CancelledError("the run was cancelled");
  }
  if (control.deadline && std::chrono::steady_clock::now() > *control.deadline) {
    return absl::DeadlineExceededError("the run is past its deadline");
  }
  return absl::OkStatus();
}

// The seed of the k-th part of what has this one (the finaliser of SplitMix64): neighbours give unrelated numbers.
uint64_t PartSeed(uint64_t seed, uint64_t k) {
  uint64_t z = seed + (k + 1) * 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

}  // namespace

absl::StatusOr<std::vector<Value>> Execution::Run(absl::Span<const Value* const> inputs, const RunControl& control) {
  WEFT_RETURN_IF_ERROR(CheckControl(control));  // also where no step does: a loop's body may have none
  WEFT_ASSIGN_OR_RETURN(plan_, program_.Bind(inputs));
  values_.assign(program_.slots().size(), Value());
  bodies_.resize(program_.steps().size());
  if (plan_->arena_bytes > arena_capacity_) {
    arena_.reset();
    arena_capacity_ = 0;
    WEFT_ASSIGN_OR_RETURN(arena_, CpuDevice().Allocate(MemoryClass::kActivations, plan_->arena_bytes));
    arena_capacity_ = plan_->arena_bytes;
  }
  const size_t formal = program_.inputs().size();
  for (size_t i = 0; i < inputs.size(); ++i) {
    values_[i < formal ? program_.inputs()[i] : program_.captures()[i - formal]] = *inputs[i];
  }
  for (size_t s = 0; s < plan_->slots.size(); ++s) {
    if (plan_->slots[s].home == SlotPlan::Home::kConstant) values_[s] = Value(plan_->slots[s].value);
  }
  for (size_t i = 0; i < plan_->steps.size(); ++i) {
    if (plan_->steps[i].when != StepPlan::When::kSkip) {
      WEFT_RETURN_IF_ERROR(CheckControl(control));
      WEFT_RETURN_IF_ERROR(RunStep(i, control));
    }
    for (SlotIndex s : plan_->steps[i].dead) values_[s] = Value();
  }
  std::vector<Value> outputs;
  for (SlotIndex s : program_.outputs()) {
    WEFT_ASSIGN_OR_RETURN(Value value, OutOfArena(Get(s)));
    outputs.push_back(std::move(value));
  }
  values_.clear();
  return outputs;
}

absl::Status Execution::RunStep(size_t index, const RunControl& control) {
  const Step& step = program_.steps()[index];
  const StepPlan& planned = plan_->steps[index];
  absl::Status status;
  switch (planned.when) {
    case StepPlan::When::kSkip:
      break;
    case StepPlan::When::kView:
      SetView(step, planned.view.outputs[0]);
      break;
    case StepPlan::When::kStatic:
      status = RunKernel(index, planned.view, planned.kernel, static_cast<char*>(arena_.get()) + planned.workspace, control);
      break;
    case StepPlan::When::kDynamic:
      status = RunDynamic(index, control);
      break;
  }
  return status.ok() ? status : Annotate(status, planned.view.Where());
}

void Execution::SetView(const Step& step, const Type& type) {
  if (step.outputs[0] == kNoSlot) return;
  const Value& source = Get(step.inputs[0]);
  values_[step.outputs[0]] = source.is_tensor() ? Value(source.tensor().Reshaped(*type.shape.Concrete())) : source;
}

// Infers the step again from the values at hand, then runs it in memory of its own.
absl::Status Execution::RunDynamic(size_t index, const RunControl& control) {
  const Step& step = program_.steps()[index];
  NodeView view = plan_->steps[index].view;
  absl::InlinedVector<Type, 4> types(step.inputs.size());
  absl::InlinedVector<std::optional<std::vector<Dim>>, 4> elements(step.inputs.size());
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    if (step.inputs[i] == kNoSlot || Get(step.inputs[i]).empty()) {
      view.inputs[i] = {};
      continue;
    }
    const Value& value = Get(step.inputs[i]);
    types[i] = Type::Of(value);
    view.inputs[i] = {&types[i], nullptr, nullptr};
    if (!value.is_tensor()) continue;
    view.inputs[i].tensor = &value.tensor();
    elements[i] = ElementsOf(value.tensor());
    if (elements[i]) view.inputs[i].elements = &*elements[i];
  }
  if (step.bodies.empty()) {
    int64_t fresh = 0;
    auto no_region = [](int, absl::Span<const Type>) -> absl::StatusOr<std::vector<Type>> { return Internal("no regions here"); };
    InferContext infer(view, no_region, fresh);
    WEFT_RETURN_IF_ERROR(step.op->infer(infer));
  }
  const bool source_is_there = !step.inputs.empty() && step.inputs[0] != kNoSlot;
  if (step.op->Has(kView) && source_is_there &&
      (!Get(step.inputs[0]).is_tensor() || view.outputs[0].shape.Concrete().has_value())) {
    SetView(step, view.outputs[0]);
    return absl::OkStatus();
  }
  WEFT_ASSIGN_OR_RETURN(const PlannedKernel kernel, PlanKernel(step, view));
  std::shared_ptr<void> workspace;
  if (kernel.plan != nullptr && kernel.plan->workspace_bytes > 0) {
    WEFT_ASSIGN_OR_RETURN(workspace, CpuDevice().Allocate(MemoryClass::kWorkspace, kernel.plan->workspace_bytes));
  }
  return RunKernel(index, view, kernel, workspace.get(), control);
}

absl::StatusOr<Value> Execution::MakeOutput(SlotIndex slot, const Type& type) {
  const SlotPlan& planned = plan_->slots[slot];
  if (!type.is_tensor()) return Value();
  std::optional<Dims> dims = type.shape.Concrete();
  if (!dims) return Value();  // the kernel's to allocate
  if (planned.home == SlotPlan::Home::kArena) {
    return Value(Tensor::Wrap(type.dtype, *dims, static_cast<char*>(arena_.get()) + planned.offset));
  }
  if (planned.home == SlotPlan::Home::kOwned && planned.root != slot) {
    const Tensor& root = Get(planned.root).tensor();  // overwritten in place
    return Value(Tensor::Wrap(type.dtype, *dims, root.data(), root.owner()));
  }
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::AllocateUninitialized(type.dtype, *dims));
  return Value(std::move(tensor));
}

absl::Status Execution::RunKernel(size_t index, const NodeView& view, const PlannedKernel& kernel, void* workspace,
                                  const RunControl& control) {
  const Step& step = program_.steps()[index];
  absl::InlinedVector<const Value*, 8> inputs(step.inputs.size());
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    inputs[i] = step.inputs[i] == kNoSlot ? nullptr : &Get(step.inputs[i]);
  }
  absl::InlinedVector<Value, 4> outputs(step.outputs.size());
  for (size_t i = 0; i < step.outputs.size(); ++i) {
    if (step.outputs[i] == kNoSlot || !step.bodies.empty()) continue;
    WEFT_ASSIGN_OR_RETURN(outputs[i], MakeOutput(step.outputs[i], view.outputs[i]));
  }
  const uint64_t seed = PartSeed(control.seed, index);
  uint64_t region_runs = 0;
  auto run_region = [&](int region, std::vector<Value> arguments) -> absl::StatusOr<std::vector<Value>> {
    const Body& body = step.bodies[region];
    if (arguments.size() != body.program->inputs().size()) {
      return Invalid("region '", step.op->regions[region], "' takes ", body.program->inputs().size(), " inputs, found ",
                     arguments.size());
    }
    auto& executions = bodies_[index];
    executions.resize(step.bodies.size());
    if (executions[region] == nullptr) executions[region] = std::make_unique<Execution>(*body.program);
    std::vector<const Value*> all;
    for (const Value& v : arguments) all.push_back(&v);
    for (SlotIndex s : body.captures) all.push_back(&Get(s));
    RunControl region_control = control;
    region_control.seed = PartSeed(seed, region_runs++);  // every iteration draws other numbers
    absl::StatusOr<std::vector<Value>> results = executions[region]->Run(all, region_control);
    if (!results.ok()) return Annotate(results.status(), step.op->regions[region]);
    return results;
  };
  RunContext ctx(view, inputs, absl::MakeSpan(outputs), run_region);
  ctx.set_prepared(kernel.state, kernel.plan.get(), workspace);
  ctx.set_seed(seed);
  ctx.set_cancelled(control.cancelled);
  WEFT_RETURN_IF_ERROR(kernel.kernel->run(ctx));
  const bool kernel_chose_memory = plan_->steps[index].when == StepPlan::When::kDynamic;
  for (size_t i = 0; i < step.outputs.size(); ++i) {
    if (step.outputs[i] == kNoSlot) continue;
    if (outputs[i].empty()) return Internal("kernel ", kernel.kernel->name, " left output ", i, " unset");
    if (kernel_chose_memory) {
      WEFT_ASSIGN_OR_RETURN(outputs[i], OutOfArena(std::move(outputs[i])));
    }
    values_[step.outputs[i]] = std::move(outputs[i]);
  }
  return absl::OkStatus();
}

// A value that shares no memory with the arena, which later steps overwrite.
absl::StatusOr<Value> Execution::OutOfArena(Value value) const {
  if (value.is_tensor()) {
    const auto* data = static_cast<const char*>(value.tensor().data());
    const auto* arena = static_cast<const char*>(arena_.get());
    if (arena == nullptr || data < arena || data >= arena + arena_capacity_) return value;
    WEFT_ASSIGN_OR_RETURN(Tensor copy, value.tensor().Clone());
    return Value(std::move(copy));
  }
  if (value.is_sequence()) {
    Sequence sequence = value.sequence();
    for (Value& item : sequence.items) {
      WEFT_ASSIGN_OR_RETURN(item, OutOfArena(std::move(item)));
    }
    return Value(std::move(sequence));
  }
  if (value.is_optional() && !value.optional().item.empty()) {
    Optional optional = value.optional();
    WEFT_ASSIGN_OR_RETURN(optional.item[0], OutOfArena(std::move(optional.item[0])));
    return Value(std::move(optional));
  }
  return value;
}

}  // namespace weft
