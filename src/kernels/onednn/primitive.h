// What every kernel on oneDNN needs: the engine, memory descriptors, packed weights, and a primitive with its reorders.
#ifndef WEFT_KERNELS_ONEDNN_PRIMITIVE_H_
#define WEFT_KERNELS_ONEDNN_PRIMITIVE_H_

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kernels/kernel.h"
#include "kernels/require.h"
#include "oneapi/dnnl/dnnl.hpp"
#include "weft/tensor.h"

namespace weft::onednn {

const dnnl::engine& CpuEngine();
// A stream of the calling thread.
dnnl::stream& Stream();

// Calls `body`, which returns absl::Status, and turns dnnl::error into Unsupported (a descriptor oneDNN has no implementation for) or Internal.
template <class Body>
absl::Status Guarded(Body&& body) {
  try {
    return body();
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_unimplemented || error.status == dnnl_invalid_arguments) return Unsupported("oneDNN: ", error.what());
    if (error.status == dnnl_out_of_memory) return Exhausted("oneDNN: out of memory");
    return Internal("oneDNN: ", error.what());
  }
}

// A row-major fp32 tensor of these dims.
dnnl::memory::desc RowMajor(absl::Span<const int64_t> dims);

// A constant operand in the layouts that plans asked for, each packed once.
class PackedWeights {
 public:
  // `weights` described by `plain`; its memory is kept alive.
  PackedWeights(Tensor weights, dnnl::memory::desc plain) : weights_(std::move(weights)), plain_(std::move(plain)) {}
  // The operand as `wanted` lays it out; axes of size 1 may be left out there.
  absl::StatusOr<const void*> In(const dnnl::memory::desc& wanted);
  const dnnl::memory::desc& plain() const { return plain_; }

 private:
  const Tensor weights_;
  const dnnl::memory::desc plain_;
  std::mutex mutex_;
  std::vector<std::pair<dnnl::memory::desc, Tensor>> packed_;
};

// A reorder between the layout a tensor has and the one a primitive wants; nothing where they are the same.
struct Relayout {
  dnnl::memory::desc plain, wanted;
  dnnl::reorder reorder;   // empty where not needed
  size_t offset = 0;       // of the wanted layout's buffer in the workspace
  bool needed() const { return static_cast<bool>(reorder); }

  // `to_wanted`: from plain to wanted (a source), else back (a destination). The buffer is added to `workspace_bytes`.
  static Relayout Make(const dnnl::memory::desc& plain, const dnnl::memory::desc& wanted, bool to_wanted, size_t& workspace_bytes);
};

// Adds a buffer of `bytes` to the workspace; gives its offset, 64-byte aligned.
size_t Reserve(size_t& workspace_bytes, size_t bytes);

// A primitive from one row-major tensor to another.
struct UnaryPlan : KernelPlan {
  dnnl::primitive primitive;  // empty: nothing to compute
  dnnl::memory::desc src, dst, scratchpad;

  void Take(dnnl::primitive made, dnnl::memory::desc needed) {
    primitive = std::move(made);
    scratchpad = std::move(needed);
    workspace_bytes = scratchpad.get_size();
  }
};
// Runs the node's UnaryPlan on input 0 and output 0.
absl::Status RunUnary(RunContext& ctx);

// The eltwise post-op of an activation (graph/ops/fused.h); nothing is added for "". Where the product is NaN, oneDNN's Relu, Clip and
// HardSigmoid give one of their bounds.
absl::Status AppendActivation(dnnl::post_ops& post_ops, const std::string& activation, float alpha, float beta);

}  // namespace weft::onednn

#endif  // WEFT_KERNELS_ONEDNN_PRIMITIVE_H_
