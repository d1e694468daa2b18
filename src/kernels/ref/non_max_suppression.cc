// NonMaxSuppression: for each sample and class, boxes from the best score down; one that overlaps a box taken before too much is left out.
// As ONNX Runtime has it, a box needs a score above the threshold. A score that is no number takes no box.
#include "graph/ops/non_max_suppression.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/threads.h"
#include "kernels/kernel.h"

namespace weft {
namespace {

struct Box {
  float x0, y0, x1, y1;
  float area() const { return (x1 - x0) * (y1 - y0); }
};

Box ReadBox(const float* p, bool center) {
  if (center) return {p[0] - p[2] / 2, p[1] - p[3] / 2, p[0] + p[2] / 2, p[1] + p[3] / 2};
  return {std::min(p[1], p[3]), std::min(p[0], p[2]), std::max(p[1], p[3]), std::max(p[0], p[2])};
}

bool Overlap(const Box& a, const Box& b, float threshold) {
  const float width = std::min(a.x1, b.x1) - std::max(a.x0, b.x0), height = std::min(a.y1, b.y1) - std::max(a.y0, b.y0);
  if (!(width > 0) || !(height > 0)) return false;
  const float both = width * height, either = a.area() + b.area() - both;
  if (!(both > 0) || !(a.area() > 0) || !(b.area() > 0) || !(either > 0)) return false;
  return both / either > threshold;
}

absl::Status RunNonMaxSuppression(RunContext& ctx) {
  const Tensor &box_tensor = ctx.input(0), &score_tensor = ctx.input(1);
  const bool center = ctx.attrs<NonMaxSuppressionAttrs>().center_point_box != 0;
  const int64_t batch = score_tensor.dim(0), classes = score_tensor.dim(1), count = score_tensor.dim(2);
  const int64_t limit = ctx.HasInput(2) ? *ctx.input(2).data<const int64_t>() : 0;
  const float overlap = ctx.HasInput(3) ? *ctx.input(3).data<const float>() : 0;
  if (!(overlap >= 0 && overlap <= 1)) return Invalid("iou_threshold is ", overlap, ", expected 0 to 1");
  const float* least = ctx.HasInput(4) ? ctx.input(4).data<const float>() : nullptr;

  using Selected = std::array<int64_t, 3>;  // sample, class, box
  std::vector<std::vector<Selected>> selected(batch * classes);
  ParallelFor(limit > 0 ? batch * classes : 0, 64 * count, [&](int64_t begin, int64_t end) {
    std::vector<int64_t> candidates;
    std::vector<Box> taken;
    for (int64_t i = begin; i < end; ++i) {
      const float* scores = score_tensor.data<const float>() + i * count;
      const float* boxes = box_tensor.data<const float>() + i / classes * count * 4;
      candidates.clear();
      taken.clear();
      for (int64_t j = 0; j < count; ++j) {
        if (least != nullptr ? scores[j] > *least : !std::isnan(scores[j])) candidates.push_back(j);
      }
      std::stable_sort(candidates.begin(), candidates.end(), [&](int64_t a, int64_t b) { return scores[a] > scores[b]; });
      for (int64_t j : candidates) {
        if (static_cast<int64_t>(taken.size()) == limit) break;
        const Box box = ReadBox(boxes + j * 4, center);
        if (std::any_of(taken.begin(), taken.end(), [&](const Box& other) { return Overlap(box, other, overlap); })) continue;
        taken.push_back(box);
        selected[i].push_back({i / classes, i % classes, j});
      }
    }
  });
  int64_t total = 0;
  for (const auto& list : selected) total += static_cast<int64_t>(list.size());
  WEFT_ASSIGN_OR_RETURN(Tensor* out, ctx.Allocate(0, DType::kInt64, {total, 3}));
  auto* to = out->data<int64_t>();
  for (const auto& list : selected) {
    for (const Selected& one : list) to = std::copy(one.begin(), one.end(), to);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Span<const Kernel> RefNonMaxSuppression() {
  static constexpr Kernel kernels[] = {{.op = &ops::NonMaxSuppression, .name = "ref", .run = &RunNonMaxSuppression}};
  return kernels;
}

}  // namespace weft
