// JPEG 2000, in its file format and as a bare codestream, by OpenJPEG.
#include <openjpeg.h>

#include <algorithm>
#include <cmath>
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

OPJ_SIZE_T ReadFrom(void* to, OPJ_SIZE_T count, void* user) {
  auto* stream = static_cast<Stream*>(user);
  const uint64_t left = stream->bytes.size() - stream->at;
  if (left == 0) return static_cast<OPJ_SIZE_T>(-1);
  const uint64_t taken = std::min<uint64_t>(left, count);
  std::memcpy(to, stream->bytes.data() + stream->at, taken);
  stream->at += taken;
  return taken;
}

OPJ_OFF_T Skip(OPJ_OFF_T count, void* user) {
  auto* stream = static_cast<Stream*>(user);
  if (count < 0) return -1;
  const auto skipped = std::min<uint64_t>(stream->bytes.size() - stream->at, static_cast<uint64_t>(count));
  stream->at += skipped;
  return static_cast<OPJ_OFF_T>(skipped);
}

OPJ_BOOL Seek(OPJ_OFF_T to, void* user) {
  auto* stream = static_cast<Stream*>(user);
  if (to < 0 || static_cast<uint64_t>(to) > stream->bytes.size()) return OPJ_FALSE;
  stream->at = static_cast<uint64_t>(to);
  return OPJ_TRUE;
}

template <class T, void (*Destroy)(T*)>
struct Destroyer {
  void operator()(T* object) const { Destroy(object); }
};
using Codec = std::unique_ptr<opj_codec_t, Destroyer<opj_codec_t, &opj_destroy_codec>>;
using Input = std::unique_ptr<opj_stream_t, Destroyer<opj_stream_t, &opj_stream_destroy>>;
using Decoded = std::unique_ptr<opj_image_t, Destroyer<opj_image_t, &opj_image_destroy>>;

// The sample of a component under the pixel at (x, y) of the image, as 0 to 255.
uint8_t Sample(const opj_image_t& image, const opj_image_comp_t& component, int64_t y, int64_t x) {
  auto place = [](int64_t at, int64_t origin, int64_t step, int64_t size) {
    return std::clamp<int64_t>((origin + at) / step - (origin + step - 1) / step, 0, size - 1);
  };
  const int64_t row = place(y, image.y0, component.dy, component.h), column = place(x, image.x0, component.dx, component.w);
  int64_t value = component.data[row * component.w + column];
  if (component.sgnd) value += int64_t{1} << (component.prec - 1);
  const int64_t max = (int64_t{1} << component.prec) - 1;
  value = std::clamp<int64_t>(value, 0, max);
  return static_cast<uint8_t>(component.prec >= 8 ? value >> (component.prec - 8) : (value * 255 + max / 2) / max);
}

// Luminance and two differences of colour (ITU-R BT.601, full range).
void FromYcc(uint8_t* pixel) {
  const double y = pixel[0], cb = pixel[1] - 128.0, cr = pixel[2] - 128.0;
  const double rgb[] = {y + 1.402 * cr, y - 0.344136 * cb - 0.714136 * cr, y + 1.772 * cb};
  for (int c = 0; c < 3; ++c) pixel[c] = static_cast<uint8_t>(std::clamp(std::lround(rgb[c]), 0L, 255L));
}

absl::Status Damaged() { return Invalid("JPEG 2000: the image is damaged"); }

}  // namespace

absl::StatusOr<Image> DecodeJpeg2000(Bytes bytes) {
  Stream from{bytes};
  const Input input(opj_stream_default_create(OPJ_TRUE));
  const Codec codec(opj_create_decompress(bytes[0] == 0xFF ? OPJ_CODEC_J2K : OPJ_CODEC_JP2));
  if (input == nullptr || codec == nullptr) return Exhausted("OpenJPEG cannot be started");
  opj_stream_set_read_function(input.get(), &ReadFrom);
  opj_stream_set_skip_function(input.get(), &Skip);
  opj_stream_set_seek_function(input.get(), &Seek);
  opj_stream_set_user_data(input.get(), &from, nullptr);
  opj_stream_set_user_data_length(input.get(), bytes.size());
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  opj_image_t* header = nullptr;
  if (!opj_setup_decoder(codec.get(), &parameters)) return Damaged();
  const bool has_header = opj_read_header(input.get(), codec.get(), &header);
  const Decoded decoded(header);
  if (!has_header || decoded == nullptr || decoded->x1 <= decoded->x0 || decoded->y1 <= decoded->y0) return Damaged();
  WEFT_ASSIGN_OR_RETURN(Image image, MakeImage(int64_t{decoded->x1} - decoded->x0, int64_t{decoded->y1} - decoded->y0));
  if (!opj_decode(codec.get(), input.get(), decoded.get()) || !opj_end_decompress(codec.get(), input.get())) return Damaged();

  const uint32_t components = decoded->numcomps;
  if (components == 0) return Damaged();
  if (decoded->color_space == OPJ_CLRSPC_CMYK || decoded->color_space == OPJ_CLRSPC_EYCC) return Unsupported("a JPEG 2000 image of inks or of e-YCC");
  const opj_image_comp_t* planes[3];
  for (uint32_t c = 0; c < 3; ++c) {
    planes[c] = &decoded->comps[components >= 3 ? c : 0];
    if (planes[c]->data == nullptr || planes[c]->w == 0 || planes[c]->h == 0 || planes[c]->prec < 1 || planes[c]->prec > 31) return Damaged();
  }
  // Differences of colour are what is stored at a lower resolution, whether the file names the colour space or not.
  const bool ycc = components >= 3 && (decoded->color_space == OPJ_CLRSPC_SYCC || (planes[0]->dx == 1 && planes[1]->dx > 1));
  for (int64_t y = 0; y < image.height; ++y) {
    for (int64_t x = 0; x < image.width; ++x) {
      uint8_t* pixel = image.pixel(y, x);
      for (int c = 0; c < 3; ++c) pixel[c] = Sample(*decoded, *planes[c], y, x);
      if (ycc) FromYcc(pixel);
    }
  }
  return image;
}

}  // namespace weft
