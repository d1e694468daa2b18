#include "image/image.h"

#include <cstring>
#include <string_view>

#include "base/status_macros.h"

namespace weft {

absl::StatusOr<Image> MakeImage(int64_t width, int64_t height) {
  if (width < 1 || height < 1) return Invalid("an image of ", width, " by ", height, " pixels");
  if (width > kMaxPixels / height) return Exhausted("an image of ", width, " by ", height, " pixels, expected ", kMaxPixels, " at most");
  Image image{width, height, {}};
  image.pixels.resize(width * height * 3);
  return image;
}

absl::StatusOr<Image> DecodeImage(Bytes bytes) {
  auto has = [&](size_t at, std::string_view magic) {
    return bytes.size() >= at + magic.size() && std::memcmp(bytes.data() + at, magic.data(), magic.size()) == 0;
  };
  if (has(0, "BM")) return DecodeBmp(bytes);
  if (has(0, "\xFF\xD8\xFF")) return DecodeJpeg(bytes);
  if (has(0, "\x89PNG")) return DecodePng(bytes);
  if (has(0, "RIFF") && has(8, "WEBP")) return DecodeWebp(bytes);
  if (has(0, {"II*\0", 4}) || has(0, {"MM\0*", 4}) || has(0, {"II+\0", 4}) || has(0, {"MM\0+", 4})) return DecodeTiff(bytes);
  if (has(0, {"\0\0\0\x0CjP  ", 8}) || has(0, "\xFF\x4F\xFF\x51")) return DecodeJpeg2000(bytes);
  if (bytes.size() > 2 && bytes[0] == 'P' && bytes[1] >= '1' && bytes[1] <= '7') return DecodePnm(bytes);
  return Invalid("the bytes begin like no image of a known format");
}

}  // namespace weft
