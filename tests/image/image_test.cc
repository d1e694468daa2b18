#include "image/image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "graph/ops/image.h"
#include "kernels/evaluate.h"

namespace weft {
namespace {

using ::testing::HasSubstr;

Bytes BytesOf(std::string_view text) { return Bytes(reinterpret_cast<const uint8_t*>(text.data()), text.size()); }

// "2x1: 1,2,3 4,5,6", or the error's message.
std::string Text(std::string_view bytes) {
  const absl::StatusOr<Image> image = DecodeImage(BytesOf(bytes));
  if (!image.ok()) return std::string(image.status().message());
  std::string text = absl::StrCat(image->width, "x", image->height, ":");
  for (size_t i = 0; i < image->pixels.size(); ++i) absl::StrAppend(&text, i % 3 == 0 ? " " : ",", image->pixels[i]);
  return text;
}

std::string LittleEndian(std::initializer_list<int64_t> words, int bytes) {
  std::string text;
  for (int64_t word : words) {
    for (int i = 0; i < bytes; ++i) text.push_back(static_cast<char>(word >> (8 * i)));
  }
  return text;
}

std::string Bmp(int64_t width, int64_t height, int bits, int compression, const std::string& tables, int colours, const std::string& raster) {
  return "BM" + LittleEndian({0, 0, static_cast<int64_t>(54 + tables.size()), 40, width, height}, 4) + LittleEndian({1, bits}, 2) +
         LittleEndian({compression, 0, 0, 0, colours, 0}, 4) + tables + raster;
}

const std::string kPalette("\x01\x02\x03\0\x0A\x0B\x0C\0\x14\x15\x16\0", 12);  // 3,2,1  12,11,10  22,21,20

TEST(Bmp, Palettes) {
  EXPECT_EQ(Text(Bmp(3, 2, 8, 0, kPalette, 3, std::string("\x00\x01\x02\0\x02\x01\x00\0", 8))),
            "3x2: 22,21,20 12,11,10 3,2,1 3,2,1 12,11,10 22,21,20");
  EXPECT_EQ(Text(Bmp(3, -1, 4, 0, kPalette, 3, std::string("\x01\x20\0\0", 4))), "3x1: 3,2,1 12,11,10 22,21,20");
  EXPECT_EQ(Text(Bmp(3, 1, 1, 0, kPalette, 2, std::string("\xA0\0\0\0", 4))), "3x1: 12,11,10 3,2,1 12,11,10");
  EXPECT_EQ(Text(Bmp(1, 1, 8, 0, kPalette, 3, std::string("\x03\0\0\0", 4))), "colour 3 of a palette of 3");
}

TEST(Bmp, Runs) {
  // The lower row: two of colour 1, one of 2, end of the line; the upper one: three colours one by one, padded.
  const std::string raster("\x02\x01\x01\x02\0\0" "\0\x03\x02\x01\x00\x00" "\0\x01", 14);
  EXPECT_EQ(Text(Bmp(3, 2, 8, 1, kPalette, 3, raster)), "3x2: 22,21,20 12,11,10 3,2,1 12,11,10 12,11,10 22,21,20");
  EXPECT_EQ(Text(Bmp(3, 1, 4, 2, kPalette, 3, std::string("\x03\x12\0\x01", 4))), "3x1: 12,11,10 22,21,20 12,11,10");
  EXPECT_EQ(Text(Bmp(2, 1, 8, 1, kPalette, 3, std::string("\0\x02\x01\0\x01\x02\0\x01", 8))), "2x1: 0,0,0 22,21,20");
  EXPECT_EQ(Text(Bmp(2, 1, 8, 1, kPalette, 3, std::string("\x03\x01\0\x01", 4))), "a run leaves the image or its palette");
  EXPECT_EQ(Text(Bmp(2, 1, 8, 1, kPalette, 3, std::string("\x02\x01", 2))), "the image is cut short");
}

TEST(Bmp, Masks) {
  EXPECT_EQ(Text(Bmp(2, 1, 16, 0, "", 0, std::string("\xFF\x7F\x00\x7C", 4))), "2x1: 255,255,255 255,0,0");
  EXPECT_EQ(Text(Bmp(2, 1, 16, 3, LittleEndian({0xF800, 0x7E0, 0x1F}, 4), 0, std::string("\xE0\x07\x1F\x00", 4))), "2x1: 0,255,0 0,0,255");
  EXPECT_EQ(Text(Bmp(1, 1, 24, 0, "", 0, std::string("\x01\x02\x03\0", 4))), "1x1: 3,2,1");
  EXPECT_EQ(Text(Bmp(1, 1, 32, 0, "", 0, std::string("\x01\x02\x03\xFF", 4))), "1x1: 3,2,1");
}

TEST(Bmp, Refusals) {
  EXPECT_EQ(Text(Bmp(100000, 100000, 24, 0, "", 0, "")), "the image is cut short");
  EXPECT_EQ(Text(Bmp(1, -1, 8, 1, kPalette, 3, "")), "a run-length encoded BMP from the top down");
  EXPECT_EQ(Text(Bmp(1, 1, 7, 0, "", 0, "")), "a BMP of 7 bits a pixel");
  EXPECT_EQ(Text(Bmp(1, 1, 24, 4, "", 0, "")), "a BMP of compression 4");
  EXPECT_THAT(Text(Bmp(0, 1, 24, 0, "", 0, "")), HasSubstr("an image of 0 by 1 pixels"));
  EXPECT_THAT(Text(Bmp(1 << 20, 1 << 20, 8, 1, kPalette, 3, "")), HasSubstr("at most"));
  EXPECT_EQ(Text("BM"), "a BMP header of 0 bytes, expected 12 or at least 40");
}

TEST(Pnm, Plain) {
  EXPECT_EQ(Text("P1 # a comment\n3 1\n10 1"), "3x1: 0,0,0 255,255,255 0,0,0");
  EXPECT_EQ(Text("P2\n2 1 3\n0 3"), "2x1: 0,0,0 255,255,255");
  EXPECT_EQ(Text("P3\n1 1 255\n1 2 3"), "1x1: 1,2,3");
}

TEST(Pnm, Raw) {
  EXPECT_EQ(Text("P4\n9 1\n\x80\x80"), "9x1: 0,0,0 255,255,255 255,255,255 255,255,255 255,255,255 255,255,255 255,255,255 255,255,255 0,0,0");
  EXPECT_EQ(Text("P5\n2 1\n255\n\x07\n"), "2x1: 7,7,7 10,10,10");
  EXPECT_EQ(Text(std::string("P6\n1 1\n65535\n\xFF\xFF\x80\x00\x00\x7F", 19)), "1x1: 255,128,0");
  EXPECT_EQ(Text("P7\nWIDTH 1\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n\x01\x02\x03\x04"), "1x1: 1,2,3");
}

TEST(Pnm, Refusals) {
  EXPECT_EQ(Text("P6\n2 1\n255\n123"), "the image is cut short");
  EXPECT_EQ(Text("P3\n1 1 255\n1 2"), "the image is cut short");
  EXPECT_EQ(Text("P5\n999999999 999999999\n255\n"), "the image is cut short");
  EXPECT_THAT(Text("P5\n1 1\n0\n1"), HasSubstr("the largest sample is 0"));
  EXPECT_THAT(Text("P5\n1"), HasSubstr("holds no number"));
  EXPECT_EQ(Text("P7\nWIDTH 1\n"), "the header is malformed");
}

constexpr uint8_t kPng[] = {  // 3 by 2, 16 bits of red, green, blue and alpha, interlaced
    0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00,
    0x02, 0x10, 0x06, 0x00, 0x00, 0x01, 0xBA, 0xE3, 0x8A, 0xCF, 0x00, 0x00, 0x00, 0x37, 0x49, 0x44, 0x41, 0x54, 0x78, 0xDA, 0x63, 0x60, 0x80,
    0x01, 0xF6, 0x0B, 0xFC, 0x0B, 0xC4, 0x0B, 0xE4, 0x1D, 0x18, 0x98, 0x5F, 0xB0, 0x5F, 0xE0, 0xDE, 0xC1, 0xBF, 0x80, 0x81, 0x7B, 0x87, 0x78,
    0x81, 0xB2, 0x86, 0xDE, 0x03, 0xFE, 0x05, 0xF2, 0x0E, 0x7A, 0x0F, 0xEC, 0x1A, 0x84, 0x3B, 0xD4, 0x05, 0xAC, 0x66, 0xF8, 0x29, 0x00, 0x00,
    0x1B, 0x6D, 0x0D, 0x30, 0xFB, 0x5E, 0x97, 0x1D, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82};
constexpr uint8_t kWebp[] = {  // 2 by 1, lossless
    0x52, 0x49, 0x46, 0x46, 0x24, 0x00, 0x00, 0x00, 0x57, 0x45, 0x42, 0x50, 0x56, 0x50, 0x38, 0x4C, 0x18, 0x00, 0x00, 0x00, 0x2F, 0x01,
    0x00, 0x00, 0x00, 0x0F, 0x70, 0x01, 0xBF, 0xCD, 0x27, 0x90, 0xB4, 0xC5, 0xDB, 0xFE, 0xF9, 0x0F, 0xF6, 0x43, 0x05, 0x22, 0xFA, 0x1F};

template <size_t N>
std::string_view View(const uint8_t (&bytes)[N]) {
  return std::string_view(reinterpret_cast<const char*>(bytes), N);
}

bool NoCodecs() { return absl::IsUnimplemented(DecodePng(kPng).status()); }

TEST(Codecs, Decode) {
  if (NoCodecs()) GTEST_SKIP() << "built without them";
  EXPECT_EQ(Text(View(kPng)), "3x2: 0,0,0 3,7,11 7,15,23 11,23,35 15,31,46 19,39,58");
  EXPECT_EQ(Text(View(kWebp)), "2x1: 1,2,3 250,128,7");
}

// Whatever a file lacks, it is a wrong image and not an unknown one.
TEST(Codecs, DamagedFilesAreInvalid) {
  if (NoCodecs()) GTEST_SKIP() << "built without them";
  const std::string_view beginnings[] = {"\xFF\xD8\xFF\xE0", "\x89PNG\r\n\x1A\n", {"RIFF\x10\0\0\0WEBPVP8 ", 16}, {"II*\0\x08\0\0\0", 8}, {"MM\0*\0\0\0\x08\0\x01", 10},
                                         {"\0\0\0\x0CjP  \r\n\x87\n", 12}, "\xFF\x4F\xFF\x51", View(kPng).substr(0, 60), View(kWebp).substr(0, 30)};
  for (std::string_view bytes : beginnings) {
    EXPECT_TRUE(absl::IsInvalidArgument(DecodeImage(BytesOf(bytes)).status())) << bytes << ": " << DecodeImage(BytesOf(bytes)).status();
  }
  EXPECT_EQ(Text("GIF89a"), "the bytes begin like no image of a known format");
  EXPECT_EQ(Text(""), "the bytes begin like no image of a known format");
}

std::string Decoded(std::string_view bytes, const std::string& format) {
  const auto out = Evaluate(ops::ImageDecoder, ImageDecoderAttrs{format}, {Tensor::Of<uint8_t>({static_cast<int64_t>(bytes.size())}, BytesOf(bytes))});
  if (!out.ok()) return std::string(out.status().message());
  const Tensor& image = (*out)[0].tensor();
  std::string text = Type::OfTensor(image).ToString();
  for (uint8_t byte : image.span<uint8_t>()) absl::StrAppend(&text, " ", byte);
  return text;
}

TEST(ImageDecoder, PixelFormats) {
  const std::string_view image = "P3\n2 1 255\n10 20 30 255 255 255";
  EXPECT_EQ(Decoded(image, "RGB"), "uint8[1,2,3] 10 20 30 255 255 255");
  EXPECT_EQ(Decoded(image, "BGR"), "uint8[1,2,3] 30 20 10 255 255 255");
  EXPECT_EQ(Decoded(image, "Grayscale"), "uint8[1,2,1] 18 255");
  EXPECT_THAT(Decoded(image, "YUV"), HasSubstr("pixel_format is 'YUV'"));
}

TEST(ImageDecoder, WhatCannotBeDecodedIsEmpty) {
  EXPECT_EQ(Decoded("P3\n2 1 255\n10", "RGB"), "uint8[0,0,3]");
  EXPECT_EQ(Decoded("nothing", "Grayscale"), "uint8[0,0,1]");
}

}  // namespace
}  // namespace weft
