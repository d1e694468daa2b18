// Reductions, ArgMax and ArgMin, running sums and products, Softmax and its kin.
#include "graph/ops/reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/kernel.h"
#include "kernels/ref/dispatch.h"
#include "kernels/ref/strided.h"

namespace weft {
namespace {

// The accumulator of T: wide enough that float16 sums do not round at each step, and wrapping for integers.
template <class T>
using Accumulator = std::conditional_t<std::is_integral_v<T>, std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>,
                                       std::conditional_t<std::is_same_v<T, double>, double, float>>;

// The axes to reduce: `count` strided elements for each output; offsets of outputs and of the elements within one.
struct ReducePlan {
  Dims kept_dims, kept_strides, reduced_dims, reduced_strides;
  int64_t outputs = 1, count = 1;
};

absl::StatusOr<std::optional<ReducePlan>> PlanReduce(const RunContext& ctx) {
  const Tensor& in = ctx.input(0);
  const auto& attrs = ctx.attrs<ReduceAttrs>();
  std::vector<bool> reduced(in.rank(), false);
  bool any = false;
  if (ctx.HasInput(1)) {
    const Tensor& axes = ctx.input(1);
    for (int64_t i = 0; i < axes.size(); ++i) {
      const int64_t given = axes.dtype() == DType::kInt32 ? axes.data<int32_t>()[i] : axes.data<int64_t>()[i];
      WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(given, in.rank(), "an axis"));
      reduced[axis] = any = true;
    }
  }
  if (!any && attrs.noop_with_empty_axes != 0) return std::optional<ReducePlan>();
  if (!any) reduced.assign(in.rank(), true);
  ReducePlan plan;
  const Dims strides = StridesOf(in.dims());
  auto add = [](Dims& dims, Dims& merged_strides, int64_t dim, int64_t stride) {
    if (dim == 1) return;
    if (!dims.empty() && merged_strides.back() == stride * dim) {
      dims.back() *= dim;
      merged_strides.back() = stride;
    } else {
      dims.push_back(dim);
      merged_strides.push_back(stride);
    }
  };
  for (int axis = 0; axis < in.rank(); ++axis) {
    if (reduced[axis]) add(plan.reduced_dims, plan.reduced_strides, in.dim(axis), strides[axis]);
    else add(plan.kept_dims, plan.kept_strides, in.dim(axis), strides[axis]);
    (reduced[axis] ? plan.count : plan.outputs) *= in.dim(axis);
  }
  return std::optional(std::move(plan));
}

int64_t OffsetOf(int64_t index, const Dims& dims, const Dims& strides) {
  int64_t offset = 0;
  for (auto axis = static_cast<int>(dims.size()) - 1; axis >= 0; --axis) {
    offset += index % dims[axis] * strides[axis];
    index /= dims[axis];
  }
  return offset;
}

// visit(pointer, stride, n) for each run of the elements that reduce to one output.
template <class T, class Visit>
void VisitRuns(const T* base, const ReducePlan& plan, Visit visit) {
  if (plan.count == 0) return;
  if (plan.reduced_dims.empty()) return visit(base, int64_t{0}, int64_t{1});
  const int64_t n = plan.reduced_dims.back(), stride = plan.reduced_strides.back();
  const int64_t runs = plan.count / n;
  const Dims outer(plan.reduced_dims.begin(), plan.reduced_dims.end() - 1);
  const Dims outer_strides(plan.reduced_strides.begin(), plan.reduced_strides.end() - 1);
  for (int64_t r = 0; r < runs; ++r) visit(base + OffsetOf(r, outer, outer_strides), stride, n);
}

// Sums of pairs of halves keep the rounding error small and let the compiler use several lanes.
template <class A, class T, class Map>
A PairwiseSum(const T* x, int64_t stride, int64_t n, Map map) {
  constexpr int64_t kRun = 128;
  if (n > kRun) {
    const int64_t half = n / 2 / 8 * 8;
    return PairwiseSum<A>(x, stride, half, map) + PairwiseSum<A>(x + half * stride, stride, n - half, map);
  }
  A lanes[8] = {};
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (int64_t k = 0; k < 8; ++k) lanes[k] += map(x[(i + k) * stride]);
  }
  for (int64_t k = 0; i < n; ++i, ++k) lanes[k] += map(x[i * stride]);
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

struct SumOp {
  template <class A> static A Map(A x) { return x; }
  template <class A> static A Finish(A sum, int64_t) { return sum; }
};
struct MeanOp : SumOp {
  template <class A> static A Finish(A sum, int64_t n) {
    if constexpr (std::is_integral_v<A>) return n == 0 ? 0 : sum / static_cast<A>(n);
    else return sum / static_cast<A>(n);
  }
};
struct L1Op : SumOp {
  template <class A> static A Map(A x) { return x < 0 ? A(0) - x : x; }
};
struct SumSquareOp : SumOp {
  template <class A> static A Map(A x) { return x * x; }
};
struct L2Op : SumSquareOp {
  template <class A> static A Finish(A sum, int64_t) { return static_cast<A>(std::sqrt(static_cast<std::conditional_t<std::is_integral_v<A>, double, A>>(sum))); }
};
struct LogSumOp : SumOp {
  template <class A> static A Finish(A sum, int64_t) { return static_cast<A>(std::log(static_cast<std::conditional_t<std::is_integral_v<A>, double, A>>(sum))); }
};

// With no axes to reduce the op is still applied to each element (ReduceSumSquare squares, ReduceMean does nothing).
absl::Status CopyInput(RunContext& ctx) {
  return DispatchSize(ctx.input(0).dtype(), [&]<class T>() {
    std::copy_n(ctx.input(0).data<T>(), ctx.input(0).size(), ctx.output(0).data<T>());
    return absl::OkStatus();
  });
}

template <class T, class Fn>
void ReduceEach(RunContext& ctx, const ReducePlan& plan, Fn fn) {
  const T* in = ctx.input(0).data<T>();
  T* out = ctx.output(0).data<T>();
  ParallelFor(plan.outputs, plan.count, [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o) out[o] = fn(in + OffsetOf(o, plan.kept_dims, plan.kept_strides));
  });
}

template <class S>
absl::Status RunSumLike(RunContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const std::optional<ReducePlan> plan, PlanReduce(ctx));
  if (!plan) return CopyInput(ctx);
  return DispatchNumeric(ctx.input(0).dtype(), [&]<class T>() {
    using A = Accumulator<T>;
    using W = std::conditional_t<std::is_integral_v<A>, uint64_t, A>;  // integers wrap around
    ReduceEach<T>(ctx, *plan, [&](const T* base) {
      W sum = 0;
      VisitRuns(base, *plan, [&](const T* x, int64_t stride, int64_t n) {
        sum += PairwiseSum<W>(x, stride, n, [](T v) { return static_cast<W>(S::template Map<A>(static_cast<A>(v))); });
      });
      return T(S::template Finish<A>(static_cast<A>(sum), plan->count));
    });
    return absl::OkStatus();
  });
}

absl::Status RunReduceProd(RunContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const std::optional<ReducePlan> plan, PlanReduce(ctx));
  if (!plan) return CopyInput(ctx);
  return DispatchNumeric(ctx.input(0).dtype(), [&]<class T>() {
    using A = Accumulator<T>;
    using W = std::conditional_t<std::is_integral_v<A>, uint64_t, A>;
    ReduceEach<T>(ctx, *plan, [&](const T* base) {
      W product = 1;
      VisitRuns(base, *plan, [&](const T* x, int64_t stride, int64_t n) {
        for (int64_t i = 0; i < n; ++i) product *= static_cast<W>(static_cast<A>(x[i * stride]));
      });
      return T(static_cast<A>(product));
    });
    return absl::OkStatus();
  });
}

// log(sum(exp(x))) by way of the largest element, so that no exponential overflows.
absl::Status RunLogSumExp(RunContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const std::optional<ReducePlan> plan, PlanReduce(ctx));
  if (!plan) return CopyInput(ctx);
  return DispatchNumeric(ctx.input(0).dtype(), [&]<class T>() {
    using C = std::conditional_t<std::is_integral_v<T> || std::is_same_v<T, double>, double, float>;
    ReduceEach<T>(ctx, *plan, [&](const T* base) {
      C largest = -std::numeric_limits<C>::infinity(), sum = 0;
      VisitRuns(base, *plan, [&](const T* x, int64_t stride, int64_t n) {
        for (int64_t i = 0; i < n; ++i) largest = std::max(largest, static_cast<C>(x[i * stride]));
      });
      const C shift = std::isfinite(largest) ? largest : C(0);
      VisitRuns(base, *plan, [&](const T* x, int64_t stride, int64_t n) {
        for (int64_t i = 0; i < n; ++i) sum += std::exp(static_cast<C>(x[i * stride]) - shift);
      });
      return static_cast<T>(std::log(sum) + shift);
    });
    return absl::OkStatus();
  });
}

// Of nothing: the smallest value for a maximum, the largest for a minimum (infinities where the type has them). NaN wins.
template <bool kMax>
absl::Status RunReduceExtreme(RunContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const std::optional<ReducePlan> plan, PlanReduce(ctx));
  if (!plan) return CopyInput(ctx);
  auto reduce = [&]<class T>() {
    using C = Compute<T>;
    using L = std::numeric_limits<C>;
    constexpr C kStart = L::has_infinity ? (kMax ? -L::infinity() : L::infinity()) : (kMax ? L::lowest() : L::max());
    ReduceEach<T>(ctx, *plan, [&](const T* base) {
      C best = kStart;
      VisitRuns(base, *plan, [&](const T* x, int64_t stride, int64_t n) {
        for (int64_t i = 0; i < n; ++i) {
          const C v = static_cast<C>(x[i * stride]);
          if constexpr (std::is_floating_point_v<C>) {
            if (std::isnan(best)) continue;
            if (std::isnan(v) || (kMax ? v > best : v < best)) best = v;
          } else if (kMax ? v > best : v < best) {
            best = v;
          }
        }
      });
      return T(best);
    });
    return absl::OkStatus();
  };
  if (ctx.input(0).dtype() != DType::kBool) return DispatchNumeric(ctx.input(0).dtype(), reduce);
  ReduceEach<uint8_t>(ctx, *plan, [&](const uint8_t* base) {
    uint8_t best = kMax ? 0 : 1;
    VisitRuns(base, *plan, [&](const uint8_t* x, int64_t stride, int64_t n) {
      for (int64_t i = 0; i < n; ++i) best = kMax ? std::max<uint8_t>(best, x[i * stride] != 0) : std::min<uint8_t>(best, x[i * stride] != 0);
    });
    return best;
  });
  return absl::OkStatus();
}

// A tensor as [outer, dim, inner] around an axis.
struct AxisView {
  int64_t outer = 1, dim = 1, inner = 1;
  AxisView(const Dims& dims, int axis) {
    for (int i = 0; i < static_cast<int>(dims.size()); ++i) (i < axis ? outer : i == axis ? dim : inner) *= dims[i];
  }
};

// The first NaN counts as the extreme, as in numpy.
template <bool kMax>
absl::Status RunArg(RunContext& ctx) {
  const auto& attrs = ctx.attrs<ArgAttrs>();
  const Tensor& in = ctx.input(0);
  WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(attrs.axis, in.rank()));
  const AxisView view(in.dims(), axis);
  const bool last = attrs.select_last_index != 0;
  return DispatchNumeric(in.dtype(), [&]<class T>() {
    using C = Compute<T>;
    const T* x = in.data<T>();
    int64_t* out = ctx.output(0).data<int64_t>();
    ParallelFor(view.outer * view.inner, view.dim, [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o) {
        const T* base = x + o / view.inner * view.dim * view.inner + o % view.inner;
        C best = static_cast<C>(base[0]);
        int64_t at = 0;
        for (int64_t i = 1; i < view.dim; ++i) {
          const C v = static_cast<C>(base[i * view.inner]);
          bool better = kMax ? v > best : v < best;
          if constexpr (std::is_floating_point_v<C>) {
            if (std::isnan(best)) break;
            better |= std::isnan(v);
          }
          if (better || (last && v == best)) {
            best = v;
            at = i;
          }
        }
        out[o] = at;
      }
    });
    return absl::OkStatus();
  });
}

template <bool kProduct>
absl::Status RunCum(RunContext& ctx) {
  const auto& attrs = ctx.attrs<CumAttrs>();
  const Tensor &in = ctx.input(0), &axis_tensor = ctx.input(1);
  if (axis_tensor.size() != 1) return Invalid("input 1 (axis) has ", axis_tensor.size(), " elements, expected 1");
  const int64_t given = axis_tensor.dtype() == DType::kInt32 ? *axis_tensor.data<int32_t>() : *axis_tensor.data<int64_t>();
  WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(given, in.rank()));
  const AxisView view(in.dims(), axis);
  const bool exclusive = attrs.exclusive != 0, reverse = attrs.reverse != 0;
  return DispatchNumeric(in.dtype(), [&]<class T>() {
    using A = Accumulator<T>;
    using W = std::conditional_t<std::is_integral_v<A>, uint64_t, A>;
    const T* x = in.data<T>();
    T* y = ctx.output(0).data<T>();
    ParallelFor(view.outer * view.inner, view.dim, [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o) {
        const int64_t base = o / view.inner * view.dim * view.inner + o % view.inner;
        W total = kProduct ? 1 : 0;
        for (int64_t k = 0; k < view.dim; ++k) {
          const int64_t i = base + (reverse ? view.dim - 1 - k : k) * view.inner;
          const W before = total;
          const W v = static_cast<W>(static_cast<A>(x[i]));
          total = kProduct ? total * v : total + v;
          y[i] = T(static_cast<A>(exclusive ? before : total));
        }
      }
    });
    return absl::OkStatus();
  });
}

enum class SoftmaxKind { kSoftmax, kLog, kHard };

template <class T, SoftmaxKind kKind>
void SoftmaxRow(const T* x, T* y, int64_t n, int64_t stride) {
  using C = Compute<T>;
  C largest = static_cast<C>(x[0]);
  int64_t first = 0;
  for (int64_t i = 1; i < n; ++i) {
    const C v = static_cast<C>(x[i * stride]);
    if (v > largest) {
      largest = v;
      first = i;
    }
  }
  if constexpr (kKind == SoftmaxKind::kHard) {
    for (int64_t i = 0; i < n; ++i) y[i * stride] = T(static_cast<C>(i == first));
    return;
  } else {
    C sum = 0;
    if constexpr (kKind == SoftmaxKind::kSoftmax && std::is_same_v<T, C>) {
      for (int64_t i = 0; i < n; ++i) sum += y[i * stride] = std::exp(x[i * stride] - largest);
      const C scale = 1 / sum;
      for (int64_t i = 0; i < n; ++i) y[i * stride] *= scale;
    } else if constexpr (kKind == SoftmaxKind::kSoftmax) {
      // Each step is rounded to the 16-bit type, as by the ops of the specification's function body; but a sum that such a type
      // has no room for stays as it is.
      auto exponential = [&](int64_t i) { return C(T(std::exp(C(T(static_cast<C>(x[i * stride]) - largest))))); };
      for (int64_t i = 0; i < n; ++i) sum += exponential(i);
      if (const C rounded = C(T(sum)); std::isfinite(rounded)) sum = rounded;
      for (int64_t i = 0; i < n; ++i) y[i * stride] = T(exponential(i) / sum);
    } else {
      for (int64_t i = 0; i < n; ++i) sum += std::exp(static_cast<C>(x[i * stride]) - largest);
      const C log_sum = std::log(sum);
      for (int64_t i = 0; i < n; ++i) y[i * stride] = T(static_cast<C>(x[i * stride]) - largest - log_sum);
    }
  }
}

template <SoftmaxKind kKind>
absl::Status RunSoftmax(RunContext& ctx) {
  const Tensor& in = ctx.input(0);
  int axis = 0;
  if (in.rank() > 0) {
    WEFT_ASSIGN_OR_RETURN(axis, InferContext::NormalizeAxis(ctx.attrs<SoftmaxAttrs>().axis, in.rank()));
  }
  const AxisView view(in.dims(), axis);
  if (in.size() == 0) return absl::OkStatus();
  return DispatchFloat(in.dtype(), [&]<class T>() {
    const T* x = in.data<T>();
    T* y = ctx.output(0).data<T>();
    ParallelFor(view.outer * view.inner, view.dim * 20, [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o) {
        const int64_t base = o / view.inner * view.dim * view.inner + o % view.inner;
        SoftmaxRow<T, kKind>(x + base, y + base, view.dim, view.inner);
      }
    });
    return absl::OkStatus();
  });
}

constexpr Kernel kKernels[] = {
    {.op = &ops::ReduceSum, .name = "ref", .run = &RunSumLike<SumOp>},
    {.op = &ops::ReduceMean, .name = "ref", .run = &RunSumLike<MeanOp>},
    {.op = &ops::ReduceL1, .name = "ref", .run = &RunSumLike<L1Op>},
    {.op = &ops::ReduceL2, .name = "ref", .run = &RunSumLike<L2Op>},
    {.op = &ops::ReduceLogSum, .name = "ref", .run = &RunSumLike<LogSumOp>},
    {.op = &ops::ReduceSumSquare, .name = "ref", .run = &RunSumLike<SumSquareOp>},
    {.op = &ops::ReduceLogSumExp, .name = "ref", .run = &RunLogSumExp},
    {.op = &ops::ReduceProd, .name = "ref", .run = &RunReduceProd},
    {.op = &ops::ReduceMax, .name = "ref", .run = &RunReduceExtreme<true>},
    {.op = &ops::ReduceMin, .name = "ref", .run = &RunReduceExtreme<false>},
    {.op = &ops::ArgMax, .name = "ref", .run = &RunArg<true>},
    {.op = &ops::ArgMin, .name = "ref", .run = &RunArg<false>},
    {.op = &ops::CumSum, .name = "ref", .run = &RunCum<false>},
    {.op = &ops::CumProd, .name = "ref", .run = &RunCum<true>},
    {.op = &ops::Softmax, .name = "ref", .run = &RunSoftmax<SoftmaxKind::kSoftmax>},
    {.op = &ops::LogSoftmax, .name = "ref", .run = &RunSoftmax<SoftmaxKind::kLog>},
    {.op = &ops::Hardmax, .name = "ref", .run = &RunSoftmax<SoftmaxKind::kHard>},
};

}  // namespace

absl::Span<const Kernel> RefReduce() { return kKernels; }

}  // namespace weft
