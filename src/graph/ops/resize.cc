// Resize (ONNX Operators.md, opset 19).
#include "graph/ops/resize.h"

#include <algorithm>
#include <cmath>

#include "graph/op.h"
#include "graph/ops/expect_shape.h"

namespace weft {
namespace {

constexpr DType kRoiTypes[] = {DType::kFloat32, DType::kFloat16, DType::kFloat64};
constexpr DType kScaleTypes[] = {DType::kFloat32};
constexpr DType kSizeTypes[] = {DType::kInt64};

constexpr std::string_view kModes[] = {"nearest", "linear", "cubic"};
constexpr std::string_view kNearestModes[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
constexpr std::string_view kPolicies[] = {"stretch", "not_larger", "not_smaller"};
constexpr std::string_view kCoordinates[] = {"half_pixel",    "half_pixel_symmetric", "pytorch_half_pixel",
                                             "align_corners", "asymmetric",           "tf_crop_and_resize"};

absl::Status CheckWord(std::string_view attribute, const std::string& value, absl::Span<const std::string_view> words) {
  if (std::find(words.begin(), words.end(), value) != words.end()) return absl::OkStatus();
  std::string list;
  for (std::string_view word : words) list.append(list.empty() ? "" : ", ").append(word);
  return Invalid(attribute, " is '", value, "', expected one of ", list);
}

absl::Status CheckAttrs(const ResizeAttrs& attrs, DType dtype) {
  WEFT_RETURN_IF_ERROR(CheckWord("mode", attrs.mode, kModes));
  WEFT_RETURN_IF_ERROR(CheckWord("nearest_mode", attrs.nearest_mode, kNearestModes));
  WEFT_RETURN_IF_ERROR(CheckWord("keep_aspect_ratio_policy", attrs.keep_aspect_ratio_policy, kPolicies));
  WEFT_RETURN_IF_ERROR(CheckWord("coordinate_transformation_mode", attrs.coordinate_transformation_mode, kCoordinates));
  if (attrs.antialias && attrs.mode == "nearest") return Invalid("antialias is 1 with mode nearest, expected linear or cubic");
  if (dtype == DType::kString && attrs.mode != "nearest") {
    return Invalid("input 0 (X) has element type string, expected a number with mode ", attrs.mode);
  }
  return absl::OkStatus();
}

// Opset 11 wrote an empty tensor for what is absent.
bool Given(const InferContext& ctx, int i) {
  return ctx.HasInput(i) && !(ctx.shape(i).has_rank() && ctx.shape(i).rank() == 1 && ctx.shape(i)[0] == Dim(0));
}

// floor(dim * scale), exact where the scale is a fraction of small numbers, else as float32 rounds the product.
absl::StatusOr<Dim> ScaledDim(InferContext& ctx, const Dim& dim, float scale) {
  if (!(scale > 0) || std::isinf(scale)) return Invalid("scales holds ", scale, ", expected finite numbers greater than 0");
  constexpr int kBits = 10;
  const float times = std::ldexp(scale, kBits);
  Dim out;
  if (times == std::floor(times) && scale < std::ldexp(1.0f, kBits)) {
    int64_t numerator = static_cast<int64_t>(times), denominator = int64_t{1} << kBits;
    while (numerator % 2 == 0 && denominator > 1) numerator /= 2, denominator /= 2;
    out = Dim::FloorDiv(dim * Dim(numerator), Dim(denominator));
  } else if (dim.is_constant()) {
    const float product = std::floor(static_cast<float>(dim.constant()) * scale);
    if (product < 0x1p62f) out = Dim(static_cast<int64_t>(product));
    else out = Dim::Symbol("too many");
  } else {
    return ctx.FreshDim();
  }
  if (dim.is_constant() && !out.is_constant()) return Invalid("scales holds ", scale, ", too much for a dim of ", dim.constant());
  return out;
}

// The output's dims along `axes` from `sizes`, symbols included.
absl::Status FromSizes(InferContext& ctx, const ResizeAttrs& attrs, const Shape& x, const std::vector<int>& axes,
                       const std::vector<Dim>& sizes, Shape& out) {
  std::vector<int64_t> in, want;
  for (size_t i = 0; i < axes.size(); ++i) {
    const Dim& from = x[axes[i]];
    if (sizes[i].is_constant() && sizes[i].constant() < 0) return Invalid("sizes holds ", sizes[i].constant(), ", expected 0 or more");
    if (from == Dim(0) && sizes[i].is_constant() && sizes[i].constant() > 0) {
      return Invalid("input 0 (X) has shape ", x.ToString(), ", expected elements along axis ", axes[i], " to resize to ", sizes[i].constant());
    }
    out[axes[i]] = sizes[i];
    if (from.is_constant()) in.push_back(from.constant());
    if (sizes[i].is_constant()) want.push_back(sizes[i].constant());
  }
  if (attrs.keep_aspect_ratio_policy == "stretch") return absl::OkStatus();
  const bool known = in.size() == axes.size() && want.size() == axes.size();
  std::vector<int> all(in.size());
  for (size_t i = 0; i < in.size(); ++i) all[i] = static_cast<int>(i);
  const double scale = known ? CommonScale(attrs, in, all, want) : 1;
  for (size_t i = 0; i < axes.size(); ++i) {
    const double size = known ? std::floor(scale * static_cast<double>(in[i]) + 0.5) : 0;
    if (!(size < 0x1p62)) return Invalid("sizes and keep_aspect_ratio_policy give a dim of ", size);
    out[axes[i]] = known ? Dim(static_cast<int64_t>(size)) : ctx.FreshDim();
  }
  return absl::OkStatus();
}

absl::Status CheckOnePerAxis(const InferContext& ctx, int i, std::string_view operand, size_t axes) {
  return ExpectShape(ctx, i, operand, {Dim(static_cast<int64_t>(axes))});
}

absl::Status InferResize(InferContext& ctx) {
  const auto& attrs = ctx.attrs<ResizeAttrs>();
  WEFT_RETURN_IF_ERROR(CheckAttrs(attrs, ctx.dtype(0)));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(1, "roi", kRoiTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(2, "scales", kScaleTypes));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(3, "sizes", kSizeTypes));
  const Shape& x = ctx.shape(0);
  ctx.SetOutput(0, ctx.dtype(0), Shape());
  if (!x.has_rank()) return absl::OkStatus();
  WEFT_ASSIGN_OR_RETURN(const std::vector<int> axes, ResizeAxes(attrs, x.rank()));
  ctx.SetOutput(0, ctx.dtype(0), x);
  if (axes.empty()) return absl::OkStatus();

  const bool by_scales = Given(ctx, 2), by_sizes = Given(ctx, 3);
  if (!by_scales && !by_sizes) return Invalid("has neither scales nor sizes, expected one of them");
  const bool both_known = ctx.shape(2).Concrete() && ctx.shape(3).Concrete();
  if (by_scales && by_sizes && both_known) return Invalid("has scales and sizes, expected one of them");
  if (by_scales && by_sizes) {  // one may turn out to be empty
    ctx.SetOutput(0, ctx.dtype(0), ctx.FreshShape(x.rank()));
    return absl::OkStatus();
  }
  WEFT_RETURN_IF_ERROR(CheckOnePerAxis(ctx, by_scales ? 2 : 3, by_scales ? "scales" : "sizes", axes.size()));
  if (attrs.coordinate_transformation_mode == "tf_crop_and_resize") {
    if (!Given(ctx, 1)) return Invalid("has no roi, expected one with coordinate_transformation_mode tf_crop_and_resize");
    WEFT_RETURN_IF_ERROR(CheckOnePerAxis(ctx, 1, "roi", 2 * axes.size()));
  }
  if (by_scales && attrs.keep_aspect_ratio_policy != "stretch") {
    return Invalid("keep_aspect_ratio_policy is ", attrs.keep_aspect_ratio_policy, " with scales, expected stretch");
  }
  Shape out = x;
  const Tensor* scales = by_scales ? ctx.tensor(2) : nullptr;
  const std::vector<Dim>* sizes = by_sizes ? ctx.elements(3) : nullptr;
  if (scales != nullptr) {
    for (size_t i = 0; i < axes.size(); ++i) {
      WEFT_ASSIGN_OR_RETURN(out[axes[i]], ScaledDim(ctx, x[axes[i]], scales->data<const float>()[i]));
    }
  } else if (sizes != nullptr) {
    WEFT_RETURN_IF_ERROR(FromSizes(ctx, attrs, x, axes, *sizes, out));
  } else {
    for (int axis : axes) out[axis] = ctx.FreshDim();
  }
  ctx.SetOutput(0, ctx.dtype(0), std::move(out));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<int>> ResizeAxes(const ResizeAttrs& attrs, int rank) {
  std::vector<int> axes;
  for (int i = 0; attrs.axes.empty() && i < rank; ++i) axes.push_back(i);
  for (int64_t given : attrs.axes) {
    WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(given, rank, "a value of axes"));
    if (std::find(axes.begin(), axes.end(), axis) != axes.end()) return Invalid("axes names axis ", axis, " twice");
    axes.push_back(axis);
  }
  return axes;
}

double CommonScale(const ResizeAttrs& attrs, absl::Span<const int64_t> in, absl::Span<const int> axes, absl::Span<const int64_t> sizes) {
  double scale = 1;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t from = in[axes[i]];
    const double own = from == 0 ? 0 : static_cast<double>(sizes[i]) / static_cast<double>(from);
    const bool better = attrs.keep_aspect_ratio_policy == "not_larger" ? own < scale : own > scale;
    if (i == 0 || better) scale = own;
  }
  return scale;
}

constinit const Op ops::Resize = {.name = "Resize", .since_version = 19, .inputs = {1, 4}, .outputs = 1, .attrs = &kAttrSchema<ResizeAttrs>,
                                  .infer = &InferResize};

}  // namespace weft
