// MaxRoiPool, RoiAlign (ONNX Operators.md, opset 22).
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "graph/op.h"
#include "graph/ops/pool.h"
#include "kernels/kernel.h"
#include "kernels/ref/elements.h"

namespace weft {
namespace {

absl::Status CheckBatchIndex(double index, int64_t batches, std::string_view operand) {
  if (index >= 0 && index < static_cast<double>(batches)) return absl::OkStatus();
  return Invalid("input ", operand, " contains batch index ", index, ", expected one in [0, ", batches - 1, "]");
}

constexpr double kFar = 1e12;  // beyond every pixel; stands for infinity and NaN too

// Pixels [first, last) of a bin, inside [0, size).
struct Bin {
  int64_t first, last;
};

// Bin `i` of `bins` over the pixels from `start` to `end` (both included, at least one), each rounded to a pixel.
Bin PixelBin(double start, double end, int64_t i, int64_t bins, int64_t size) {
  auto pixel = [](double at) { return std::isnan(at) ? -kFar : std::clamp(std::round(at), -kFar, kFar); };
  start = pixel(start);
  const double length = std::max(pixel(end) - start + 1, 1.0) / static_cast<double>(bins);
  auto inside = [size](double at) { return static_cast<int64_t>(std::clamp(at, 0.0, static_cast<double>(size))); };
  return {inside(std::floor(static_cast<double>(i) * length) + start), inside(std::ceil(static_cast<double>(i + 1) * length) + start)};
}

template <class T>
absl::Status RunMaxRoiPoolAs(RunContext& ctx) {
  const double scale = ctx.attrs<MaxRoiPoolAttrs>().spatial_scale;
  WEFT_ASSIGN_OR_RETURN(const Tensor x, Widen<T>(ctx.input(0)));     // [N, C, H, W]
  WEFT_ASSIGN_OR_RETURN(const Tensor rois, Widen<T>(ctx.input(1)));  // [R, 5]: batch, x1, y1, x2, y2
  WEFT_ASSIGN_OR_RETURN(Tensor y, WideOutput<T>(ctx.output(0)));     // [R, C, height, width]
  const int64_t channels = x.dim(1), height = x.dim(2), width = x.dim(3), bins_y = y.dim(2), bins_x = y.dim(3);
  for (int64_t r = 0; r < rois.dim(0); ++r) {
    WEFT_RETURN_IF_ERROR(CheckBatchIndex(rois.data<T>()[r * 5], x.dim(0), "1 (rois)"));
  }
  ParallelFor(rois.dim(0) * channels, height * width, [&](int64_t begin, int64_t end) {
    for (int64_t index = begin; index < end; ++index) {
      const T* roi = rois.data<T>() + index / channels * 5;
      const T* plane = x.data<T>() + (static_cast<int64_t>(roi[0]) * channels + index % channels) * height * width;
      T* to = y.data<T>() + index * bins_y * bins_x;
      for (int64_t i = 0; i < bins_y * bins_x; ++i) {
        const Bin down = PixelBin(roi[2] * scale, roi[4] * scale, i / bins_x, bins_y, height);
        const Bin across = PixelBin(roi[1] * scale, roi[3] * scale, i % bins_x, bins_x, width);
        T best = down.first < down.last && across.first < across.last ? -std::numeric_limits<T>::infinity() : T(0);
        for (int64_t h = down.first; h < down.last; ++h) {
          for (int64_t w = across.first; w < across.last; ++w) best = std::max(best, plane[h * width + w]);
        }
        to[i] = best;
      }
    }
  });
  Narrow<T>(y, ctx.output(0));
  return absl::OkStatus();
}

// A sampling coordinate on one axis: the two pixels around it and their weights. Both weights are 0 where it lies outside.
template <class T>
struct Sample {
  int64_t low = 0, high = 0;
  T low_weight = 0, high_weight = 0;
};

template <class T>
Sample<T> SampleAt(T at, int64_t size) {
  if (!(at >= T(-1) && at <= static_cast<T>(size)) || size == 0) return {};
  at = std::max(at, T(0));
  const int64_t low = static_cast<int64_t>(at);
  if (low >= size - 1) return {size - 1, size - 1, T(1), T(0)};
  const T above = at - static_cast<T>(low);
  return {low, low + 1, 1 - above, above};
}

// One axis of a region: `grid` samples in each of its bins.
template <class T>
struct RoiAxis {
  T start, bin;
  double grid;

  RoiAxis(T from, T to, double scale, bool half_pixel, int64_t bins, int64_t sampling_ratio) {
    const T shift = half_pixel ? T(0.5) : T(0);
    start = from * static_cast<T>(scale) - shift;
    T length = to * static_cast<T>(scale) - shift - start;
    if (!half_pixel) length = std::max(length, T(1));
    bin = length / static_cast<T>(bins);
    grid = sampling_ratio > 0 ? static_cast<double>(sampling_ratio) : std::ceil(static_cast<double>(bin));
    if (!(grid > 0)) grid = 0;
  }

  // The samples of bin `i` on an axis of `size` pixels. Of a grid far larger than the image, those outside are left out but for one.
  void Samples(int64_t i, int64_t size, std::vector<Sample<T>>& samples) const {
    samples.clear();
    constexpr double kAll = 4096;
    const double origin = static_cast<double>(start) + static_cast<double>(i) * bin, step = bin / grid;
    double first = 0, last = grid;
    if (grid > kAll) {
      first = std::clamp(std::floor((-2 - origin) / step), 0.0, grid);
      last = std::clamp(std::ceil((static_cast<double>(size) + 1 - origin) / step), 0.0, grid);
      samples.push_back({});
    }
    if (!(last - first <= kAll + 4.0 * static_cast<double>(size))) return;  // NaN coordinates
    for (int64_t k = 0; k < static_cast<int64_t>(last - first); ++k) {
      const T at = start + static_cast<T>(i) * bin + static_cast<T>(first + static_cast<double>(k) + 0.5) * bin / static_cast<T>(grid);
      samples.push_back(SampleAt(at, size));
    }
  }
};

template <class T>
T Pool(const T* plane, int64_t width, const std::vector<Sample<T>>& down, const std::vector<Sample<T>>& across, bool max, T count) {
  T result = 0;
  bool first = true;
  for (const Sample<T>& v : down) {
    for (const Sample<T>& h : across) {
      const bool inside = v.low_weight + v.high_weight > 0 && h.low_weight + h.high_weight > 0;
      T corners[4] = {};
      if (inside) {
        corners[0] = v.low_weight * h.low_weight * plane[v.low * width + h.low];
        corners[1] = v.low_weight * h.high_weight * plane[v.low * width + h.high];
        corners[2] = v.high_weight * h.low_weight * plane[v.high * width + h.low];
        corners[3] = v.high_weight * h.high_weight * plane[v.high * width + h.high];
      }
      if (!max) {
        result += corners[0] + corners[1] + corners[2] + corners[3];
        continue;
      }
      const T largest = *std::max_element(corners, corners + 4);
      result = first ? largest : std::max(result, largest);
      first = false;
    }
  }
  return max ? result : result / count;
}

template <class T>
absl::Status RunRoiAlignAs(RunContext& ctx) {
  const auto& attrs = ctx.attrs<RoiAlignAttrs>();
  WEFT_ASSIGN_OR_RETURN(const Tensor x, Widen<T>(ctx.input(0)));     // [N, C, H, W]
  WEFT_ASSIGN_OR_RETURN(const Tensor rois, Widen<T>(ctx.input(1)));  // [R, 4]: x1, y1, x2, y2
  WEFT_ASSIGN_OR_RETURN(Tensor y, WideOutput<T>(ctx.output(0)));     // [R, C, height, width]
  const int64_t* batches = ctx.input(2).data<int64_t>();             // [R]
  const int64_t channels = x.dim(1), height = x.dim(2), width = x.dim(3), bins_y = y.dim(2), bins_x = y.dim(3);
  for (int64_t r = 0; r < y.dim(0); ++r) {
    WEFT_RETURN_IF_ERROR(CheckBatchIndex(static_cast<double>(batches[r]), x.dim(0), "2 (batch_indices)"));
  }
  const bool half_pixel = attrs.coordinate_transformation_mode == "half_pixel", max = attrs.mode == "max";
  ParallelFor(y.dim(0) * bins_y, 64 * channels * bins_x, [&](int64_t begin, int64_t end) {
    std::vector<Sample<T>> samples_y, samples_x;
    for (int64_t index = begin; index < end; ++index) {
      const int64_t r = index / bins_y, by = index % bins_y;
      const T* roi = rois.data<T>() + r * 4;
      const RoiAxis<T> down(roi[1], roi[3], attrs.spatial_scale, half_pixel, bins_y, attrs.sampling_ratio);
      const RoiAxis<T> across(roi[0], roi[2], attrs.spatial_scale, half_pixel, bins_x, attrs.sampling_ratio);
      const T count = static_cast<T>(std::max(down.grid * across.grid, 1.0));
      down.Samples(by, height, samples_y);
      for (int64_t bx = 0; bx < bins_x; ++bx) {
        across.Samples(bx, width, samples_x);
        for (int64_t c = 0; c < channels; ++c) {
          const T* plane = x.data<T>() + (batches[r] * channels + c) * height * width;
          y.data<T>()[((r * channels + c) * bins_y + by) * bins_x + bx] = Pool(plane, width, samples_y, samples_x, max, count);
        }
      }
    }
  });
  Narrow<T>(y, ctx.output(0));
  return absl::OkStatus();
}

absl::Status RunMaxRoiPool(RunContext& ctx) {
  return DispatchWide(ctx.input(0).dtype(), [&]<class T>() { return RunMaxRoiPoolAs<T>(ctx); });
}
absl::Status RunRoiAlign(RunContext& ctx) {
  return DispatchWide(ctx.input(0).dtype(), [&]<class T>() { return RunRoiAlignAs<T>(ctx); });
}

}  // namespace

absl::Span<const Kernel> RefRoi() {
  static constexpr Kernel kernels[] = {
      {.op = &ops::MaxRoiPool, .name = "ref", .run = &RunMaxRoiPool},
      {.op = &ops::RoiAlign, .name = "ref", .run = &RunRoiAlign},
  };
  return kernels;
}

}  // namespace weft
