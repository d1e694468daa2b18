// AffineGrid, GridSample. A position of the grid becomes a list of elements and weights, which serves every channel.
#include "graph/ops/grid_sample.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/kernel.h"
#include "kernels/ref/complex.h"
#include "kernels/ref/cubic.h"
#include "kernels/ref/dispatch.h"
#include "kernels/ref/elements.h"

namespace weft {
namespace {

// ---- AffineGrid ----

// The middle of element i of `size` on an axis that reaches from -1 to 1; a single element lies in the middle.
template <class T>
T Middle(int64_t i, int64_t size, bool align_corners) {
  if (align_corners) return size == 1 ? T(0) : static_cast<T>(2 * i) / static_cast<T>(size - 1) - 1;
  return static_cast<T>(2 * i + 1) / static_cast<T>(size) - 1;
}

absl::Status RunAffineGrid(RunContext& ctx) {
  const bool align = ctx.attrs<AffineGridAttrs>().align_corners != 0;
  Tensor& out = ctx.output(0);  // [N,D1..Dn,n]
  const int n = out.rank() - 2;
  const int64_t batch = out.dim(0), positions = batch == 0 ? 0 : out.size() / (batch * n);
  return DispatchWide(out.dtype(), [&]<class T>() -> absl::Status {
    WEFT_ASSIGN_OR_RETURN(const Tensor theta, Widen<T>(ctx.input(0)));  // [N,n,n+1]
    ParallelFor(batch * positions, 16, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        T at[4] = {1, 1, 1, 1}, to[3];  // x, y (, z), 1
        int64_t rest = i % positions;
        for (int k = 0; k < n; ++k) {
          const int64_t size = out.dim(n - k);
          at[k] = Middle<T>(rest % size, size, align);
          rest /= size;
        }
        const T* matrix = theta.data<const T>() + i / positions * n * (n + 1);
        for (int row = 0; row < n; ++row) {
          to[row] = 0;
          for (int k = 0; k <= n; ++k) to[row] += matrix[row * (n + 1) + k] * at[k];
        }
        WriteElements(to, n, out, i * n);
      }
    });
    return absl::OkStatus();
  });
}

// ---- GridSample ----

enum class Sampling { kNearest, kLinear, kCubic };
enum class Padding { kZeros, kBorder, kReflection };

// Elements of one axis, and their weights.
struct AxisTaps {
  int count = 0;
  int64_t index[4];
  double weight[4];
};

// G: the type positions are computed in.
template <class G>
class Sampler {
 public:
  explicit Sampler(const GridSampleAttrs& attrs)
      : align_(attrs.align_corners != 0),
        sampling_(attrs.mode == "nearest" ? Sampling::kNearest : attrs.mode == "cubic" ? Sampling::kCubic : Sampling::kLinear),
        padding_(attrs.padding_mode == "border" ? Padding::kBorder : attrs.padding_mode == "reflection" ? Padding::kReflection : Padding::kZeros) {}

  // Elements of an axis that sampling at `place`, in [-1, 1] where it is inside, takes; outside ones that count as 0 are left out.
  AxisTaps Taps(G place, int64_t size) const {
    const G x = Inside(place, size), base = std::floor(x);
    const double f = x - base;
    const auto first = static_cast<int64_t>(base);
    AxisTaps taps;
    auto add = [&](int64_t index, double weight) {
      // An element of weight 0 is none: were it infinite, it would make NaN.
      if (weight == 0 || (padding_ == Padding::kZeros && (index < 0 || index >= size))) return;
      if (padding_ == Padding::kReflection) index = static_cast<int64_t>(Reflect(static_cast<double>(index), size));
      taps.index[taps.count] = std::clamp<int64_t>(index, 0, size - 1);
      taps.weight[taps.count++] = weight;
    };
    switch (sampling_) {
      case Sampling::kNearest: add(first, 1); break;
      case Sampling::kLinear:
        add(first, 1 - f);
        add(first + 1, f);
        break;
      case Sampling::kCubic:
        for (int k = -1; k <= 2; ++k) add(first + k, CubicWeight(f - k, -0.75));
    }
    return taps;
  }

 private:
  // Where the borders are, which reflect.
  double Low() const { return align_ ? 0 : -0.5; }
  double High(int64_t size) const { return static_cast<double>(size) - (align_ ? 1 : 0.5); }

  double Reflect(double x, int64_t size) const {
    const double range = High(size) - Low();
    if (range <= 0) return 0;
    double distance = std::fmod(x - Low(), 2 * range);
    if (distance < 0) distance += 2 * range;
    return Low() + std::min(distance, 2 * range - distance);
  }

  // The place as an index of the axis, moved inside as the padding has it.
  G Inside(G place, int64_t size) const {
    const auto n = static_cast<G>(size);
    G x = align_ ? (place + 1) / 2 * (n - 1) : ((place + 1) * n - 1) / 2;
    // Farther out is as far; so is what is no number.
    constexpr G kFar = 0x1p40;
    x = x > -kFar ? std::min(x, kFar) : -kFar;
    if (sampling_ == Sampling::kNearest) x = std::nearbyint(x);
    if (padding_ == Padding::kZeros || (x >= Low() && x <= High(size))) return x;
    // As PyTorch and ONNX Runtime have it, a cubic curve runs on through border values.
    if (padding_ == Padding::kBorder && sampling_ == Sampling::kCubic) return x;
    return padding_ == Padding::kBorder ? std::clamp<G>(x, 0, n - 1) : static_cast<G>(Reflect(x, size));
  }

  bool align_;
  Sampling sampling_;
  Padding padding_;
};

// The types of sums and of weights in them.
template <class T>
struct SumOf { using Sum = double; using Weight = double; };
template <>
struct SumOf<float> { using Sum = float; using Weight = float; };
template <>
struct SumOf<Float16> : SumOf<float> {};
template <>
struct SumOf<BFloat16> : SumOf<float> {};
template <class T>
struct SumOf<std::complex<T>> { using Sum = std::complex<T>; using Weight = T; };

// Integers are cut, and stay inside their type.
template <class T, class Sum>
T FromSum(Sum sum) {
  if constexpr (std::is_integral_v<T>) {
    using Limits = std::numeric_limits<T>;
    if (sum >= static_cast<Sum>(Limits::max())) return Limits::max();
    if (sum <= static_cast<Sum>(Limits::lowest())) return Limits::lowest();
  }
  return static_cast<T>(sum);
}

// Calls value(to, from, offsets, weights) for each element of Y: `from` is the first element of the sample's channel.
template <class G, class T, class Fn>
void Sample(const GridSampleAttrs& attrs, const Tensor& x, const Tensor& grid, Tensor& out, Fn value) {
  const Sampler<G> sampler(attrs);
  const int r = x.rank() - 2;
  const int64_t batch = x.dim(0), channels = x.dim(1);
  const int64_t size = Product(absl::MakeConstSpan(x.dims()).subspan(2)), positions = Product(absl::MakeConstSpan(out.dims()).subspan(2));
  ParallelFor(batch * positions, (channels + 4) * 16, [&](int64_t begin, int64_t end) {
    std::vector<int64_t> offsets, next_offsets;
    std::vector<double> weights, next_weights;
    std::vector<G> place(r);
    for (int64_t i = begin; i < end; ++i) {
      ReadElements(grid, i * r, r, place.data());
      offsets = {0};
      weights = {1};
      // The grid names the innermost axis first.
      for (int axis = 0; axis < r; ++axis) {
        const int64_t axis_size = x.dim(axis + 2);
        const AxisTaps taps = sampler.Taps(place[r - 1 - axis], axis_size);
        next_offsets.clear();
        next_weights.clear();
        for (size_t k = 0; k < offsets.size(); ++k) {
          for (int tap = 0; tap < taps.count; ++tap) {
            next_offsets.push_back(offsets[k] * axis_size + taps.index[tap]);
            next_weights.push_back(weights[k] * taps.weight[tap]);
          }
        }
        offsets.swap(next_offsets);
        weights.swap(next_weights);
      }
      const int64_t n = i / positions, at = i % positions;
      for (int64_t c = n * channels; c < (n + 1) * channels; ++c) {
        value(out.data<T>()[c * positions + at], x.data<const T>() + c * size, offsets, weights);
      }
    }
  });
}

absl::Status RunGridSample(RunContext& ctx) {
  const auto& attrs = ctx.attrs<GridSampleAttrs>();
  const Tensor &x = ctx.input(0), &grid = ctx.input(1);
  Tensor& out = ctx.output(0);
  if (out.size() == 0) return absl::OkStatus();
  if (x.size() == 0) return Invalid("X has shape ", DimsToString(x.dims()), ": there is nothing to sample");
  return DispatchWide(grid.dtype(), [&]<class G>() {
    if (attrs.mode == "nearest") {
      return DispatchSize(x.dtype(), [&]<class T>() {
        Sample<G, T>(attrs, x, grid, out, [](T& to, const T* from, const auto& offsets, const auto&) {
          to = offsets.empty() ? T() : from[offsets.front()];
        });
        return absl::OkStatus();
      });
    }
    return DispatchNumericOrComplex(x.dtype(), [&]<class T>() {
      using Sum = typename SumOf<T>::Sum;
      using Weight = typename SumOf<T>::Weight;
      Sample<G, T>(attrs, x, grid, out, [](T& to, const T* from, const auto& offsets, const auto& weights) {
        Sum sum = 0;
        for (size_t k = 0; k < offsets.size(); ++k) sum += static_cast<Weight>(weights[k]) * static_cast<Sum>(from[offsets[k]]);
        to = FromSum<T>(sum);
      });
      return absl::OkStatus();
    });
  });
}

}  // namespace

absl::Span<const Kernel> RefGridSample() {
  static constexpr Kernel kernels[] = {
      {.op = &ops::AffineGrid, .name = "ref", .run = &RunAffineGrid},
      {.op = &ops::GridSample, .name = "ref", .run = &RunGridSample},
  };
  return kernels;
}

}  // namespace weft
