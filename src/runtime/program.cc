#include "runtime/program.h"

#include <array>
#include <cstring>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/infer.h"
#include "kernels/table.h"
#include "runtime/plan.h"

namespace weft {

class Lowering {
 public:
  explicit Lowering(const LowerOptions& options) : options_(options) {}

  absl::StatusOr<std::unique_ptr<Program>> Run(const Graph& graph) {
    std::unique_ptr<Program> program = Lower(graph);
    if (!refused_.empty()) {
      return Unsupported(refused_.size(), refused_.size() == 1 ? " node has" : " nodes have", " no kernel: ",
                         absl::StrJoin(refused_, "; "));
    }
    WEFT_RETURN_IF_ERROR(error_);
    return program;
  }

 private:
  std::unique_ptr<Program> Lower(const Graph& graph) {
    std::unique_ptr<Program> program(new Program);
    program->options_ = options_;
    Slots slots(graph, *program);
    program->inputs_ = slots.On(DeviceId::kCpu, graph.inputs());
    program->captures_ = slots.On(DeviceId::kCpu, graph.captures());
    for (NodeId id : graph.Order()) {
      const GraphNode& node = graph.node(id);
      Step step;
      step.op = node.op;
      step.name = std::string(graph.Label(id));
      step.attrs = node.attrs;
      step.device = PlaceNode(graph, id, options_.placement);
      // A view is no work: it is where its source is.
      const bool follows = node.op->Has(kView) && !node.inputs.empty() && node.inputs[0] != ValueId::kNone;
      if (follows) step.device = slots.Home(node.inputs[0]);
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        const bool stays = i == 0 ? follows || node.op->Has(kReadsShapeOnly) : false;
        const DeviceId wanted = node.inputs[i] == ValueId::kNone || stays ? slots.Home(node.inputs[i]) : follows ? DeviceId::kCpu : step.device;
        step.inputs.push_back(slots.Read(wanted, node.inputs[i]));
      }
      for (const Region& region : node.regions) {
        std::vector<SlotIndex> captures;
        for (ValueId capture : region.captures) captures.push_back(slots.Read(DeviceId::kCpu, capture));
        step.bodies.push_back({Lower(*region.graph), std::move(captures)});
      }
      slots.WaitForCopies();
      step.outputs = slots.On(step.device, node.outputs);
      Choose(ViewOf(graph, id), step);
      program->uses_devices_ |= step.device != DeviceId::kCpu;
      program->steps_.push_back(std::move(step));
    }
    for (ValueId id : graph.outputs()) program->outputs_.push_back(slots.Read(DeviceId::kCpu, id));
    // Whatever is still under way is done when the run is.
    if (program->uses_devices_) program->steps_.push_back({.kind = Step::Kind::kWait, .device = DeviceId::kEmulated});
    for (const auto* edge : {&program->inputs_, &program->captures_, &program->outputs_}) {
      for (SlotIndex s : *edge) {
        if (program->slots_[s].memory == MemoryClass::kActivations) program->slots_[s].memory = MemoryClass::kInputOutput;
      }
    }
    if (error_.ok()) error_ = Upload(*program);
    return program;
  }

  // The slots of a graph's values: one on each device where a value is needed, with the copies that fill them.
  class Slots {
   public:
    Slots(const Graph& graph, Program& program) : graph_(graph), program_(program), home_(graph.num_values(), DeviceId::kCpu) {
      for (auto& slots : slot_of_) slots.assign(graph.num_values(), kNoSlot);
    }

    // Where the value is made.
    DeviceId Home(ValueId id) const { return id == ValueId::kNone ? DeviceId::kCpu : home_[static_cast<size_t>(id)]; }

    // New slots for values that are made on `device`.
    std::vector<SlotIndex> On(DeviceId device, const std::vector<ValueId>& ids) {
      std::vector<SlotIndex> out;
      for (ValueId id : ids) {
        if (id != ValueId::kNone) home_[static_cast<size_t>(id)] = device;
        out.push_back(Slot(device, id));
      }
      return out;
    }

    // The value's slot on `device`; a copy step comes first where it is made elsewhere.
    SlotIndex Read(DeviceId device, ValueId id) {
      if (id == ValueId::kNone) return kNoSlot;
      const bool there = slot_of_[static_cast<int>(device)][static_cast<size_t>(id)] != kNoSlot;
      const SlotIndex slot = Slot(device, id);
      if (there || device == Home(id) || graph_.value(id).is_constant()) return slot;
      Step copy{.kind = Step::Kind::kCopy, .name = graph_.value(id).name, .device = device == DeviceId::kCpu ? Home(id) : device};
      copy.inputs = {Slot(Home(id), id)};
      copy.outputs = {slot};
      if (device == DeviceId::kCpu) waits_for_ = copy.device;
      program_.steps_.push_back(std::move(copy));
      return slot;
    }

    // Behind the copies to the CPU that Read made since the last call.
    void WaitForCopies() {
      if (waits_for_ != DeviceId::kCpu) program_.steps_.push_back({.kind = Step::Kind::kWait, .device = waits_for_});
      waits_for_ = DeviceId::kCpu;
    }

   private:
    SlotIndex Slot(DeviceId device, ValueId id) {
      if (id == ValueId::kNone) return kNoSlot;
      SlotIndex& s = slot_of_[static_cast<int>(device)][static_cast<size_t>(id)];
      if (s == kNoSlot) {
        const GraphValue& value = graph_.value(id);
        s = static_cast<SlotIndex>(program_.slots_.size());
        program_.slots_.push_back(
            {value.name, value.type, value.constant, value.is_constant() ? MemoryClass::kWeights : MemoryClass::kActivations, device, Tensor()});
      }
      return s;
    }

    const Graph& graph_;
    Program& program_;
    std::vector<DeviceId> home_;
    std::array<std::vector<SlotIndex>, kDeviceCount> slot_of_;
    DeviceId waits_for_ = DeviceId::kCpu;  // kCpu: for none
  };

  // Puts the constants of other devices into their memory, one block for all.
  static absl::Status Upload(Program& program) {
    size_t bytes = 0;
    for (const weft::Slot& slot : program.slots_) {
      if (slot.device != DeviceId::kCpu && !slot.constant.empty_handle()) bytes += Aligned(slot.constant.bytes());
    }
    if (bytes == 0) return absl::OkStatus();
    Device& device = GetDevice(DeviceId::kEmulated);
    WEFT_ASSIGN_OR_RETURN(const std::shared_ptr<void> block, device.Allocate(MemoryClass::kWeights, bytes));
    size_t offset = 0;
    for (weft::Slot& slot : program.slots_) {
      if (slot.device == DeviceId::kCpu || slot.constant.empty_handle()) continue;
      slot.device_constant = Tensor::Wrap(slot.constant.dtype(), slot.constant.dims(), static_cast<char*>(block.get()) + offset, block);
      device.CopyIn(slot.constant, slot.device_constant);
      offset += Aligned(slot.constant.bytes());
    }
    return absl::OkStatus();
  }
  static size_t Aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

  // The first candidate that takes the node. A kernel whose preparation fails with Unsupported is refused like any other.
  void Choose(const NodeView& view, Step& step) {
    const std::vector<const Kernel*> candidates = KernelsFor(*step.op, options_.reference_only || step.device != DeviceId::kCpu);
    for (const Kernel* kernel : candidates) {
      absl::Status status = kernel->supports == nullptr ? absl::OkStatus() : kernel->supports(view);
      if (status.ok() && kernel->prepare != nullptr) {
        absl::StatusOr<std::unique_ptr<KernelState>> state = kernel->prepare(view);
        status = state.status();
        if (state.ok()) step.state = *std::move(state);
      }
      if (status.ok()) {
        step.kernel = kernel;
        const Kernel* last = candidates.back();
        if (last != kernel && last->prepare == nullptr && (last->supports == nullptr || last->supports(view).ok())) step.fallback = last;
        return;
      }
      if (!absl::IsUnimplemented(status)) {
        if (error_.ok()) error_ = Annotate(status, view.Where());
        return;
      }
      step.refused.push_back(absl::StrCat(ToAbsl(kernel->name), ": ", status.message()));
    }
    refused_.push_back(absl::StrCat(view.Where(), step.refused.empty() ? "" : ": ", absl::StrJoin(step.refused, ", ")));
  }

  const LowerOptions options_;
  std::vector<std::string> refused_;
  absl::Status error_;
};

absl::StatusOr<std::unique_ptr<Program>> Program::Lower(const Graph& graph, const LowerOptions& options) {
  return Lowering(options).Run(graph);
}

Program::~Program() = default;

namespace {

// Bodies hold the outer scope's constants too: each is counted once.
int64_t CountWeights(const Program& program, absl::flat_hash_set<const void*>& seen) {
  int64_t bytes = 0;
  for (const Slot& slot : program.slots()) {
    if (!slot.constant.empty_handle() && seen.insert(slot.constant.data()).second) bytes += static_cast<int64_t>(slot.constant.bytes());
  }
  for (const Step& step : program.steps()) {
    for (const Body& body : step.bodies) bytes += CountWeights(*body.program, seen);
  }
  return bytes;
}

// Element types and dims of the inputs, as bytes.
std::string Signature(absl::Span<const Value* const> inputs) {
  std::string key;
  for (const Value* value : inputs) {
    if (!value->is_tensor()) {
      key.push_back(static_cast<char>(0x7f));
      key += Type::Of(*value).ToString();
      key.push_back('\0');
      continue;
    }
    const Tensor& tensor = value->tensor();
    key.push_back(static_cast<char>(tensor.dtype()));
    key.push_back(static_cast<char>(tensor.rank()));
    key.append(reinterpret_cast<const char*>(tensor.dims().data()), tensor.dims().size() * sizeof(int64_t));
  }
  return key;
}

}  // namespace

int64_t Program::WeightsBytes() const {
  absl::flat_hash_set<const void*> seen;
  return CountWeights(*this, seen);
}

absl::StatusOr<std::shared_ptr<const Plan>> Program::Bind(absl::Span<const Value* const> inputs) const {
  std::string key = Signature(inputs);
  {
    std::lock_guard lock(mutex_);
    for (auto it = plans_.begin(); it != plans_.end(); ++it) {
      if (it->first != key) continue;
      plans_.splice(plans_.begin(), plans_, it);
      return it->second;
    }
  }
  WEFT_ASSIGN_OR_RETURN(std::shared_ptr<const Plan> plan, MakePlan(*this, inputs));
  std::lock_guard lock(mutex_);
  plans_.emplace_front(std::move(key), plan);
  if (plans_.size() > kPlansKept) plans_.pop_back();
  return plan;
}

}  // namespace weft
