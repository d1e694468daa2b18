// Fourier transforms (ONNX Operators.md): DFT 20, STFT 17.
#include "graph/ops/signal.h"

#include <optional>

#include "graph/infer.h"
#include "graph/op.h"
#include "graph/ops/dtype_sets.h"
#include "graph/ops/operands.h"

namespace weft {
namespace {

// A positive size that an input gives: nothing where it is omitted, a fresh symbol where its value is not known.
absl::StatusOr<std::optional<Dim>> SizeInput(InferContext& ctx, int i, std::string_view operand) {
  if (!ctx.HasInput(i)) return std::optional<Dim>();
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(i, operand, kIndexTypes));
  WEFT_RETURN_IF_ERROR(CheckScalar(ctx, i, operand));
  const auto* elements = ctx.elements(i);
  if (elements == nullptr || elements->size() != 1) return std::optional(ctx.FreshDim());
  const Dim& size = elements->front();
  if (size.is_constant() && size.constant() < 1) {
    return Invalid("input ", i, " (", operand, ") is ", size.constant(), ", expected 1 or more");
  }
  return std::optional(size);
}

// The last axis holds a number (1) or its real and imaginary parts (2).
absl::Status CheckParts(const Dim& parts, std::string_view operand, std::optional<int64_t> wanted, std::string_view why) {
  if (!parts.is_constant()) return absl::OkStatus();
  if (parts.constant() != 1 && parts.constant() != 2) {
    return Invalid("input 0 (", operand, ") has ", parts.constant(), " elements on its last axis, expected 1 (real) or 2 (complex)");
  }
  if (!wanted || parts.constant() == *wanted) return absl::OkStatus();
  return Invalid("input 0 (", operand, ") has ", parts.constant(), " elements on its last axis, expected ", *wanted, " ", why);
}

Dim HalfSpectrum(const Dim& length) { return Dim::FloorDiv(length, Dim(2)) + Dim(1); }

// The axis as input 2 gives it; nothing where it is not known yet.
absl::StatusOr<std::optional<int>> DftAxis(InferContext& ctx, int rank) {
  constexpr DType kInt64Only[] = {DType::kInt64};
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(2, "axis", kInt64Only));
  WEFT_RETURN_IF_ERROR(CheckScalar(ctx, 2, "axis"));
  int64_t given = -2;
  if (ctx.HasInput(2)) {
    const auto known = ctx.ints(2);
    if (!known || known->size() != 1) return std::optional<int>();
    given = known->front();
  }
  WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(given, rank));
  if (axis == rank - 1) return Invalid("axis is ", given, ", expected another than the last one, which holds the parts of a number");
  return std::optional(axis);
}

absl::Status InferDft(InferContext& ctx) {
  const auto& attrs = ctx.attrs<DftAttrs>();
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "input", kFloatTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckRankAtLeast(0, "input", 2));
  WEFT_ASSIGN_OR_RETURN(const std::optional<Dim> given, SizeInput(ctx, 1, "dft_length"));
  Shape out = ctx.shape(0);
  if (out.has_rank()) {
    const int rank = out.rank();
    const bool to_real = attrs.onesided && attrs.inverse;
    if (to_real) WEFT_RETURN_IF_ERROR(CheckParts(out[rank - 1], "input", 2, "(complex) where onesided and inverse are set"));
    else if (attrs.onesided) WEFT_RETURN_IF_ERROR(CheckParts(out[rank - 1], "input", 1, "(real) where onesided is set"));
    else WEFT_RETURN_IF_ERROR(CheckParts(out[rank - 1], "input", std::nullopt, ""));
    WEFT_ASSIGN_OR_RETURN(const std::optional<int> axis, DftAxis(ctx, rank));
    if (axis) {
      const Dim length = given ? *given : to_real ? Dim(2) * (out[*axis] - Dim(1)) : out[*axis];
      if (length.is_constant() && length.constant() < 1) {
        return Invalid("a transform of length ", length.constant(), ": input 0 (input) has shape ", out.ToString(), " and the axis is ", *axis);
      }
      out[*axis] = attrs.onesided && !attrs.inverse ? HalfSpectrum(length) : length;
    } else {
      out = ctx.FreshShape(rank);
    }
    out[rank - 1] = to_real ? 1 : 2;
  }
  ctx.SetOutput(0, ctx.dtype(0), std::move(out));
  return absl::OkStatus();
}

// signal [batch, length, 1 or 2]; exporters leave out the last axis of a real one.
absl::Status InferStft(InferContext& ctx) {
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "signal", kFloatTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, 2));
  WEFT_RETURN_IF_ERROR(ctx.CheckRank(2, "window", 1));
  const Shape& signal = ctx.shape(0);
  if (signal.has_rank() && signal.rank() != 2 && signal.rank() != 3) {
    return Invalid("input 0 (signal) has rank ", signal.rank(), ", expected 3: batch, length, and 1 (real) or 2 (complex)");
  }
  const bool onesided = ctx.attrs<StftAttrs>().onesided;
  if (signal.has_rank() && signal.rank() == 3) {
    WEFT_RETURN_IF_ERROR(CheckParts(signal[2], "signal", onesided ? std::optional<int64_t>(1) : std::nullopt, "(real) where onesided is set"));
  }
  WEFT_ASSIGN_OR_RETURN(const std::optional<Dim> step, SizeInput(ctx, 1, "frame_step"));
  WEFT_ASSIGN_OR_RETURN(std::optional<Dim> frame, SizeInput(ctx, 3, "frame_length"));
  const Dim length = signal.has_rank() ? signal[1] : ctx.FreshDim();
  if (ctx.HasInput(2) && ctx.shape(2).has_rank()) {
    const Dim& window = ctx.shape(2)[0];
    WEFT_ASSIGN_OR_RETURN(frame, InferContext::Unify(frame.value_or(window), window, "frame_length and window"));
  }
  const Dim frame_length = frame.value_or(ctx.HasInput(2) ? ctx.FreshDim() : length);
  if (frame_length.is_constant() && (frame_length.constant() < 1 || (length.is_constant() && length.constant() < frame_length.constant()))) {
    return Invalid("frames of ", frame_length.constant(), " in a signal of shape ", signal.ToString());
  }
  const Dim frames = step->is_constant() ? Dim::FloorDiv(length - frame_length, *step) + Dim(1) : ctx.FreshDim();
  ctx.SetOutput(0, ctx.dtype(0), Shape({signal.has_rank() ? signal[0] : ctx.FreshDim(), frames,
                                        onesided ? HalfSpectrum(frame_length) : frame_length, Dim(2)}));
  return absl::OkStatus();
}

}  // namespace

constinit const Op ops::DFT = {.name = "DFT", .since_version = 20, .inputs = Arity(1, 3), .outputs = 1, .attrs = &kAttrSchema<DftAttrs>,
                               .infer = &InferDft};
constinit const Op ops::STFT = {.name = "STFT", .since_version = 17, .inputs = Arity(2, 4), .outputs = 1,
                                .attrs = &kAttrSchema<StftAttrs>, .infer = &InferStft};

}  // namespace weft
