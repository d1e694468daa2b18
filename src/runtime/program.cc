#include "runtime/program.h"

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
    std::vector<SlotIndex> slot_of(graph.num_values(), kNoSlot);
    auto slot = [&](ValueId id) {
      if (id == ValueId::kNone) return kNoSlot;
      SlotIndex& s = slot_of[static_cast<size_t>(id)];
      if (s == kNoSlot) {
        const GraphValue& value = graph.value(id);
        s = static_cast<SlotIndex>(program->slots_.size());
        program->slots_.push_back({value.name, value.type, value.constant,
                                   value.is_constant() ? MemoryClass::kWeights : MemoryClass::kActivations, DeviceId::kCpu});
      }
      return s;
    };
    auto slots = [&](const std::vector<ValueId>& ids) {
      std::vector<SlotIndex> out;
      for (ValueId id : ids) out.push_back(slot(id));
      return out;
    };
    program->inputs_ = slots(graph.inputs());
    program->captures_ = slots(graph.captures());
    for (NodeId id : graph.Order()) {
      const GraphNode& node = graph.node(id);
      Step step;
      step.op = node.op;
      step.name = std::string(graph.Label(id));
      step.attrs = node.attrs;
      step.inputs = slots(node.inputs);
      step.outputs = slots(node.outputs);
      for (const Region& region : node.regions) {
        step.bodies.push_back({Lower(*region.graph), slots(region.captures)});
      }
      Choose(ViewOf(graph, id), step);
      program->steps_.push_back(std::move(step));
    }
    program->outputs_ = slots(graph.outputs());
    for (const auto* edge : {&program->inputs_, &program->captures_, &program->outputs_}) {
      for (SlotIndex s : *edge) {
        if (program->slots_[s].memory == MemoryClass::kActivations) program->slots_[s].memory = MemoryClass::kInputOutput;
      }
    }
    return program;
  }

  // The first candidate that takes the node. A kernel whose preparation fails with Unsupported is refused like any other.
  void Choose(const NodeView& view, Step& step) {
    const std::vector<const Kernel*> candidates = KernelsFor(*step.op, options_.reference_only);
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
