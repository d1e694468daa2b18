// The portable formats PBM, PGM, PPM (plain P1 to P3, raw P4 to P6) and PAM (P7), as the Netpbm manual describes them.
#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "base/status_macros.h"
#include "image/image.h"

namespace weft {
namespace {

class Scanner {
 public:
  explicit Scanner(Bytes bytes) : rest_(bytes.subspan(2)) {}

  // The next word, behind white space and comments; empty at the end.
  std::string Word() {
    SkipSpace();
    std::string word;
    while (!rest_.empty() && !IsSpace(rest_[0])) Take(word);
    return word;
  }
  // A number of decimal digits; nothing for anything else. Those of a plain bitmap stand one after the other, without space between.
  std::optional<int64_t> Number(int max_digits = 9) {
    SkipSpace();
    std::string digits;
    while (!rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9' && static_cast<int>(digits.size()) < max_digits) Take(digits);
    if (digits.empty()) return std::nullopt;
    return std::stoll(digits);
  }
  // The raster, behind one white-space character.
  Bytes Raster() const { return rest_.empty() ? rest_ : rest_.subspan(1); }

 private:
  static bool IsSpace(uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
  void Take(std::string& to) {
    to.push_back(static_cast<char>(rest_[0]));
    rest_.remove_prefix(1);
  }
  void SkipSpace() {
    for (bool comment = false; !rest_.empty() && (comment || IsSpace(rest_[0]) || rest_[0] == '#'); rest_.remove_prefix(1)) {
      comment = rest_[0] == '#' || (comment && rest_[0] != '\n');
    }
  }

  Bytes rest_;
};

struct Header {
  int64_t width = 0, height = 0, depth = 1, max = 1;
};

absl::Status Truncated() { return Invalid("the image is cut short"); }

absl::StatusOr<Header> ReadHeader(Scanner& scanner, int kind) {
  Header header;
  header.depth = kind % 3 == 0 ? 3 : 1;
  const bool bitmap = kind == 1 || kind == 4;
  for (int64_t* field : {&header.width, &header.height, &header.max}) {
    if (field == &header.max && bitmap) continue;
    const std::optional<int64_t> number = scanner.Number();
    if (!number) return Invalid("the header holds no number where width, height and the largest sample are expected");
    *field = *number;
  }
  return header;
}

absl::StatusOr<Header> ReadPamHeader(Scanner& scanner) {
  Header header{0, 0, 0, 0};
  for (std::string word = scanner.Word(); word != "ENDHDR"; word = scanner.Word()) {
    if (word == "TUPLTYPE") {  // the depth says as much
      scanner.Word();
      continue;
    }
    int64_t* field = word == "WIDTH" ? &header.width : word == "HEIGHT" ? &header.height : word == "DEPTH" ? &header.depth : word == "MAXVAL" ? &header.max : nullptr;
    const std::optional<int64_t> number = scanner.Number();
    if (field == nullptr || !number) return Invalid("the header is malformed");
    *field = *number;
  }
  return header;
}

uint8_t Scale(int64_t sample, int64_t max) { return static_cast<uint8_t>((std::min(sample, max) * 255 + max / 2) / max); }

// The samples of a raw raster, row by row; those of more than 8 bits have the high byte first.
absl::Status ReadRaw(const Header& header, Bytes raster, Image& image) {
  const int64_t bytes = header.max > 255 ? 2 : 1;
  if (header.depth > static_cast<int64_t>(raster.size()) || header.width * header.height > static_cast<int64_t>(raster.size()) / (bytes * header.depth)) {
    return Truncated();
  }
  const uint8_t* at = raster.data();
  for (int64_t i = 0; i < header.width * header.height; ++i, at += header.depth * bytes) {
    for (int c = 0; c < 3; ++c) {
      const uint8_t* sample = at + (header.depth >= 3 ? c : 0) * bytes;
      image.pixels[i * 3 + c] = Scale(bytes == 2 ? sample[0] * 256 + sample[1] : sample[0], header.max);
    }
  }
  return absl::OkStatus();
}

// Bits, 1 for black; rows begin at bytes.
absl::Status ReadBits(const Header& header, Bytes raster, Image& image) {
  const int64_t row = (header.width + 7) / 8;
  if (row * header.height > static_cast<int64_t>(raster.size())) return Truncated();
  for (int64_t y = 0; y < header.height; ++y) {
    for (int64_t x = 0; x < header.width; ++x) {
      const bool black = raster[y * row + x / 8] >> (7 - x % 8) & 1;
      std::fill_n(image.pixel(y, x), 3, black ? 0 : 255);
    }
  }
  return absl::OkStatus();
}

absl::Status ReadPlain(const Header& header, int kind, Scanner& scanner, Image& image) {
  for (int64_t i = 0; i < header.width * header.height * header.depth; ++i) {
    const std::optional<int64_t> sample = scanner.Number(kind == 1 ? 1 : 9);
    if (!sample) return Truncated();
    const uint8_t value = kind == 1 ? (*sample != 0 ? 0 : 255) : Scale(*sample, header.max);
    if (header.depth == 3) image.pixels[i] = value;
    else std::fill_n(image.pixels.data() + i * 3, 3, value);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Image> DecodePnm(Bytes bytes) {
  const int kind = bytes[1] - '0';
  Scanner scanner(bytes);
  WEFT_ASSIGN_OR_RETURN(const Header header, kind == 7 ? ReadPamHeader(scanner) : ReadHeader(scanner, kind));
  if (header.max < 1 || header.max > 65535) return Invalid("the largest sample is ", header.max, ", expected 1 to 65535");
  if (header.depth < 1) return Invalid("the depth is ", header.depth, ", expected at least 1");
  // A pixel takes a bit at least: memory is not asked for what cannot be there.
  if (header.height > 0 && header.width > static_cast<int64_t>(bytes.size()) * 8 / header.height) return Truncated();
  WEFT_ASSIGN_OR_RETURN(Image image, MakeImage(header.width, header.height));
  WEFT_RETURN_IF_ERROR(kind <= 3   ? ReadPlain(header, kind, scanner, image)
                       : kind == 4 ? ReadBits(header, scanner.Raster(), image)
                                   : ReadRaw(header, scanner.Raster(), image));
  return image;
}

}  // namespace weft
