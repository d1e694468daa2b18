// Kernel: one way of running one op on one backend, and what it sees at each of its three moments:
//
//   supports(node)         at compile time: can it take this node? the status text is the reason for a refusal
//   prepare(node)          at compile time, once: pack constant weights, choose an algorithm        -> KernelState
//   plan(node, state)      once for each set of concrete shapes: build primitives, size the workspace -> KernelPlan
//   run(ctx)               every run: allocates nothing (but outputs whose size only the run can know)
#ifndef WEFT_KERNELS_KERNEL_H_
#define WEFT_KERNELS_KERNEL_H_

#include <atomic>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/status_macros.h"
#include "graph/infer.h"
#include "graph/op.h"
#include "weft/value.h"

namespace weft {

// What a kernel made of a node at compile time; shared by all runs, so `run` may only read it (or guard what it caches).
class KernelState {
 public:
  virtual ~KernelState() = default;
};

// What a kernel made of a node for one set of shapes; shared by concurrent runs, so `run` may only read it.
class KernelPlan {
 public:
  virtual ~KernelPlan() = default;
  size_t workspace_bytes = 0;  // scratch memory `run` gets, 64-byte aligned
};

class RunContext;

struct Kernel {
  const Op* op = nullptr;
  std::string_view name;  // "ref", "onednn.conv": for explain and profile
  // Null: takes every node of the op. Unsupported("...") with the reason otherwise.
  absl::Status (*supports)(const NodeView& node) = nullptr;
  absl::StatusOr<std::unique_ptr<KernelState>> (*prepare)(const NodeView& node) = nullptr;
  absl::StatusOr<std::unique_ptr<KernelPlan>> (*plan)(const NodeView& node, KernelState* state) = nullptr;
  absl::Status (*run)(RunContext& ctx) = nullptr;
};

// Runs a region of the node: its formal inputs in, its outputs out.
using RegionRunner = absl::FunctionRef<absl::StatusOr<std::vector<Value>>(int region, std::vector<Value> inputs)>;

class RunContext {
 public:
  RunContext(const NodeView& node, absl::Span<const Value* const> inputs, absl::Span<Value> outputs, RegionRunner region_runner)
      : node_(node), inputs_(inputs), outputs_(outputs), region_runner_(region_runner) {}

  const NodeView& node() const { return node_; }
  template <class A>
  const A& attrs() const {
    return node_.attrs->As<A>();
  }

  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  bool HasInput(int i) const { return i < num_inputs() && inputs_[i] != nullptr && !inputs_[i]->empty(); }
  bool HasOutput(int i) const { return node_.HasOutput(i); }
  // Input i; must be present and a tensor (inference has checked element types and shapes).
  const Tensor& input(int i) const { return inputs_[i]->tensor(); }
  const Value& input_value(int i) const { return *inputs_[i]; }

  // Output i with its dims set and memory behind it. Only where inference gave its shape (all ops but the data-dependent).
  Tensor& output(int i) { return outputs_[i].tensor(); }
  // Gives output i memory of its own: for sizes that only the kernel can know. The result is output(i).
  absl::StatusOr<Tensor*> Allocate(int i, DType dtype, absl::Span<const int64_t> dims) {
    WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(dtype, dims));
    outputs_[i] = Value(std::move(tensor));
    return &outputs_[i].tensor();
  }
  // Sequences, optionals, maps; or a tensor that shares an input's memory.
  void SetOutput(int i, Value value) { outputs_[i] = std::move(value); }

  absl::StatusOr<std::vector<Value>> RunRegion(int region, std::vector<Value> inputs) {
    return region_runner_(region, std::move(inputs));
  }

  template <class S>
  S* state() const {
    return static_cast<S*>(state_);
  }
  template <class P>
  const P* plan() const {
    return static_cast<const P*>(plan_);
  }
  void* workspace() const { return workspace_; }
  uint64_t seed() const { return seed_; }  // for kRandom ops without a seed attribute; differs from run to run
  // Long loops ask now and then and stop with an error.
  bool Cancelled() const { return cancelled_ != nullptr && cancelled_->load(std::memory_order_relaxed); }

  void set_prepared(KernelState* state, const KernelPlan* plan, void* workspace) {
    state_ = state;
    plan_ = plan;
    workspace_ = workspace;
  }
  void set_seed(uint64_t seed) { seed_ = seed; }
  void set_cancelled(const std::atomic<bool>* cancelled) { cancelled_ = cancelled; }

 private:
  const NodeView& node_;
  absl::Span<const Value* const> inputs_;
  absl::Span<Value> outputs_;
  RegionRunner region_runner_;
  KernelState* state_ = nullptr;
  const KernelPlan* plan_ = nullptr;
  void* workspace_ = nullptr;
  uint64_t seed_ = 0;
  const std::atomic<bool>* cancelled_ = nullptr;
};

}  // namespace weft

#endif  // WEFT_KERNELS_KERNEL_H_
