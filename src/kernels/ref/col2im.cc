// Col2Im: every element of every block is added where it belongs in the image.
#include "graph/ops/col2im.h"

#include <algorithm>
#include <vector>

#include "kernels/kernel.h"
#include "kernels/ref/complex.h"
#include "kernels/ref/indices.h"
#include "kernels/ref/wrapping.h"

namespace weft {
namespace {

template <class T>
struct SumOf { using type = Compute<T>; };
template <class T> requires std::is_integral_v<T>
struct SumOf<T> { using type = Wrapping<T>; };

// Offsets in the image for each element of the block (outer) and each block (inner); -1 in the padding.
std::vector<int64_t> ImageOffsets(const Window& window) {
  const int64_t elements = Product(window.kernel), blocks = Product(window.out);
  std::vector<int64_t> offsets(elements * blocks);
  for (int64_t i = 0; i < elements * blocks; ++i) {
    int64_t element = i / blocks, block = i % blocks, stride = 1;
    for (int axis = window.rank() - 1; axis >= 0; --axis) {
      const int64_t at = block % window.out[axis] * window.strides[axis] + element % window.kernel[axis] * window.dilations[axis] -
                         window.pads_begin[axis];
      if (at < 0 || at >= window.in[axis]) {
        offsets[i] = -1;
        break;
      }
      offsets[i] += at * stride;
      stride *= window.in[axis];
      block /= window.out[axis];
      element /= window.kernel[axis];
    }
  }
  return offsets;
}

absl::Status RunCol2Im(RunContext& ctx) {
  const Tensor& in = ctx.input(0);
  Tensor& out = ctx.output(0);
  WEFT_ASSIGN_OR_RETURN(const Window window,
                        ResolveWindow(BlocksOf(ctx.attrs<Col2ImAttrs>()), ReadInts(ctx.input(1)), ReadInts(ctx.input(2))));
  if (out.size() == 0) return absl::OkStatus();
  const std::vector<int64_t> offsets = ImageOffsets(window);
  const auto count = static_cast<int64_t>(offsets.size()), size = Product(window.in);
  return DispatchNumericOrComplex(in.dtype(), [&]<class T>() {
    using Sum = typename SumOf<T>::type;
    ParallelFor(out.size() / size, 2 * count + size, [&](int64_t begin, int64_t end) {
      std::vector<Sum> image(size);
      for (int64_t channel = begin; channel < end; ++channel) {
        std::fill(image.begin(), image.end(), Sum(0));
        const T* from = in.data<const T>() + channel * count;
        for (int64_t i = 0; i < count; ++i) {
          if (offsets[i] >= 0) image[offsets[i]] += static_cast<Sum>(from[i]);
        }
        std::transform(image.begin(), image.end(), out.data<T>() + channel * size, [](const Sum& sum) { return static_cast<T>(sum); });
      }
    });
    return absl::OkStatus();
  });
}

}  // namespace

absl::Span<const Kernel> RefCol2Im() {
  static constexpr Kernel kernels[] = {{.op = &ops::Col2Im, .name = "ref", .run = &RunCol2Im}};
  return kernels;
}

}  // namespace weft
