// WebP by libwebp.
#include <webp/decode.h>

#include "base/status_macros.h"
#include "image/image.h"

namespace weft {

absl::StatusOr<Image> DecodeWebp(Bytes bytes) {
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(bytes.data(), bytes.size(), &features) != VP8_STATUS_OK) return Invalid("WebP: the header is malformed");
  if (features.has_animation) return Unsupported("an animated WebP");
  WEFT_ASSIGN_OR_RETURN(Image image, MakeImage(features.width, features.height));
  if (WebPDecodeRGBInto(bytes.data(), bytes.size(), image.pixels.data(), image.pixels.size(), features.width * 3) == nullptr) {
    return Invalid("WebP: the image is damaged");
  }
  return image;
}

}  // namespace weft
