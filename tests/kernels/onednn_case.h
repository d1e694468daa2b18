// One node on oneDNN's kernel and on the reference kernel: both must give the same, and oneDNN must write nothing but its output.
#ifndef WEFT_TESTS_KERNELS_ONEDNN_CASE_H_
#define WEFT_TESTS_KERNELS_ONEDNN_CASE_H_

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/infer.h"
#include "kernels/evaluate.h"
#include "kernels/kernel.h"
#include "kernels/table.h"

namespace weft {

struct OnednnCase {
  const Op* op = nullptr;
  Attrs attrs;
  std::vector<Value> inputs;
  uint32_t constants = 0;  // bit k: input k is known when the model is compiled
  int outputs = 1;
  uint32_t present = ~0u;  // bit k: output k is asked for
};

// Seeded tensors: the same sequence of calls gives the same numbers.
class RandomTensors {
 public:
  explicit RandomTensors(uint64_t seed) : random_(seed) {}
  Tensor operator()(absl::Span<const int64_t> dims) {
    Tensor t = *Tensor::Allocate(DType::kFloat32, dims);
    for (float& x : t.span<float>()) x = std::normal_distribution<float>()(random_);
    return t;
  }
  Tensor operator()(std::initializer_list<int64_t> dims) { return (*this)(absl::MakeConstSpan(dims.begin(), dims.size())); }

 private:
  std::mt19937_64 random_;
};

struct OnednnRun {
  bool taken = false;
  std::string reason;  // why not
  std::vector<Tensor> outputs;  // those that are not asked for are empty
};

// Memory of `bytes`, of NaN and of no sensible size or offset, with a margin behind it that must stay as it is.
class Guarded {
 public:
  explicit Guarded(size_t bytes) : bytes_(bytes), memory_(*Tensor::AllocateUninitialized(DType::kUint8, {static_cast<int64_t>(bytes + kMargin)})) {
    std::memset(memory_.data(), 0xff, bytes + kMargin);
  }
  void* data() const { return memory_.data(); }
  bool intact() const {
    for (size_t i = 0; i < kMargin; ++i) {
      if (memory_.data<uint8_t>()[bytes_ + i] != 0xff) return false;
    }
    return true;
  }

 private:
  static constexpr size_t kMargin = 256;
  size_t bytes_;
  Tensor memory_;
};

inline absl::StatusOr<OnednnRun> RunOnOnednn(const OnednnCase& c) {
  NodeView node;
  node.op = c.op;
  node.attrs = &c.attrs;
  node.inputs.resize(c.inputs.size());
  node.outputs.resize(c.outputs);
  for (int i = 0; i < c.outputs; ++i) node.output_present.push_back(c.present >> i & 1);
  std::vector<Type> types(c.inputs.size());
  std::vector<const Value*> operands;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    operands.push_back(&c.inputs[i]);
    if (c.inputs[i].empty()) continue;
    types[i] = Type::Of(c.inputs[i]);
    node.inputs[i].type = &types[i];
    if (c.constants >> i & 1) node.inputs[i].tensor = &c.inputs[i].tensor();
  }
  int64_t fresh = 0;
  auto no_region = [](int, absl::Span<const Type>) -> absl::StatusOr<std::vector<Type>> { return Internal("no regions here"); };
  InferContext infer(node, no_region, fresh);
  WEFT_RETURN_IF_ERROR(c.op->infer(infer));

  const Kernel* kernel = nullptr;
  for (const Kernel* k : OnednnKernels()) {
    if (k->op == c.op) kernel = k;
  }
  OnednnRun result;
  auto refused = [&](const absl::Status& status) -> absl::StatusOr<OnednnRun> {
    if (!absl::IsUnimplemented(status)) return status;
    result.reason = std::string(status.message());
    return result;
  };
  if (kernel == nullptr) return refused(Unsupported("there is no kernel"));
  if (kernel->supports != nullptr) {
    if (absl::Status status = kernel->supports(node); !status.ok()) return refused(status);
  }
  std::unique_ptr<KernelState> state;
  if (kernel->prepare != nullptr) {
    auto prepared = kernel->prepare(node);
    if (!prepared.ok()) return refused(prepared.status());
    state = *std::move(prepared);
  }
  auto plan = kernel->plan(node, state.get());
  if (!plan.ok()) return refused(plan.status());
  // Twice: what the first run left in the workspace must not matter.
  const Guarded workspace((*plan)->workspace_bytes);
  for (int run = 0; run < 2; ++run) {
    std::vector<std::unique_ptr<Guarded>> memory(c.outputs);
    std::vector<Value> outputs(c.outputs);
    for (int i = 0; i < c.outputs; ++i) {
      if (!node.HasOutput(i)) continue;
      const Dims dims = *node.outputs[i].shape.Concrete();
      WEFT_ASSIGN_OR_RETURN(const int64_t count, NumElements(dims));
      memory[i] = std::make_unique<Guarded>(count * sizeof(float));
      outputs[i] = Value(Tensor::Wrap(DType::kFloat32, dims, memory[i]->data()));
    }
    auto no_run = [](int, std::vector<Value>) -> absl::StatusOr<std::vector<Value>> { return Internal("no regions here"); };
    RunContext ctx(node, operands, absl::MakeSpan(outputs), no_run);
    ctx.set_prepared(state.get(), plan->get(), workspace.data());
    WEFT_RETURN_IF_ERROR(kernel->run(ctx));
    if (!workspace.intact()) return Internal("the kernel wrote behind its workspace");
    std::vector<Tensor> found(c.outputs);
    for (int i = 0; i < c.outputs; ++i) {
      if (!node.HasOutput(i)) continue;
      if (!memory[i]->intact()) return Internal("the kernel wrote behind output ", i);
      WEFT_ASSIGN_OR_RETURN(found[i], outputs[i].tensor().Clone());
      if (run == 1 && !BitwiseEqual(found[i], result.outputs[i])) return Internal("the second run gave something else");
    }
    result.outputs = std::move(found);
  }
  result.taken = true;
  return result;
}

// "" where every element is within `tolerance` times the largest of the reference (1 at least); NaN and infinities where they are there.
// `any_for_nan`: where NaN is expected anything goes.
inline std::string FloatsDiffer(const Tensor& found, const Tensor& expected, double tolerance, bool any_for_nan = false) {
  if (found.dims() != expected.dims()) return absl::StrCat("found ", DimsToString(found.dims()), ", expected ", DimsToString(expected.dims()));
  double largest = 1;
  for (float x : expected.span<float>()) {
    if (std::isfinite(x)) largest = std::max<double>(largest, std::abs(x));
  }
  for (int64_t i = 0; i < found.size(); ++i) {
    const float a = found.data<float>()[i], b = expected.data<float>()[i];
    if (a == b || (std::isnan(b) && (std::isnan(a) || any_for_nan)) || std::abs(a - b) <= tolerance * largest) continue;
    return absl::StrCat("element ", i, " is ", a, ", expected ", b, " (largest ", largest, ")");
  }
  return "";
}

enum class Expect { kTaken, kEither };  // kEither: oneDNN may refuse

inline void ExpectAgrees(const OnednnCase& c, Expect expect = Expect::kTaken, double tolerance = 1e-5, bool any_for_nan = false) {
  std::vector<Tensor> before;
  for (const Value& value : c.inputs) before.push_back(value.empty() ? Tensor() : *value.tensor().Clone());
  auto reference = Evaluate(*c.op, c.attrs, c.inputs, c.outputs);
  ASSERT_TRUE(reference.ok()) << reference.status();
  auto found = RunOnOnednn(c);
  ASSERT_TRUE(found.ok()) << found.status();
  if (!found->taken) {
    EXPECT_EQ(expect, Expect::kEither) << "refused: " << found->reason;
    return;
  }
  for (int i = 0; i < c.outputs; ++i) {
    if (found->outputs[i].empty_handle()) continue;
    EXPECT_EQ(FloatsDiffer(found->outputs[i], (*reference)[i].tensor(), tolerance, any_for_nan), "") << "output " << i;
  }
  for (size_t i = 0; i < before.size(); ++i) {
    if (c.inputs[i].empty()) continue;
    EXPECT_TRUE(BitwiseEqual(before[i], c.inputs[i].tensor())) << "input " << i << " was written";
  }
}

inline void ExpectRefusal(const OnednnCase& c, const std::string& part) {
  auto found = RunOnOnednn(c);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_FALSE(found->taken);
  EXPECT_NE(found->reason.find(part), std::string::npos) << found->reason;
}

}  // namespace weft

#endif  // WEFT_TESTS_KERNELS_ONEDNN_CASE_H_
