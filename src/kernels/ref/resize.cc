// Resize (ONNX Operators.md, opset 19): axis by axis, since interpolation is separable; those that shrink first, the innermost first
// among equals.
#include "graph/ops/resize.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "kernels/kernel.h"
#include "kernels/ref/cubic.h"
#include "kernels/ref/dispatch.h"
#include "kernels/ref/elements.h"

namespace weft {
namespace {

// One axis as the node has it.
struct Axis {
  int64_t in = 0, out = 0;
  double scale = 1;           // of the node, or out / in
  bool float_scale = false;   // the node's own, rounded to float32
  double start = 0, end = 1;  // of the region of interest
};

// Where output index `x` comes from. F is the type of the arithmetic: float for a scale that is a rounded float32, whose error
// a double would only show.
template <class F>
double Original(const std::string& mode, const Axis& axis, int64_t x) {
  const F scale = static_cast<F>(axis.scale), in = static_cast<F>(axis.in), at = static_cast<F>(x);
  const F width = scale * in;  // the output's length before it was rounded to an integer
  if (mode == "align_corners") return width == 1 ? F(0) : at * (in - 1) / (width - 1);
  if (mode == "asymmetric") return at / scale;
  if (mode == "tf_crop_and_resize") {
    const F start = static_cast<F>(axis.start), end = static_cast<F>(axis.end);
    if (width <= 1) return F(0.5) * (start + end) * (in - 1);
    return start * (in - 1) + at * (end - start) * (in - 1) / (width - 1);
  }
  if (mode == "pytorch_half_pixel" && width <= 1) return 0;
  const F half = (at + F(0.5)) / scale - F(0.5);
  if (mode != "half_pixel_symmetric") return half;
  return in / 2 * (1 - static_cast<F>(axis.out) / width) + half;
}

// Output j of an axis is the weighted sum of inputs index[k] with weight[k] for k in [begin[j], begin[j + 1]); none: the
// extrapolation value.
struct Taps {
  std::vector<int64_t> begin = {0}, index;
  std::vector<double> weight;
};

int64_t Nearest(const std::string& mode, double x) {
  if (mode == "floor") return static_cast<int64_t>(std::floor(x));
  if (mode == "ceil") return static_cast<int64_t>(std::ceil(x));
  return static_cast<int64_t>(mode == "round_prefer_ceil" ? std::floor(x + 0.5) : std::ceil(x - 0.5));
}

// Appends the taps around x, which lie at base + first .. base + first + count - 1 with x in (base, base + 1].
void AddTaps(const ResizeAttrs& attrs, const Axis& axis, double x, Taps& taps) {
  const bool cubic = attrs.mode == "cubic";
  const double stretch = attrs.antialias ? std::min(axis.scale, 1.0) : 1.0;
  const double base = std::ceil(x) - 1;
  const auto first = static_cast<int64_t>(std::floor((cubic ? -2 : -1) / stretch)) + 1;
  const size_t begin = taps.weight.size();
  double sum = 0;
  for (int64_t k = first; k < 2 - first; ++k) {
    const double distance = (static_cast<double>(k) - (x - base)) * stretch;
    const double weight = cubic ? CubicWeight(distance, attrs.cubic_coeff_a) : std::max(0.0, 1 - std::abs(distance));
    const int64_t index = static_cast<int64_t>(base) + k;
    if (weight == 0 || (attrs.exclude_outside && (index < 0 || index >= axis.in))) continue;
    taps.index.push_back(std::clamp<int64_t>(index, 0, axis.in - 1));
    taps.weight.push_back(weight);
    sum += weight;
  }
  if (!attrs.exclude_outside && !attrs.antialias) return;
  for (size_t i = begin; i < taps.weight.size(); ++i) taps.weight[i] /= sum;
}

Taps MakeTaps(const ResizeAttrs& attrs, const Axis& axis) {
  Taps taps;
  const bool crop = attrs.coordinate_transformation_mode == "tf_crop_and_resize", nearest = attrs.mode == "nearest";
  for (int64_t j = 0; j < axis.out; ++j) {
    double x = nearest && axis.float_scale ? Original<float>(attrs.coordinate_transformation_mode, axis, j)
                                           : Original<double>(attrs.coordinate_transformation_mode, axis, j);
    if (!crop || (x >= 0 && x <= static_cast<double>(axis.in - 1))) {
      x = std::clamp<double>(x, -4, static_cast<double>(axis.in) + 4);  // beyond, all taps are on the border
      if (nearest) {
        taps.index.push_back(std::clamp<int64_t>(Nearest(attrs.nearest_mode, x), 0, axis.in - 1));
        taps.weight.push_back(1);
      } else {
        AddTaps(attrs, axis, x, taps);
      }
    }
    taps.begin.push_back(static_cast<int64_t>(taps.index.size()));
  }
  return taps;
}

// The tensor as [outer, axis, inner] for one axis.
struct Pass {
  int64_t outer = 1, in = 1, out = 1, inner = 1;
};

// Moves elements: every output has one tap or none.
template <class T>
void Pick(const Pass& pass, const Taps& taps, const T& fallback, const T* from, T* to) {
  ParallelFor(pass.outer * pass.out, pass.inner, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end;) {
      const int64_t o = row / pass.out, last = std::min(end, (o + 1) * pass.out);
      const T* source = from + o * pass.in * pass.inner;
      for (; row < last; ++row) {
        const int64_t tap = taps.begin[row - o * pass.out];
        T* target = to + row * pass.inner;
        if (tap == taps.begin[row - o * pass.out + 1]) {
          std::fill_n(target, pass.inner, fallback);
        } else if (pass.inner == 1) {
          *target = source[taps.index[tap]];
        } else {
          std::copy_n(source + taps.index[tap] * pass.inner, pass.inner, target);
        }
      }
    }
  });
}

template <class T>
void Blend(const Pass& pass, const Taps& taps, T fallback, const T* from, T* to) {
  const std::vector<T> weights(taps.weight.begin(), taps.weight.end());
  const int64_t per_output = std::max<int64_t>(1, static_cast<int64_t>(weights.size()) / std::max<int64_t>(pass.out, 1));
  ParallelFor(pass.outer * pass.out, 2 * pass.inner * per_output, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t o = row / pass.out, first = taps.begin[row - o * pass.out], last = taps.begin[row - o * pass.out + 1];
      const T* source = from + o * pass.in * pass.inner;
      T* target = to + row * pass.inner;
      if (first == last) {
        std::fill_n(target, pass.inner, fallback);
      } else if (pass.inner == 1) {
        T sum = 0;
        for (int64_t k = first; k < last; ++k) sum += weights[k] * source[taps.index[k]];
        *target = sum;
      } else {
        for (int64_t k = first; k < last; ++k) {
          const T weight = weights[k];
          const T* tap = source + taps.index[k] * pass.inner;
          if (k == first) {
            for (int64_t i = 0; i < pass.inner; ++i) target[i] = weight * tap[i];
          } else {
            for (int64_t i = 0; i < pass.inner; ++i) target[i] += weight * tap[i];
          }
        }
      }
    }
  });
}

absl::StatusOr<std::vector<Axis>> ReadAxes(RunContext& ctx, const ResizeAttrs& attrs, const std::vector<int>& axes) {
  const Dims& in = ctx.input(0).dims();
  std::vector<Axis> out(in.size());
  for (size_t a = 0; a < in.size(); ++a) out[a] = {.in = in[a], .out = ctx.output(0).dim(static_cast<int>(a))};
  const bool by_scales = ctx.HasInput(2) && ctx.input(2).size() > 0;
  const bool common = attrs.keep_aspect_ratio_policy != "stretch";
  std::vector<double> roi;
  if (attrs.coordinate_transformation_mode == "tf_crop_and_resize") {
    roi.resize(2 * axes.size());
    ReadElements(ctx.input(1), 0, static_cast<int64_t>(roi.size()), roi.data());
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    Axis& axis = out[axes[i]];
    if (by_scales) {
      axis.scale = ctx.input(2).data<const float>()[i];
      axis.float_scale = true;
    } else if (common) {
      axis.scale = CommonScale(attrs, in, axes, ctx.input(3).span<const int64_t>());
    } else {
      axis.scale = axis.in == 0 ? 1 : static_cast<double>(axis.out) / static_cast<double>(axis.in);
    }
    if (!roi.empty()) axis.start = roi[i], axis.end = roi[axes.size() + i];
    if (axis.in == 0 && axis.out > 0) return Invalid("input 0 (X) has no elements along axis ", axes[i], ", expected some to resize");
  }
  return out;
}

bool IsIdentity(const Axis& axis) { return axis.in == axis.out && axis.scale == 1 && axis.start == 0 && axis.end == 1; }

// Runs `step(pass, taps, from, to)` for each axis that changes, from `x` over buffers of T into `y`.
template <class T, class Step>
absl::Status RunAxes(const ResizeAttrs& attrs, const std::vector<Axis>& axes, int64_t words, DType dtype, const Tensor& x, Tensor& y,
                     Step step) {
  std::vector<int> changing;
  for (int a = static_cast<int>(axes.size()) - 1; a >= 0; --a) {
    if (!IsIdentity(axes[a])) changing.push_back(a);
  }
  auto growth = [&](int a) { return static_cast<double>(axes[a].out) / static_cast<double>(axes[a].in); };
  std::stable_sort(changing.begin(), changing.end(), [&](int a, int b) { return growth(a) < growth(b); });
  if (changing.empty()) {
    std::copy_n(x.data<const T>(), x.size() * words, y.data<T>());
    return absl::OkStatus();
  }
  Tensor from = x;
  Dims dims = x.dims();
  for (size_t i = 0; i < changing.size(); ++i) {
    const Axis& axis = axes[changing[i]];
    Pass pass{1, axis.in, axis.out, words};
    for (int a = 0; a < changing[i]; ++a) pass.outer *= dims[a];
    for (size_t a = changing[i] + 1; a < axes.size(); ++a) pass.inner *= dims[a];
    dims[changing[i]] = axis.out;
    Tensor to = y;
    if (i + 1 < changing.size()) {
      WEFT_ASSIGN_OR_RETURN(to, Tensor::AllocateUninitialized(dtype, {pass.outer, pass.out, pass.inner}));
    }
    step(pass, MakeTaps(attrs, axis), from.data<const T>(), to.data<T>());
    from = std::move(to);
  }
  return absl::OkStatus();
}

// Rounds half to even and saturates.
template <class S>
void RoundInto(const double* from, int64_t count, S* to) {
  constexpr double kLow = static_cast<double>(std::numeric_limits<S>::min()), kHigh = static_cast<double>(std::numeric_limits<S>::max());
  for (int64_t i = 0; i < count; ++i) {
    const double v = std::nearbyint(from[i]);
    to[i] = v >= kHigh ? std::numeric_limits<S>::max() : v > kLow ? static_cast<S>(v) : std::numeric_limits<S>::min();
  }
}

// Complex numbers are `words` = 2 reals each, blended alike.
template <class T>
absl::Status RunBlend(RunContext& ctx, const std::vector<Axis>& axes) {
  const auto& attrs = ctx.attrs<ResizeAttrs>();
  const Tensor& x = ctx.input(0);
  Tensor& y = ctx.output(0);
  const DType dtype = x.dtype();
  const int64_t words = IsComplex(dtype) ? 2 : 1;
  auto step = [&](const Pass& pass, const Taps& taps, const T* from, T* to) {
    Blend<T>(pass, taps, attrs.extrapolation_value, from, to);
  };
  if (words == 2) return RunAxes<T>(attrs, axes, words, DTypeOf<T>::value, x, y, step);
  WEFT_ASSIGN_OR_RETURN(const Tensor wide, Widen<T>(x));
  if (IsFloat(dtype)) {
    WEFT_ASSIGN_OR_RETURN(Tensor out, WideOutput<T>(y));
    WEFT_RETURN_IF_ERROR(RunAxes<T>(attrs, axes, 1, DTypeOf<T>::value, wide, out, step));
    Narrow<T>(out, y);
    return absl::OkStatus();
  }
  WEFT_ASSIGN_OR_RETURN(Tensor out, Tensor::AllocateUninitialized(DTypeOf<T>::value, y.dims()));
  WEFT_RETURN_IF_ERROR(RunAxes<T>(attrs, axes, 1, DTypeOf<T>::value, wide, out, step));
  if constexpr (std::is_same_v<T, double>) {
    if (dtype == DType::kBool) RoundInto(out.data<const double>(), out.size(), y.data<bool>());
    else return DispatchInteger(dtype, [&]<class S>() { RoundInto(out.data<const double>(), out.size(), y.data<S>()); return absl::OkStatus(); });
  }
  return absl::OkStatus();
}

// The extrapolation value as the tensor's element.
template <class T>
absl::StatusOr<T> Fallback(DType dtype, float value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return std::string();
  } else {
    WEFT_ASSIGN_OR_RETURN(Tensor one, Tensor::Allocate(dtype, {}));
    const double wide = value;
    if (IsComplex(dtype)) {
      if (dtype == DType::kComplex64) *one.data<float>() = value;
      else *one.data<double>() = value;
    } else if (IsFloat(dtype)) {
      WriteElements(&wide, 1, one, 0);
    } else if (dtype == DType::kBool) {
      *one.data<bool>() = value != 0;
    } else {
      WEFT_RETURN_IF_ERROR(DispatchInteger(dtype, [&]<class S>() { RoundInto(&wide, 1, one.data<S>()); return absl::OkStatus(); }));
    }
    return *one.data<T>();
  }
}

absl::Status RunResize(RunContext& ctx) {
  const auto& attrs = ctx.attrs<ResizeAttrs>();
  const Tensor& x = ctx.input(0);
  Tensor& y = ctx.output(0);
  WEFT_ASSIGN_OR_RETURN(const std::vector<int> which, ResizeAxes(attrs, x.rank()));
  WEFT_ASSIGN_OR_RETURN(const std::vector<Axis> axes, ReadAxes(ctx, attrs, which));
  if (y.size() == 0) return absl::OkStatus();
  if (attrs.mode == "nearest") {
    return DispatchSize(x.dtype(), [&]<class T>() -> absl::Status {
      WEFT_ASSIGN_OR_RETURN(const T fallback, Fallback<T>(x.dtype(), attrs.extrapolation_value));
      return RunAxes<T>(attrs, axes, 1, x.dtype(), x, y, [&](const Pass& pass, const Taps& taps, const T* from, T* to) {
        Pick<T>(pass, taps, fallback, from, to);
      });
    });
  }
  const DType dtype = x.dtype();
  const bool single = dtype == DType::kFloat32 || dtype == DType::kFloat16 || dtype == DType::kBFloat16 || dtype == DType::kComplex64;
  return single ? RunBlend<float>(ctx, axes) : RunBlend<double>(ctx, axes);
}

}  // namespace

absl::Span<const Kernel> RefResize() {
  static constexpr Kernel kernels[] = {{.op = &ops::Resize, .name = "ref", .run = &RunResize}};
  return kernels;
}

}  // namespace weft
