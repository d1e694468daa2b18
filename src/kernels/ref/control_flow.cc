// If, Loop, Scan, SequenceMap.
#include "graph/ops/control_flow.h"

#include <limits>
#include <vector>

#include "kernels/kernel.h"
#include "kernels/ref/dispatch.h"
#include "kernels/ref/strided.h"

namespace weft {
namespace {

absl::StatusOr<bool> ReadCondition(const Value& value) {
  if (!value.is_tensor() || value.tensor().dtype() != DType::kBool || value.tensor().size() != 1) {
    return Invalid("a condition is ", Type::Of(value).ToString(), ", expected one bool");
  }
  return *value.tensor().data<uint8_t>() != 0;
}

absl::Status RunIf(RunContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const bool condition, ReadCondition(ctx.input_value(0)));
  WEFT_ASSIGN_OR_RETURN(std::vector<Value> results, ctx.RunRegion(condition ? 0 : 1, {}));
  for (int i = 0; i < ctx.num_outputs(); ++i) {
    if (ctx.HasOutput(i)) ctx.SetOutput(i, std::move(results[i]));
  }
  return absl::OkStatus();
}

// One value an iteration, joined along a new axis; of no iteration an empty tensor of the inferred type.
absl::StatusOr<Value> Stack(const std::vector<Value>& slices, const Type& inferred, int64_t given_axis, bool reverse) {
  if (slices.empty()) {
    Dims dims;
    if (inferred.is_tensor() && inferred.shape.has_rank()) {
      for (const Dim& d : inferred.shape.dims()) dims.push_back(d.is_constant() ? d.constant() : 0);
    }
    const int rank = static_cast<int>(dims.size());
    if (rank == 0) dims.push_back(0);
    else dims[given_axis < 0 ? given_axis + rank : given_axis] = 0;
    WEFT_ASSIGN_OR_RETURN(Tensor empty, Tensor::Allocate(inferred.dtype == DType::kUndefined ? DType::kFloat32 : inferred.dtype, dims));
    return Value(std::move(empty));
  }
  for (const Value& slice : slices) {
    if (!slice.is_tensor()) return Unsupported("scan outputs that are no tensors");
  }
  const Tensor& first = slices[0].tensor();
  WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(given_axis, first.rank() + 1, "a scan output axis"));
  Dims dims = first.dims();
  const auto count = static_cast<int64_t>(slices.size());
  dims.insert(dims.begin() + axis, count);
  int64_t outer = 1, inner = 1;
  for (int i = 0; i < first.rank(); ++i) (i < axis ? outer : inner) *= first.dim(i);
  WEFT_ASSIGN_OR_RETURN(Tensor joined, Tensor::AllocateUninitialized(first.dtype(), dims));
  for (int64_t k = 0; k < count; ++k) {
    const Tensor& slice = slices[reverse ? count - 1 - k : k].tensor();
    if (slice.dims() != first.dims() || slice.dtype() != first.dtype()) {
      return Invalid("a scan output is ", Type::OfTensor(first).ToString(), " in one iteration and ", Type::OfTensor(slice).ToString(), " in another");
    }
    CopyStrided(slice, joined, {.dims = {outer, inner}, .from_strides = {inner, 1}, .to_strides = {count * inner, 1}, .to_offset = k * inner});
  }
  return Value(std::move(joined));
}

absl::Status RunLoop(RunContext& ctx) {
  int64_t trips = std::numeric_limits<int64_t>::max();
  if (ctx.HasInput(0)) {
    if (ctx.input(0).size() != 1) return Invalid("input 0 (M) has ", ctx.input(0).size(), " elements, expected 1");
    trips = *ctx.input(0).data<int64_t>();
  }
  bool condition = true;
  if (ctx.HasInput(1)) {
    WEFT_ASSIGN_OR_RETURN(condition, ReadCondition(ctx.input_value(1)));
  }
  const int carried = ctx.num_inputs() - 2, outputs = ctx.num_outputs();
  std::vector<Value> state;
  for (int i = 0; i < carried; ++i) state.push_back(ctx.HasInput(i + 2) ? ctx.input_value(i + 2) : Value());
  std::vector<std::vector<Value>> scans(std::max(outputs - carried, 0));
  for (int64_t i = 0; i < trips && condition; ++i) {
    if (ctx.Cancelled()) return absl::CancelledError("the run was cancelled");
    std::vector<Value> inputs = {Value(Tensor::Scalar<int64_t>(i)), Value(Tensor::Scalar<bool>(condition))};
    for (Value& v : state) inputs.push_back(std::move(v));
    WEFT_ASSIGN_OR_RETURN(std::vector<Value> results, ctx.RunRegion(0, std::move(inputs)));
    WEFT_ASSIGN_OR_RETURN(condition, ReadCondition(results[0]));
    for (int k = 0; k < carried; ++k) state[k] = std::move(results[k + 1]);
    for (size_t k = 0; k < scans.size(); ++k) {
      if (ctx.HasOutput(carried + static_cast<int>(k))) scans[k].push_back(std::move(results[carried + 1 + k]));
    }
  }
  for (int i = 0; i < outputs; ++i) {
    if (!ctx.HasOutput(i)) continue;
    if (i < carried) {
      ctx.SetOutput(i, std::move(state[i]));
      continue;
    }
    WEFT_ASSIGN_OR_RETURN(Value joined, Stack(scans[i - carried], ctx.node().outputs[i], 0, false));
    ctx.SetOutput(i, std::move(joined));
  }
  return absl::OkStatus();
}

// Element `i` along `axis`, with the axis gone.
absl::StatusOr<Tensor> TakeSlice(const Tensor& tensor, int axis, int64_t i) {
  Dims dims = tensor.dims();
  dims.erase(dims.begin() + axis);
  int64_t outer = 1, inner = 1;
  for (int k = 0; k < tensor.rank(); ++k) {
    if (k != axis) (k < axis ? outer : inner) *= tensor.dim(k);
  }
  WEFT_ASSIGN_OR_RETURN(Tensor slice, Tensor::AllocateUninitialized(tensor.dtype(), dims));
  CopyStrided(tensor, slice,
              {.dims = {outer, inner}, .from_strides = {tensor.dim(axis) * inner, 1}, .to_strides = {inner, 1}, .from_offset = i * inner});
  return slice;
}

absl::Status RunScan(RunContext& ctx) {
  const auto& attrs = ctx.attrs<ScanAttrs>();
  const auto scans = static_cast<int>(attrs.num_scan_inputs);
  const int states = ctx.num_inputs() - scans;
  std::vector<int> axes(scans, 0);
  int64_t length = -1;
  for (int i = 0; i < scans; ++i) {
    const Tensor& x = ctx.input(states + i);
    WEFT_ASSIGN_OR_RETURN(axes[i], InferContext::NormalizeAxis(attrs.scan_input_axes.empty() ? 0 : attrs.scan_input_axes[i], x.rank(), "a scan input axis"));
    if (length >= 0 && x.dim(axes[i]) != length) return Invalid("scan inputs have the lengths ", length, " and ", x.dim(axes[i]), ", expected one");
    length = x.dim(axes[i]);
  }
  std::vector<Value> state;
  for (int i = 0; i < states; ++i) state.push_back(ctx.input_value(i));
  std::vector<std::vector<Value>> collected(std::max(ctx.num_outputs() - states, 0));
  for (int64_t t = 0; t < length; ++t) {
    if (ctx.Cancelled()) return absl::CancelledError("the run was cancelled");
    std::vector<Value> inputs = std::move(state);
    for (int i = 0; i < scans; ++i) {
      const bool backward = !attrs.scan_input_directions.empty() && attrs.scan_input_directions[i] != 0;
      WEFT_ASSIGN_OR_RETURN(Tensor slice, TakeSlice(ctx.input(states + i), axes[i], backward ? length - 1 - t : t));
      inputs.push_back(Value(std::move(slice)));
    }
    WEFT_ASSIGN_OR_RETURN(std::vector<Value> results, ctx.RunRegion(0, std::move(inputs)));
    state.assign(std::make_move_iterator(results.begin()), std::make_move_iterator(results.begin() + states));
    for (size_t k = 0; k < collected.size(); ++k) collected[k].push_back(std::move(results[states + k]));
  }
  for (int i = 0; i < ctx.num_outputs(); ++i) {
    if (!ctx.HasOutput(i)) continue;
    if (i < states) {
      ctx.SetOutput(i, std::move(state[i]));
      continue;
    }
    const size_t k = i - states;
    const bool backward = !attrs.scan_output_directions.empty() && attrs.scan_output_directions[k] != 0;
    WEFT_ASSIGN_OR_RETURN(Value joined, Stack(collected[k], ctx.node().outputs[i], attrs.scan_output_axes.empty() ? 0 : attrs.scan_output_axes[k], backward));
    ctx.SetOutput(i, std::move(joined));
  }
  return absl::OkStatus();
}

absl::Status RunSequenceMap(RunContext& ctx) {
  if (!ctx.input_value(0).is_sequence()) return Invalid("input 0 is no sequence");
  const size_t length = ctx.input_value(0).sequence().items.size();
  std::vector<Sequence> results(ctx.num_outputs());
  for (int i = 0; i < ctx.num_outputs(); ++i) {
    if (const Type* tensor = ctx.node().outputs[i].InnerTensor()) results[i].elem_dtype = tensor->dtype;
  }
  for (size_t t = 0; t < length; ++t) {
    if (ctx.Cancelled()) return absl::CancelledError("the run was cancelled");
    std::vector<Value> inputs;
    for (int i = 0; i < ctx.num_inputs(); ++i) {
      const Value& value = ctx.input_value(i);
      if (value.is_sequence() && value.sequence().items.size() != length) {
        return Invalid("input ", i, " is a sequence of ", value.sequence().items.size(), ", expected ", length, " as the first");
      }
      inputs.push_back(value.is_sequence() ? value.sequence().items[t] : value);
    }
    WEFT_ASSIGN_OR_RETURN(std::vector<Value> items, ctx.RunRegion(0, std::move(inputs)));
    for (int i = 0; i < ctx.num_outputs(); ++i) results[i].items.push_back(std::move(items[i]));
  }
  for (int i = 0; i < ctx.num_outputs(); ++i) ctx.SetOutput(i, Value(std::move(results[i])));
  return absl::OkStatus();
}

constexpr Kernel kKernels[] = {
    {.op = &ops::If, .name = "ref", .run = &RunIf},
    {.op = &ops::Loop, .name = "ref", .run = &RunLoop},
    {.op = &ops::Scan, .name = "ref", .run = &RunScan},
    {.op = &ops::SequenceMap, .name = "ref", .run = &RunSequenceMap},
};

}  // namespace

absl::Span<const Kernel> RefControlFlow() { return kKernels; }

}  // namespace weft
