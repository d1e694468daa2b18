// ImageDecoder: what cannot be decoded gives an empty image, as the specification asks.
#include "graph/ops/image.h"

#include <algorithm>

#include "base/threads.h"
#include "image/image.h"
#include "kernels/kernel.h"

namespace weft {
namespace {

// Luminance by ITU-R BT.601, in 16 bits of fraction.
uint8_t Grey(const uint8_t* rgb) { return static_cast<uint8_t>((rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 32768) >> 16); }

absl::Status RunImageDecoder(RunContext& ctx) {
  const std::string& format = ctx.attrs<ImageDecoderAttrs>().pixel_format;
  const int64_t channels = format == "Grayscale" ? 1 : 3;
  absl::StatusOr<Image> image = DecodeImage(ctx.input(0).span<const uint8_t>());
  if (absl::IsInvalidArgument(image.status())) return ctx.Allocate(0, DType::kUint8, {0, 0, channels}).status();
  WEFT_RETURN_IF_ERROR(image.status());
  WEFT_ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, DType::kUint8, {image->height, image->width, channels}));
  ParallelFor(image->height * image->width, 3, [&](int64_t begin, int64_t end) {
    const uint8_t* from = image->pixels.data() + begin * 3;
    uint8_t* to = out->data<uint8_t>() + begin * channels;
    for (int64_t i = begin; i < end; ++i, from += 3, to += channels) {
      if (channels == 1) *to = Grey(from);
      else if (format == "BGR") std::reverse_copy(from, from + 3, to);
      else std::copy_n(from, 3, to);
    }
  });
  return absl::OkStatus();
}

}  // namespace

absl::Span<const Kernel> RefImageDecoder() {
  static constexpr Kernel kernels[] = {{.op = &ops::ImageDecoder, .name = "ref", .run = &RunImageDecoder}};
  return kernels;
}

}  // namespace weft
