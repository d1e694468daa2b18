// Stands in for the decoders of other libraries where the build has none of them (WEFT_IMAGE_CODECS=OFF).
#include "base/status_macros.h"
#include "image/image.h"

namespace weft {
namespace {

absl::Status NotBuilt(std::string_view format) { return Unsupported(format, ": this build has no decoder for it (WEFT_IMAGE_CODECS is off)"); }

}  // namespace

absl::StatusOr<Image> DecodeJpeg(Bytes) { return NotBuilt("JPEG"); }
absl::StatusOr<Image> DecodeJpeg2000(Bytes) { return NotBuilt("JPEG 2000"); }
absl::StatusOr<Image> DecodePng(Bytes) { return NotBuilt("PNG"); }
absl::StatusOr<Image> DecodeTiff(Bytes) { return NotBuilt("TIFF"); }
absl::StatusOr<Image> DecodeWebp(Bytes) { return NotBuilt("WebP"); }

}  // namespace weft
