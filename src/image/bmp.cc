// Windows bitmaps (and those of OS/2 with a core header): palettes of 1, 4 and 8 bits, plain or run-length encoded; 16, 24 and 32 bits.
#include <algorithm>
#include <array>

#include "base/status_macros.h"
#include "image/image.h"

namespace weft {
namespace {

constexpr int64_t kFileHeaderBytes = 14, kCoreHeaderBytes = 12, kInfoHeaderBytes = 40;
enum Compression : uint32_t { kPlain = 0, kRuns8 = 1, kRuns4 = 2, kMasks = 3, kMasksWithAlpha = 6 };

struct Header {
  int64_t width = 0, height = 0;
  bool top_down = false;
  int bits = 0;
  uint32_t compression = kPlain;
  int64_t raster = 0;                                // where it begins
  std::array<uint32_t, 3> masks = {};                // of red, green, blue in 16 and 32 bits
  std::array<std::array<uint8_t, 3>, 256> palette = {};  // red, green, blue
  int colours = 0;
};

// Little-endian; 0 beyond the end.
uint32_t Read(Bytes bytes, int64_t at, int count) {
  uint32_t value = 0;
  for (int i = 0; i < count; ++i) {
    if (at + i < static_cast<int64_t>(bytes.size())) value |= uint32_t{bytes[at + i]} << (8 * i);
  }
  return value;
}

void ReadPalette(Bytes bytes, int64_t at, int entry_bytes, uint32_t colours, Header& header) {
  header.colours = static_cast<int>(std::min<uint32_t>(colours, 1u << header.bits));
  for (int i = 0; i < header.colours; ++i) {
    for (int c = 0; c < 3; ++c) header.palette[i][c] = static_cast<uint8_t>(Read(bytes, at + i * entry_bytes + 2 - c, 1));
  }
}

absl::StatusOr<Header> ReadHeader(Bytes bytes) {
  Header header;
  const int64_t info = kFileHeaderBytes, info_bytes = Read(bytes, info, 4);
  header.raster = Read(bytes, 10, 4);
  const bool core = info_bytes == kCoreHeaderBytes;
  if (!core && info_bytes < kInfoHeaderBytes) return Invalid("a BMP header of ", info_bytes, " bytes, expected 12 or at least 40");
  int64_t palette = info + info_bytes;
  uint32_t colours = 0;
  if (core) {
    header.width = Read(bytes, info + 4, 2);
    header.height = Read(bytes, info + 6, 2);
    header.bits = static_cast<int>(Read(bytes, info + 10, 2));
  } else {
    header.width = static_cast<int32_t>(Read(bytes, info + 4, 4));
    header.height = static_cast<int32_t>(Read(bytes, info + 8, 4));
    header.top_down = header.height < 0;
    header.height = std::abs(header.height);
    header.bits = static_cast<int>(Read(bytes, info + 14, 2));
    header.compression = Read(bytes, info + 16, 4);
    colours = Read(bytes, info + 32, 4);
  }
  const int bits = header.bits;
  if (bits != 1 && bits != 4 && bits != 8 && bits != 16 && bits != 24 && bits != 32) return Invalid("a BMP of ", bits, " bits a pixel");
  const uint32_t kind = header.compression;
  const bool masks = kind == kMasks || kind == kMasksWithAlpha;
  if (kind > kMasksWithAlpha || kind == 4 || kind == 5) return Unsupported("a BMP of compression ", kind);
  if ((kind == kRuns8 && bits != 8) || (kind == kRuns4 && bits != 4) || (masks && bits != 16 && bits != 32)) {
    return Invalid("a BMP of compression ", kind, " with ", bits, " bits a pixel");
  }
  if (bits <= 8) ReadPalette(bytes, palette, core ? 3 : 4, colours == 0 ? 1u << bits : colours, header);
  // The masks stand where later headers have them, and behind the oldest one.
  if (masks) header.masks = {Read(bytes, info + 40, 4), Read(bytes, info + 44, 4), Read(bytes, info + 48, 4)};
  else header.masks = bits == 16 ? std::array<uint32_t, 3>{0x7C00, 0x03E0, 0x001F} : std::array<uint32_t, 3>{0xFF0000, 0xFF00, 0xFF};
  return header;
}

// The bits under the mask as 0 to 255.
uint8_t Masked(uint32_t word, uint32_t mask) {
  if (mask == 0) return 0;
  const int shift = __builtin_ctz(mask);
  const uint64_t max = mask >> shift, value = (word & mask) >> shift;
  return static_cast<uint8_t>((value * 255 + max / 2) / max);
}

absl::Status ReadPlain(const Header& header, Bytes bytes, Image& image) {
  const int64_t row_bytes = (header.width * header.bits + 31) / 32 * 4;
  // The padding of the last row may be missing.
  const int64_t needed = row_bytes * (header.height - 1) + (header.width * header.bits + 7) / 8;
  if (header.raster > static_cast<int64_t>(bytes.size()) || needed > static_cast<int64_t>(bytes.size()) - header.raster) return Invalid("the image is cut short");
  for (int64_t y = 0; y < header.height; ++y) {
    const int64_t row = header.raster + (header.top_down ? y : header.height - 1 - y) * row_bytes;
    uint8_t* to = image.pixel(y, 0);
    for (int64_t x = 0; x < header.width; ++x, to += 3) {
      if (header.bits <= 8) {
        const int per_byte = 8 / header.bits;
        const int shift = static_cast<int>(per_byte - 1 - x % per_byte) * header.bits;
        const int index = bytes[row + x / per_byte] >> shift & ((1 << header.bits) - 1);
        if (index >= header.colours) return Invalid("colour ", index, " of a palette of ", header.colours);
        std::copy_n(header.palette[index].data(), 3, to);
      } else if (header.bits == 24) {
        std::reverse_copy(bytes.data() + row + x * 3, bytes.data() + row + x * 3 + 3, to);
      } else {
        const uint32_t word = Read(bytes, row + x * header.bits / 8, header.bits / 8);
        for (int c = 0; c < 3; ++c) to[c] = Masked(word, header.masks[c]);
      }
    }
  }
  return absl::OkStatus();
}

// Runs of one byte, pairs of 4-bit colours or 8-bit ones, and escapes: end of line, end of the image, a step, colours one by one.
absl::Status ReadRuns(const Header& header, Bytes bytes, Image& image) {
  const bool four = header.compression == kRuns4;
  auto end = static_cast<int64_t>(bytes.size());
  int64_t at = header.raster, x = 0, y = 0;
  auto put = [&](int index) -> bool {
    if (x >= header.width || y >= header.height || index >= header.colours) return false;
    std::copy_n(header.palette[index].data(), 3, image.pixel(header.height - 1 - y, x++));
    return true;
  };
  auto colour = [&](uint8_t byte, int i) { return four ? (i % 2 == 0 ? byte >> 4 : byte & 15) : byte; };
  while (at + 2 <= end) {
    const int count = bytes[at], second = bytes[at + 1];
    at += 2;
    if (count > 0) {
      for (int i = 0; i < count; ++i) {
        if (!put(colour(static_cast<uint8_t>(second), i))) return Invalid("a run leaves the image or its palette");
      }
    } else if (second == 0) {
      x = 0;
      ++y;
    } else if (second == 1) {
      return absl::OkStatus();
    } else if (second == 2) {
      if (at + 2 > end) break;
      x += bytes[at];
      y += bytes[at + 1];
      at += 2;
    } else {
      const int64_t data = four ? (second + 1) / 2 : second;
      if (at + data > end) break;
      for (int i = 0; i < second; ++i) {
        if (!put(colour(bytes[at + (four ? i / 2 : i)], i))) return Invalid("colours leave the image or its palette");
      }
      at += data + data % 2;
    }
  }
  return Invalid("the image is cut short");
}

}  // namespace

absl::StatusOr<Image> DecodeBmp(Bytes bytes) {
  WEFT_ASSIGN_OR_RETURN(const Header header, ReadHeader(bytes));
  const bool runs = header.compression == kRuns4 || header.compression == kRuns8;
  if (runs && header.top_down) return Invalid("a run-length encoded BMP from the top down");
  // A pixel takes a bit at least where there are no runs: memory is not asked for what cannot be there.
  if (!runs && header.height > 0 && header.width > static_cast<int64_t>(bytes.size()) * 8 / header.height) return Invalid("the image is cut short");
  WEFT_ASSIGN_OR_RETURN(Image image, MakeImage(header.width, header.height));
  WEFT_RETURN_IF_ERROR(runs ? ReadRuns(header, bytes, image) : ReadPlain(header, bytes, image));
  return image;
}

}  // namespace weft
