// Decoding of encoded images: BMP, JPEG, JPEG 2000, PNG, PNM, TIFF, WebP.
#ifndef WEFT_IMAGE_IMAGE_H_
#define WEFT_IMAGE_IMAGE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace weft {

using Bytes = absl::Span<const uint8_t>;

// Rows from the top, pixels from the left, three bytes each: red, green, blue.
struct Image {
  int64_t width = 0, height = 0;
  std::vector<uint8_t> pixels;  // [height,width,3]

  uint8_t* pixel(int64_t y, int64_t x) { return pixels.data() + (y * width + x) * 3; }
};

// More pixels than this are refused: a few bytes can claim any size.
inline constexpr int64_t kMaxPixels = int64_t{1} << 28;

// A black image. Errors: Invalid for a size below 1, ResourceExhausted for more than kMaxPixels.
absl::StatusOr<Image> MakeImage(int64_t width, int64_t height);

// The format is found by how the bytes begin. Of an animation the first frame is decoded; transparency is dropped, samples of more than 8 bits
// lose the lower ones.
// Errors: Invalid for bytes that are no image of these formats, or a damaged one; ResourceExhausted for more than kMaxPixels; Unsupported for a
// kind of image that the format allows and we do not read, or a format that this build has no decoder for.
absl::StatusOr<Image> DecodeImage(Bytes bytes);

// One format each, of bytes that begin as it does; the same errors.
absl::StatusOr<Image> DecodeBmp(Bytes bytes);
absl::StatusOr<Image> DecodeJpeg(Bytes bytes);
absl::StatusOr<Image> DecodeJpeg2000(Bytes bytes);
absl::StatusOr<Image> DecodePng(Bytes bytes);
absl::StatusOr<Image> DecodePnm(Bytes bytes);
absl::StatusOr<Image> DecodeTiff(Bytes bytes);
absl::StatusOr<Image> DecodeWebp(Bytes bytes);

}  // namespace weft

#endif  // WEFT_IMAGE_IMAGE_H_
