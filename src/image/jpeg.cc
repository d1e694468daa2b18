// JPEG by libjpeg-turbo, with its accurate inverse transform and smooth chroma, which the specification of ImageDecoder describes.
#include <turbojpeg.h>

#include <cstring>
#include <memory>

#include "base/status_macros.h"
#include "image/image.h"

namespace weft {
namespace {

// Warnings leave an image, whole or with a part that the file lacks.
bool Failed(int result, tjhandle decoder) {
  if (result == 0) return false;
  return tjGetErrorCode(decoder) != TJERR_WARNING || std::strstr(tjGetErrorStr2(decoder), "remature end") != nullptr;
}

// The inks of the files there are, Adobe's, are inverted: 255 is none.
void FromInverseCmyk(const std::vector<uint8_t>& cmyk, Image& image) {
  for (size_t i = 0; i < cmyk.size() / 4; ++i) {
    for (int c = 0; c < 3; ++c) image.pixels[i * 3 + c] = static_cast<uint8_t>((cmyk[i * 4 + c] * cmyk[i * 4 + 3] + 127) / 255);
  }
}

}  // namespace

absl::StatusOr<Image> DecodeJpeg(Bytes bytes) {
  const std::unique_ptr<void, int (*)(tjhandle)> decoder(tjInitDecompress(), &tjDestroy);
  if (decoder == nullptr) return Exhausted("libjpeg-turbo cannot be started");
  int width = 0, height = 0, subsampling = 0, colours = 0;
  if (Failed(tjDecompressHeader3(decoder.get(), bytes.data(), bytes.size(), &width, &height, &subsampling, &colours), decoder.get())) {
    return Invalid("JPEG: ", tjGetErrorStr2(decoder.get()));
  }
  WEFT_ASSIGN_OR_RETURN(Image image, MakeImage(width, height));
  const bool inks = colours == TJCS_CMYK || colours == TJCS_YCCK;
  std::vector<uint8_t> cmyk(inks ? image.pixels.size() / 3 * 4 : 0);
  if (Failed(tjDecompress2(decoder.get(), bytes.data(), bytes.size(), inks ? cmyk.data() : image.pixels.data(), width, 0, height,
                           inks ? TJPF_CMYK : TJPF_RGB, 0),
             decoder.get())) {
    return Invalid("JPEG: ", tjGetErrorStr2(decoder.get()));
  }
  if (inks) FromInverseCmyk(cmyk, image);
  return image;
}

}  // namespace weft
