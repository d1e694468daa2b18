// A model and an image that are in memory: no file is read but the one whose bytes stand in for a model that the program carries.
//
//   example_from_memory models/digits/model.onnx
#include <weft/weft.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

static const char* const kDrawing[] = {
    "  .##.  ",
    " .####. ",
    " ##  ## ",
    " ##  ## ",
    " ##  ## ",
    " ##  ## ",
    " .####. ",
    "  .##.  ",
};

// The drawing at 28x28: each pixel is mixed from the four of the drawing around it.
static std::vector<float> Pixels() {
  auto ink = [](int y, int x) {
    const char mark = kDrawing[std::clamp(y, 0, 7)][std::clamp(x, 0, 7)];
    return mark == '#' ? 1.0f : mark == '.' ? 0.5f : 0.0f;
  };
  std::vector<float> pixels;
  for (int row = 0; row < 28; ++row) {
    for (int column = 0; column < 28; ++column) {
      const float at_y = (row + 0.5f) * 8 / 28 + 0.5f, at_x = (column + 0.5f) * 8 / 28 + 0.5f;  // one to the right, so that they are positive
      const int y = static_cast<int>(at_y), x = static_cast<int>(at_x);
      const float down = at_y - y, right = at_x - x;
      pixels.push_back((1 - down) * ((1 - right) * ink(y - 1, x - 1) + right * ink(y - 1, x)) +
                       down * ((1 - right) * ink(y, x - 1) + right * ink(y, x)));
    }
  }
  return pixels;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s MODEL\n", argv[0]);
    return 2;
  }
  std::ifstream file(argv[1], std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  absl::StatusOr<weft::Session> session = weft::Session::LoadFromMemory(bytes, {.threads = 1});
  if (!session.ok()) {
    std::fprintf(stderr, "%s\n", session.status().ToString().c_str());
    return 1;
  }
  bytes.clear();  // the session keeps what it needs

  for (const weft::ValueInfo& input : session->inputs()) std::printf("input  %s  %s\n", input.name.c_str(), input.type.c_str());
  for (const weft::ValueInfo& output : session->outputs()) std::printf("output %s  %s\n", output.name.c_str(), output.type.c_str());

  // A tensor that owns a copy of the pixels.
  const std::vector<float> pixels = Pixels();
  absl::StatusOr<weft::ValueMap> outputs = session->Run({{"image", weft::Tensor::Of<float>({1, 1, 28, 28}, pixels)}});
  if (!outputs.ok()) {
    std::fprintf(stderr, "%s\n", outputs.status().ToString().c_str());
    return 1;
  }
  const absl::Span<const float> p = outputs->at("probabilities").tensor().span<float>();
  std::printf("this is a %d\n", static_cast<int>(std::max_element(p.begin(), p.end()) - p.begin()));
  return 0;
}
