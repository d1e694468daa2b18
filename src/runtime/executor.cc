#include "runtime/executor.h"

#include <omp.h>

#include <algorithm>
#include <cstring>
#include <string>
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

absl::Status DoesNotFit(const OutputPlace& place, const Type& found) {
  return Invalid("output '", place.name, "' is ", found.ToString(), ", but the memory given for it ", Type::OfTensor(place.memory).ToString());
}

}  // namespace

ArenaPlan Execution::arena() const {
  ArenaPlan sum;
  if (plan_ == nullptr) return sum;
  for (const ArenaPlan& arena : plan_->arenas) {
    sum.bytes += arena.bytes;
    sum.lower_bound += arena.lower_bound;
  }
  return sum;
}

absl::StatusOr<std::vector<Value>> Execution::Run(absl::Span<const Value* const> inputs, const RunControl& control,
                                                  absl::Span<const OutputPlace> places) {
  absl::Status status = RunSteps(inputs, control, places);
  if (!status.ok() && program_.UsesDevices()) {
    // Work that was given before the error uses our memory.
    GetDevice(DeviceId::kEmulated).Wait();
    TakeDeviceError().IgnoreError();
  }
  std::vector<Value> outputs;
  if (status.ok()) {
    for (size_t i = 0; i < program_.outputs().size(); ++i) {
      const Value& value = Get(program_.outputs()[i]);
      const bool placed = !places.empty() && !places[i].memory.empty_handle();
      WEFT_ASSIGN_OR_RETURN(Value output, placed ? InPlace(value, places[i]) : OutOfArena(value));
      outputs.push_back(std::move(output));
    }
  }
  values_.clear();
  if (!status.ok()) return status;
  return outputs;
}

absl::Status Execution::RunSteps(absl::Span<const Value* const> inputs, const RunControl& control, absl::Span<const OutputPlace> places) {
  WEFT_RETURN_IF_ERROR(CheckControl(control));  // also where no step does: a loop's body may have none
  WEFT_ASSIGN_OR_RETURN(plan_, program_.Bind(inputs));
  values_.assign(program_.slots().size(), Value());
  WEFT_RETURN_IF_ERROR(TakePlaces(places));
  bodies_.resize(program_.steps().size());
  for (int d = 0; d < kDeviceCount; ++d) {
    const ByteCount bytes = plan_->arenas[d].bytes;
    if (bytes <= arenas_[d].capacity) continue;
    arenas_[d] = {};
    WEFT_ASSIGN_OR_RETURN(arenas_[d].memory, GetDevice(static_cast<DeviceId>(d)).Allocate(MemoryClass::kActivations, bytes));
    arenas_[d].capacity = bytes;
  }
  const size_t formal = program_.inputs().size();
  for (size_t i = 0; i < inputs.size(); ++i) {
    values_[i < formal ? program_.inputs()[i] : program_.captures()[i - formal]] = *inputs[i];
  }
  for (size_t s = 0; s < plan_->slots.size(); ++s) {
    const SlotPlan& slot = plan_->slots[s];
    if (slot.home == SlotPlan::Home::kConstant) values_[s] = Value(slot.device_value.empty_handle() ? slot.value : slot.device_value);
  }
  for (size_t i = 0; i < plan_->steps.size(); ++i) {
    if (plan_->steps[i].when != StepPlan::When::kSkip) {
      WEFT_RETURN_IF_ERROR(CheckControl(control));
      WEFT_RETURN_IF_ERROR(RunStep(i, control));
    }
    for (SlotIndex s : plan_->steps[i].dead) values_[s] = Value();
  }
  return absl::OkStatus();
}

// Has outputs computed in the caller's memory, where the plan gives them memory of their own or their step does not know its sizes yet.
absl::Status Execution::TakePlaces(absl::Span<const OutputPlace> places) {
  places_.assign(program_.slots().size(), nullptr);
  for (size_t i = 0; i < places.size(); ++i) {
    const Tensor& memory = places[i].memory;
    if (memory.empty_handle()) continue;
    const SlotIndex s = program_.outputs()[i];
    const SlotPlan& slot = plan_->slots[s];
    if (slot.type.is_tensor() && slot.type.shape.Concrete() && slot.type != Type::OfTensor(memory)) {
      return DoesNotFit(places[i], slot.type);
    }
    const SlotPlan& root = plan_->slots[slot.root];
    const bool own = root.home == SlotPlan::Home::kOwned || (root.home == SlotPlan::Home::kRun && slot.root == s);
    if (own && memory.dtype() != DType::kString && program_.slots()[slot.root].device == DeviceId::kCpu) places_[slot.root] = &memory;
  }
  return absl::OkStatus();
}

// The output in its place: it is there already, or is copied.
absl::StatusOr<Value> Execution::InPlace(const Value& value, const OutputPlace& place) const {
  const Tensor& to = place.memory;
  if (const Type found = Type::Of(value); found != Type::OfTensor(to)) return DoesNotFit(place, found);
  const Tensor& from = value.tensor();
  if (from.data() == to.data()) return Value(to);
  if (from.dtype() == DType::kString) {
    std::copy_n(from.data<std::string>(), from.size(), to.data<std::string>());
  } else if (from.size() > 0) {
    std::memcpy(to.data(), from.data(), from.bytes());
  }
  return Value(to);
}

absl::Status Execution::RunStep(size_t index, const RunControl& control) {
  const Step& step = program_.steps()[index];
  const StepPlan& planned = plan_->steps[index];
  if (step.kind == Step::Kind::kCopy) return RunCopy(index);
  if (step.kind == Step::Kind::kWait) {
    GetDevice(step.device).Wait();
    return TakeDeviceError();
  }
  absl::Status status;
  switch (planned.when) {
    case StepPlan::When::kSkip:
      break;
    case StepPlan::When::kView:
      SetView(step, planned.view.outputs[0]);
      break;
    case StepPlan::When::kStatic:
      status = RunKernel(index, {&planned.view, &planned.kernel, ArenaOf(step.device).At(planned.workspace), nullptr}, control);
      break;
    case StepPlan::When::kDynamic:
      status = RunDynamic(index, control);
      break;
  }
  return status.ok() ? status : Annotate(status, planned.view.Where());
}

absl::Status Execution::RunCopy(size_t index) {
  const Step& step = program_.steps()[index];
  const Tensor& from = Get(step.inputs[0]).tensor();
  WEFT_ASSIGN_OR_RETURN(Value to, MakeOutput(step.outputs[0], Type::OfTensor(from)));
  Device& device = GetDevice(step.device);
  if (from.bytes() > 0) {
    if (program_.slots()[step.outputs[0]].device == DeviceId::kCpu) device.CopyOut(from, to.tensor());
    else device.CopyIn(from, to.tensor());
  }
  values_[step.outputs[0]] = std::move(to);
  return absl::OkStatus();
}

absl::Status Execution::TakeDeviceError() {
  std::lock_guard lock(device_mutex_);
  return std::exchange(device_error_, absl::OkStatus());
}

// The value, read back from its device. Waits.
absl::StatusOr<Tensor> Execution::OnCpu(SlotIndex slot) const {
  const Tensor& tensor = Get(slot).tensor();
  const DeviceId id = program_.slots()[slot].device;
  if (id == DeviceId::kCpu) return tensor;
  if (plan_->slots[slot].home == SlotPlan::Home::kConstant) return plan_->slots[slot].value;
  WEFT_ASSIGN_OR_RETURN(Tensor copy, Tensor::AllocateUninitialized(tensor.dtype(), tensor.dims()));
  GetDevice(id).CopyOut(tensor, copy);
  GetDevice(id).Wait();
  return copy;
}

void Execution::SetView(const Step& step, const Type& type) {
  if (step.outputs[0] == kNoSlot) return;
  const Value& source = Get(step.inputs[0]);
  values_[step.outputs[0]] = source.is_tensor() ? Value(source.tensor().Reshaped(*type.shape.Concrete())) : source;
}

// What a dynamic step infers from.
struct Execution::DynamicFrame {
  NodeView view;
  absl::InlinedVector<Type, 4> types;
  absl::InlinedVector<Tensor, 4> tensors;  // on the CPU
  absl::InlinedVector<std::optional<std::vector<Dim>>, 4> elements;
  PlannedKernel kernel;
  std::shared_ptr<void> workspace;
};

// Infers the step again from the values at hand, then runs it in memory of its own.
absl::Status Execution::RunDynamic(size_t index, const RunControl& control) {
  const Step& step = program_.steps()[index];
  auto frame = std::make_shared<DynamicFrame>();
  NodeView& view = frame->view;
  view = plan_->steps[index].view;
  frame->types.resize(step.inputs.size());
  frame->tensors.resize(step.inputs.size());
  frame->elements.resize(step.inputs.size());
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    if (step.inputs[i] == kNoSlot || Get(step.inputs[i]).empty()) {
      view.inputs[i] = {};
      continue;
    }
    const Value& value = Get(step.inputs[i]);
    frame->types[i] = Type::Of(value);
    view.inputs[i] = {&frame->types[i], nullptr, nullptr};
    if (!value.is_tensor()) continue;
    // Inference reads elements of small operands alone: sizes, axes, scales.
    if (program_.slots()[step.inputs[i]].device != DeviceId::kCpu && value.tensor().size() > static_cast<int64_t>(InferContext::kMaxElements)) continue;
    WEFT_ASSIGN_OR_RETURN(frame->tensors[i], OnCpu(step.inputs[i]));
    view.inputs[i].tensor = &frame->tensors[i];
    frame->elements[i] = ElementsOf(frame->tensors[i]);
    if (frame->elements[i]) view.inputs[i].elements = &*frame->elements[i];
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
  WEFT_ASSIGN_OR_RETURN(frame->kernel, PlanKernel(step, view));
  if (frame->kernel.plan != nullptr && frame->kernel.plan->workspace_bytes > 0) {
    WEFT_ASSIGN_OR_RETURN(frame->workspace, GetDevice(step.device).Allocate(MemoryClass::kWorkspace, frame->kernel.plan->workspace_bytes));
  }
  return RunKernel(index, {&frame->view, &frame->kernel, frame->workspace.get(), frame}, control);
}

absl::StatusOr<Value> Execution::MakeOutput(SlotIndex slot, const Type& type) {
  const SlotPlan& planned = plan_->slots[slot];
  if (!type.is_tensor()) return Value();
  std::optional<Dims> dims = type.shape.Concrete();
  if (!dims) return Value();  // the kernel's to allocate
  if (planned.home == SlotPlan::Home::kArena) {
    return Value(Tensor::Wrap(type.dtype, *dims, ArenaOf(program_.slots()[slot].device).At(planned.offset)));
  }
  if (planned.home == SlotPlan::Home::kOwned && planned.root != slot) {
    const Tensor& root = Get(planned.root).tensor();  // overwritten in place
    return Value(Tensor::Wrap(type.dtype, *dims, root.data(), root.owner()));
  }
  if (const DeviceId id = program_.slots()[slot].device; id != DeviceId::kCpu) {
    WEFT_ASSIGN_OR_RETURN(const int64_t count, NumElements(*dims));
    WEFT_ASSIGN_OR_RETURN(std::shared_ptr<void> block, GetDevice(id).Allocate(MemoryClass::kActivations, count * DTypeSize(type.dtype)));
    return Value(Tensor::Wrap(type.dtype, *dims, block.get(), block));
  }
  if (const Tensor* place = places_[slot]; place != nullptr) {
    WEFT_ASSIGN_OR_RETURN(const int64_t count, NumElements(*dims));
    // In a place's root under other dims: a view of it is the output.
    if (count * DTypeSize(type.dtype) == place->bytes()) return Value(Tensor::Wrap(type.dtype, *dims, place->data()));
  }
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::AllocateUninitialized(type.dtype, *dims));
  return Value(std::move(tensor));
}

absl::Status Execution::RunKernel(size_t index, const Launch& launch, const RunControl& control) {
  const Step& step = program_.steps()[index];
  absl::InlinedVector<const Value*, 8> inputs(step.inputs.size());
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    inputs[i] = step.inputs[i] == kNoSlot ? nullptr : &Get(step.inputs[i]);
  }
  std::vector<Value> outputs(step.outputs.size());
  for (size_t i = 0; i < step.outputs.size(); ++i) {
    if (step.outputs[i] == kNoSlot || !step.bodies.empty()) continue;
    WEFT_ASSIGN_OR_RETURN(outputs[i], MakeOutput(step.outputs[i], launch.view->outputs[i]));
  }
  if (program_.UsesDevices()) WEFT_RETURN_IF_ERROR(CheckReach(step, inputs));
  if (step.device == DeviceId::kCpu) {
    WEFT_RETURN_IF_ERROR(RunHere(index, launch, inputs, absl::MakeSpan(outputs), control));
  } else {
    RunThere(index, launch, inputs, outputs, control);
  }
  for (size_t i = 0; i < step.outputs.size(); ++i) {
    if (step.outputs[i] != kNoSlot) values_[step.outputs[i]] = std::move(outputs[i]);
  }
  return absl::OkStatus();
}

// Every operand lies in memory that the step's device reaches.
absl::Status Execution::CheckReach(const Step& step, absl::Span<const Value* const> inputs) const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr || !inputs[i]->is_tensor() || inputs[i]->tensor().bytes() == 0) continue;
    if (i == 0 && step.op->Has(kReadsShapeOnly)) continue;
    if (!GetDevice(step.device).Owns(inputs[i]->tensor().data())) {
      return Internal("input ", i, " is not in the memory of the device '", GetDevice(step.device).name(), "'");
    }
  }
  return absl::OkStatus();
}

absl::Status Execution::RunHere(size_t index, const Launch& launch, absl::Span<const Value* const> inputs, absl::Span<Value> outputs,
                                const RunControl& control) {
  const Step& step = program_.steps()[index];
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
  RunContext ctx(*launch.view, inputs, outputs, run_region);
  ctx.set_prepared(launch.kernel->state, launch.kernel->plan.get(), launch.workspace);
  ctx.set_seed(seed);
  ctx.set_cancelled(control.cancelled);
  WEFT_RETURN_IF_ERROR(launch.kernel->kernel->run(ctx));
  const bool kernel_chose_memory = plan_->steps[index].when == StepPlan::When::kDynamic;
  for (size_t i = 0; i < step.outputs.size(); ++i) {
    if (step.outputs[i] == kNoSlot) continue;
    if (outputs[i].empty()) return Internal("kernel ", launch.kernel->kernel->name, " left output ", i, " unset");
    if (kernel_chose_memory) {
      WEFT_ASSIGN_OR_RETURN(outputs[i], OutOfArena(std::move(outputs[i])));
    }
  }
  return absl::OkStatus();
}

// Gives the kernel to the step's device; what goes wrong there is found by the next wait.
void Execution::RunThere(size_t index, const Launch& launch, absl::Span<const Value* const> inputs, std::vector<Value> outputs,
                         const RunControl& control) {
  std::vector<Value> held(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] != nullptr) held[i] = *inputs[i];
  }
  GetDevice(program_.steps()[index].device)
      .Submit([this, launch, held = std::move(held), outputs = std::move(outputs), seed = PartSeed(control.seed, index),
               cancelled = control.cancelled, threads = omp_get_max_threads()]() mutable {
        {
          std::lock_guard lock(device_mutex_);
          if (!device_error_.ok()) return;
        }
        omp_set_num_threads(threads);
        std::vector<const Value*> operands(held.size());
        for (size_t i = 0; i < held.size(); ++i) operands[i] = held[i].empty() ? nullptr : &held[i];
        auto no_region = [](int, std::vector<Value>) -> absl::StatusOr<std::vector<Value>> { return Internal("no regions here"); };
        RunContext ctx(*launch.view, operands, absl::MakeSpan(outputs), no_region);
        ctx.set_prepared(launch.kernel->state, launch.kernel->plan.get(), launch.workspace);
        ctx.set_seed(seed);
        ctx.set_cancelled(cancelled);
        absl::Status status = launch.kernel->kernel->run(ctx);
        if (status.ok()) return;
        std::lock_guard lock(device_mutex_);
        device_error_ = Annotate(status, launch.view->Where());
      });
}

// A value that shares no memory with the arena, which later steps overwrite.
absl::StatusOr<Value> Execution::OutOfArena(Value value) const {
  if (value.is_tensor()) {
    if (!arenas_[static_cast<int>(DeviceId::kCpu)].Holds(value.tensor().data())) return value;
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
