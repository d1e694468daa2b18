#include "runtime/plan.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/status_macros.h"
#include "kernels/evaluate.h"

namespace weft {
namespace {

constexpr int kForever = std::numeric_limits<int>::max();
constexpr ByteCount kAlignment = 64;
// Larger results are computed in the run, not when a plan is made.
constexpr int64_t kMaxFoldedElements = 1024;

class Planner {
 public:
  Planner(const Program& program, Plan& plan) : program_(program), plan_(plan) {}

  absl::Status Run(absl::Span<const Value* const> inputs) {
    const size_t slots = program_.slots().size(), steps = program_.steps().size();
    plan_.slots.resize(slots);
    plan_.steps.resize(steps);
    members_.resize(slots);
    defined_.assign(slots, -1);
    pinned_.assign(slots, false);
    FindLastUses();
    for (size_t s = 0; s < slots; ++s) {
      plan_.slots[s].root = static_cast<SlotIndex>(s);
      members_[s] = {static_cast<SlotIndex>(s)};
      if (program_.slots()[s].constant.empty_handle()) continue;
      plan_.slots[s].device_value = program_.slots()[s].device_constant;
      WEFT_RETURN_IF_ERROR(SetValue(static_cast<SlotIndex>(s), program_.slots()[s].constant));
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      const size_t formal = program_.inputs().size();
      plan_.slots[i < formal ? program_.inputs()[i] : program_.captures()[i - formal]].type = Type::Of(*inputs[i]);
    }
    for (size_t i = 0; i < steps; ++i) {
      // Where() only behind PlanStep, which makes the view.
      if (absl::Status status = PlanStep(static_cast<int>(i)); !status.ok()) return Annotate(status, plan_.steps[i].view.Where());
    }
    for (SlotIndex s : program_.outputs()) {
      SlotPlan& root = plan_.slots[plan_.slots[s].root];
      if (root.home == SlotPlan::Home::kArena) root.home = SlotPlan::Home::kOwned;
    }
    FindDead();
    return PlaceInArenas();
  }

 private:
  void FindLastUses() {
    last_use_.assign(program_.slots().size(), -1);
    for (size_t i = 0; i < program_.steps().size(); ++i) {
      auto use = [&](SlotIndex s) {
        if (s != kNoSlot) last_use_[s] = static_cast<int>(i);
      };
      const Step& step = program_.steps()[i];
      for (SlotIndex s : step.inputs) use(s);
      for (const Body& body : step.bodies) {
        for (SlotIndex s : body.captures) use(s);
      }
    }
    for (SlotIndex s : program_.outputs()) last_use_[s] = kForever;
  }

  absl::Status SetValue(SlotIndex s, Tensor value) {
    SlotPlan& slot = plan_.slots[s];
    if (const DeviceId id = program_.slots()[s].device; id != DeviceId::kCpu && slot.device_value.empty_handle()) {
      WEFT_ASSIGN_OR_RETURN(std::shared_ptr<void> block, GetDevice(id).Allocate(MemoryClass::kWeights, value.bytes()));
      slot.device_value = Tensor::Wrap(value.dtype(), value.dims(), block.get(), block);
      GetDevice(id).CopyIn(value, slot.device_value);
    }
    slot.home = SlotPlan::Home::kConstant;
    slot.type = Type::OfTensor(value);
    slot.elements = ElementsOf(value);
    slot.value = std::move(value);
    return absl::OkStatus();
  }

  // The value has the same type on both devices.
  absl::Status PlanCopy(int index) {
    const Step& step = program_.steps()[index];
    const SlotPlan& from = plan_.slots[step.inputs[0]];
    const SlotIndex out = step.outputs[0];
    defined_[out] = index;
    if (from.home == SlotPlan::Home::kConstant) {
      plan_.steps[index].when = StepPlan::When::kSkip;
      return SetValue(out, from.value);
    }
    SlotPlan& to = plan_.slots[out];
    to.type = from.type;
    to.elements = from.elements;
    const bool known = from.type.is_tensor() && from.type.shape.Concrete().has_value();
    to.home = known ? SlotPlan::Home::kArena : SlotPlan::Home::kRun;
    return absl::OkStatus();
  }

  absl::Status PlanStep(int index) {
    const Step& step = program_.steps()[index];
    if (step.kind == Step::Kind::kWait) return absl::OkStatus();
    if (step.kind == Step::Kind::kCopy) return PlanCopy(index);
    StepPlan& planned = plan_.steps[index];
    NodeView& view = planned.view;
    view.op = step.op;
    view.name = step.name;
    view.attrs = &step.attrs;
    view.inputs.resize(step.inputs.size());
    bool inputs_known = true;
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      if (step.inputs[i] == kNoSlot) continue;
      const SlotPlan& slot = plan_.slots[step.inputs[i]];
      view.inputs[i].type = &slot.type;
      if (slot.home == SlotPlan::Home::kConstant) view.inputs[i].tensor = &slot.value;
      if (slot.elements) view.inputs[i].elements = &*slot.elements;
      inputs_known &= slot.type.is_tensor() && slot.type.shape.Concrete().has_value();
    }
    view.outputs.resize(step.outputs.size());
    view.output_present.resize(step.outputs.size());
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      view.output_present[i] = step.outputs[i] != kNoSlot;
      if (view.output_present[i]) defined_[step.outputs[i]] = index;
    }
    if (!step.bodies.empty()) {
      // What a body returns is known when it has run; until then the types inferred at compile time hold.
      for (size_t i = 0; i < step.outputs.size(); ++i) {
        if (step.outputs[i] != kNoSlot) view.outputs[i] = program_.slots()[step.outputs[i]].type;
      }
      return FinishStep(index, false);
    }
    auto no_region = [](int, absl::Span<const Type>) -> absl::StatusOr<std::vector<Type>> { return Internal("no regions here"); };
    InferContext infer(view, no_region, fresh_);
    WEFT_RETURN_IF_ERROR(step.op->infer(infer));
    bool outputs_known = true;
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      if (step.outputs[i] == kNoSlot) continue;
      outputs_known &= view.outputs[i].is_tensor() && view.outputs[i].shape.Concrete().has_value();
      plan_.slots[step.outputs[i]].elements = std::move(infer.output_elements(static_cast<int>(i)));
    }
    if (outputs_known && !step.op->Has(kRandom)) {
      WEFT_ASSIGN_OR_RETURN(const bool folded, Fold(index));
      if (folded) return absl::OkStatus();
    }
    return FinishStep(index, inputs_known && outputs_known);
  }

  // Computes the outputs now where shapes alone decide them or all inputs are known, and they are small.
  absl::StatusOr<bool> Fold(int index) {
    const Step& step = program_.steps()[index];
    StepPlan& planned = plan_.steps[index];
    std::vector<Tensor> results;
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      if (step.outputs[i] == kNoSlot) {
        results.emplace_back();
        continue;
      }
      const Type& type = planned.view.outputs[i];
      const SlotPlan& slot = plan_.slots[step.outputs[i]];
      std::optional<Tensor> value;
      if (slot.elements) value = TensorOfElements(type, *slot.elements);
      if (!value) break;
      results.push_back(*std::move(value));
    }
    if (results.size() != step.outputs.size()) {
      WEFT_ASSIGN_OR_RETURN(results, Compute(index));
      if (results.empty()) return false;
    }
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      if (step.outputs[i] != kNoSlot) WEFT_RETURN_IF_ERROR(SetValue(step.outputs[i], std::move(results[i])));
    }
    planned.when = StepPlan::When::kSkip;
    return true;
  }

  absl::StatusOr<std::vector<Tensor>> Compute(int index) {
    const Step& step = program_.steps()[index];
    const NodeView& view = plan_.steps[index].view;
    std::vector<Value> inputs(step.inputs.size());
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      if (step.inputs[i] == kNoSlot) continue;
      if (view.inputs[i].tensor == nullptr) return std::vector<Tensor>();
      inputs[i] = Value(*view.inputs[i].tensor);
    }
    // A view of a constant costs nothing at any size.
    if (step.op->Has(kView) && step.inputs.size() > 0 && step.inputs[0] != kNoSlot) {
      return std::vector<Tensor>{view.inputs[0].tensor->Reshaped(*view.outputs[0].shape.Concrete())};
    }
    int64_t elements = 0;
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      if (step.outputs[i] == kNoSlot) return std::vector<Tensor>();
      WEFT_ASSIGN_OR_RETURN(const int64_t n, NumElements(*view.outputs[i].shape.Concrete()));
      elements = std::max(elements, n);
    }
    for (const Value& v : inputs) {
      if (v.is_tensor()) elements = std::max(elements, v.tensor().size());
    }
    if (elements > kMaxFoldedElements) return std::vector<Tensor>();
    WEFT_ASSIGN_OR_RETURN(std::vector<Value> values,
                          Evaluate(*step.op, step.attrs, inputs, static_cast<int>(step.outputs.size())));
    std::vector<Tensor> results;
    for (Value& value : values) {
      if (!value.is_tensor()) return std::vector<Tensor>();
      results.push_back(std::move(value.tensor()));
    }
    return results;
  }

  // Decides where the outputs live and, for a step whose shapes are all known, what its kernel needs.
  absl::Status FinishStep(int index, bool known) {
    const Step& step = program_.steps()[index];
    StepPlan& planned = plan_.steps[index];
    const bool view_op = step.op->Has(kView) && !step.inputs.empty() && step.inputs[0] != kNoSlot;
    planned.when = !known ? StepPlan::When::kDynamic : view_op ? StepPlan::When::kView : StepPlan::When::kStatic;
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      const SlotIndex s = step.outputs[i];
      if (s == kNoSlot) continue;
      SlotPlan& slot = plan_.slots[s];
      slot.type = planned.view.outputs[i];
      slot.home = !known || view_op                      ? SlotPlan::Home::kRun
                  : slot.type.dtype == DType::kString ? SlotPlan::Home::kOwned
                                                         : SlotPlan::Home::kArena;
    }
    // A view keeps its source alive, sizes known or not.
    if (view_op && step.outputs[0] != kNoSlot) Join(step.outputs[0], plan_.slots[step.inputs[0]].root);
    if (!known) Pin(step);
    if (planned.when != StepPlan::When::kStatic) return absl::OkStatus();
    if (step.op->in_place != 0 && step.outputs[0] != kNoSlot) OverwriteInput(index);
    WEFT_ASSIGN_OR_RETURN(planned.kernel, PlanKernel(step, planned.view));
    return absl::OkStatus();
  }

  // What a kernel makes by itself may share the memory it reads (a branch that returns a capture, a sequence of its inputs), for longer than
  // last uses tell: nothing overwrites that.
  void Pin(const Step& step) {
    auto pin = [&](SlotIndex s) {
      if (s != kNoSlot) pinned_[plan_.slots[s].root] = true;
    };
    for (SlotIndex s : step.inputs) pin(s);
    for (const Body& body : step.bodies) {
      for (SlotIndex s : body.captures) pin(s);
    }
  }

  void Join(SlotIndex slot, SlotIndex root) {
    plan_.slots[slot].root = root;
    members_[root].push_back(slot);
  }

  int LastUse(SlotIndex root) const {
    int last = -1;
    for (SlotIndex s : members_[root]) last = std::max(last, last_use_[s]);
    return last;
  }

  bool ReadsTwice(const Step& step, SlotIndex root) const {
    return std::count_if(step.inputs.begin(), step.inputs.end(),
                         [&](SlotIndex s) { return s != kNoSlot && plan_.slots[s].root == root; }) > 1;
  }

  // Output 0 takes over the memory of an input that nobody reads afterwards.
  void OverwriteInput(int index) {
    const Step& step = program_.steps()[index];
    const SlotIndex out = step.outputs[0];
    if (plan_.slots[out].home != SlotPlan::Home::kArena) return;
    for (size_t k = 0; k < step.inputs.size() && k < 32; ++k) {
      if ((step.op->in_place >> k & 1) == 0 || step.inputs[k] == kNoSlot) continue;
      const SlotPlan& input = plan_.slots[step.inputs[k]];
      const SlotPlan& root = plan_.slots[input.root];
      if (root.home != SlotPlan::Home::kArena || LastUse(input.root) != index || pinned_[input.root]) continue;
      if (!step.op->Has(kElementwise) && ReadsTwice(step, input.root)) continue;
      if (input.type.shape != plan_.slots[out].type.shape ||
          DTypeSize(input.type.dtype) != DTypeSize(plan_.slots[out].type.dtype)) {
        continue;
      }
      Join(out, input.root);
      return;
    }
  }

  void FindDead() {
    for (size_t s = 0; s < plan_.slots.size(); ++s) {
      const SlotPlan& slot = plan_.slots[s];
      if (slot.home != SlotPlan::Home::kRun && slot.home != SlotPlan::Home::kOwned) continue;
      // As long as anything uses the memory: an overwriting step finds it through the root.
      const int last = std::max(LastUse(slot.root), defined_[s]);
      if (last >= 0 && last != kForever) plan_.steps[last].dead.push_back(static_cast<SlotIndex>(s));
    }
  }

  absl::Status PlaceInArenas() {
    ByteCount total = 0;
    for (int d = 0; d < kDeviceCount; ++d) {
      WEFT_RETURN_IF_ERROR(PlaceInArena(static_cast<DeviceId>(d)));
      total += plan_.arenas[d].bytes;
    }
    const int64_t limit = program_.options().memory_limit_bytes;
    if (limit > 0 && total > limit) {
      return Exhausted("these input shapes take an arena of ", total, " bytes, the limit is ", limit);
    }
    for (SlotPlan& slot : plan_.slots) {
      const SlotPlan& root = plan_.slots[slot.root];
      if (slot.home == SlotPlan::Home::kArena) {
        slot.home = root.home;
        slot.offset = root.offset;
      }
    }
    return absl::OkStatus();
  }

  absl::Status PlaceInArena(DeviceId device) {
    std::vector<Buffer> buffers;
    std::vector<ByteOffset*> where;
    for (size_t s = 0; s < plan_.slots.size(); ++s) {
      SlotPlan& slot = plan_.slots[s];
      if (slot.home != SlotPlan::Home::kArena || slot.root != static_cast<SlotIndex>(s) || program_.slots()[s].device != device) continue;
      WEFT_ASSIGN_OR_RETURN(const int64_t count, NumElements(*slot.type.shape.Concrete()));
      const int64_t element = static_cast<int64_t>(DTypeSize(slot.type.dtype));
      if (count > std::numeric_limits<int64_t>::max() / 2 / element) {
        return Exhausted("value '", program_.slots()[s].name, "' of type ", slot.type.ToString(), " is too large");
      }
      const int last = std::max(LastUse(static_cast<SlotIndex>(s)), defined_[s]);
      buffers.push_back({defined_[s], last + 1, count * element, kAlignment});
      where.push_back(&slot.offset);
    }
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      StepPlan& step = plan_.steps[i];
      if (step.kernel.plan == nullptr || step.kernel.plan->workspace_bytes == 0 || program_.steps()[i].device != device) continue;
      const auto t = static_cast<TimeStep>(i);
      buffers.push_back({t, t + 1, static_cast<ByteCount>(step.kernel.plan->workspace_bytes), kAlignment});
      where.push_back(&step.workspace);
    }
    const MemoryPlan memory = PlanGreedy(buffers);
    if (program_.options().check_plans) WEFT_RETURN_IF_ERROR(ValidatePlan(buffers, memory));
    for (size_t b = 0; b < buffers.size(); ++b) *where[b] = memory.offsets[b];
    plan_.arenas[static_cast<int>(device)] = {memory.height, memory.lower_bound};
    return absl::OkStatus();
  }

  const Program& program_;
  Plan& plan_;
  std::vector<int> last_use_;                   // by slot: the last step that reads it; kForever for an output
  std::vector<int> defined_;                    // by slot: the step that makes it; -1 for none
  std::vector<std::vector<SlotIndex>> members_;  // by root: the slots in its memory
  std::vector<bool> pinned_;                     // by root: no step may write there again
  int64_t fresh_ = 0;
};

}  // namespace

absl::StatusOr<PlannedKernel> PlanKernel(const Step& step, const NodeView& view) {
  PlannedKernel planned{step.kernel, step.state.get(), nullptr};
  if (step.kernel->plan == nullptr) return planned;
  absl::StatusOr<std::unique_ptr<KernelPlan>> plan = step.kernel->plan(view, step.state.get());
  if (absl::IsUnimplemented(plan.status()) && step.fallback != nullptr) {
    planned.kernel = step.fallback;
    planned.state = nullptr;
    if (step.fallback->plan == nullptr) return planned;
    plan = step.fallback->plan(view, nullptr);
  }
  WEFT_ASSIGN_OR_RETURN(planned.plan, std::move(plan));
  return planned;
}

absl::StatusOr<std::shared_ptr<const Plan>> MakePlan(const Program& program, absl::Span<const Value* const> inputs) {
  auto plan = std::make_shared<Plan>();
  WEFT_RETURN_IF_ERROR(Planner(program, *plan).Run(inputs));
  return plan;
}

}  // namespace weft
