// Ops that view, cut, join and repeat tensors: elements are moved by their size, whatever they mean.
#include "graph/ops/shape.h"

#include <algorithm>
#include <vector>

#include "kernels/kernel.h"
#include "kernels/ref/dispatch.h"
#include "kernels/ref/strided.h"

namespace weft {
namespace {

// Views that the executor cannot alias (the oracle's path): a copy of the elements; a sequence or optional passes as it is.
absl::Status RunView(RunContext& ctx) {
  if (!ctx.input_value(0).is_tensor()) {
    ctx.SetOutput(0, ctx.input_value(0));
    return absl::OkStatus();
  }
  return DispatchSize(ctx.input(0).dtype(), [&]<class T>() {
    std::copy_n(ctx.input(0).data<T>(), ctx.input(0).size(), ctx.output(0).data<T>());
    return absl::OkStatus();
  });
}

absl::Status RunShape(RunContext& ctx) {
  const auto& attrs = ctx.attrs<ShapeAttrs>();
  const Dims& dims = ctx.input(0).dims();
  const auto rank = static_cast<int64_t>(dims.size());
  auto clamp = [rank](int64_t bound) { return std::clamp(bound < 0 ? std::max(bound, -rank - 1) + rank : bound, int64_t{0}, rank); };
  const int64_t start = clamp(attrs.start), end = attrs.end ? clamp(*attrs.end) : rank;
  std::copy(dims.begin() + start, dims.begin() + std::max(start, end), ctx.output(0).data<int64_t>());
  return absl::OkStatus();
}

absl::Status RunSize(RunContext& ctx) {
  *ctx.output(0).data<int64_t>() = ctx.input(0).size();
  return absl::OkStatus();
}

absl::Status RunConstantOfShape(RunContext& ctx) {
  const auto& value = ctx.attrs<ConstantOfShapeAttrs>().value;
  Tensor& out = ctx.output(0);
  if (!value) {
    std::fill_n(out.data<float>(), out.size(), 0.0f);
    return absl::OkStatus();
  }
  return DispatchSize(out.dtype(), [&]<class T>() {
    std::fill_n(out.data<T>(), out.size(), *value->data<T>());
    return absl::OkStatus();
  });
}

absl::Status RunTranspose(RunContext& ctx) {
  const Tensor& in = ctx.input(0);
  const Dims from = StridesOf(in.dims());
  Dims strides;
  for (int64_t axis : PermOf(ctx.attrs<TransposeAttrs>(), in.rank())) strides.push_back(from[axis]);
  return DispatchSize(in.dtype(), [&]<class T>() {
    CopyStrided(in.data<T>(), ctx.output(0).dims(), strides, ctx.output(0).data<T>());
    return absl::OkStatus();
  });
}

// Products of the dims in front of and behind an axis.
struct AroundAxis {
  int64_t outer = 1, inner = 1;
  AroundAxis(const Dims& dims, int axis) {
    for (int i = 0; i < static_cast<int>(dims.size()); ++i) {
      if (i < axis) outer *= dims[i];
      if (i > axis) inner *= dims[i];
    }
  }
};

absl::Status RunConcat(RunContext& ctx) {
  Tensor& out = ctx.output(0);
  WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(ctx.attrs<ConcatAttrs>().axis, out.rank()));
  const AroundAxis around(out.dims(), axis);
  return DispatchSize(out.dtype(), [&]<class T>() {
    const int64_t step = out.dim(axis) * around.inner;
    T* to = out.data<T>();
    for (int i = 0; i < ctx.num_inputs(); ++i) {
      const int64_t count = ctx.input(i).dim(axis) * around.inner;
      CopyRows(ctx.input(i).data<T>(), count, to, step, around.outer, count);
      to += count;
    }
    return absl::OkStatus();
  });
}

absl::Status RunSplit(RunContext& ctx) {
  const Tensor& in = ctx.input(0);
  WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(ctx.attrs<SplitAttrs>().axis, in.rank()));
  const AroundAxis around(in.dims(), axis);
  // The sizes of all outputs place each of them, also where one before it is not asked for.
  std::vector<int64_t> sizes(ctx.num_outputs());
  if (ctx.HasInput(1)) {
    std::copy_n(ctx.input(1).data<int64_t>(), sizes.size(), sizes.begin());
  } else {
    const int64_t whole = in.dim(axis), parts = ctx.num_outputs(), chunk = whole / parts + (whole % parts != 0);
    int64_t left = whole;
    for (int64_t& size : sizes) left -= size = std::min(left, chunk);
  }
  return DispatchSize(in.dtype(), [&]<class T>() {
    const T* from = in.data<T>();
    for (int i = 0; i < ctx.num_outputs(); ++i) {
      const int64_t count = sizes[i] * around.inner;
      if (ctx.HasOutput(i)) CopyRows(from, in.dim(axis) * around.inner, ctx.output(i).data<T>(), count, around.outer, count);
      from += count;
    }
    return absl::OkStatus();
  });
}

// int32 or int64 elements as int64.
std::vector<int64_t> ReadInts(const Tensor& tensor) {
  if (tensor.dtype() == DType::kInt32) return {tensor.data<int32_t>(), tensor.data<int32_t>() + tensor.size()};
  return {tensor.data<int64_t>(), tensor.data<int64_t>() + tensor.size()};
}

absl::Status RunSlice(RunContext& ctx) {
  const Tensor& in = ctx.input(0);
  const std::vector<int64_t> starts = ReadInts(ctx.input(1)), ends = ReadInts(ctx.input(2));
  Dims strides = StridesOf(in.dims());
  int64_t offset = 0;
  for (size_t i = 0; i < starts.size(); ++i) {
    const int64_t given = ctx.HasInput(3) ? ReadInts(ctx.input(3))[i] : static_cast<int64_t>(i);
    WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(given, in.rank(), "an axis"));
    const int64_t step = ctx.HasInput(4) ? ReadInts(ctx.input(4))[i] : 1;
    const SliceRange range = ResolveSlice(starts[i], ends[i], step, in.dim(axis));
    offset += range.begin * strides[axis];
    strides[axis] = range.count > 1 ? strides[axis] * step : 0;
  }
  return DispatchSize(in.dtype(), [&]<class T>() {
    if (ctx.output(0).size() > 0) CopyStrided(in.data<T>() + offset, ctx.output(0).dims(), strides, ctx.output(0).data<T>());
    return absl::OkStatus();
  });
}

absl::Status RunGather(RunContext& ctx) {
  const Tensor& data = ctx.input(0);
  WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(ctx.attrs<GatherAttrs>().axis, data.rank()));
  std::vector<int64_t> indices = ReadInts(ctx.input(1));
  const int64_t dim = data.dim(axis);
  for (int64_t& i : indices) {
    if (i < -dim || i >= dim) return Invalid("index ", i, " is out of range on axis ", axis, " of size ", dim, ", expected a value in [", -dim, ", ", dim - 1, "]");
    if (i < 0) i += dim;
  }
  const AroundAxis around(data.dims(), axis);
  const auto count = static_cast<int64_t>(indices.size());
  return DispatchSize(data.dtype(), [&]<class T>() {
    const T* from = data.data<T>();
    T* to = ctx.output(0).data<T>();
    ParallelFor(around.outer * count, around.inner, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        std::copy_n(from + (k / count * dim + indices[k % count]) * around.inner, around.inner, to + k * around.inner);
      }
    });
    return absl::OkStatus();
  });
}

absl::Status RunExpand(RunContext& ctx) {
  const Tensor& in = ctx.input(0);
  Tensor& out = ctx.output(0);
  const Dims from = StridesOf(in.dims());
  Dims strides(out.rank(), 0);
  const int offset = out.rank() - in.rank();
  for (int axis = 0; axis < in.rank(); ++axis) strides[offset + axis] = in.dim(axis) == 1 ? 0 : from[axis];
  return DispatchSize(in.dtype(), [&]<class T>() {
    CopyStrided(in.data<T>(), out.dims(), strides, out.data<T>());
    return absl::OkStatus();
  });
}

absl::Status RunTile(RunContext& ctx) {
  const Tensor& in = ctx.input(0);
  Tensor& out = ctx.output(0);
  // Each axis of size repeat * dim is two: a repeated one of stride 0, and the input's own.
  const Dims from = StridesOf(in.dims());
  Dims dims, strides;
  for (int axis = 0; axis < in.rank(); ++axis) {
    if (in.dim(axis) == 0) return absl::OkStatus();
    dims.push_back(out.dim(axis) / in.dim(axis));
    strides.push_back(0);
    dims.push_back(in.dim(axis));
    strides.push_back(from[axis]);
  }
  return DispatchSize(in.dtype(), [&]<class T>() {
    if (out.size() > 0) CopyStrided(in.data<T>(), dims, strides, out.data<T>());
    return absl::OkStatus();
  });
}

// For each place along a padded axis, where its element comes from; -1: the constant.
std::vector<int64_t> PadMap(const std::string& mode, int64_t dim, int64_t begin, int64_t out_dim) {
  std::vector<int64_t> map(out_dim);
  for (int64_t i = 0; i < out_dim; ++i) {
    const int64_t at = i - begin;
    if (at >= 0 && at < dim) {
      map[i] = at;
    } else if (mode == "edge") {
      map[i] = std::clamp<int64_t>(at, 0, dim - 1);
    } else if (mode == "wrap") {
      map[i] = ((at % dim) + dim) % dim;
    } else if (mode == "reflect") {
      const int64_t period = std::max<int64_t>(2 * (dim - 1), 1), folded = ((at % period) + period) % period;
      map[i] = std::min(folded, period - folded);
    } else {
      map[i] = -1;
    }
  }
  return map;
}

template <class T>
void PadElements(const Tensor& in, Tensor& out, const std::vector<std::vector<int64_t>>& maps, const T& fill) {
  const int rank = out.rank();
  const T* from = in.data<T>();
  T* to = out.data<T>();
  if (rank == 0) {
    *to = *from;
    return;
  }
  const Dims strides = StridesOf(in.dims());
  const int64_t row = out.dim(rank - 1);
  const std::vector<int64_t>& inner = maps[rank - 1];
  ParallelFor(row == 0 ? 0 : out.size() / row, row, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      int64_t rest = r, source = 0;
      bool inside = true;
      for (int axis = rank - 2; axis >= 0; --axis) {
        const int64_t at = maps[axis][rest % out.dim(axis)];
        rest /= out.dim(axis);
        inside &= at >= 0;
        source += at * strides[axis];
      }
      T* q = to + r * row;
      for (int64_t i = 0; i < row; ++i) q[i] = inside && inner[i] >= 0 ? from[source + inner[i]] : fill;
    }
  });
}

absl::Status RunPad(RunContext& ctx) {
  const Tensor& in = ctx.input(0);
  Tensor& out = ctx.output(0);
  const std::string& mode = ctx.attrs<PadAttrs>().mode;
  const std::vector<int64_t> pads = ReadInts(ctx.input(1));
  std::vector<int64_t> begins(in.rank(), 0);
  const auto count = static_cast<int64_t>(pads.size() / 2);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t given = ctx.HasInput(3) ? ReadInts(ctx.input(3))[i] : i;
    WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(given, in.rank(), "an axis"));
    begins[axis] = pads[i];
  }
  std::vector<std::vector<int64_t>> maps;
  for (int axis = 0; axis < in.rank(); ++axis) {
    if (mode != "constant" && in.dim(axis) == 0 && out.dim(axis) > 0) return Invalid("axis ", axis, " is empty: mode '", mode, "' has nothing to repeat");
    maps.push_back(PadMap(mode, in.dim(axis), begins[axis], out.dim(axis)));
  }
  return DispatchSize(in.dtype(), [&]<class T>() -> absl::Status {
    T fill{};
    if (ctx.HasInput(2) && ctx.input(2).size() != 1) return Invalid("input 2 (constant_value) has ", ctx.input(2).size(), " elements, expected 1");
    if (ctx.HasInput(2)) fill = *ctx.input(2).data<T>();
    PadElements<T>(in, out, maps, fill);
    return absl::OkStatus();
  });
}

constexpr Kernel kKernels[] = {
    {.op = &ops::Identity, .name = "ref", .run = &RunView},
    {.op = &ops::Reshape, .name = "ref", .run = &RunView},
    {.op = &ops::Flatten, .name = "ref", .run = &RunView},
    {.op = &ops::Squeeze, .name = "ref", .run = &RunView},
    {.op = &ops::Unsqueeze, .name = "ref", .run = &RunView},
    {.op = &ops::Shape, .name = "ref", .run = &RunShape},
    {.op = &ops::Size, .name = "ref", .run = &RunSize},
    {.op = &ops::ConstantOfShape, .name = "ref", .run = &RunConstantOfShape},
    {.op = &ops::Transpose, .name = "ref", .run = &RunTranspose},
    {.op = &ops::Concat, .name = "ref", .run = &RunConcat},
    {.op = &ops::Split, .name = "ref", .run = &RunSplit},
    {.op = &ops::Slice, .name = "ref", .run = &RunSlice},
    {.op = &ops::Gather, .name = "ref", .run = &RunGather},
    {.op = &ops::Expand, .name = "ref", .run = &RunExpand},
    {.op = &ops::Tile, .name = "ref", .run = &RunTile},
    {.op = &ops::Pad, .name = "ref", .run = &RunPad},
};

}  // namespace

absl::Span<const Kernel> RefShape() { return kKernels; }

}  // namespace weft
