// If, Loop, Scan, SequenceMap: ops that run regions (ONNX Operators.md).
#include "graph/ops/control_flow.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/dtype_sets.h"
#include "graph/ops/sequence.h"

namespace weft {
namespace {

absl::Status CheckCondition(const InferContext& ctx, int i) {
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(i, "cond", kBoolType));
  if (!ctx.HasInput(i) || !ctx.shape(i).has_rank()) return absl::OkStatus();
  const Dim count = ctx.shape(i).NumElements();
  if (count.is_constant() && count != Dim(1)) return Invalid("input ", i, " (cond) has shape ", ctx.shape(i).ToString(), ", expected one element");
  return absl::OkStatus();
}

absl::Status InferIf(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckCondition(ctx, 0));
  WEFT_ASSIGN_OR_RETURN(const std::vector<Type> then_types, ctx.Region(0, {}));
  WEFT_ASSIGN_OR_RETURN(const std::vector<Type> else_types, ctx.Region(1, {}));
  const auto outputs = static_cast<size_t>(ctx.num_outputs());
  for (const auto* types : {&then_types, &else_types}) {
    if (types->size() != outputs) {
      return Invalid(types == &then_types ? "then_branch" : "else_branch", " has ", types->size(), " outputs, expected ", outputs);
    }
  }
  for (size_t i = 0; i < outputs; ++i) {
    WEFT_ASSIGN_OR_RETURN(Type type, JoinTypes(ctx, then_types[i], else_types[i], absl::StrCat("output ", i)));
    ctx.SetOutput(static_cast<int>(i), std::move(type));
  }
  return absl::OkStatus();
}

// Nothing is said of shapes any more, which cannot widen further.
Type WithoutShapes(const Type& type) {
  if (type.is_tensor()) return Type::OfTensor(type.dtype);
  Type bare = type;
  if (type.elem != nullptr) bare.elem = std::make_shared<const Type>(WithoutShapes(*type.elem));
  return bare;
}

// `joined` holds for values that `in` does not. A dim that is a symbol of the carried value alone, not among those it was `given`, says nothing
// already: another fresh one says no more.
bool SaysLess(const Type& in, const Type& joined, const std::set<std::string>& given) {
  if (joined.kind != in.kind || joined.dtype != in.dtype) return true;
  if (!in.is_tensor()) {
    if (in.elem == nullptr || joined.elem == nullptr) return in.elem != joined.elem;
    return SaysLess(*in.elem, *joined.elem, given);
  }
  if (!in.shape.has_rank()) return false;
  if (!joined.shape.has_rank()) return true;
  for (int a = 0; a < in.shape.rank(); ++a) {
    const std::optional<std::string> symbol = in.shape[a].symbol();
    if (joined.shape[a] != in.shape[a] && (!symbol || given.contains(*symbol))) return true;
  }
  return false;
}

std::set<std::string> SymbolsOf(absl::Span<const Type> types) {
  std::set<std::string> symbols;
  for (const Type& outermost : types) {
    for (const Type* type = &outermost; type != nullptr; type = type->elem.get()) {
      for (const Dim& d : type->shape.dims()) {
        if (const std::optional<std::string> symbol = d.symbol()) symbols.insert(*symbol);
      }
    }
  }
  return symbols;
}

// A carried value's type holds for every iteration: it is widened until the body gives back what it got.
constexpr int kMaxWidenings = 8;

absl::StatusOr<std::vector<Type>> InferCarried(InferContext& ctx, std::vector<Type>& inputs, size_t first_carried, size_t carried,
                                               size_t first_result) {
  const std::set<std::string> given = SymbolsOf(inputs);
  for (int round = 0;; ++round) {
    WEFT_ASSIGN_OR_RETURN(std::vector<Type> outputs, ctx.Region(0, inputs));
    if (outputs.size() < first_result + carried) {
      return Invalid("body has ", outputs.size(), " outputs, expected at least ", first_result + carried);
    }
    bool changed = false;
    for (size_t i = 0; i < carried; ++i) {
      Type& in = inputs[first_carried + i];
      const Type& out = outputs[first_result + i];
      WEFT_ASSIGN_OR_RETURN(Type joined, JoinTypes(ctx, in, out, absl::StrCat("loop-carried value ", i)));
      if (round >= kMaxWidenings) joined = WithoutShapes(joined);
      if (SaysLess(in, joined, given)) {
        in = std::move(joined);
        changed = true;
      }
    }
    if (!changed) return outputs;
  }
}

Type WithAxis(const Type& type, int axis, Dim dim) {
  if (!type.is_tensor() || !type.shape.has_rank()) return Type::OfTensor(type.dtype);
  std::vector<Dim> dims = type.shape.dims();
  dims.insert(dims.begin() + axis, std::move(dim));
  return Type::OfTensor(type.dtype, Shape(std::move(dims)));
}

// The type that holds before the first iteration (the initial value) and behind each. Of what is optional at first and never afterwards
// the loop gives the value.
Type CarriedResult(const Type& carried, const Type& out) {
  if (carried.kind == Type::Kind::kOptional && out.kind != Type::Kind::kOptional && carried.elem != nullptr) return *carried.elem;
  return carried;
}

absl::Status InferLoop(InferContext& ctx) {
  static constexpr DType kInt64Only[] = {DType::kInt64};
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "M", kInt64Only));
  WEFT_RETURN_IF_ERROR(CheckCondition(ctx, 1));
  const auto carried = static_cast<size_t>(std::max(ctx.num_inputs() - 2, 0));
  std::vector<Type> inputs = {Type::OfTensor(DType::kInt64, Shape(std::vector<Dim>{})), Type::OfTensor(DType::kBool, Shape(std::vector<Dim>{}))};
  for (size_t i = 0; i < carried; ++i) inputs.push_back(ctx.input(static_cast<int>(i) + 2));
  WEFT_ASSIGN_OR_RETURN(const std::vector<Type> outputs, InferCarried(ctx, inputs, 2, carried, 1));
  if (outputs.size() < 1 + static_cast<size_t>(ctx.num_outputs())) {
    return Invalid("body has ", outputs.size(), " outputs, expected ", ctx.num_outputs() + 1);
  }
  for (int i = 0; i < ctx.num_outputs(); ++i) {
    const auto k = static_cast<size_t>(i);
    if (k < carried) ctx.SetOutput(i, CarriedResult(inputs[k + 2], outputs[k + 1]));
    else ctx.SetOutput(i, WithAxis(outputs[k + 1], 0, ctx.FreshDim()));
  }
  return absl::OkStatus();
}

absl::Status InferScan(InferContext& ctx) {
  const auto& attrs = ctx.attrs<ScanAttrs>();
  const int64_t scans = attrs.num_scan_inputs, states = ctx.num_inputs() - scans;
  if (scans < 1 || states < 0) return Invalid("attribute 'num_scan_inputs' is ", scans, ", expected 1 to ", ctx.num_inputs());
  const int64_t scan_outputs = ctx.num_outputs() - states;
  if (scan_outputs < 0) return Invalid("has ", ctx.num_outputs(), " outputs, expected at least one for each of ", states, " state variables");
  auto check = [](const std::vector<int64_t>& values, int64_t count, std::string_view name, bool direction) -> absl::Status {
    if (!values.empty() && static_cast<int64_t>(values.size()) != count) return Invalid("attribute '", name, "' has ", values.size(), " numbers, expected ", count);
    for (int64_t v : values) {
      if (direction && v != 0 && v != 1) return Invalid("attribute '", name, "' has ", v, ", expected 0 or 1");
    }
    return absl::OkStatus();
  };
  WEFT_RETURN_IF_ERROR(check(attrs.scan_input_axes, scans, "scan_input_axes", false));
  WEFT_RETURN_IF_ERROR(check(attrs.scan_input_directions, scans, "scan_input_directions", true));
  WEFT_RETURN_IF_ERROR(check(attrs.scan_output_axes, scan_outputs, "scan_output_axes", false));
  WEFT_RETURN_IF_ERROR(check(attrs.scan_output_directions, scan_outputs, "scan_output_directions", true));
  std::vector<Type> inputs;
  for (int64_t i = 0; i < states; ++i) inputs.push_back(ctx.input(static_cast<int>(i)));
  std::optional<Dim> length;
  for (int64_t i = 0; i < scans; ++i) {
    const Type& type = ctx.input(static_cast<int>(states + i));
    if (!type.is_tensor() || !type.shape.has_rank()) {
      inputs.push_back(Type::OfTensor(type.dtype));
      continue;
    }
    const int64_t given = attrs.scan_input_axes.empty() ? 0 : attrs.scan_input_axes[i];
    WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(given, type.shape.rank(), "a scan input axis"));
    WEFT_ASSIGN_OR_RETURN(length, InferContext::Unify(length.value_or(type.shape[axis]), type.shape[axis], "the length of the scan inputs"));
    std::vector<Dim> dims = type.shape.dims();
    dims.erase(dims.begin() + axis);
    inputs.push_back(Type::OfTensor(type.dtype, Shape(std::move(dims))));
  }
  WEFT_ASSIGN_OR_RETURN(const std::vector<Type> outputs, InferCarried(ctx, inputs, 0, states, 0));
  if (static_cast<int>(outputs.size()) < ctx.num_outputs()) return Invalid("body has ", outputs.size(), " outputs, expected ", ctx.num_outputs());
  for (int i = 0; i < ctx.num_outputs(); ++i) {
    if (i < states) {
      ctx.SetOutput(i, CarriedResult(inputs[i], outputs[i]));
      continue;
    }
    int axis = 0;
    if (!attrs.scan_output_axes.empty() && outputs[i].is_tensor() && outputs[i].shape.has_rank()) {
      WEFT_ASSIGN_OR_RETURN(axis, InferContext::NormalizeAxis(attrs.scan_output_axes[i - states], outputs[i].shape.rank() + 1, "a scan output axis"));
    }
    ctx.SetOutput(i, WithAxis(outputs[i], axis, length ? *length : ctx.FreshDim()));
  }
  return absl::OkStatus();
}

absl::Status InferSequenceMap(InferContext& ctx) {
  std::vector<Type> inputs;
  for (int i = 0; i < ctx.num_inputs(); ++i) {
    const Type& type = ctx.input(i);
    if (i == 0) WEFT_RETURN_IF_ERROR(CheckSequence(ctx, 0, "input_sequence"));
    inputs.push_back(type.kind == Type::Kind::kSequence ? ItemType(ctx, type) : type);
  }
  WEFT_ASSIGN_OR_RETURN(const std::vector<Type> outputs, ctx.Region(0, inputs));
  if (static_cast<int>(outputs.size()) != ctx.num_outputs()) return Invalid("body has ", outputs.size(), " outputs, expected ", ctx.num_outputs());
  for (int i = 0; i < ctx.num_outputs(); ++i) ctx.SetOutput(i, Type::OfSequence(outputs[i]));
  return absl::OkStatus();
}

constexpr std::string_view kIfRegions[] = {"then_branch", "else_branch"};
constexpr std::string_view kBody[] = {"body"};

}  // namespace

constinit const Op ops::If = {.name = "If", .since_version = 25, .inputs = 1, .outputs = Arity(1, Arity::kVariadic), .regions = kIfRegions, .infer = &InferIf};
constinit const Op ops::Loop = {.name = "Loop", .since_version = 25, .inputs = Arity(2, Arity::kVariadic), .outputs = Arity(1, Arity::kVariadic),
                                .optional_inputs = 0b11, .regions = kBody, .infer = &InferLoop};
constinit const Op ops::Scan = {.name = "Scan", .since_version = 25, .inputs = Arity(1, Arity::kVariadic), .outputs = Arity(1, Arity::kVariadic),
                                .attrs = &kAttrSchema<ScanAttrs>, .regions = kBody, .infer = &InferScan};
constinit const Op ops::SequenceMap = {.name = "SequenceMap", .since_version = 17, .inputs = Arity(1, Arity::kVariadic),
                                       .outputs = Arity(1, Arity::kVariadic), .regions = kBody, .infer = &InferSequenceMap};

}  // namespace weft
