// TIFF by libtiff: the first image of the file. What is transparent comes out over black, as libtiff's conversion has it.
#include <tiffio.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/status_macros.h"
#include "image/image.h"

namespace weft {
namespace {

struct Stream {
  Bytes bytes;
  uint64_t at = 0;
};

tmsize_t ReadFrom(thandle_t handle, void* to, tmsize_t count) {
  auto* stream = static_cast<Stream*>(handle);
  const uint64_t left = stream->bytes.size() - std::min<uint64_t>(stream->at, stream->bytes.size());
  const uint64_t taken = std::min<uint64_t>(left, static_cast<uint64_t>(std::max<tmsize_t>(count, 0)));
  if (taken > 0) std::memcpy(to, stream->bytes.data() + stream->at, taken);
  stream->at += taken;
  return static_cast<tmsize_t>(taken);
}

tmsize_t WriteNothing(thandle_t, void*, tmsize_t) { return 0; }

toff_t SeekIn(thandle_t handle, toff_t offset, int whence) {
  auto* stream = static_cast<Stream*>(handle);
  stream->at = offset + (whence == SEEK_CUR ? stream->at : whence == SEEK_END ? stream->bytes.size() : 0);
  return stream->at;
}

int CloseNothing(thandle_t) { return 0; }

toff_t SizeOf(thandle_t handle) { return static_cast<Stream*>(handle)->bytes.size(); }

// What the library says goes to nobody: it would go to the terminal.
int Silence(TIFF*, void*, const char*, const char*, va_list) { return 1; }

}  // namespace

absl::StatusOr<Image> DecodeTiff(Bytes bytes) {
  Stream stream{bytes};
  const std::unique_ptr<TIFFOpenOptions, void (*)(TIFFOpenOptions*)> options(TIFFOpenOptionsAlloc(), &TIFFOpenOptionsFree);
  if (options == nullptr) return Exhausted("libtiff cannot be started");
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), &Silence, nullptr);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), &Silence, nullptr);
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), kMaxPixels * 8);
  // "m": no mapping of memory, which is the stream's alone to give.
  const std::unique_ptr<TIFF, void (*)(TIFF*)> tiff(
      TIFFClientOpenExt("image", "rm", &stream, &ReadFrom, &WriteNothing, &SeekIn, &CloseNothing, &SizeOf, nullptr, nullptr, options.get()), &TIFFClose);
  if (tiff == nullptr) return Invalid("TIFF: the header is malformed");
  uint32_t width = 0, height = 0;
  TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &height);
  WEFT_ASSIGN_OR_RETURN(Image image, MakeImage(width, height));
  char why[1024];
  if (!TIFFRGBAImageOK(tiff.get(), why)) return Unsupported("TIFF: ", std::string_view(why));
  std::vector<uint32_t> raster(static_cast<size_t>(width) * height);
  if (!TIFFReadRGBAImageOriented(tiff.get(), width, height, raster.data(), ORIENTATION_TOPLEFT, 1)) return Invalid("TIFF: the image is damaged");
  for (size_t i = 0; i < raster.size(); ++i) {
    uint8_t* pixel = image.pixels.data() + i * 3;
    pixel[0] = TIFFGetR(raster[i]);
    pixel[1] = TIFFGetG(raster[i]);
    pixel[2] = TIFFGetB(raster[i]);
  }
  return image;
}

}  // namespace weft
