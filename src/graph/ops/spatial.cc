#include "graph/ops/spatial.h"

#include <algorithm>
#include <limits>

#include "base/status_macros.h"

namespace weft {
namespace {

constexpr int64_t kMaxAttribute = std::numeric_limits<int32_t>::max();

absl::Status CheckList(std::string_view name, absl::Span<const int64_t> values, size_t expected, int64_t least) {
  if (!values.empty() && values.size() != expected) {
    return Invalid(name, " has ", values.size(), " values, expected ", expected, " by the number of spatial axes");
  }
  for (int64_t v : values) {
    if (v < least || v > kMaxAttribute) {
      return Invalid(name, " contains ", v, ", expected values in [", least, ", ", kMaxAttribute, "]");
    }
  }
  return absl::OkStatus();
}

int64_t At(absl::Span<const int64_t> values, size_t i, int64_t otherwise) { return values.empty() ? otherwise : values[i]; }

bool IsSame(const WindowSpec& spec) { return spec.auto_pad == "SAME_UPPER" || spec.auto_pad == "SAME_LOWER"; }
// The attribute `pads` counts only where auto_pad leaves it to.
bool HasPads(const WindowSpec& spec) { return (spec.auto_pad == "NOTSET" || spec.auto_pad.empty()) && !spec.pads.empty(); }

Dim Extent(const WindowSpec& spec, size_t axis, const Dim& kernel) { return (kernel - 1) * At(spec.dilations, axis, 1) + 1; }

// ONNX Operators.md, AveragePool, MaxPool and Conv.
Dim WindowOutput(const WindowSpec& spec, size_t axis, const Dim& in, const Dim& kernel) {
  const Dim stride = At(spec.strides, axis, 1);
  if (IsSame(spec)) return Dim::CeilDiv(in, stride);
  const Dim extent = Extent(spec, axis, kernel);
  // With ceil_mode the formula of VALID is ceil((in - extent + 1) / stride), which is the same.
  if (spec.auto_pad == "VALID") return Dim::FloorDiv(in - extent, stride) + 1;
  const int64_t begin = At(spec.pads, axis, 0), end = At(spec.pads, axis + spec.pads.size() / 2, 0);
  const Dim room = in + begin + end - extent;
  if (!spec.ceil_mode) return Dim::FloorDiv(room, stride) + 1;
  // A last window that would start behind the input is dropped; one at most, as the frameworks do.
  const bool short_end = extent.is_constant() && end < extent.constant();
  const Dim full = Dim::CeilDiv(room, stride) + 1;
  if (short_end && stride == Dim(1)) return full;
  const Dim started = Dim::Min(full, Dim::CeilDiv(in + begin, stride));
  return short_end ? started : Dim::Max(started, full - 1);
}

absl::Status CheckOutput(const Dim& out, const Dim& in, const Dim& kernel, size_t axis) {
  if (out.is_constant() && out.constant() < 0) {
    return Invalid("spatial axis ", axis, " of the output would have size ", out.constant(), ": the kernel of size ",
                   kernel.ToString(), " does not fit the padded input of size ", in.ToString());
  }
  if (!out.is_constant() && in.is_constant() && kernel.is_constant()) {
    return Invalid("spatial axis ", axis, " of the output has a size beyond 64 bits (input ", in.ToString(), ", kernel ",
                   kernel.ToString(), ")");
  }
  return absl::OkStatus();
}

// What a ConvTranspose yields before its pads crop it.
Dim FullTransposed(const WindowSpec& spec, size_t axis, const Dim& in, const Dim& kernel) {
  return (in - 1) * At(spec.strides, axis, 1) + At(spec.output_padding, axis, 0) + Extent(spec, axis, kernel);
}

Dim TransposedOutput(const WindowSpec& spec, size_t n, size_t axis, const Dim& in, const Dim& kernel) {
  // Old models list N and C too.
  if (!spec.output_shape.empty()) return spec.output_shape[spec.output_shape.size() - n + axis];
  if (IsSame(spec)) return in * At(spec.strides, axis, 1);
  const Dim full = FullTransposed(spec, axis, in, kernel);
  return HasPads(spec) ? full - spec.pads[axis] - spec.pads[axis + n] : full;
}

std::vector<Dim> AsDims(absl::Span<const int64_t> values) { return std::vector<Dim>(values.begin(), values.end()); }

absl::StatusOr<Window> Place(const WindowSpec& spec, absl::Span<const int64_t> in, absl::Span<const int64_t> kernel,
                             const std::vector<Dim>& out) {
  Window w;
  w.in.assign(in.begin(), in.end());
  w.kernel.assign(kernel.begin(), kernel.end());
  for (size_t i = 0; i < in.size(); ++i) {
    w.out.push_back(out[i].constant());
    w.strides.push_back(At(spec.strides, i, 1));
    w.dilations.push_back(At(spec.dilations, i, 1));
    w.pads_begin.push_back(HasPads(spec) ? spec.pads[i] : 0);
    w.pads_end.push_back(HasPads(spec) ? spec.pads[i + in.size()] : 0);
  }
  return w;
}

}  // namespace

absl::Status CheckWindow(const WindowSpec& spec, absl::Span<const Dim> kernel) {
  const size_t n = kernel.size();
  if (!spec.auto_pad.empty() && spec.auto_pad != "NOTSET" && spec.auto_pad != "VALID" && !IsSame(spec)) {
    return Invalid("auto_pad is '", spec.auto_pad, "', expected NOTSET, SAME_UPPER, SAME_LOWER or VALID");
  }
  WEFT_RETURN_IF_ERROR(CheckList("kernel_shape", spec.kernel_shape, n, 1));
  WEFT_RETURN_IF_ERROR(CheckList("strides", spec.strides, n, 1));
  WEFT_RETURN_IF_ERROR(CheckList("dilations", spec.dilations, n, 1));
  WEFT_RETURN_IF_ERROR(CheckList("pads", spec.pads, 2 * n, 0));
  WEFT_RETURN_IF_ERROR(CheckList("output_padding", spec.output_padding, n, 0));
  const bool whole = spec.output_shape.size() == n + 2;
  WEFT_RETURN_IF_ERROR(CheckList("output_shape", spec.output_shape, whole ? n + 2 : n, 0));
  Dims sizes;
  for (size_t i = 0; i < n; ++i) {
    if (!kernel[i].is_constant()) continue;
    const int64_t size = kernel[i].constant();
    if (size < 1 || size > kMaxAttribute) return Invalid("the kernel has size ", size, " on spatial axis ", i, ", expected 1 or more");
    if (!spec.kernel_shape.empty() && spec.kernel_shape[i] != size) {
      return Invalid("kernel_shape is ", DimsToString(spec.kernel_shape), ", but the weight has size ", size,
                     " on spatial axis ", i);
    }
    sizes.push_back(size);
  }
  return NumElements(sizes).status();
}

absl::StatusOr<std::vector<Dim>> WindowOutputs(const WindowSpec& spec, absl::Span<const Dim> input, absl::Span<const Dim> kernel) {
  std::vector<Dim> out;
  for (size_t i = 0; i < input.size(); ++i) {
    out.push_back(WindowOutput(spec, i, input[i], kernel[i]));
    WEFT_RETURN_IF_ERROR(CheckOutput(out.back(), input[i], kernel[i], i));
  }
  return out;
}

absl::StatusOr<std::vector<Dim>> TransposedOutputs(const WindowSpec& spec, absl::Span<const Dim> input,
                                                   absl::Span<const Dim> kernel) {
  std::vector<Dim> out;
  for (size_t i = 0; i < input.size(); ++i) {
    out.push_back(TransposedOutput(spec, input.size(), i, input[i], kernel[i]));
    WEFT_RETURN_IF_ERROR(CheckOutput(out.back(), input[i], kernel[i], i));
  }
  return out;
}

absl::StatusOr<Window> ResolveWindow(const WindowSpec& spec, absl::Span<const int64_t> in, absl::Span<const int64_t> kernel) {
  const std::vector<Dim> kernel_dims = AsDims(kernel);
  WEFT_RETURN_IF_ERROR(CheckWindow(spec, kernel_dims));
  WEFT_ASSIGN_OR_RETURN(const std::vector<Dim> out, WindowOutputs(spec, AsDims(in), kernel_dims));
  WEFT_ASSIGN_OR_RETURN(Window w, Place(spec, in, kernel, out));
  if (!IsSame(spec)) return w;
  for (int i = 0; i < w.rank(); ++i) {
    const int64_t total = std::max<int64_t>((w.out[i] - 1) * w.strides[i] - w.in[i] + w.extent(i), 0);
    w.pads_begin[i] = spec.auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
    w.pads_end[i] = total - w.pads_begin[i];
  }
  return w;
}

absl::StatusOr<Window> ResolveTransposed(const WindowSpec& spec, absl::Span<const int64_t> in, absl::Span<const int64_t> kernel) {
  const std::vector<Dim> kernel_dims = AsDims(kernel);
  WEFT_RETURN_IF_ERROR(CheckWindow(spec, kernel_dims));
  WEFT_ASSIGN_OR_RETURN(const std::vector<Dim> out, TransposedOutputs(spec, AsDims(in), kernel_dims));
  WEFT_ASSIGN_OR_RETURN(Window w, Place(spec, in, kernel, out));
  if (!IsSame(spec) && spec.output_shape.empty()) return w;
  for (int i = 0; i < w.rank(); ++i) {
    const Dim full = FullTransposed(spec, i, w.in[i], w.kernel[i]);
    if (!full.is_constant()) return Invalid("spatial axis ", i, " of the output has a size beyond 64 bits");
    const int64_t total = full.constant() - w.out[i];
    const int64_t less_half = (total - (total < 0 && total % 2 != 0)) / 2;  // rounds down
    w.pads_begin[i] = spec.auto_pad == "SAME_UPPER" ? less_half : total - less_half;
    w.pads_end[i] = total - w.pads_begin[i];
  }
  return w;
}

}  // namespace weft
