// PNG by libpng.
#include <png.h>

#include <csetjmp>
#include <cstring>
#include <string>

#include "base/status_macros.h"
#include "image/image.h"

namespace weft {
namespace {

// libpng leaves by longjmp: what has a destructor lives outside the functions that call it.
struct Reader {
  explicit Reader(Bytes bytes) : rest(bytes) {
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, &OnError, [](png_structp, png_const_charp) {});
    if (png == nullptr) return;
    info = png_create_info_struct(png);
    png_set_read_fn(png, this, [](png_structp reading, png_bytep to, size_t count) {
      Bytes& left = static_cast<Reader*>(png_get_io_ptr(reading))->rest;
      if (count > left.size()) png_error(reading, "the image is cut short");
      std::memcpy(to, left.data(), count);
      left.remove_prefix(count);
    });
  }
  ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  static void OnError(png_structp reading, png_const_charp message) {
    static_cast<Reader*>(png_get_error_ptr(reading))->error = message;
    png_longjmp(reading, 1);
  }

  // Everything as eight bits each of red, green, blue.
  bool ReadHeader() {
    if (setjmp(png_jmpbuf(png)) != 0) return false;
    png_read_info(png, info);
    png_set_expand(png);
    png_set_strip_16(png);
    png_set_strip_alpha(png);
    png_set_gray_to_rgb(png);
    passes = png_set_interlace_handling(png);
    png_read_update_info(png, info);
    return true;
  }

  bool ReadRows(uint8_t* pixels) {
    if (setjmp(png_jmpbuf(png)) != 0) return false;
    for (int pass = 0; pass < passes; ++pass) {
      for (png_uint_32 y = 0; y < png_get_image_height(png, info); ++y) png_read_row(png, pixels + y * png_get_rowbytes(png, info), nullptr);
    }
    png_read_end(png, nullptr);
    return true;
  }

  png_structp png = nullptr;
  png_infop info = nullptr;
  Bytes rest;
  int passes = 0;
  std::string error;
};

}  // namespace

absl::StatusOr<Image> DecodePng(Bytes bytes) {
  Reader reader(bytes);
  if (reader.info == nullptr) return Exhausted("libpng cannot be started");
  if (!reader.ReadHeader()) return Invalid("PNG: ", reader.error);
  WEFT_ASSIGN_OR_RETURN(Image image, MakeImage(png_get_image_width(reader.png, reader.info), png_get_image_height(reader.png, reader.info)));
  if (png_get_rowbytes(reader.png, reader.info) != static_cast<size_t>(image.width) * 3) return Unsupported("a PNG of this colour type");
  if (!reader.ReadRows(image.pixels.data())) return Invalid("PNG: ", reader.error);
  return image;
}

}  // namespace weft
